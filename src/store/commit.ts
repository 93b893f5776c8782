import { type Kysely, sql } from 'kysely';
import type { Identity } from '../bridge/identity.ts';
import type { IdentityChange } from '../bridge/ports.ts';
import { atomically } from './atomically.ts';
import type { Database } from './database.ts';
import { eraseUnclaimed } from './erase.ts';
import { giveEmailUp, insert, release, unlink, update } from './identity-changes.ts';
import { keyOf, keyOfAttribute } from './keys.ts';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

/** Makes the changes in their order, all or none. */
export async function commit(
  { db, isDuplicate }: Database,
  connection: string,
  changes: IdentityChange[],
): Promise<'done' | 'stale' | 'duplicate'> {
  try {
    return await atomically<'done' | 'stale'>(db, ['done'], async (tx) => {
      for (const change of changes) {
        if (!(await make(tx, connection, change))) return 'stale';
      }
      return 'done';
    });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // A traveler that another identity was linked to meanwhile is no matter of names: the caller decides anew.
    return (await isNameTaken(db, connection, changes)) ? 'duplicate' : 'stale';
  }
}

/** False when what the change rests on has moved. */
async function make(tx: Kysely<Tables>, connection: string, change: IdentityChange): Promise<boolean> {
  switch (change.kind) {
    case 'insert':
      if (await isReservedInVain(tx, connection, change.identity)) return false;
      await insert(tx, change.identity);
      return true;
    case 'update':
      return update(tx, change.identity, change.expected);
    case 'release':
      return release(tx, change);
    case 'giveEmailUp':
      return giveEmailUp(tx, change);
    case 'unlink':
      return unlink(tx, { connection, id: change.id });
    case 'erase': {
      const erased = await eraseUnclaimed(tx, (row) =>
        row.and([row('connection_id', '=', connection), row('id', '=', change.id)]),
      );
      return erased === 1;
    }
  }
}

/** Whether a traveler of the account got the address that an identity reserves, since that was found to be free. */
async function isReservedInVain(
  tx: Kysely<Tables>,
  connection: string,
  { creating, travelId }: Identity,
): Promise<boolean> {
  if (creating === undefined || travelId !== undefined) return false;
  const [holder] = (await holderOf(tx, { connection, key: keyOf(creating) })).rows;
  return holder !== undefined;
}

const holderOf = prepared((db, { connection, key }: { connection: string; key: string }) =>
  db
    .selectFrom('identity')
    .select(sql.lit(1).as('one'))
    .where('account', '=', db.selectFrom('connection').select('account').where('id', '=', connection))
    .where('travel_email_key', '=', key)
    .where('claimed', '=', sql.lit(1))
    .where('travel_id', 'is not', null)
    .where('deleted_at', 'is', null)
    .limit(sql.lit(1)),
);

/** Whether a live identity other than those being changed has one of their userNames. */
async function isNameTaken(
  db: Kysely<Tables>,
  connection: string,
  changes: IdentityChange[],
): Promise<boolean> {
  const identities = changes.flatMap((change) => ('identity' in change ? [change.identity] : []));
  const names = identities
    .filter(({ deletedAt }) => deletedAt === undefined)
    .map(({ desired }) => keyOfAttribute(desired.userName, keyOf))
    .filter((key) => key !== null);
  const own = changes.map((change) => ('identity' in change ? change.identity.id : change.id));
  if (names.length === 0) return false;
  const taken = await db
    .selectFrom('identity')
    .select(sql.lit(1).as('one'))
    .where('connection_id', '=', connection)
    .where('user_name_key', 'in', names)
    .where('deleted_at', 'is', null)
    .where('id', 'not in', own)
    .executeTakeFirst();
  return taken !== undefined;
}
