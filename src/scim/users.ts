import type { ListedUser, UserQuery, UserView } from '../provisioning/users/list-users.ts';
import type { UserChange } from '../provisioning/users/users.ts';
import { pausingFilterTest } from '../schema/filter-match.ts';
import type { Filter } from '../schema/filter-parser.ts';
import { type JsonObject, urns } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import { mentionsAttributes, parseFilterParameter, toFilterQuery, userColumns } from './lists/filter.ts';
import { parseOrder, parsePageRequest, toPage, userOrders } from './lists/pagination.ts';
import { parseProjection } from './lists/projection.ts';
import { parseNewUser, parseReplacement, patchOfUser } from './patch/departures.ts';
import { parsePatch, statedAttributes } from './patch/patch.ts';
import { type Endpoint, logDroppedAttributes, type ScimContext } from './protocol/endpoint.ts';
import { serializeUser, toUserResource, userResponse } from './serialize.ts';

/** /Users (RFC 7644 §3.3 to §3.6). PUT and PATCH return the user, as the validators of Microsoft and Okta require. */
export const usersEndpoint: Endpoint = {
  read: async ({ users, connection, base }, id, query) => {
    const projection = parseProjection(userType, query);
    return userResponse(await users.read(connection, id), base, projection);
  },

  list: async ({ users, connection, base, scope: { id: requestId } }, query, searchedTypes) => {
    const projection = parseProjection(userType, query);
    const filter = parseFilterParameter(userType, query['filter'], searchedTypes);
    const order = parseOrder(userType, userOrders, query);
    const scope = { connection, resourceType: userType.name, filter: query['filter'], order };
    const page = parsePageRequest(query, scope);
    const { where, residual, exactUnlessLong } = toFilterQuery(userColumns, filter);
    const listed = await users.list(connection, {
      ...{ where, exactUnlessLong, order },
      start: page.start,
      limit: page.limit,
      residual: residual && toUserResidual(residual, base),
      withGroups: projection.includes('groups'),
      requestId,
    });
    return toPage(listed, page, {
      viewOf: (row) => (isLoaded(row) ? row : undefined),
      read: (id) => users.read(connection, id),
      serialize: (view) => serializeUser(view, base, projection),
    });
  },

  create: async (context, body, query) => {
    const projection = parseProjection(userType, query);
    const { users, connection, base, scope } = context;
    const { resource, dropped, leftOut } = parseNewUser(body);
    logDroppedAttributes(context, dropped);
    const user = await users.create(connection, resource, scope.id, leftOut);
    return userResponse(user, base, projection);
  },

  replace: async (context, id, { body, query }) => {
    const projection = parseProjection(userType, query);
    const { change, dropped } = parseReplacement(body);
    logDroppedAttributes(context, dropped);
    const { users, connection, base, scope } = context;
    const user = await users.change(connection, id, checkedFirst(context, change), 'replace', scope.id);
    return userResponse(user, base, projection);
  },

  patch: async (context, id, { body, query }) => {
    const projection = parseProjection(userType, query);
    const operations = parsePatch(body);
    const change = checkedFirst(context, patchOfUser(operations));
    const { users, connection, base, scope } = context;
    const stated = () => statedAttributes(userType, operations);
    const user = await users.change(connection, id, change, 'patch', scope.id, stated);
    return userResponse(user, base, projection);
  },

  remove: ({ users, connection, preconditions, scope }, id) =>
    users.remove(connection, id, preconditions.check, scope.id),
};

function isLoaded(user: ListedUser): user is ListedUser & UserView {
  return user.desired !== undefined;
}

/**
 * Attributes that the service adds to the stored JSON. They are added only if a filter needs them, because that takes
 * longer than parsing the JSON.
 */
const addedAttributes = ['id', 'schemas', 'meta', 'groups', urns.travel];

/** Returns the test that the store applies to each row, for the part of a filter that no column answers. */
function toUserResidual(filter: Filter, base: string): UserQuery['residual'] {
  const toResource = mentionsAttributes(userType, filter, addedAttributes)
    ? (view: UserView) => toUserResource(view, base)
    : ({ desired }: UserView): JsonObject => JSON.parse(desired);
  const test = pausingFilterTest(userType, filter);
  return {
    matches: (view, pause) => test(toResource(view), pause),
    needsGroups: mentionsAttributes(userType, filter, ['groups']),
  };
}

/** Checks `If-Match` before the change. */
function checkedFirst({ preconditions }: ScimContext, change: UserChange): UserChange {
  return (current, version, report) => {
    preconditions.check(version);
    return change(current, version, report);
  };
}
