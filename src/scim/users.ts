import type { ListedUser, UserQuery, UserView } from '../provisioning/list-users.ts';
import { evaluateFilter, mentionsAttributes, prepareFilter, runInSteps } from '../schema/filter-match.ts';
import type { Filter } from '../schema/filter-parser.ts';
import { normalize } from '../schema/normalize.ts';
import { type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import type { ScimContext } from './context.ts';
import { type Endpoint, logDroppedAttributes } from './endpoint.ts';
import { parseFilterParameter, toUserFilterQuery } from './filter.ts';
import { parsePageRequest, parseUserOrder, toPageResources } from './pagination.ts';
import { applyPatch, parsePatch } from './patch.ts';
import { parseProjection, serializeUser, toUserResource, userResponse } from './serialize.ts';

/** /Users (RFC 7644 §3.3 to §3.6); PUT and PATCH answer with the user, as validators want it. */
export const usersEndpoint: Endpoint = {
  read: async ({ users, connection, base }, id, query) => {
    const projection = parseProjection(userType, query);
    return userResponse(await users.read(connection, id), base, projection);
  },

  list: async ({ users, connection, base }, query, among) => {
    const projection = parseProjection(userType, query);
    const filter = parseFilterParameter(userType, query['filter'], among);
    const order = parseUserOrder(query);
    const part = parsePageRequest(query, {
      connection,
      resourceType: userType.name,
      filter: query['filter'],
      order,
    });
    const { where, residual } = toUserFilterQuery(filter);
    const { total, next, ...found } = await users.list(connection, {
      ...{ where, order, start: part.place, limit: part.limit },
      residual: residual && residualOf(residual, base),
      withGroups: projection.includes('groups'),
    });
    const resources = toPageResources(found, {
      part,
      viewOf: (row) => (isWhole(row) ? row : undefined),
      read: (id) => users.read(connection, id),
      json: (view) => serializeUser(view, base, projection),
    });
    return { total, ...part.told(next), resources };
  },

  create: async (context, body, query) => {
    const projection = parseProjection(userType, query);
    const { users, connection, base } = context;
    return userResponse(await users.create(connection, desiredIn(context, body)), base, projection);
  },

  replace: async (context, id, { body, query }) => {
    const projection = parseProjection(userType, query);
    const desired = desiredIn(context, body);
    const { users, connection, base, preconditions: conditions } = context;
    const change = (_current: ScimResource, version: number) => {
      conditions.check(version);
      return desired;
    };
    return userResponse(await users.change(connection, id, change, 'replace'), base, projection);
  },

  patch: async ({ users, connection, base, preconditions: conditions }, id, { body, query }) => {
    const projection = parseProjection(userType, query);
    const operations = parsePatch(body);
    const change = (current: ScimResource, version: number) => {
      conditions.check(version);
      return applyPatch(userType, current, operations);
    };
    return userResponse(await users.change(connection, id, change, 'patch'), base, projection);
  },

  remove: ({ users, connection, preconditions: conditions }, id) =>
    users.remove(connection, id, conditions.check),
};

function isWhole(user: ListedUser): user is ListedUser & UserView {
  return user.desired !== undefined;
}

/** What is ours to say of a user: to say it costs more than to read what is kept. */
const ours = ['id', 'schemas', 'meta', 'groups', urns.travel];

function residualOf(filter: Filter, base: string): UserQuery['residual'] {
  const toBody = mentionsAttributes(userType, filter, ours)
    ? (view: UserView) => toUserResource(view, base)
    : ({ desired }: UserView): JsonObject => JSON.parse(desired);
  const condition = prepareFilter(filter);
  return {
    matches: (view, step) => runInSteps(evaluateFilter(userType, condition, toBody(view)), step),
    needsGroups: mentionsAttributes(userType, filter, ['groups']),
  };
}

function desiredIn(context: ScimContext, body: JsonObject): ScimResource {
  const { resource, dropped } = normalize(userType, body);
  logDroppedAttributes(context, dropped);
  return resource;
}
