import {
  type Attribute,
  attribute,
  type Characteristics,
  complexAttribute,
  type Schema,
} from '../../schema/attributes.ts';

const readOnly = { mutability: 'readOnly' } as const;
const required = { ...readOnly, required: true } as const;
const exact = { ...readOnly, caseExact: true } as const;

/** The sub-attribute `supported`, which every optional feature has. */
const supported = flag('supported', 'Whether the service offers it.');

/** The schema of /ServiceProviderConfig (RFC 7643 §8.7.2, with `pagination` of RFC 9865 §4). */
const serviceProviderConfigSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  name: 'Service Provider Configuration',
  description: 'The features of the service.',
  attributes: [
    link('documentationUri', 'The help of the service.', 'external'),
    feature('patch', 'PATCH requests.'),
    feature('bulk', 'Bulk requests.', [
      integer('maxOperations', 'The largest number of operations in one request.'),
      integer('maxPayloadSize', 'The largest size of a request, in bytes.'),
    ]),
    feature('filter', 'Filters.', [integer('maxResults', 'The largest number of resources in a response.')]),
    feature('changePassword', 'Changes of passwords.'),
    feature('sort', 'Sorted lists.'),
    feature('etag', 'Versions of resources.'),
    complexAttribute('pagination', 'The ways to page through a list.', {
      ...readOnly,
      subAttributes: [
        flag('cursor', 'Whether pages have cursors.'),
        flag('index', 'Whether pages have a start index.'),
        attribute('defaultPaginationMethod', 'The method of a request that names none.', readOnly),
        integer('defaultPageSize', 'The size of a page when a request names none.', readOnly),
        integer('maxPageSize', 'The largest size of a page.', readOnly),
        integer('cursorTimeout', 'How long a cursor is valid, in seconds.', readOnly),
      ],
    }),
    complexAttribute('authenticationSchemes', 'The ways to authenticate.', {
      ...required,
      multiValued: true,
      subAttributes: [
        attribute('type', 'The method.', {
          ...required,
          canonicalValues: ['oauth', 'oauth2', 'oauthbearertoken', 'httpbasic', 'httpdigest'],
        }),
        attribute('name', 'The name of the method.', required),
        attribute('description', 'A description of the method.', required),
        link('specUri', 'The specification of the method.', 'external'),
        link('documentationUri', 'The help of the method.', 'external'),
        flag('primary', 'Whether the method is preferred.', readOnly),
      ],
    }),
  ],
};

/** The schema of /ResourceTypes (RFC 7643 §8.7.2). */
const resourceTypeSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  name: 'Resource Type',
  description: 'A kind of resource.',
  attributes: [
    attribute('id', 'The id of the resource type; the same as its name.', readOnly),
    attribute('name', 'The name of the resource type.', required),
    attribute('description', 'A description of the resource type.', readOnly),
    link('endpoint', 'The endpoint, relative to the base URL.', 'uri', required),
    link('schema', 'The URI of the base schema.', 'uri', { ...required, caseExact: true }),
    complexAttribute('schemaExtensions', 'The schema extensions of the resource type.', {
      ...required,
      multiValued: true,
      subAttributes: [
        link('schema', 'The URI of the extension.', 'uri', { ...required, caseExact: true }),
        flag('required', 'Whether every resource must have the extension.'),
      ],
    }),
  ],
};

/** The characteristics of an attribute (RFC 7643 §7), without its sub-attributes. */
const characteristics: readonly Attribute[] = [
  attribute('name', 'The name of the attribute.', { ...required, caseExact: true }),
  attribute('type', 'The data type.', {
    ...required,
    canonicalValues: [
      'string',
      'complex',
      'boolean',
      'decimal',
      'integer',
      'dateTime',
      'reference',
      'binary',
    ],
  }),
  flag('multiValued', 'Whether there can be several values.'),
  attribute('description', 'A description of the attribute.', readOnly),
  flag('required', 'Whether a value is required.', readOnly),
  attribute('canonicalValues', 'Values that the service suggests.', { ...exact, multiValued: true }),
  flag('caseExact', 'Whether values compare with case.', readOnly),
  attribute('mutability', 'Whether clients can change the value.', {
    ...exact,
    canonicalValues: ['readOnly', 'readWrite', 'immutable', 'writeOnly'],
  }),
  attribute('returned', 'When the value is in a response.', {
    ...exact,
    canonicalValues: ['always', 'never', 'default', 'request'],
  }),
  attribute('uniqueness', 'Among which resources the value is unique.', {
    ...exact,
    canonicalValues: ['none', 'server', 'global'],
  }),
  attribute('referenceTypes', 'The resource types that a reference can have.', {
    ...exact,
    multiValued: true,
  }),
];

/** The schema of /Schemas (RFC 7643 §8.7.2). */
const schemaSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  name: 'Schema',
  description: 'A schema: a list of attributes.',
  attributes: [
    attribute('id', 'The URI of the schema.', required),
    attribute('name', 'The name of the schema.', required),
    attribute('description', 'A description of the schema.', readOnly),
    complexAttribute('attributes', 'The attributes of the schema.', {
      ...required,
      multiValued: true,
      subAttributes: [
        ...characteristics,
        complexAttribute('subAttributes', 'The attributes of a complex attribute.', {
          ...readOnly,
          multiValued: true,
          subAttributes: characteristics,
        }),
      ],
    }),
  ],
};

/** Returns the schemas of the resources of the discovery endpoints (RFC 7643 §8.7.2), with further attributes of ServiceProviderConfig. */
export function discoverySchemas(further: readonly Attribute[]): Schema[] {
  const { attributes, ...config } = serviceProviderConfigSchema;
  return [{ ...config, attributes: [...attributes, ...further] }, resourceTypeSchema, schemaSchema];
}

function feature(name: string, description: string, more: readonly Attribute[] = []): Attribute {
  return complexAttribute(name, description, { ...required, subAttributes: [supported, ...more] });
}

function flag(name: string, description: string, traits: Characteristics = required): Attribute {
  return attribute(name, description, { ...traits, type: 'boolean' });
}

function integer(name: string, description: string, traits: Characteristics = required): Attribute {
  return attribute(name, description, { ...traits, type: 'integer' });
}

function link(
  name: string,
  description: string,
  target: 'external' | 'uri',
  traits: Characteristics = readOnly,
): Attribute {
  return attribute(name, description, { ...traits, type: 'reference', referenceTypes: [target] });
}
