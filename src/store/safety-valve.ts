import type { Kysely } from 'kysely';
import type { Holds } from '../provisioning/store-ports.ts';
import { readCounter } from './counters.ts';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/** Tolerance for rounding errors: 10 % of 10 people must not be rounded down to 0. */
const EPSILON = 1e-9;

interface Departure {
  connection: string;
  id: string;
  now: number;
}

/**
 * Counts a deactivation, unless the safety valve blocks it; then returns false. Runs in one transaction, so that
 * concurrent deactivations cannot exceed the limit. The limit is a share of the people who were active at the beginning
 * of the window: those active now, those deactivated since, those held, and this person.
 */
export function countDepartureIfAllowed(
  { transaction }: Database,
  { connection, id, now }: Departure,
  { share, minimum, windowMs }: Parameters<Holds['admitDeparture']>[2],
): Promise<boolean> {
  return transaction(async (tx) => {
    await deleteExpiredDepartures(tx, connection, { now, windowMs });
    if (await isCounted(tx, connection, id)) return true;
    const departed = await countDepartures(tx, connection);
    const { active } = await readCounter(tx, connection, 'live');
    const people = active + departed + (await countOtherHeld(tx, connection, id)) + 1;
    if (departed + 1 > Math.max(minimum, share * people + EPSILON)) return false;
    await tx
      .insertInto('departure')
      .values({ connection_id: connection, identity_id: id, at: now })
      .execute();
    return true;
  });
}

/**
 * Deletes departures from before the window. If the time of a departure is in the future, the clock was set back since;
 * set its time to now.
 */
async function deleteExpiredDepartures(
  tx: Kysely<Tables>,
  connection: string,
  { now, windowMs }: { now: number; windowMs: number },
): Promise<void> {
  await tx
    .deleteFrom('departure')
    .where('connection_id', '=', connection)
    .where('at', '<=', now - windowMs)
    .execute();
  await tx
    .updateTable('departure')
    .set({ at: now })
    .where('connection_id', '=', connection)
    .where('at', '>', now)
    .execute();
}

async function isCounted(tx: Kysely<Tables>, connection: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('departure')
    .select('at')
    .where('connection_id', '=', connection)
    .where('identity_id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

async function countDepartures(tx: Kysely<Tables>, connection: string): Promise<number> {
  const { count } = await tx
    .selectFrom('departure')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('connection_id', '=', connection)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Counts the other people whose deactivation is held: the IdP has deactivated them, and their travelers are still
 * active.
 */
async function countOtherHeld(tx: Kysely<Tables>, connection: string, id: string): Promise<number> {
  const { count } = await tx
    .selectFrom('identity')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('connection_id', '=', connection)
    .where('hold_cause', '=', 'safetyValve')
    .where('hold_cause', 'is not', null)
    .where('id', '<>', id)
    .executeTakeFirstOrThrow();
  return Number(count);
}
