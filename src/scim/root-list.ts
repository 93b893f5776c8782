import { groupType, userType } from '../schema/resource-type.ts';
import type { Query, ScimContext } from './context.ts';
import { invalidCursor } from './cursor.ts';
import type { Page, PageResource } from './endpoint.ts';
import { groupsEndpoint } from './groups.ts';
import { pagingOf } from './paging.ts';
import { usersEndpoint } from './users.ts';

const among = [userType, groupType];

/** Users and groups as one list (RFC 7644 §3.4.2.1): all users, then all groups, each in the order that was asked for. */
export function listAll(context: ScimContext, query: Query): Promise<Page> {
  return query['cursor'] === undefined ? pageByIndex(context, query) : pageByCursor(context, query);
}

async function pageByIndex(context: ScimContext, query: Query): Promise<Page> {
  const { startIndex, count } = pagingOf(query);
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
  if (cursor !== '' && !cursor.startsWith(inUsers)) throw invalidCursor();
  const users = await usersEndpoint.list(context, { ...query, cursor: cursor.slice(inUsers.length) }, among);
  return withGroups(context, query, users);
}

/** Groups fill up the last page of users, or begin on the next one. */
async function withGroups(context: ScimContext, query: Query, users: Page): Promise<Page> {
  const room = pagingOf({ count: query['count'] }).count - users.resources.length;
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
