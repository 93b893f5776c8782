import type { Request, RequestHandler, Router } from 'express';
import SCIMMY from 'scimmy';
import { SCIMMYRouters } from 'scimmy-routers';
import { REVALIDATE } from '../http/app.ts';
import type { JsonObject } from '../schema/resource.ts';
import { groupType, type ResourceType, userType } from '../schema/resource-types.ts';
import { etagOf, type Query, type ScimContext } from './context.ts';
import type { Endpoint, ResourceResponse } from './endpoint.ts';
import { ScimError, sendAsScim, toLoggedScimError } from './errors.ts';
import { groupsEndpoint } from './groups.ts';
import { bufferStart, listResponse, type StreamedText } from './list-response.ts';
import { scimmySchemas } from './schemas.ts';
import { usersEndpoint } from './users.ts';

/** Longer than any id of ours; what is longer cannot exist. */
const MAX_ID_LENGTH = 200;

/** The routes of /Users and /Groups. `contextOf` gives what a request knows; the classes behind the routes know nothing. */
export function resourceRoutes(contextOf: (request: Request) => ScimContext): RequestHandler {
  declareResources();
  const routers = new SCIMMYRouters({ type: 'bearer', handler: () => '', context: contextOf });
  const resources = resourcesFirst(routers);
  return (request, response, next) => {
    sendAsScim(response);
    resources(request, response, next);
  };
}

/**
 * Moves the layers of the resources, and in them those of the methods, before the others, which have nothing to do here:
 * bodies are read, clients known and discovery answered before, and each layer that a request passes costs.
 */
function resourcesFirst(routers: Router): Router {
  // Layers without a path of their own (in the types of express this is not told) match everything.
  const hasPath = (layer: object) => !('slash' in layer && layer.slash === true);
  const resources = moveLayersAhead(routers, hasPath);
  for (const { handle } of resources) moveLayersAhead(handle as Router, ({ route }) => route !== undefined);
  return routers;
}

type Layer = Router['stack'][number];

/** Keeps the order among those that are moved, which are answered, and among the others. */
function moveLayersAhead({ stack }: Router, isMoved: (layer: Layer) => boolean): Layer[] {
  const moved = stack.filter(isMoved);
  stack.splice(0, stack.length, ...moved, ...stack.filter((layer) => !isMoved(layer)));
  return moved;
}

/** SCIMMY keeps its resource types for the whole process, so they are declared once, by whoever comes first. */
function declareResources(): void {
  if (SCIMMY.Resources.declared('User') !== undefined) return;
  const { user, group } = scimmySchemas();
  declareResource(userType, resourceClass(userType, usersEndpoint, user));
  declareResource(groupType, resourceClass(groupType, groupsEndpoint, group));
}

function declareResource({ name }: ResourceType, own: ReturnType<typeof resourceClass>): void {
  SCIMMY.Resources.declare(own as unknown as typeof SCIMMY.Types.Resource, name);
}

/** SCIMMY's types want answers to be instances of its schemas; at run time it passes on any object (and far faster). */
const Resource = SCIMMY.Types.Resource as unknown as new () => object;

/** A resource class whose methods are an endpoint's; nothing of SCIMMY parses, filters, pages or patches. */
function resourceClass(type: ResourceType, endpoint: Endpoint, schema: typeof SCIMMY.Types.Schema) {
  return class extends Resource {
    static readonly endpoint = type.endpoint;
    // What the class serves, declared to SCIMMY; requests use the attribute tables of `type`, read from the same schema.
    static readonly schema = schema;
    // SCIMMYRouters sets it on every request, for all of them at once; it is never read.
    static basepath = () => undefined;
    readonly #id: string | undefined;
    readonly #query: Query;

    /** SCIMMY's own constructor would parse filter and attributes, in exponential time. */
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
        const created = await endpoint.create(context, body, query);
        return toResponseBody(context, created);
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

/** 304 without a body for a version that the client has (RFC 7644 §3.14). */
async function answerConditionally(context: ScimContext, answer: ResourceResponse): Promise<ResponseBody> {
  if (!context.preconditions.has(answer.version)) return toResponseBody(context, answer);
  await toResponseBody(context, { ...answer, json: '' });
  context.response.status(304).removeHeader('Location');
  return undefined;
}

/** What SCIMMYRouters sends; undefined is 204. */
type ResponseBody = string | StreamedText | undefined;

async function toResponseBody(
  { response }: ScimContext,
  { json, version, location }: ResourceResponse,
): Promise<ResponseBody> {
  const sent = json === undefined ? undefined : await bufferStart(json);
  response.setHeader('ETag', etagOf(version));
  response.setHeader('Cache-Control', REVALIDATE);
  if (json !== undefined) {
    // meta.location "MUST be the same as the "Content-Location" HTTP response header" (RFC 7643 §3.1)
    response.setHeader('Content-Location', location);
    // Required in a 201 (RFC 7644 §3.3); the RFC's examples have it in a 200 as well (§3.4.1, §3.5.1).
    response.setHeader('Location', location);
  }
  return sent;
}

/** SCIMMYRouters answers only what it knows for a SCIM error; anything else it would tell the client as it is. */
async function withScimErrors<T>({ scope, response }: ScimContext, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const scimError = toLoggedScimError(error, scope.log);
    // SCIMMYRouters makes an error of its own of it, without the headers.
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
