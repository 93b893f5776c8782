import { type Kysely, sql } from 'kysely';
import type { HiddenPeople, ListPage, ListQuery, UserField, UserOrder } from '../provisioning/list-ports.ts';
import type { ListedIdentity } from '../provisioning/store-ports.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import { type ShownColumns, shownColumns, toShownIdentity, userList } from './list-definitions.ts';
import { compiledQuery } from './queries.ts';
import type { Tables } from './tables.ts';

/** The fields that usually have one user for each value. */
const lookups = {
  id: selectUsers('id = '),
  userName: selectUsers('user_name_key = '),
  externalId: selectUsers('external_id = '),
  email: selectUsers(
    'id in (select identity_id from identity_email where identity_email.account = identity.account and identity_email.connection_id = identity.connection_id and email_key = ',
    ')',
  ),
};

const isStranger = sql`case when claimed = 0 and origin = '{}' then 1 else 0 end`;

/** A second row shows that the value is not unique. */
function selectUsers(before: string, after = '') {
  return compiledQuery((db, lookup: Scope & { key: string; hidden: string }) => {
    const query = sql<ShownColumns & { is_stranger: 0 | 1 }>`
      select ${shownColumns}, ${isStranger} as is_stranger from identity
      where ${inScope(lookup)} and deleted_at is null and ${sql.raw(before)}${lookup.key}${sql.raw(after)}
        and (claimed = 1 or travel_id <> ${lookup.hidden})
      limit 2`;
    return { compile: () => query.compile(db) };
  });
}

/**
 * Answers the most frequent list request of IdPs, which asks for the user with one value, by a single compiled query.
 * Returns undefined for other requests, and if several users have the value.
 */
export async function listByUniqueValue(
  db: Kysely<Tables>,
  scope: Scope,
  { where, start, limit }: ListQuery<UserField, UserOrder>,
  // No traveler has an empty id.
  { travelId: hidden = '' }: HiddenPeople,
): Promise<ListPage<ListedIdentity> | undefined> {
  if (!('field' in where) || where.operator !== 'eq' || !('offset' in start)) return undefined;
  const { field } = where;
  if (!(field === 'id' || field === 'userName' || field === 'externalId' || field === 'email'))
    return undefined;
  const key = String(userList.fields[field].key(where.value));
  const { rows } = await lookups[field](db, { ...scope, key, hidden });
  if (rows.length > 1) return undefined;
  const isOnPage = start.offset === 0 && limit > 0;
  return { total: rows.length, rows: isOnPage ? rows.map(toListed) : [], keys: [], next: undefined };
}

function toListed(row: ShownColumns & { is_stranger: 0 | 1 }): ListedIdentity {
  return { ...toShownIdentity(row), isStranger: row.is_stranger === 1 };
}
