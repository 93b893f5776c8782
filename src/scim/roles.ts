import { type Request, Router } from 'express';
import type { AssignableRole } from '../model/translation.ts';
import { filterTest } from '../schema/filter-match.ts';
import type { JsonObject } from '../schema/resource.ts';
import { roleType } from '../schema/resource-types.ts';
import { parseFilterParameter } from './lists/filter.ts';
import { listResponse, type Page } from './lists/list-response.ts';
import { encodeCursor, type PageRequest, parsePageRequest } from './lists/pagination.ts';
import { parseProjection } from './lists/projection.ts';
import { parseSearchRequest } from './lists/search.ts';
import { parseQuery, type Query, type ScimContext } from './protocol/endpoint.ts';
import { ScimError } from './protocol/errors.ts';
import { sendScim } from './protocol/responses.ts';
import { resourceUrl } from './serialize.ts';

/**
 * Makes the routes of /Roles: the roles that the mapping in force lets the identity provider assign. Okta finds the endpoint through
 * /ResourceTypes, and sends the ids of these resources in `roles` of users.
 */
export function roleRoutes(contextOf: (request: Request) => ScimContext): Router {
  const list = async (context: ScimContext, query: Query) =>
    listResponse(await listRoles(context, query), context.now);
  return Router()
    .get('/Roles', async (request, response) =>
      sendScim(response, await list(contextOf(request), parseQuery(request.query))),
    )
    .post('/Roles/.search', async (request, response) =>
      sendScim(response, await list(contextOf(request), parseSearchRequest(request.body))),
    )
    .get('/Roles/:id', async (request, response) => {
      const context = contextOf(request);
      const projection = parseProjection(roleType, parseQuery(request.query));
      const role = (await readRoles(context)).find(({ id }) => id === request.params.id);
      if (!role)
        throw new ScimError(404, undefined, 'There is no such role, or the mapping does not allow it.');
      const location = resourceUrl(roleType, role.id, context.base);
      response.set({ 'Content-Location': location, Location: location });
      sendScim(response, JSON.stringify(projection.apply(role)));
    });
}

/** A role as SCIM shows it. */
interface RoleResource extends JsonObject {
  id: string;
}

async function readRoles({ roles, connection, base }: ScimContext): Promise<RoleResource[]> {
  return (await roles(connection)).map((role) => toRoleResource(role, base));
}

function toRoleResource({ name, role }: AssignableRole, base: string): RoleResource {
  return {
    schemas: [roleType.schema.id],
    id: name,
    displayName: displayNameOf(role),
    meta: { resourceType: roleType.name, location: resourceUrl(roleType, name, base) },
  };
}

/** Returns the name of a role in words: `Guest creator` for `guestCreator`. */
function displayNameOf(role: string): string {
  const words = role.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Roles are in the order of their ids; `sortBy` is ignored. */
const order = { by: 'position', descending: false };

async function listRoles(context: ScimContext, query: Query): Promise<Page> {
  const projection = parseProjection(roleType, query);
  const filter = parseFilterParameter(roleType, query['filter']);
  const { connection } = context;
  const scope = { connection, resourceType: roleType.name, filter: query['filter'], order };
  const { start, limit, startIndex, cursorScope } = parsePageRequest(query, scope);
  const all = await readRoles(context);
  const matching = filter ? all.filter(filterTest(roleType, filter)) : all;
  const following = rolesFrom(matching, start);
  const resources = following.slice(0, limit);
  const last = resources.at(-1);
  const hasNext = last !== undefined && following.length > resources.length;
  return {
    total: matching.length,
    startIndex,
    nextCursor: hasNext && cursorScope ? encodeCursor({ value: 0, id: last.id }, cursorScope) : undefined,
    resources: resources.map((role) => ({
      json: () => JSON.stringify(projection.apply(role)),
      cursor: undefined,
    })),
  };
}

function rolesFrom(roles: RoleResource[], start: PageRequest['start']): RoleResource[] {
  return 'offset' in start ? roles.slice(start.offset) : roles.filter(({ id }) => id > start.after.id);
}
