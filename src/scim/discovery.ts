import { type Request, type Response, Router } from 'express';
import { discoverySchemas } from '../schema/discovery-schemas.ts';
import type { JsonObject } from '../schema/resource.ts';
import { groupType, userType } from '../schema/resource-type.ts';
import type { ScimContext } from './context.ts';
import { type Described, describeResourceType, describeSchema } from './describe.ts';
import { shortList } from './list.ts';
import { ScimError } from './scim-error.ts';
import { sendScim } from './send.ts';
import { serviceProviderConfig } from './service-provider-config.ts';

const types = [userType, groupType];
const schemas = [...types.flatMap(({ schema, extensions }) => [schema, ...extensions]), ...discoverySchemas];

/** The discovery endpoints (RFC 7644 §4), said by the same tables that the service works with. */
export function discoveryRoutes(contextOf: (request: Request) => ScimContext): Router {
  const answer =
    (send: (response: Response, base: string, id: string) => void) =>
    (request: Request, response: Response) => {
      // "If a "filter" is provided, the service provider SHOULD respond with … 403" (RFC 7644 §4)
      if ('filter' in request.query) throw new ScimError(403, undefined, 'Discovery cannot be filtered.');
      const { id } = request.params;
      send(response, contextOf(request).base, typeof id === 'string' ? id : '');
    };
  const router = Router().get(
    '/ServiceProviderConfig',
    answer((response, base) => sendOne(response, serviceProviderConfig(base))),
  );
  for (const [path, describe] of [
    ['/ResourceTypes', resourceTypesAt],
    ['/Schemas', schemasAt],
  ] as const) {
    router
      .get(
        path,
        answer((response, base) => sendAll(response, describe(base))),
      )
      .get(
        `${path}/:id`,
        answer((response, base, id) => sendOne(response, named(describe(base), id))),
      );
  }
  return router;
}

function resourceTypesAt(base: string): Described[] {
  return types.map((type) => describeResourceType(type, base));
}

function schemasAt(base: string): Described[] {
  return schemas.map((schema) => describeSchema(schema, base));
}

function sendAll(response: Response, bodies: JsonObject[]): void {
  const resources = bodies.map((body) => JSON.stringify(body));
  sendScim(response, shortList({ total: bodies.length, startIndex: 1 }, resources));
}

/** meta.location "MUST be the same as the "Content-Location" HTTP response header" (RFC 7643 §3.1) */
function sendOne(response: Response, body: Described): void {
  response.setHeader('Content-Location', body.meta.location);
  response.setHeader('Location', body.meta.location);
  sendScim(response, JSON.stringify(body));
}

function named(bodies: Described[], id: string): Described {
  const found = bodies.find((body) => String(body['id']).toLowerCase() === id.toLowerCase());
  if (!found) throw new ScimError(404, undefined, 'There is no such resource.');
  return found;
}
