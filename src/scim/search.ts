import { type Request, type Response, Router } from 'express';
import { includesUrn } from '../schema/normalize.ts';
import { type Json, type JsonObject, ownValue } from '../schema/resource.ts';
import { groupType, userType } from '../schema/resource-types.ts';
import { isUnassigned } from '../schema/values.ts';
import type { Query, ScimContext } from './context.ts';
import type { Page, PageResource } from './endpoint.ts';
import { badRequest } from './errors.ts';
import { groupsEndpoint } from './groups.ts';
import { listResponse } from './list-response.ts';
import { invalidCursorError, parseIndexPage } from './pagination.ts';
import { sendJsonText } from './responses.ts';
import { usersEndpoint } from './users.ts';

/**
 * Searches by POST (RFC 7644 §3.4.3) and at the root (§3.4.2.1). They come before SCIMMYRouters, which would parse filters
 * in exponential time.
 */
export function searchRoutes(contextOf: (request: Request) => ScimContext): Router {
  const answer =
    (list: (context: ScimContext, query: Query) => Promise<Page>, queryOf: (request: Request) => Query) =>
    async (request: Request, response: Response) => {
      const context = contextOf(request);
      sendJsonText(response, await listResponse(await list(context, queryOf(request)), context.now));
    };
  const inBody = ({ body }: Request) => parseSearchRequest(body);
  return Router()
    .get(
      '/',
      answer(listUsersAndGroups, ({ query }) => query),
    )
    .post('/.search', answer(listUsersAndGroups, inBody))
    .post('/Users/.search', answer(usersEndpoint.list, inBody))
    .post('/Groups/.search', answer(groupsEndpoint.list, inBody));
}

const searchRequest = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

/** What a member may be; an integer may come as text, as it does in a URL. */
const kinds = {
  text: { wanted: 'a string', accepts: (value: Json) => typeof value === 'string' },
  integer: {
    wanted: 'an integer',
    accepts: (value: Json) => typeof value === 'string' || Number.isInteger(value),
  },
  names: {
    wanted: 'an array of strings',
    accepts: (value: Json) => [value].flat().every((name) => typeof name === 'string'),
  },
};

/** The members of a search and their types (RFC 7644 §3.4.3; `cursor`: RFC 9865 §3). */
const members = {
  attributes: 'names',
  excludedAttributes: 'names',
  filter: 'text',
  sortBy: 'text',
  sortOrder: 'text',
  startIndex: 'integer',
  count: 'integer',
  cursor: 'text',
} as const satisfies Record<string, keyof typeof kinds>;

/** Reads the body of a search as the query that a GET would have; members that RFC 7644 does not know are ignored. */
export function parseSearchRequest(body: JsonObject): Query {
  checkSchemas(ownValue(body, 'schemas'));
  const given = Object.entries(members).flatMap(([name, kind]) => {
    const value = ownValue(body, name);
    if (value === undefined || isUnassigned(value)) return [];
    return [[name, read(name, kinds[kind], value)] as const];
  });
  return Object.fromEntries(given);
}

/** "Query requests MUST be identified using the following URI" (RFC 7644 §3.4.3). */
function checkSchemas(schemas: Json | undefined): void {
  if (!includesUrn(schemas, searchRequest))
    throw badRequest('invalidSyntax', `schemas must be ["${searchRequest}"].`);
}

/** As a URL has it: everything is text, or a list of texts. */
function read(
  name: string,
  { wanted, accepts }: (typeof kinds)[keyof typeof kinds],
  value: Json,
): string | string[] {
  if (!accepts(value)) throw badRequest('invalidValue', `${name} must be ${wanted}.`);
  return Array.isArray(value) ? value.map(String) : String(value);
}

const among = [userType, groupType];

/** Users and groups as one list (RFC 7644 §3.4.2.1): all users, then all groups, each in the order that was asked for. */
export function listUsersAndGroups(context: ScimContext, query: Query): Promise<Page> {
  return query['cursor'] === undefined ? pageByIndex(context, query) : pageByCursor(context, query);
}

async function pageByIndex(context: ScimContext, query: Query): Promise<Page> {
  const { startIndex, count } = parseIndexPage(query);
  const users = await usersEndpoint.list(context, query, among);
  const part = {
    startIndex: String(Math.max(1, startIndex - users.total)),
    count: String(count - users.resources.length),
  };
  const groups = await groupsEndpoint.list(context, { ...query, ...part }, among);
  return {
    total: users.total + groups.total,
    startIndex,
    resources: [...users.resources, ...groups.resources],
  };
}

/** Cursors begin with what they lead through. */
const inUsers = 'U.';
const inGroups = 'G.';

async function pageByCursor(context: ScimContext, query: Query): Promise<Page> {
  const cursor = String(query['cursor']);
  if (cursor.startsWith(inGroups)) {
    const groups = await groupsEndpoint.list(
      context,
      { ...query, cursor: cursor.slice(inGroups.length) },
      among,
    );
    const { total } = await usersEndpoint.list(context, counting(query), among);
    return {
      total: total + groups.total,
      nextCursor: led(inGroups, groups.nextCursor),
      resources: leading(inGroups, groups.resources),
    };
  }
  if (cursor !== '' && !cursor.startsWith(inUsers)) throw invalidCursorError();
  const users = await usersEndpoint.list(context, { ...query, cursor: cursor.slice(inUsers.length) }, among);
  return withGroups(context, query, users);
}

/** Groups fill up the last page of users, or begin on the next one. */
async function withGroups(context: ScimContext, query: Query, users: Page): Promise<Page> {
  const room = parseIndexPage({ count: query['count'] }).count - users.resources.length;
  const isLast = users.nextCursor === undefined && room > 0;
  const next = isLast ? { ...query, cursor: '', count: String(room) } : counting(query);
  const groups = await groupsEndpoint.list(context, next, among);
  const afterUsers = groups.total > 0 ? inGroups : undefined;
  return {
    total: users.total + groups.total,
    resources: [...leading(inUsers, users.resources), ...leading(inGroups, groups.resources)],
    nextCursor: led(inUsers, users.nextCursor) ?? (isLast ? led(inGroups, groups.nextCursor) : afterUsers),
  };
}

/** Asks how many there are, and for none of them. */
function counting({ cursor: _, ...query }: Query): Query {
  return { ...query, count: '0' };
}

function led(through: string, cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : `${through}${cursor}`;
}

/** The same resources, with cursors that say what they lead through. */
function leading(through: string, resources: PageResource[]): PageResource[] {
  return resources.map(({ json, release, cursor }) => ({
    json,
    release,
    cursor: cursor && (() => `${through}${cursor()}`),
  }));
}
