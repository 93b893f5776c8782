import { type Request, type Response, Router } from 'express';
import type { Attribute, Schema } from '../../schema/attributes.ts';
import type { JsonObject } from '../../schema/resource.ts';
import { type ResourceType, schemasOf } from '../../schema/resource-types.ts';
import { listResponseUrn } from '../lists/list-response.ts';
import { MAX_COUNT } from '../lists/pagination.ts';
import { parseQuery, type ScimContext } from '../protocol/endpoint.ts';
import { ScimError } from '../protocol/errors.ts';
import { sendScim } from '../protocol/responses.ts';
import { discoverySchemas } from './discovery-schemas.ts';

/**
 * Makes the routes of the discovery endpoints (RFC 7644 §4). They are generated from the tables by which requests are
 * validated.
 */
export function discoveryRoutes(contextOf: (request: Request) => ScimContext): Router {
  const answer =
    (send: (response: Response, context: ScimContext, id: string) => void) =>
    (request: Request, response: Response) => {
      // Refuse a filter: "If a "filter" is provided, the service provider SHOULD respond with … 403" (RFC 7644 §4).
      if ('filter' in parseQuery(request.query))
        throw new ScimError(403, undefined, 'Discovery cannot be filtered.');
      const { id } = request.params;
      send(response, contextOf(request), typeof id === 'string' ? id : '');
    };
  const router = Router().get(
    '/ServiceProviderConfig',
    answer((response, context) => sendOne(response, serviceProviderConfig(context))),
  );
  for (const [path, describe] of [
    ['/ResourceTypes', listResourceTypes],
    ['/Schemas', listSchemas],
  ] as const) {
    router
      .get(
        path,
        answer((response, context) => sendList(response, describe(context))),
      )
      .get(
        `${path}/:id`,
        answer((response, context, id) => sendOne(response, findById(describe(context), id))),
      );
  }
  return router;
}

function listResourceTypes({ profile, base }: ScimContext): DiscoveryResource[] {
  return profile.resourceTypes.map((type) => describeResourceType(type, base));
}

function listSchemas({ profile, base }: ScimContext): DiscoveryResource[] {
  const schemas = [...schemasOf(profile.resourceTypes), ...discoverySchemas(profile.features.attributes)];
  return schemas.map((schema) => describeSchema(schema, base));
}

function sendList(response: Response, bodies: JsonObject[]): void {
  const counts = { totalResults: bodies.length, startIndex: 1, itemsPerPage: bodies.length };
  sendScim(response, JSON.stringify({ schemas: [listResponseUrn], ...counts, Resources: bodies }));
}

/** meta.location "MUST be the same as the "Content-Location" HTTP response header" (RFC 7643 §3.1) */
function sendOne(response: Response, body: DiscoveryResource): void {
  response.setHeader('Content-Location', body.meta.location);
  response.setHeader('Location', body.meta.location);
  sendScim(response, JSON.stringify(body));
}

function findById(bodies: DiscoveryResource[], id: string): DiscoveryResource {
  const found = bodies.find((body) => String(body['id']).toLowerCase() === id.toLowerCase());
  if (!found) throw new ScimError(404, undefined, 'There is no such resource.');
  return found;
}

/** A resource of a discovery endpoint. */
interface DiscoveryResource extends JsonObject {
  meta: { resourceType: string; location: string };
}

/** Describes a schema as /Schemas lists it (RFC 7643 §7). */
function describeSchema({ id, name, description, attributes }: Schema, base: string): DiscoveryResource {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes: attributes.map(describeAttribute),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  };
}

/** Describes a resource type as /ResourceTypes lists it (RFC 7643 §6). */
function describeResourceType(type: ResourceType, base: string): DiscoveryResource {
  const { name, endpoint, description, schema, extensions } = type;
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint,
    description,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  };
}

function describeAttribute(attribute: Attribute): JsonObject {
  const { canonicalValues, referenceTypes, subAttributes, ...characteristics } = attribute;
  return {
    ...characteristics,
    ...(canonicalValues ? { canonicalValues: [...canonicalValues] } : {}),
    ...(referenceTypes ? { referenceTypes: [...referenceTypes] } : {}),
    ...(subAttributes ? { subAttributes: subAttributes.map(describeAttribute) } : {}),
  };
}

/** Describes the features of this service (RFC 7643 §5) for a connection. */
function serviceProviderConfig({ profile, base }: ScimContext): DiscoveryResource {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_COUNT },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    // RFC 9865 §4. There is no cursorTimeout, since cursors never expire.
    pagination: {
      cursor: true,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize: MAX_COUNT,
      maxPageSize: MAX_COUNT,
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'OAuth Bearer Token',
        description: 'A bearer token in the Authorization header.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    ...profile.features.values,
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}
