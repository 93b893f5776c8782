import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import type { Identity } from '../provisioning/identity.ts';
import { admit, liveOf, recount } from './counters.ts';
import { erasedAmong } from './erased-travelers.ts';
import { addEmails, replaceEmails } from './identity-changes.ts';
import { desiredColumns, observedColumns, toRow } from './identity-row.ts';
import { keyOf } from './keys.ts';
import { batches, fromText } from './statements.ts';
import type { IdentityTable, Tables } from './tables.ts';

/** Short transactions, so that a write of an IdP never waits long for an import. */
const BATCH = 100;

/**
 * Adds unclaimed identities, and lets those that are known follow their traveler. Passed over is whoever must not be
 * shown: a traveler that is linked in the account or just being made, one whose person was erased, and one whose userName
 * somebody has.
 */
export async function saveUnclaimed(
  db: Kysely<Tables>,
  identities: Identity[],
  seenAt: number,
): Promise<void> {
  for (const connection of new Set(identities.map((identity) => identity.connection))) {
    const own = identities.filter((identity) => identity.connection === connection);
    for (const batch of batches(own, BATCH)) {
      await db.transaction().execute((tx) => saveBatch(tx, connection, { batch, seenAt }));
    }
  }
}

async function saveBatch(
  tx: Kysely<Tables>,
  connection: string,
  { batch, seenAt }: { batch: Identity[]; seenAt: number },
): Promise<void> {
  const { account } = await tx
    .selectFrom('connection')
    .select('account')
    .where('id', '=', connection)
    .executeTakeFirstOrThrow();
  const travelIds = batch.map(travelIdOf);
  const linked = await linkedOf(tx, account, travelIds);
  const erased = await erasedAmong(tx, account, travelIds);
  const free = batch.filter((identity) => {
    const travelId = travelIdOf(identity);
    return !linked.has(travelId) && !erased.has(travelId);
  });
  const known = await knownOf(tx, connection, travelIds);
  await refreshUnclaimed(
    tx,
    free.flatMap((identity) => {
      const before = known.get(travelIdOf(identity));
      return before ? { before, identity } : [];
    }),
    seenAt,
  );
  const open = await openOf(tx, account, batch.map(addressOf));
  const newcomers = free.filter(
    (identity) => !known.has(travelIdOf(identity)) && !open.has(addressOf(identity)),
  );
  await add(tx, newcomers, { account, seenAt });
}

/** An unclaimed identity comes from a traveler; one without would be a fault of the importer. */
function travelIdOf({ travelId }: Identity): string {
  return travelId ?? '';
}

function addressOf({ observed }: Identity): string {
  return keyOf(observed?.email ?? '');
}

async function linkedOf(
  tx: Kysely<Tables>,
  account: string,
  travelIds: string[],
): Promise<Set<string | null>> {
  const rows = await tx
    .selectFrom('identity')
    .select('travel_id')
    .where('account', '=', account)
    .where('travel_id', 'in', travelIds)
    .where('claimed', '=', sql.lit(1))
    .execute();
  return new Set(rows.map(({ travel_id }) => travel_id));
}

async function knownOf(
  tx: Kysely<Tables>,
  connection: string,
  travelIds: string[],
): Promise<Map<string | null, Known>> {
  const rows = await tx
    .selectFrom('identity')
    .select(['id', 'travel_id', 'version', 'desired', 'observed', 'position', 'active', 'deleted_at'])
    .where('connection_id', '=', connection)
    .where('travel_id', 'in', travelIds)
    .execute();
  return new Map(rows.map((row) => [row.travel_id, row]));
}

/** Addresses whose create is announced: such a traveler belongs to the identity that is making it. */
async function openOf(tx: Kysely<Tables>, account: string, addresses: string[]): Promise<Set<string | null>> {
  const rows = await tx
    .selectFrom('identity')
    .select('creating_key')
    .where('account', '=', account)
    .where('creating_key', 'in', addresses)
    .execute();
  return new Set(rows.map(({ creating_key }) => creating_key));
}

async function add(
  tx: Kysely<Tables>,
  newcomers: Identity[],
  { account, seenAt }: { account: string; seenAt: number },
): Promise<void> {
  const [first] = newcomers;
  if (!first) return;
  const { connection } = first;
  const rows = newcomers.map((identity) => toRow(identity, account, seenAt));
  const places = await admit(
    tx,
    connection,
    rows.map((row) => ({ ...row, live: 1 })),
  );
  const placed = rows.flatMap((row, index) => {
    const place = places[index];
    return place ? [{ ...row, position: place.position }] : [];
  });
  const kept = await tx
    .insertInto('identity')
    .values(placed)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'position'])
    .execute();
  const ids = new Set(kept.map(({ id }) => id));
  await addEmails(
    tx,
    newcomers.filter(({ id }) => ids.has(id)),
  );
  const positions = new Set(kept.map(({ position }) => position));
  const refused = places.filter(({ position }) => !positions.has(position));
  await recount(
    tx,
    connection,
    refused.map((before) => ({ before })),
  );
}

/** What is kept of an unclaimed identity, as far as its traveler decides it. */
export type Known = Pick<
  IdentityTable,
  'id' | 'version' | 'desired' | 'observed' | 'position' | 'active' | 'deleted_at'
>;

/** What is kept, and what the traveler makes of it now. */
interface Sight {
  before: Known;
  identity: Identity;
}

/** Lets unclaimed identities of one connection become what their travelers are; most are that already. */
export async function refreshUnclaimed(tx: Kysely<Tables>, sights: Sight[], seenAt: number): Promise<void> {
  const [first] = sights;
  if (!first) return;
  const { connection } = first.identity;
  const { rulesVersion = '' } = first.identity;
  const mark = tx.updateTable('identity').set({ seen_at: seenAt, rules_version: rulesVersion });
  const ids = sights.map(({ before }) => before.id);
  await mark.where('connection_id', '=', connection).where('id', 'in', ids).execute();
  for (const sight of sights) {
    if (
      !isSame(sight.before.observed, sight.identity.observed) ||
      !isSame(sight.before.desired, sight.identity.desired)
    ) {
      await follow(tx, sight);
    }
  }
}

function isSame(kept: string | null, now: unknown): boolean {
  return isDeepStrictEqual(kept === null ? undefined : fromText(kept), now);
}

/** Version and lastModified are raised only when the person, as an IdP sees them, has changed. */
async function follow(tx: Kysely<Tables>, { before, identity }: Sight): Promise<void> {
  const { connection, desired, observed, lastModified } = identity;
  const isNews = !isSame(before.desired, desired);
  const follows = isNews && !(await isNameTaken(tx, { ...identity, id: before.id }));
  const news = { ...desiredColumns(desired), version: before.version + 1, last_modified: lastModified };
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    // Who is not as the traveler is because a name is taken must be looked at again: no rules made this of it.
    .set({ ...observedColumns(observed), ...(follows ? news : isNews ? { rules_version: '' } : {}) })
    .where('connection_id', '=', connection)
    .where('id', '=', before.id)
    .where('claimed', '=', 0)
    .where('version', '=', before.version)
    .executeTakeFirst();
  if (!follows || numUpdatedRows === 0n) return;
  await replaceEmails(tx, { connection, id: before.id, desired });
  if (before.active === news.active) return;
  const was = { ...before, live: liveOf(before) };
  await recount(tx, connection, [{ before: was, now: { ...was, active: news.active } }]);
}

/** The old desired state stays while somebody else has the userName: a name is never shown twice. */
async function isNameTaken(tx: Kysely<Tables>, { connection, id, desired }: Identity): Promise<boolean> {
  const { user_name_key } = desiredColumns(desired);
  if (user_name_key === null) return false;
  const other = await tx
    .selectFrom('identity')
    .select('id')
    .where('connection_id', '=', connection)
    .where('user_name_key', '=', user_name_key)
    .where('deleted_at', 'is', null)
    .where('id', '<>', id)
    .executeTakeFirst();
  return other !== undefined;
}
