import {
  type Attribute,
  attribute,
  type Characteristics,
  complexAttribute,
  type Schema,
} from '../schema/attributes.ts';

const readOnly = { mutability: 'readOnly' } as const;
const required = { ...readOnly, required: true } as const;

/** The sub-attribute `supported`, which every optional feature has. */
const supported = attribute('supported', 'Whether the service offers it.', { ...required, type: 'boolean' });

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
        attribute('cursor', 'Whether pages have cursors.', { ...required, type: 'boolean' }),
        attribute('index', 'Whether pages have a start index.', { ...required, type: 'boolean' }),
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
        attribute('primary', 'Whether the method is preferred.', { ...readOnly, type: 'boolean' }),
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
        attribute('required', 'Whether every resource must have the extension.', {
          ...required,
          type: 'boolean',
        }),
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
  attribute('multiValued', 'Whether there can be several values.', { ...required, type: 'boolean' }),
  attribute('description', 'A description of the attribute.', readOnly),
  attribute('required', 'Whether a value is required.', { ...readOnly, type: 'boolean' }),
  attribute('canonicalValues', 'Values that the service suggests.', {
    ...readOnly,
    multiValued: true,
    caseExact: true,
  }),
  attribute('caseExact', 'Whether values compare with case.', { ...readOnly, type: 'boolean' }),
  attribute('mutability', 'Whether clients can change the value.', {
    ...readOnly,
    caseExact: true,
    canonicalValues: ['readOnly', 'readWrite', 'immutable', 'writeOnly'],
  }),
  attribute('returned', 'When the value is in a response.', {
    ...readOnly,
    caseExact: true,
    canonicalValues: ['always', 'never', 'default', 'request'],
  }),
  attribute('uniqueness', 'Among which resources the value is unique.', {
    ...readOnly,
    caseExact: true,
    canonicalValues: ['none', 'server', 'global'],
  }),
  attribute('referenceTypes', 'The resource types that a reference can have.', {
    ...readOnly,
    multiValued: true,
    caseExact: true,
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

/** The schemas of the resources of the discovery endpoints (RFC 7643 §8.7.2). */
export const discoverySchemas: readonly Schema[] = [
  serviceProviderConfigSchema,
  resourceTypeSchema,
  schemaSchema,
];

function feature(name: string, description: string, more: readonly Attribute[] = []): Attribute {
  return complexAttribute(name, description, { ...required, subAttributes: [supported, ...more] });
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
