import { type Request, type RequestHandler, Router } from 'express';
import type { GroupStory } from '../bridge/groups.ts';
import type { UserStory } from '../bridge/users.ts';
import { scopeOf } from '../http/scope.ts';
import { type Authenticate, connectionOf } from './authentication.ts';
import { readBody } from './body.ts';
import { conditionsOf } from './conditions.ts';
import type { ScimContext } from './context.ts';
import { discoveryRoutes } from './discovery.ts';
import { answerError } from './errors.ts';
import { resourceRoutes } from './resources.ts';
import { checkRoute, refuseUnsupported } from './routes.ts';
import { searchRoutes } from './search.ts';

/** What the front door needs from the house. */
export interface ScimDeps {
  users: UserStory;
  groups: GroupStory;
  authenticate: Authenticate;
  /** Scheme and host that clients use, without a slash at the end: the beginning of every location. */
  publicUrl(request: Request): string;
}

/** The SCIM service (DESIGN §4), to be mounted at /scim/v2 of an `httpApp`. */
export function scimApp(deps: ScimDeps): Router {
  const contexts = new WeakMap<Request, ScimContext>();
  const contextOf = (request: Request) => {
    const context = contexts.get(request);
    if (!context) throw new Error('A request came past the bearer check.');
    return context;
  };
  return Router().use(
    identify(deps, contexts),
    checkRoute,
    readBody,
    refuseUnsupported,
    discoveryRoutes(contextOf),
    searchRoutes(contextOf),
    resourceRoutes(contextOf),
    answerError,
  );
}

/** The bearer token alone selects the connection (DESIGN §2). */
function identify(deps: ScimDeps, contexts: WeakMap<Request, ScimContext>): RequestHandler {
  const { users, groups, authenticate, publicUrl } = deps;
  return async (request, response, next) => {
    const { log, note } = scopeOf(response);
    const connection = await connectionOf(request, authenticate);
    note({ connection });
    const base = `${publicUrl(request)}${request.baseUrl}`;
    contexts.set(request, {
      connection,
      base,
      users,
      groups,
      log,
      response,
      conditions: conditionsOf(request.headers),
    });
    next();
  };
}
