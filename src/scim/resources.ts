import type { Request, RequestHandler, Router } from 'express';
import SCIMMY from 'scimmy';
import { SCIMMYRouters } from 'scimmy-routers';
import { REVALIDATE } from '../http/app.ts';
import type { JsonObject } from '../schema/resource.ts';
import { groupType, type ResourceType, userType } from '../schema/resource-types.ts';
import type { Endpoint, Query, ResourceResponse, ScimContext } from './endpoint.ts';
import { ScimError, toLoggedScimError } from './errors.ts';
import { etagOf } from './etags.ts';
import { groupsEndpoint } from './groups.ts';
import { bufferStart, listResponse } from './list-response.ts';
import { type StreamedText, sendAsScim } from './responses.ts';
import { scimmySchemas } from './schemas.ts';
import { usersEndpoint } from './users.ts';

/** Longer ids, in characters, are answered with 404 without a query: no id of this service is as long. */
const MAX_ID_LENGTH = 200;

/**
 * Makes the routes of /Users and /Groups by SCIMMYRouters. Its resource classes are shared by all services of the
 * process, so their methods get the context of each request from `contextOf`.
 */
export function resourceRoutes(contextOf: (request: Request) => ScimContext): RequestHandler {
  declareResources();
  const routers = resourceRouters(
    new SCIMMYRouters({ type: 'bearer', handler: () => '', context: contextOf }),
  );
  return (request, response, next) => {
    const { url, baseUrl, path } = request;
    const [endpoint = ''] = /^\/[^/]*/.exec(path) ?? [];
    const router = routers.get(endpoint.toLowerCase());
    if (!router) {
      next();
      return;
    }
    sendAsScim(response);
    // A mounted router sees only the rest of the path.
    const queryStart = url.indexOf('?');
    request.url = `${path.slice(endpoint.length) || '/'}${queryStart < 0 ? '' : url.slice(queryStart)}`;
    request.baseUrl = `${baseUrl}${endpoint}`;
    router(request, response, (error) => {
      Object.assign(request, { url, baseUrl });
      next(error);
    });
  };
}

/** A method of express routers that their types do not declare. */
interface RouteList {
  listRoutes(): { path: string; router?: Router }[];
}

/**
 * Returns the routers that SCIMMYRouters mounts for the resource types, by their paths in lower case. They are called
 * directly: its other routers and handlers parse bodies, authenticate and serve discovery, which `scim/app.ts` has
 * already done, and each router or layer on the way to a route slows every request.
 */
function resourceRouters(scimmyRouters: Router): Map<string, Router> {
  const mounted = (scimmyRouters as Router & RouteList).listRoutes();
  const routers = new Map<string, Router>();
  for (const { path, router } of mounted) {
    if (path === '/' || !router) continue;
    moveRoutesAhead(router);
    routers.set(path.toLowerCase(), router);
  }
  return routers;
}

/** Moves the routes of a router before its other layers. */
function moveRoutesAhead({ stack }: Router): void {
  const isRoute = ({ route }: Router['stack'][number]) => route !== undefined;
  stack.splice(0, stack.length, ...stack.filter(isRoute), ...stack.filter((layer) => !isRoute(layer)));
}

/**
 * Declares the resource types to SCIMMY. The declaration is global, so only the first service of a process makes it.
 */
function declareResources(): void {
  if (SCIMMY.Resources.declared('User') !== undefined) return;
  const { user, group } = scimmySchemas();
  declareResource(userType, resourceClass(userType, usersEndpoint, user));
  declareResource(groupType, resourceClass(groupType, groupsEndpoint, group));
}

function declareResource({ name }: ResourceType, resource: ReturnType<typeof resourceClass>): void {
  SCIMMY.Resources.declare(resource as unknown as typeof SCIMMY.Types.Resource, name);
}

/**
 * SCIMMY's types require methods to return instances of its schemas. At run time it accepts any value, which is much
 * faster.
 */
const Resource = SCIMMY.Types.Resource as unknown as new () => object;

/**
 * Makes a SCIMMY resource class whose methods call an endpoint. Parsing, filters, paging and PATCH are not left to
 * SCIMMY.
 */
function resourceClass(type: ResourceType, endpoint: Endpoint, schema: typeof SCIMMY.Types.Schema) {
  return class extends Resource {
    static readonly endpoint = type.endpoint;
    // The schema that SCIMMY serves for this class; the attribute tables of `type` are generated from it.
    static readonly schema = schema;
    // SCIMMYRouters sets the base path on every request, but for the whole process. Ignore it: the request context has
    // the base URL.
    static basepath = () => undefined;
    readonly #id: string | undefined;
    readonly #query: Query;

    /** Replaces SCIMMY's constructor, which parses filters and attributes in exponential time. */
    constructor(...[id, query]: [id?: string | Query, query?: Query]) {
      super();
      this.#id = typeof id === 'string' ? id : undefined;
      this.#query = (typeof id === 'string' ? query : id) ?? {};
    }

    read(context: ScimContext) {
      const id = this.#id;
      return withScimErrors(context, async () =>
        id === undefined
          ? listResponse(await endpoint.list(context, this.#query), context.now)
          : answerConditionally(context, await endpoint.read(context, checkId(id), this.#query)),
      );
    }

    write(body: JsonObject, context: ScimContext) {
      const [id, query] = [this.#id, this.#query];
      return withScimErrors(context, async () => {
        if (id !== undefined)
          return toResponseBody(context, await endpoint.replace(context, checkId(id), { body, query }));
        return toResponseBody(context, await endpoint.create(context, body, query));
      });
    }

    patch(body: JsonObject, context: ScimContext) {
      return withScimErrors(context, async () =>
        toResponseBody(
          context,
          await endpoint.patch(context, checkId(this.#id), { body, query: this.#query }),
        ),
      );
    }

    dispose(context: ScimContext) {
      return withScimErrors(context, () => endpoint.remove(context, checkId(this.#id)));
    }
  };
}

/** Answers 304 without a body if the client has the version already (RFC 7644 §3.14). */
async function answerConditionally(context: ScimContext, answer: ResourceResponse): Promise<ResponseBody> {
  if (!context.preconditions.isCached(answer.version)) return toResponseBody(context, answer);
  await toResponseBody(context, { ...answer, json: '' });
  context.response.status(304).removeHeader('Location');
  return undefined;
}

/** The response body that SCIMMYRouters sends; undefined makes it send 204. */
type ResponseBody = string | StreamedText | undefined;

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

/**
 * Converts every error to a ScimError, because SCIMMYRouters would send the message of any other error to the client.
 */
async function withScimErrors<T>({ scope, response }: ScimContext, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const scimError = toLoggedScimError(error, scope.log);
    // Set the headers now: SCIMMYRouters wraps the error in one of its own, which has no headers.
    response.set(scimError.headers);
    throw scimError;
  }
}

function checkId(id: string | undefined): string {
  if (id === undefined || id.length > MAX_ID_LENGTH || id.includes('\0')) {
    throw new ScimError(404, undefined, 'There is no such resource.');
  }
  return id;
}
