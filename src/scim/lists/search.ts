import { type Request, type Response, Router } from 'express';
import { includesUrn } from '../../schema/normalize.ts';
import { type Json, type JsonObject, ownValue } from '../../schema/resource.ts';
import { groupType, userType } from '../../schema/resource-types.ts';
import { isUnassigned } from '../../schema/values.ts';
import { groupsEndpoint } from '../groups.ts';
import { parseQuery, type Query, type ScimContext } from '../protocol/endpoint.ts';
import { badRequest } from '../protocol/errors.ts';
import { sendScim } from '../protocol/responses.ts';
import { usersEndpoint } from '../users.ts';
import { listResponse, type Page, type PageResource } from './list-response.ts';
import { invalidCursorError, parseIndexPage } from './pagination.ts';

/**
 * Makes the routes of searches by POST (RFC 7644 §3.4.3) and at the root (§3.4.2.1). They are mounted before
 * SCIMMYRouters, which would parse filters in exponential time.
 */
export function searchRoutes(contextOf: (request: Request) => ScimContext): Router {
  const respondWith =
    (list: (context: ScimContext, query: Query) => Promise<Page>, queryOf: (request: Request) => Query) =>
    async (request: Request, response: Response) => {
      const context = contextOf(request);
      sendScim(response, await listResponse(await list(context, queryOf(request)), context.now));
    };
  const queryOfBody = ({ body }: Request) => parseSearchRequest(body);
  return Router()
    .get(
      '/',
      respondWith(listUsersAndGroups, ({ query }) => parseQuery(query)),
    )
    .post('/.search', respondWith(listUsersAndGroups, queryOfBody))
    .post('/Users/.search', respondWith(usersEndpoint.list, queryOfBody))
    .post('/Groups/.search', respondWith(groupsEndpoint.list, queryOfBody));
}

const searchRequestUrn = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

/** The JSON types of the members of a search. An integer may also be sent as a string, as in a URL. */
const memberTypes = {
  text: { expected: 'a string', accepts: (value: Json) => typeof value === 'string' },
  integer: {
    expected: 'an integer',
    accepts: (value: Json) => typeof value === 'string' || Number.isInteger(value),
  },
  names: {
    expected: 'an array of strings',
    accepts: (value: Json) => [value].flat().every((name) => typeof name === 'string'),
  },
};

/** The members of a SearchRequest and their types (RFC 7644 §3.4.3; `cursor`: RFC 9865 §3). */
const members = {
  attributes: 'names',
  excludedAttributes: 'names',
  filter: 'text',
  sortBy: 'text',
  sortOrder: 'text',
  startIndex: 'integer',
  count: 'integer',
  cursor: 'text',
} as const satisfies Record<string, keyof typeof memberTypes>;

/**
 * Converts the body of a search to the query of the equivalent GET. Members that RFC 7644 does not define are ignored.
 */
export function parseSearchRequest(body: JsonObject): Query {
  // The body must name the schema of a search: "Query requests MUST be identified using the following URI" (RFC 7644
  // §3.4.3).
  if (!includesUrn(ownValue(body, 'schemas'), searchRequestUrn))
    throw badRequest('invalidSyntax', `schemas must be ["${searchRequestUrn}"].`);
  const parameters = Object.entries(members).flatMap(([name, type]) => {
    const value = ownValue(body, name);
    if (value === undefined || isUnassigned(value)) return [];
    const { expected, accepts } = memberTypes[type];
    if (!accepts(value)) throw badRequest('invalidValue', `${name} must be ${expected}.`);
    return [[name, Array.isArray(value) ? value.map(String) : String(value)] as const];
  });
  return Object.fromEntries(parameters);
}

const searchedTypes = [userType, groupType];

/**
 * Lists users and groups together (RFC 7644 §3.4.2.1): first all users, then all groups; each part is sorted on its
 * own.
 */
function listUsersAndGroups(context: ScimContext, query: Query): Promise<Page> {
  return query['cursor'] === undefined ? listByIndex(context, query) : listByCursor(context, query);
}

async function listByIndex(context: ScimContext, query: Query): Promise<Page> {
  const { startIndex, count } = parseIndexPage(query);
  const users = await usersEndpoint.list(context, query, searchedTypes);
  const groupQuery = {
    ...query,
    startIndex: Math.max(1, startIndex - users.total),
    count: count - users.resources.length,
  };
  const groups = await groupsEndpoint.list(context, groupQuery, searchedTypes);
  return {
    total: users.total + groups.total,
    startIndex,
    resources: [...users.resources, ...groups.resources],
  };
}

/** The prefix of a cursor tells whether the next page continues the users or the groups. */
const userPrefix = 'U.';
const groupPrefix = 'G.';

async function listByCursor(context: ScimContext, query: Query): Promise<Page> {
  const cursor = String(query['cursor']);
  if (cursor.startsWith(groupPrefix)) {
    const groupQuery = { ...query, cursor: cursor.slice(groupPrefix.length) };
    const groups = await groupsEndpoint.list(context, groupQuery, searchedTypes);
    const { total } = await usersEndpoint.list(context, countQuery(query), searchedTypes);
    return { ...withPrefix(groupPrefix, groups), total: total + groups.total };
  }
  if (cursor !== '' && !cursor.startsWith(userPrefix)) throw invalidCursorError();
  const userQuery = { ...query, cursor: cursor.slice(userPrefix.length) };
  const users = await usersEndpoint.list(context, userQuery, searchedTypes);
  return appendGroups(context, query, users);
}

/** Fills the last page of users with groups. If that page is full already, the groups begin on the next page. */
async function appendGroups(context: ScimContext, query: Query, userPage: Page): Promise<Page> {
  const free = parseIndexPage({ count: query['count'] }).count - userPage.resources.length;
  const isFilled = userPage.nextCursor === undefined && free > 0;
  const groupQuery = isFilled ? { ...query, cursor: '', count: free } : countQuery(query);
  const groupPage = await groupsEndpoint.list(context, groupQuery, searchedTypes);
  const [users, groups] = [withPrefix(userPrefix, userPage), withPrefix(groupPrefix, groupPage)];
  const afterUsers = groupPage.total > 0 ? groupPrefix : undefined;
  return {
    total: userPage.total + groupPage.total,
    resources: [...users.resources, ...groups.resources],
    nextCursor: users.nextCursor ?? (isFilled ? groups.nextCursor : afterUsers),
  };
}

/** Changes a query so that it returns only the number of matches. */
function countQuery({ cursor: _, ...query }: Query): Query {
  return { ...query, count: 0 };
}

/** Adds a prefix to all cursors of a page. */
function withPrefix(prefix: string, { total, nextCursor, resources }: Page): Page {
  const addPrefix = ({ json, cursor }: PageResource) => ({
    json,
    cursor: cursor && (() => `${prefix}${cursor()}`),
  });
  return {
    total,
    nextCursor: nextCursor === undefined ? undefined : `${prefix}${nextCursor}`,
    resources: resources.map(addPrefix),
  };
}
