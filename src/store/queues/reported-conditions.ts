import {
  type Acknowledgement,
  type ConditionKind,
  type LocalFact,
  outageKinds,
  type SharedFact,
} from '../../model/conditions.ts';
import type { Database } from '../sql/database.ts';
import { compiledQuery, parseJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** The condition of a report: its connection and subject are empty if it has none. */
export interface ConditionKey {
  connection: string;
  kind: ConditionKind;
  subject: string;
}

/** The connection of the row that keeps all conditions of a kind quiet. No connection has this name. */
export const EVERY_CONNECTION = '*';

/** A condition that was told or acknowledged, or that a process has seen by itself. Times are epoch milliseconds. */
export interface ReportedCondition extends ConditionKey {
  people: number;
  since: number;
  /** Undefined until it is told. */
  toldAt: number | undefined;
  /** What the process knows; undefined if every process finds it in the database. */
  seen: SharedFact | undefined;
  /** Also one that has ended, until the condition is told again. */
  acknowledged: Acknowledgement | undefined;
}

export type ReportedConditions = ReturnType<typeof reportedConditions>;

/**
 * The store of the conditions that were told, so that one of several replicas tells each change, also after a restart: each is claimed by
 * one conditional statement. It also shares what one process has seen by itself.
 */
export function reportedConditions(database: Database) {
  const { db } = database;
  return {
    list: () => listReported(db),
    /** Records that this process has seen a fact by itself; at 0 that it sees it no longer. */
    see: async (fact: LocalFact, seenAt: number): Promise<void> => {
      const { connection, kind, since, count = 0 } = fact;
      const seen = { since, seen_at: seenAt, fact: JSON.stringify(fact) };
      await db
        .insertInto('reported_condition')
        .values({
          connection_id: connection,
          kind,
          subject: '',
          people: count,
          told_at: null,
          ...seen,
          ...unacknowledged,
        })
        .onConflict((conflict) => conflict.columns(keyColumns).doUpdateSet(seen))
        .execute();
    },
    /** Claims the report that a condition has opened, or is open after its acknowledgement. Returns true to the replica that must tell it. */
    open: (condition: OpenedCondition, now: number) => claimOpening(db, condition, now),
    /** Claims the report that it concerns more people, unless it was told less than `againMs` milliseconds ago. */
    grow: async ({ people, ...key }: GrownCondition, now: number, againMs: number): Promise<boolean> => {
      const { numUpdatedRows } = await db
        .updateTable('reported_condition')
        .set({ people, told_at: now })
        .where((row) => row.and(columnsOf(key)))
        // A time in the future is that of a clock that was set back.
        .where((row) => row.or([row('told_at', '<=', now - againMs), row('told_at', '>', now)]))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Claims the report that it has ended, if its beginning was told. An outage is recorded. */
    clear: (key: ConditionKey, endedAt: number) => clearCondition(database, key, endedAt),
    /** Stores that an admin knows of a condition; without `until`, that the admin wants to be told about it again. */
    acknowledge: (condition: OpenedCondition, until: Until) => acknowledge(db, condition, until),
  };
}

type GrownCondition = ConditionKey & Pick<ReportedCondition, 'people'>;
type OpenedCondition = GrownCondition & Pick<ReportedCondition, 'since'>;

const unacknowledged = { acknowledged_by: null, acknowledged_until: null };

const keyColumns = ['connection_id', 'kind', 'subject'] as const;

function columnsOf({ connection, kind, subject }: ConditionKey) {
  return { connection_id: connection, kind, subject };
}

async function claimOpening(
  db: Database['db'],
  { people, since, ...key }: OpenedCondition,
  now: number,
): Promise<boolean> {
  const told = { people, since, told_at: now, ...unacknowledged };
  const claimed = await db
    .insertInto('reported_condition')
    .values({ ...columnsOf(key), seen_at: 0, fact: '', ...told })
    .onConflict((conflict) =>
      conflict
        .columns(keyColumns)
        .doUpdateSet(told)
        .where((row) =>
          row.or([
            row('reported_condition.told_at', 'is', null),
            row('reported_condition.acknowledged_until', '<=', now),
          ]),
        ),
    )
    .returning('kind')
    .executeTakeFirst();
  return claimed !== undefined;
}

/** Outages are kept for this time, in milliseconds: the mail about a week may be late. */
const OUTAGES_MS = 35 * 86_400_000;

function clearCondition({ transaction }: Database, key: ConditionKey, endedAt: number): Promise<boolean> {
  return transaction(async (tx) => {
    const ended = await tx
      .deleteFrom('reported_condition')
      .where((row) => row.and(columnsOf(key)))
      .returning(['since', 'seen_at', 'told_at'])
      .executeTakeFirst();
    if (ended && outageKinds.some((kind) => kind === key.kind)) {
      const { connection: connection_id } = key;
      // A process that has died has seen the outage at `seen_at`; nobody knows what was later.
      const ended_at = Math.max(ended.since, ended.seen_at || endedAt);
      const outage = { connection_id, since: ended.since, ended_at };
      await tx
        .deleteFrom('travel_outage')
        .where('ended_at', '<', endedAt - OUTAGES_MS)
        .execute();
      await tx
        .insertInto('travel_outage')
        .values(outage)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    return ended !== undefined && ended.told_at !== null;
  });
}

type Until = Pick<Acknowledgement, 'by' | 'until'> | undefined;

async function acknowledge(
  db: Database['db'],
  { people, since, ...key }: OpenedCondition,
  until: Until,
): Promise<void> {
  const columns = until ? { acknowledged_by: until.by, acknowledged_until: until.until } : unacknowledged;
  await db
    .insertInto('reported_condition')
    .values({ ...columnsOf(key), people, since, told_at: null, seen_at: 0, fact: '', ...columns })
    .onConflict((conflict) => conflict.columns(keyColumns).doUpdateSet(columns))
    .execute();
}

const selectReported = compiledQuery((db) =>
  db.selectFrom('reported_condition').selectAll().orderBy('connection_id').orderBy('kind').orderBy('subject'),
);

async function listReported(db: Database['db']): Promise<ReportedCondition[]> {
  return (await selectReported(db, {})).rows.map(toReportedCondition);
}

function toReportedCondition({
  connection_id,
  kind,
  told_at,
  seen_at,
  fact,
  acknowledged_by,
  acknowledged_until,
  ...row
}: Tables['reported_condition']): ReportedCondition {
  return {
    ...{ ...row, connection: connection_id, toldAt: told_at ?? undefined },
    kind: kind as ConditionKind, // Only kinds of conditions are written.
    seen: fact === '' ? undefined : { fact: parseJson<LocalFact>(fact), seenAt: seen_at },
    acknowledged:
      acknowledged_until === null
        ? undefined
        : {
            ...{ by: acknowledged_by ?? '', until: acknowledged_until },
            isOfKind: connection_id === EVERY_CONNECTION,
          },
  };
}
