import type { Kysely } from 'kysely';
import type { SafetyValve } from '../../provisioning/policies.ts';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import { lockConnection } from '../connections.ts';
import { readCounter } from '../lists/list-counters.ts';
import type { Database } from '../sql/database.ts';
import type { Tables } from '../sql/tables.ts';

/** Tolerance for rounding errors: 10 % of 10 people must not be rounded down to 0. */
const EPSILON = 1e-9;

/** The tables of people who are counted for a while. */
type CountTable = 'departure' | 'membership_change';

interface CountedPerson extends Scope {
  id: string;
  now: number;
}

/**
 * Counts a deactivation, unless the safety valve blocks it; then returns false. Those of a connection are counted one
 * after the other, so that concurrent deactivations cannot exceed the limit. The limit is a share of the people who were active at the beginning
 * of the window: those active now, those deactivated since, those held, and this person.
 */
export function countDepartureIfAllowed(
  database: Database,
  departure: CountedPerson,
  { share, minimum, windowMs }: SafetyValve,
): Promise<boolean> {
  return countIfAllowed(database, 'departure', departure, {
    windowMs,
    isAllowed: async (tx, departed) => {
      const { active } = await readCounter(tx, departure, 'live');
      const people = active + departed + (await countOtherHeld(tx, departure)) + 1;
      return departed + 1 <= Math.max(minimum, share * people + EPSILON);
    },
  });
}

/** The limit of people for whom changes of groups may clear or replace values within a time. */
export interface MembershipLimit {
  people: number;
  /** In milliseconds. */
  windowMs: number;
}

/** Counts a person for whom a change of groups clears or replaces a value. Returns false if as many others were counted as may be. */
export function countMembershipChangeIfAllowed(
  database: Database,
  change: CountedPerson,
  { people, windowMs }: MembershipLimit,
): Promise<boolean> {
  const isAllowed = async (_tx: Kysely<Tables>, changed: number) => changed < people;
  return countIfAllowed(database, 'membership_change', change, { windowMs, isAllowed });
}

interface CountRule {
  windowMs: number;
  /** True if one more person may be counted beside those of the window. */
  isAllowed(tx: Kysely<Tables>, counted: number): Promise<boolean>;
}

/** Counts a person, once within the window, if the rule allows it; returns false otherwise. */
function countIfAllowed(
  { transaction, dialect }: Database,
  table: CountTable,
  counted: CountedPerson,
  { windowMs, isAllowed }: CountRule,
): Promise<boolean> {
  const { now } = counted;
  return transaction(async (tx) => {
    await lockConnection(tx, dialect, counted);
    const counts = { tx, table };
    await deleteExpired(counts, counted, { now, windowMs });
    const person = await personOf(tx, counted);
    if (await isCounted(counts, counted, person)) return true;
    if (!(await isAllowed(tx, await countPeople(counts, counted)))) return false;
    await tx
      .insertInto(table)
      .values({ ...scopeColumns(counted), identity_id: person, at: now })
      .execute();
    return true;
  });
}

/** A table of counted people in a transaction. */
interface Counts {
  tx: Kysely<Tables>;
  table: CountTable;
}

/**
 * Deletes people who were counted before the window. If the time of one is in the future, the clock was set back since;
 * set its time to now.
 */
async function deleteExpired(
  { tx, table }: Counts,
  scope: Scope,
  { now, windowMs }: { now: number; windowMs: number },
): Promise<void> {
  await tx
    .deleteFrom(table)
    .where(inScope(scope))
    .where('at', '<=', now - windowMs)
    .execute();
  await tx.updateTable(table).set({ at: now }).where(inScope(scope)).where('at', '>', now).execute();
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
  { tx, table }: Counts,
  { id, ...scope }: CountedPerson,
  person: string,
): Promise<boolean> {
  const row = await tx
    .selectFrom(table)
    .select('at')
    .where(inScope(scope))
    .where('identity_id', 'in', [person, id])
    .executeTakeFirst();
  return row !== undefined;
}

async function countPeople({ tx, table }: Counts, scope: Scope): Promise<number> {
  const { count } = await tx
    .selectFrom(table)
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
