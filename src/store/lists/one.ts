import { type Kysely, sql } from 'kysely';
import type { ListPage, ListQuery, UserField, UserOrder } from '../../provisioning/list-ports.ts';
import type { ListedIdentity } from '../../provisioning/store-ports.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { compiledQuery } from '../queries.ts';
import type { Tables } from '../tables.ts';
import { type ShownColumns, shownColumns, toShownIdentity, userList } from './user-list.ts';

interface Sought extends Scope {
  key: string;
}

const finders = {
  id: finder('id = '),
  userName: finder('user_name_key = '),
  externalId: finder('external_id = '),
  email: finder(
    'id in (select identity_id from identity_email where identity_email.account = identity.account and identity_email.connection_id = identity.connection_id and email_key = ',
    ')',
  ),
};

/** Two are enough to know that it is more than one. */
function finder(before: string, after = '') {
  return compiledQuery((db, sought: Sought) => {
    const query = sql<ShownColumns>`
      select ${shownColumns} from identity
      where ${inScope(sought)} and deleted_at is null and ${sql.raw(before)}${sought.key}${sql.raw(after)}
      limit 2`;
    return { compile: () => query.compile(db) };
  });
}

/**
 * What IdPs ask all day: who has this name, this id, this address. Answered by one query that is built once, when it is
 * asked for nobody or for one, whom no order and no place in a list concerns; undefined for anything else.
 */
export async function listByUniqueValue(
  db: Kysely<Tables>,
  scope: Scope,
  { where, start, limit }: ListQuery<UserField, UserOrder>,
): Promise<ListPage<ListedIdentity> | undefined> {
  if (!('field' in where) || where.operator !== 'eq' || !('offset' in start)) return undefined;
  const { field } = where;
  if (!(field === 'id' || field === 'userName' || field === 'externalId' || field === 'email'))
    return undefined;
  const key = String(userList.fields[field].key(where.value));
  const { rows } = await finders[field](db, { ...scope, key });
  if (rows.length > 1) return undefined;
  const isOnPage = start.offset === 0 && limit > 0;
  return { total: rows.length, rows: isOnPage ? rows.map(toShownIdentity) : [], keys: [], next: undefined };
}
