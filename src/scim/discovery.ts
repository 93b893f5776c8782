import { type Request, type Response, Router } from 'express';
import type { JsonObject } from '../schema/resource.ts';
import { groupType, userType } from '../schema/resource-type.ts';
import type { ScimContext } from './context.ts';
import { describeResourceType, describeSchema } from './describe.ts';
import { listResponse } from './list.ts';
import { ScimError } from './scim-error.ts';
import { sendScim } from './send.ts';
import { serviceProviderConfig } from './service-provider-config.ts';

const types = [userType, groupType];
const schemas = types.flatMap(({ schema, extensions }) => [schema, ...extensions]);

/** The discovery endpoints (RFC 7644 §4), said by the same tables that the service works with. */
export function discoveryRoutes(contextOf: (request: Request) => ScimContext): Router {
  const answer = (json: (base: string, id: string) => string) => (request: Request, response: Response) => {
    // "If a "filter" is provided, the service provider SHOULD respond with … 403" (RFC 7644 §4)
    if ('filter' in request.query) throw new ScimError(403, undefined, 'Discovery cannot be filtered.');
    const { id } = request.params;
    sendScim(response, json(contextOf(request).base, typeof id === 'string' ? id : ''));
  };
  return Router()
    .get(
      '/ServiceProviderConfig',
      answer((base) => JSON.stringify(serviceProviderConfig(base))),
    )
    .get(
      '/ResourceTypes',
      answer((base) => all(types.map((type) => describeResourceType(type, base)))),
    )
    .get(
      '/ResourceTypes/:id',
      answer((base, id) =>
        one(
          types.map((type) => describeResourceType(type, base)),
          id,
        ),
      ),
    )
    .get(
      '/Schemas',
      answer((base) => all(schemas.map((schema) => describeSchema(schema, base)))),
    )
    .get(
      '/Schemas/:id',
      answer((base, id) =>
        one(
          schemas.map((schema) => describeSchema(schema, base)),
          id,
        ),
      ),
    );
}

function all(bodies: JsonObject[]): string {
  const resources = bodies.map((body) => JSON.stringify(body));
  return listResponse({ total: bodies.length, startIndex: 1, resources });
}

function one(bodies: JsonObject[], id: string): string {
  const found = bodies.find((body) => String(body['id']).toLowerCase() === id.toLowerCase());
  if (!found) throw new ScimError(404, undefined, 'There is no such resource.');
  return JSON.stringify(found);
}
