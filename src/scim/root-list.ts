import type { Query, ScimContext } from './context.ts';
import type { Page } from './endpoint.ts';
import { groupsEndpoint } from './groups.ts';
import { pagingOf } from './paging.ts';
import { badRequest } from './scim-error.ts';
import { usersEndpoint } from './users.ts';

/** Users and groups as one list (RFC 7644 §3.4.2.1): all users, then all groups, each in its own order. */
export async function listAll(context: ScimContext, query: Query): Promise<Page> {
  if (query['cursor'] !== undefined) {
    throw badRequest('invalidCursor', 'A cursor leads through users or through groups, not through both.');
  }
  const { startIndex, count } = pagingOf(query);
  const users = await usersEndpoint.list(context, query);
  const groups = await groupsEndpoint.list(context, {
    ...query,
    startIndex: String(Math.max(1, startIndex - users.total)),
    count: String(count - users.resources.length),
  });
  return {
    total: users.total + groups.total,
    startIndex,
    resources: [...users.resources, ...groups.resources],
  };
}
