import { type Kysely, sql } from 'kysely';
import type { IdentityState } from '../../model/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { readCounter } from '../lists/list-counters.ts';
import { readOwnTravelId } from '../queues/background-tasks.ts';
import { countByState } from '../queues/reconcile-queue.ts';
import type { Database } from '../sql/database.ts';
import { yieldToEventLoop } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** Up to this number of people of a connection who are not in step are looked at, in an index alone. */
const MAX_UNSETTLED = 20_000;
/** Up to this number of people of a connection with findings are counted, in an index alone. */
const MAX_COUNTED = 20_000;

/** The people of one connection in numbers. */
export interface PeopleSummary {
  connection: string;
  /** The users that an IdP has sent and that are not deleted, and the deleted ones for whom work remains, by state. */
  states: Record<IdentityState, number>;
  /** The people in step whom no IdP has sent, without the traveler whose credential the bridge uses. */
  unmanaged: number;
  /** The people whose departure an admin has discarded, deleted ones included. They are counted among the synced ones, too. */
  keptActive: number;
  /** The people whose last attempt has failed, and when the oldest of their changes was written; among the first ones in the queue. */
  failing: { people: number; oldest: number } | undefined;
  /**
   * The time since when the oldest dirty person waits: when its change was written, or since when its attempt is due. Undefined if nobody
   * waits.
   */
  waitingSince: number | undefined;
  /** False as long as all people were imported and none was written by an IdP. */
  hasUsers: boolean;
  /** The number of people with each kind of finding, by its code. */
  findings: ReadonlyMap<string, number>;
  /** The number of people with findings. */
  withFindings: number;
  /** True if there are more people with findings than were counted. */
  areFindingsCut: boolean;
}

/** The numbers of people for the overview and the filters of lists. */
export type PeopleSummaries = ReturnType<typeof peopleSummaries>;

/** Counts people for the overview and the filters of lists. The work does not depend on the number of people who need none. */
export function peopleSummaries({ db, scopes }: Database) {
  return {
    read: async (): Promise<PeopleSummary[]> => {
      const counts = await countByState(db);
      const summaries: PeopleSummary[] = [];
      for (const connection of scopes.ids()) {
        const scope = scopes.of(connection);
        const unsettled = counts.filter((row) => row.connection === connection && row.state !== 'synced');
        summaries.push(await readSummary(db, scope, unsettled));
      }
      return summaries;
    },
  };
}

async function readSummary(
  db: Kysely<Tables>,
  scope: Scope,
  unsettled: { state: string; count: number }[],
): Promise<PeopleSummary> {
  const own = await readOwnTravelId(db, scope);
  const live = (await readCounter(db, scope, own === undefined ? 'live' : { liveExcept: own })).count;
  const sent = (await readCounter(db, scope, 'claimed')).count;
  const { deleted, failing, oldest, due, claimed, unsent } = await readUnsettled(db, scope);
  const unmanaged = Math.max(0, live - sent - unsent);
  await yieldToEventLoop();
  const findings = await countFindings(db, scope);
  await yieldToEventLoop();
  const countOf = (state: string) => unsettled.find((row) => row.state === state)?.count ?? 0;
  // The counter has no deleted users, whereas the counts by state have those for whom work remains.
  const settled = live - unmanaged + deleted - unsettled.reduce((sum, { count }) => sum + count, 0);
  return {
    connection: scope.connection,
    states: {
      synced: Math.max(0, settled),
      dirty: countOf('dirty'),
      pending: countOf('pending'),
      refused: countOf('refused'),
      held: countOf('held'),
    },
    unmanaged,
    keptActive: await countKeptActive(db, scope),
    failing: oldest === null ? undefined : { people: failing, oldest },
    waitingSince: oldest === null ? (due ?? undefined) : Math.min(oldest, due ?? oldest),
    hasUsers: claimed > 0 || (await isAnySettledClaimed(db, scope)),
    ...findings,
  };
}

/** The index of the people about whom an admin has decided has all columns. Deleted people are in no other count. */
async function countKeptActive(db: Kysely<Tables>, scope: Scope): Promise<number> {
  const { rows } = await sql<{ people: number }>`
    select count(*) as people from identity
    where ${inScope(scope)} and decision <> '' and finding_codes like '%keptActive%'`.execute(db);
  return Number(rows[0]?.people ?? 0);
}

/** The counts of the people who are not in step. */
interface UnsettledCounts {
  deleted: number;
  /** The number of people whose last attempt failed; `oldest` is the time of the oldest change of one of them. */
  failing: number;
  oldest: number | null;
  /** The time at which the first attempt at a dirty person is due. */
  due: number | null;
  claimed: number;
  /** The number of people whom no IdP has sent. */
  unsent: number;
}

/**
 * Counts the first people who are not in step. The index of these has all columns. The second condition on `state` is that of the index;
 * without the first one SQLite reads all people by another one.
 */
async function readUnsettled(db: Kysely<Tables>, scope: Scope): Promise<UnsettledCounts> {
  const isFailing = sql`state = 'dirty' and attempts > 0`;
  const { rows } = await sql<UnsettledCounts>`
    select count(deleted_at) as deleted, count(case when ${isFailing} then 1 end) as failing,
      min(case when ${isFailing} then last_modified end) as oldest,
      min(case when state = 'dirty' then next_attempt_at end) as due, count(case when claimed = 1 then 1 end) as claimed,
      count(case when claimed = 0 and deleted_at is null then 1 end) as unsent
    from (select state, attempts, last_modified, next_attempt_at, deleted_at, claimed from identity
      where ${inScope(scope)} and state in ('dirty', 'pending', 'refused', 'held') and state <> 'synced'
      limit ${sql.lit(MAX_UNSETTLED)}) as unsettled`.execute(db);
  return rows[0] ?? { deleted: 0, failing: 0, oldest: null, due: null, claimed: 0, unsent: 0 };
}

/** The second part of the condition is that of the index by rules. */
async function isAnySettledClaimed(db: Kysely<Tables>, scope: Scope): Promise<boolean> {
  const row = await db
    .selectFrom('identity')
    .select('id')
    .where(inScope(scope))
    .where('claimed', '=', sql.lit(1))
    .where('state', '<>', sql.lit('dirty'))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Counts the people with each finding: those who are not deleted in an index alone, and the deleted ones for whom work remains. Without
 * the order, SQLite would read all deleted people by another index.
 */
async function countFindings(
  db: Kysely<Tables>,
  scope: Scope,
): Promise<Pick<PeopleSummary, 'findings' | 'withFindings' | 'areFindingsCut'>> {
  const { rows } = await sql<{ codes: string; people: number }>`
    select finding_codes as codes, count(*) as people from (
      select * from (select finding_codes from identity
        where ${inScope(scope)} and finding_codes <> '' and deleted_at is null limit ${sql.lit(MAX_COUNTED + 1)}) as live
      union all
      select * from (select finding_codes from identity
        where ${inScope(scope)} and finding_codes <> '' and deleted_at > 0 and state <> 'synced'
        order by deleted_at, finding_codes limit ${sql.lit(MAX_COUNTED)}) as deleted
    ) as person group by finding_codes`.execute(db);
  const findings = new Map<string, number>();
  let withFindings = 0;
  for (const { codes, people } of rows) {
    withFindings += Number(people);
    for (const code of codes.split(' ')) findings.set(code, (findings.get(code) ?? 0) + Number(people));
  }
  return { findings, withFindings, areFindingsCut: withFindings > MAX_COUNTED };
}
