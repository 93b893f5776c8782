import type { Kysely } from 'kysely';
import type { HeldPerson, HoldCount, RequestedChanges, VersionOfPerson } from '../../model/holds.ts';
import type { Decision, HoldCause } from '../../model/identity.ts';
import { displayNameOf } from '../../model/people.ts';
import type { SafetyValve } from '../../model/policies.ts';
import type { JsonObject } from '../../schema/resource.ts';
import type { Database } from '../sql/database.ts';
import { compiledQuery, parseJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import {
  type DecidedSelection,
  decidedPeople,
  decideVersions,
  type HoldQuery,
  selectUndecided,
} from './hold-decisions.ts';
import { countDepartureIfAllowed } from './safety-valve.ts';

/** Selects held people. The page begins after one of them. */
interface HeldPeopleQuery {
  connection?: string | undefined;
  cause?: HoldCause | undefined;
  after?: Place | undefined;
  limit: number;
}

export type Holds = ReturnType<typeof holds>;

type Answer = Decision['answer'];

/** The store of held changes, of the counts that decide whether a change must be held, and of admins' decisions. `by` is the name of the admin. */
export function holds(database: Database) {
  const { db, scopeOf } = database;
  return {
    ...decidedPeople(database),
    /** Returns the people whose held change has no decision yet, the longest waiting first. */
    findHeldPeople: ({ connection, ...query }: HeldPeopleQuery): Promise<HeldPerson[]> =>
      listHeldPeople(db, {
        ...query,
        scope: connection === undefined ? undefined : scopeOf(connection),
      }),
    /** Counts held people for alarms and metrics. */
    countHolds: () => countHolds(db),
    /** Counts the people whose held change has no decision yet by the change that the IdP requested. */
    countRequestedChanges: () => countRequestedChanges(db),
    /** Returns all people of one group whose held change has no decision yet, with the version that a decision applies to. */
    findUndecided: (connection: string, cause: HoldCause): Promise<VersionOfPerson[]> =>
      selectUndecided(db, { scope: scopeOf(connection), cause })
        .select(['id', 'version'])
        .execute(),
    /**
     * Saves the decision about each of these people, if they are held for this cause at this version, and marks them
     * dirty. People whom no IdP has ever sent are live again if their deletion is discarded. Returns the number of people whom the decision
     * concerned: the others have another version, or a decision that it may not replace.
     */
    decideVersions: (
      connection: string,
      selection: DecidedSelection,
      answer: Answer,
      now: number,
      by?: string,
    ) => decideVersions(database, { scope: scopeOf(connection), answer, now, by }, selection),
    /**
     * Counts one departure against the safety valve. Returns false, and counts nothing, if more people would leave within
     * the window than the valve allows. A person already counted is admitted again.
     */
    admitDeparture: (connection: string, id: string, valve: SafetyValve, now: number): Promise<boolean> =>
      countDepartureIfAllowed(database, { ...scopeOf(connection), id, now }, valve),
  };
}

type Place = Pick<HeldPerson, 'connection' | 'id'> & { since: number };

async function listHeldPeople(
  db: Kysely<Tables>,
  { limit, after, ...query }: HoldQuery & Pick<HeldPeopleQuery, 'limit' | 'after'>,
): Promise<HeldPerson[]> {
  const undecided = selectUndecided(db, query)
    .select(['connection_id', 'id', 'desired', 'hold_cause', 'hold_since', 'version'])
    .select(['active', 'deleted_at']);
  const following = after
    ? undecided.where((row) =>
        row(
          row.refTuple('hold_since', 'connection_id', 'id'),
          '>',
          row.tuple(after.since, after.connection, after.id),
        ),
      )
    : undecided;
  const page = following.orderBy('hold_since').orderBy('connection_id').orderBy('id').limit(limit);
  return (await page.execute()).map(toHeldPerson);
}

type HeldRow = Pick<
  Tables['identity'],
  'connection_id' | 'id' | 'desired' | 'hold_cause' | 'hold_since' | 'version' | 'active' | 'deleted_at'
>;

function toHeldPerson(row: HeldRow): HeldPerson {
  const desired = parseJson<JsonObject>(row.desired);
  return {
    connection: row.connection_id,
    id: row.id,
    userName: String(desired.userName),
    name: displayNameOf(desired),
    hold: { cause: row.hold_cause as HoldCause, since: row.hold_since ?? 0 }, // The column contains only hold causes.
    version: row.version,
    isActive: row.active === 1,
    isDeleted: row.deleted_at !== null,
  };
}

/** Counts the people whose hold waits for a decision, by what decides which change the IdP requested. */
const countUndecided = compiledQuery((db) =>
  selectUndecided(db, {})
    .select((row) => ['connection_id', 'hold_cause', 'active', row.fn.countAll<number>().as('count')])
    .select(({ fn }) => [fn.count<number>('deleted_at').as('deleted'), fn.min('hold_since').as('since')])
    .groupBy(['connection_id', 'hold_cause', 'active']),
);

interface CountedHolds {
  connection_id: string;
  hold_cause: string | null;
  active: 0 | 1;
  count: number;
  deleted: number;
  since: number | null;
}

async function countHolds(db: Kysely<Tables>): Promise<HoldCount[]> {
  return [...groupByCause((await countUndecided(db, {})).rows)].map(([key, rows]) => ({
    ...key,
    count: rows.reduce((sum, { count }) => sum + count, 0),
    since: Math.min(...rows.map(({ since }) => since ?? 0)),
  }));
}

async function countRequestedChanges(db: Kysely<Tables>): Promise<RequestedChanges[]> {
  return [...groupByCause((await countUndecided(db, {})).rows)].map(([key, rows]) => {
    const counts = { change: 0, deactivate: 0, delete: 0 };
    for (const { active, count, deleted } of rows) {
      counts[active === 1 ? 'change' : 'deactivate'] += count - deleted;
      counts.delete += deleted;
    }
    return { ...key, ...counts };
  });
}

function groupByCause<Row extends Pick<CountedHolds, 'connection_id' | 'hold_cause'>>(rows: Row[]) {
  const groups = new Map<string, [key: Pick<HoldCount, 'connection' | 'cause'>, rows: Row[]]>();
  for (const row of rows) {
    const key = { connection: row.connection_id, cause: row.hold_cause as HoldCause }; // The column contains only hold causes.
    const text = JSON.stringify(key);
    groups.set(text, [key, [...(groups.get(text)?.[1] ?? []), row]]);
  }
  return groups.values();
}
