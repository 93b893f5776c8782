import { sql } from 'kysely';
import type { ListPage, ListQuery, UserField, UserOrder } from '../../model/list-ports.ts';
import type { ListedIdentity } from '../../model/store-ports.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { compiledQuery } from '../sql/queries.ts';
import { type ListScope, userList } from './list-definitions.ts';

/** The fields of which a value usually belongs to one user. */
const lookups = {
  id: selectUsers('id = '),
  userName: selectUsers('user_name_key = '),
  externalId: selectUsers('external_id = '),
  email: selectUsers(
    `id in (select identity_id from identity_email where identity_email.account = identity.account
      and identity_email.connection_id = identity.connection_id and email_key = `,
    ')',
  ),
};

/** A second row shows that the value is not unique. */
function selectUsers(before: string, after = '') {
  return compiledQuery((db, lookup: Scope & { key: string; hidden: string }) => {
    const query = sql<object>`
      select ${userList.columns} from identity
      where ${inScope(lookup)} and ${userList.live} and ${sql.raw(before)}${lookup.key}${sql.raw(after)}
        and (claimed = 1 or travel_id <> ${lookup.hidden})
      limit 2`;
    return { compile: () => query.compile(db) };
  });
}

/**
 * Answers a search for the user with one value, which is the most frequent request of IdPs, by one compiled query: to build the
 * queries of a list costs as much as the rest of the request. Returns undefined for other searches, and if several users have the
 * value.
 */
export async function listByUniqueValue(
  scope: ListScope,
  { where, start, limit }: ListQuery<UserField, UserOrder>,
  // No traveler has an empty id.
  hidden = '',
): Promise<ListPage<ListedIdentity> | undefined> {
  if (!('field' in where) || where.operator !== 'eq' || !('offset' in start)) return undefined;
  const { field } = where;
  if (!(field in lookups)) return undefined;
  const key = String(userList.fields[field].key(where.value));
  const { rows } = await lookups[field as keyof typeof lookups](scope.db, { ...scope, key, hidden });
  if (rows.length > 1) return undefined;
  const isOnPage = start.offset === 0 && limit > 0;
  return { total: rows.length, rows: isOnPage ? rows.map(userList.toRow) : [], keys: [], next: undefined };
}
