import { type ErrorRequestHandler, type Request, type RequestHandler, Router } from 'express';
import type { GroupStory } from '../bridge/groups.ts';
import type { UserStory } from '../bridge/users.ts';
import { scopeOf } from '../http/scope.ts';
import { type AuthenticationDeps, connectionOf } from './authentication.ts';
import { readBody } from './body.ts';
import { conditionsOf } from './conditions.ts';
import type { ScimContext } from './context.ts';
import { discoveryRoutes } from './discovery.ts';
import { answerError } from './errors.ts';
import { resourceRoutes } from './resources.ts';
import { routeOf } from './routes.ts';
import { ScimError } from './scim-error.ts';
import { searchRoutes } from './search.ts';

/** What the front door needs from the house. */
export interface ScimDeps extends AuthenticationDeps {
  users: UserStory;
  groups: GroupStory;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Scheme and host that clients use, without a slash at the end: the beginning of every location. */
  publicUrl(request: Request): string;
}

/** The SCIM service (RFC 7644), to be mounted at /scim/v2 of an `httpApp`. */
export function scimApp(deps: ScimDeps): (RequestHandler | ErrorRequestHandler)[] {
  const contexts = new WeakMap<Request, ScimContext>();
  const contextOf = (request: Request) => {
    const context = contexts.get(request);
    if (!context) throw new Error('A request came past the bearer check.');
    return context;
  };
  const routes = {
    resource: resourceRoutes(contextOf),
    other: Router().use(discoveryRoutes(contextOf), searchRoutes(contextOf)),
  };
  return [enter({ deps, contexts, routes }), answerError];
}

interface Doors {
  deps: ScimDeps;
  contexts: WeakMap<Request, ScimContext>;
  routes: { resource: RequestHandler; other: RequestHandler };
}

/**
 * All that comes before a route, in one step: every further layer of express costs each request. The bearer token alone
 * selects the connection (docs/architecture.md, Connections); a body is read also where nothing is offered, so that the TCP
 * connection stays usable.
 */
function enter({ deps, contexts, routes }: Doors): RequestHandler {
  return async (request, response, next) => {
    const scope = scopeOf(response);
    const connection = await connectionOf(request, response, deps);
    const { users, groups, now } = deps;
    const base = `${deps.publicUrl(request)}${request.baseUrl}`;
    const conditions = conditionsOf(request.headers);
    const context = { connection, base, users, groups, scope, response, conditions, now };
    contexts.set(request, context);
    const route = routeOf(request);
    await readBody(request, response);
    if (route === 'notOffered') throw new ScimError(501, undefined, 'This service does not offer that.');
    routes[route](request, response, next);
  };
}
