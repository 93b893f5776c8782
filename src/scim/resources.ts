import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import SCIMMY from 'scimmy';
import { SCIMMYRouters } from 'scimmy-routers';
import { REVALIDATE } from '../http/app.ts';
import type { JsonObject } from '../schema/resource.ts';
import { groupType, type ResourceType, userType } from '../schema/resource-types.ts';
import { scimmySchemas } from './discovery/schemas.ts';
import { groupsEndpoint } from './groups.ts';
import { bufferStart, listResponse } from './lists/list-response.ts';
import type { Endpoint, ResourceResponse, ScimContext } from './protocol/endpoint.ts';
import { ScimError } from './protocol/errors.ts';
import { etagOf } from './protocol/etags.ts';
import type { JsonText } from './protocol/responses.ts';
import { keepingErrors, restoreError, sendAsScim, UnparsedResource } from './scimmy-corrections.ts';
import { usersEndpoint } from './users.ts';

/** Longer ids, in characters, are answered with 404 without a query: no id of this service is as long. */
const MAX_ID_LENGTH = 200;

/**
 * Makes the routes of /Users and /Groups by SCIMMYRouters. Its resource classes are shared by all services of the
 * process, so their methods get the context of each request from `contextOf`.
 */
export function resourceRoutes(
  contextOf: (request: Request) => ScimContext,
): (RequestHandler | ErrorRequestHandler)[] {
  // The declaration is global, so only the first service of a process makes it.
  if (SCIMMY.Resources.declared('User') === undefined) {
    const { user, group } = scimmySchemas();
    declareResource(userType, usersEndpoint, user);
    declareResource(groupType, groupsEndpoint, group);
  }
  // Requests are authenticated before, by `scimApp`.
  const routers = new SCIMMYRouters({ type: 'bearer', handler: () => '', context: contextOf });
  // The routers of the resource types come first. Before them are six others, whose paths never arrive here, and after them two handlers.
  const count = Object.keys(SCIMMY.Resources.declared()).length;
  routers.stack.splice(-8, 0, ...routers.stack.splice(-2 - count, count));
  return [sendAsScim, routers, restoreError];
}

/** Declares the resource class of an endpoint. SCIMMY does not parse, filter, page or patch: the endpoint does. */
function declareResource(type: ResourceType, endpoint: Endpoint, schema: typeof SCIMMY.Types.Schema): void {
  const resourceClass = class extends UnparsedResource {
    static readonly endpoint = type.endpoint;
    static readonly schema = schema;

    read(context: ScimContext) {
      return keepingErrors(context.response, async () =>
        this.id === undefined
          ? listResponse(await endpoint.list(context, this.query), context.now)
          : answerConditionally(context, await endpoint.read(context, checkId(this.id), this.query)),
      );
    }

    write(body: JsonObject, context: ScimContext) {
      return keepingErrors(context.response, async () =>
        toResponseBody(
          context,
          this.id === undefined
            ? await endpoint.create(context, body, this.query)
            : await endpoint.replace(context, checkId(this.id), { body, query: this.query }),
        ),
      );
    }

    patch(body: JsonObject, context: ScimContext) {
      const request = { body, query: this.query };
      return keepingErrors(context.response, async () =>
        toResponseBody(context, await endpoint.patch(context, checkId(this.id), request)),
      );
    }

    dispose(context: ScimContext) {
      return keepingErrors(context.response, () => endpoint.remove(context, checkId(this.id)));
    }
  };
  SCIMMY.Resources.declare(resourceClass as unknown as typeof SCIMMY.Types.Resource, type.name);
}

/** Answers 304 without a body if the client has the version already (RFC 7644 §3.14). */
async function answerConditionally(context: ScimContext, answer: ResourceResponse): Promise<ResponseBody> {
  if (!context.preconditions.isCached(answer.version)) return toResponseBody(context, answer);
  await toResponseBody(context, { ...answer, json: '' });
  context.response.status(304).removeHeader('Location');
  return undefined;
}

/** The response body that SCIMMYRouters sends; undefined makes it send 204. */
type ResponseBody = JsonText | undefined;

async function toResponseBody(
  { response }: ScimContext,
  { json, version, location }: ResourceResponse,
): Promise<ResponseBody> {
  const body = json === undefined ? undefined : await bufferStart(json);
  response.setHeader('ETag', etagOf(version));
  response.setHeader('Cache-Control', REVALIDATE);
  if (json !== undefined) {
    // meta.location "MUST be the same as the "Content-Location" HTTP response header" (RFC 7643 §3.1)
    response.setHeader('Content-Location', location);
    // Required in a 201 (RFC 7644 §3.3); the RFC's examples have it in a 200 as well (§3.4.1, §3.5.1).
    response.setHeader('Location', location);
  }
  return body;
}

function checkId(id: string | undefined): string {
  if (id === undefined || id.length > MAX_ID_LENGTH || id.includes('\0')) {
    throw new ScimError(404, undefined, 'There is no such resource.');
  }
  return id;
}
