import type { Kysely } from 'kysely';
import type { SafetyValve } from '../../model/policies.ts';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import { lockConnection } from '../connections.ts';
import { readCounter } from '../lists/list-counters.ts';
import type { Database } from '../sql/database.ts';
import type { Tables } from '../sql/tables.ts';

/** Tolerance for rounding errors: 10 % of 10 people must not be rounded down to 0. */
const EPSILON = 1e-9;

interface CountedPerson extends Scope {
  id: string;
  now: number;
}

/**
 * Counts a deactivation, unless the safety valve blocks it; then returns false. Those of a connection are counted one
 * after the other, so that concurrent deactivations cannot exceed the limit. The limit is a share of the people who were active at the beginning
 * of the window: those active now, those deactivated since, those held, and this person. A person counts once within the window.
 */
export function countDepartureIfAllowed(
  { transaction, dialect }: Database,
  departure: CountedPerson,
  { share, minimum, windowMs }: SafetyValve,
): Promise<boolean> {
  const { now } = departure;
  return transaction(async (tx) => {
    await lockConnection(tx, dialect, departure);
    await deleteExpired(tx, departure, { now, windowMs });
    const person = await personOf(tx, departure);
    if (await isCounted(tx, departure, person)) return true;
    const { active } = await readCounter(tx, departure, 'live');
    const departed = await countDeparted(tx, departure);
    const people = active + departed + (await countOtherHeld(tx, departure)) + 1;
    if (departed + 1 > Math.max(minimum, share * people + EPSILON)) return false;
    await tx
      .insertInto('departure')
      .values({ ...scopeColumns(departure), identity_id: person, at: now })
      .execute();
    return true;
  });
}

/**
 * Deletes people who were counted before the window. If the time of one is in the future, the clock was set back since;
 * set its time to now.
 */
async function deleteExpired(
  tx: Kysely<Tables>,
  scope: Scope,
  { now, windowMs }: { now: number; windowMs: number },
): Promise<void> {
  await tx
    .deleteFrom('departure')
    .where(inScope(scope))
    .where('at', '<=', now - windowMs)
    .execute();
  await tx.updateTable('departure').set({ at: now }).where(inScope(scope)).where('at', '>', now).execute();
}

/** A person who is deleted and created again has another SCIM id, and the same traveler. Without a traveler the SCIM id is all there is. */
async function personOf(tx: Kysely<Tables>, { id, ...scope }: CountedPerson): Promise<string> {
  const row = await tx
    .selectFrom('identity')
    .select('travel_id')
    .where(inScope(scope))
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.travel_id ?? id;
}

/** The SCIM id also counts: the traveler may have been linked since the person was counted. */
async function isCounted(
  tx: Kysely<Tables>,
  { id, ...scope }: CountedPerson,
  person: string,
): Promise<boolean> {
  const row = await tx
    .selectFrom('departure')
    .select('at')
    .where(inScope(scope))
    .where('identity_id', 'in', [person, id])
    .executeTakeFirst();
  return row !== undefined;
}

async function countDeparted(tx: Kysely<Tables>, scope: Scope): Promise<number> {
  const { count } = await tx
    .selectFrom('departure')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where(inScope(scope))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Counts the other people whose deactivation is held: the IdP has deactivated them, and their travelers are still
 * active.
 */
async function countOtherHeld(tx: Kysely<Tables>, departure: CountedPerson): Promise<number> {
  const { count } = await tx
    .selectFrom('identity')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where(inScope(departure))
    .where('hold_cause', '=', 'safetyValve')
    .where('hold_cause', 'is not', null)
    .where('id', '<>', departure.id)
    .executeTakeFirstOrThrow();
  return Number(count);
}
