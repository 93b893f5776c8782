import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { HeldPerson, HeldRules, HoldCount, Holds } from '../provisioning/hold-ports.ts';
import type { HoldCause } from '../provisioning/identity.ts';
import { inScope, type Scope, scopeColumns } from './connection-scopes.ts';
import type { Database } from './database.ts';
import { toIdentity } from './identity-row.ts';
import { batches, parseJson, toJson } from './queries.ts';
import { isDirty, reconcileQueue } from './reconcile-queue.ts';
import { countDepartureIfAllowed } from './safety-valve.ts';
import type { Tables } from './tables.ts';

type DecisionAnswer = Parameters<Holds['decide']>[2];

/** Held people: of all connections without a scope, and for any cause without a cause. */
interface HoldQuery {
  scope?: Scope | undefined;
  cause?: HoldCause | undefined;
}

const PAGE = 500;

/** Returns the store of holds and of admins' decisions about them. */
export function holds(database: Database): Holds {
  const { db, scopeOf } = database;
  return {
    findHeldPeople: ({ limit, connection, cause }) =>
      listHeldPeople(db, { scope: connection === undefined ? undefined : scopeOf(connection), cause }, limit),
    countHolds: () => countHolds(db),
    decide: (connection, target, answer, now) =>
      saveDecision(database, { scope: scopeOf(connection), answer, now }, target),
    admitDeparture: (connection, id, valve, now) =>
      countDepartureIfAllowed(database, { ...scopeOf(connection), id, now }, valve),
    findHeldRules: (connection) => readRulesChange(db, scopeOf(connection)),
    saveHeldRules: (held) => saveRulesChange(database, held),
    findTranslatedEarlier: async (connection, generation, place) => {
      const scope = scopeOf(connection);
      if (!(await isAnyTranslatedEarlier(db, scope, generation))) return [];
      const rows = await db
        .selectFrom('identity')
        .selectAll()
        .where(inScope(scope))
        .where('claimed', '=', sql.lit(1))
        .where('deleted_at', 'is', null)
        .where('rules_generation', '>', 0)
        .where('rules_generation', '<', generation)
        .where('id', '>', place.after)
        .orderBy('id')
        .limit(place.limit)
        .execute();
      return rows.map(toIdentity);
    },
  };
}

/**
 * Returns true if any identity was translated with earlier rules. Uses one query for settled and one for dirty
 * identities, which are in different indexes.
 */
async function isAnyTranslatedEarlier(
  db: Kysely<Tables>,
  scope: Scope,
  generation: number,
): Promise<boolean> {
  const claimed = db
    .selectFrom('identity')
    .select('id')
    .where(inScope(scope))
    .where('claimed', '=', sql.lit(1))
    .where('rules_generation', '>', 0)
    .where('rules_generation', '<', generation)
    .limit(1);
  const searches = [
    claimed.where('state', '<>', sql.lit('dirty')),
    claimed.where(isDirty).where('next_attempt_at', '>=', 0),
  ];
  for (const search of searches) if (await search.executeTakeFirst()) return true;
  return false;
}

/** Selects held people, including those with a decision. */
function selectHeld(db: Kysely<Tables>, { scope, cause }: HoldQuery) {
  const all = db
    .selectFrom('identity')
    .where('hold_cause', 'is not', null)
    .where((row) => row.not(hasReturned(row)));
  const ofConnection = scope === undefined ? all : all.where(inScope(scope));
  return cause === undefined ? ofConnection : ofConnection.where('hold_cause', '=', cause);
}

/**
 * Excludes a person whose deactivation was held and who is active again: there is nothing left to approve, even if the
 * reconciler has not run yet.
 */
function hasReturned(row: ExpressionBuilder<Tables, 'identity'>) {
  const isDeparture = row.or([
    row('hold_cause', '=', 'safetyValve'),
    row.and([row('hold_cause', '=', 'guarded'), row('travel_id', 'is not', null)]),
  ]);
  return row.and([isDeparture, row('active', '=', 1), row('deleted_at', 'is', null)]);
}

/**
 * Selects the people whose hold may need a decision. If an admin has discarded a change of rules, the people held by it
 * need none.
 */
function selectUndecided(db: Kysely<Tables>, query: HoldQuery) {
  return selectHeld(db, query).where((row) =>
    row.or([
      row('hold_cause', '<>', 'rules'),
      row.not(
        row.exists(
          row
            .selectFrom('rules_change')
            .select('generation')
            .whereRef('rules_change.account', '=', 'identity.account')
            .whereRef('rules_change.connection_id', '=', 'identity.connection_id')
            .where('answer', '=', 'discarded'),
        ),
      ),
    ]),
  );
}

interface DecisionColumns {
  version: number;
  decision: string;
  hold_cause: string | null;
}

/** True if the admin's decision is about the current hold. A later write of the IdP makes the decision void. */
function isDecided({ version, decision, hold_cause }: DecisionColumns): boolean {
  if (decision === '') return false;
  const { cause, version: about } = parseJson<{ cause: string; version: number }>(decision);
  return cause === hold_cause && about === version;
}

async function listHeldPeople(db: Kysely<Tables>, query: HoldQuery, limit: number): Promise<HeldPerson[]> {
  const people: HeldPerson[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const rows = await selectUndecided(db, query)
      .select(['connection_id', 'id', 'desired', 'hold_cause', 'hold_since', 'version', 'decision'])
      .select(['active', 'deleted_at'])
      .orderBy('hold_since')
      .orderBy('connection_id')
      .orderBy('id')
      .limit(PAGE)
      .offset(offset)
      .execute();
    for (const row of rows) {
      if (people.length === limit) return people;
      if (!isDecided(row)) people.push(toHeldPerson(row));
    }
    if (rows.length < PAGE) return people;
  }
}

type HeldRow = DecisionColumns &
  Pick<Tables['identity'], 'connection_id' | 'id' | 'desired' | 'hold_since' | 'active' | 'deleted_at'>;

function toHeldPerson(row: HeldRow): HeldPerson {
  const { userName } = parseJson<{ userName?: unknown }>(row.desired);
  return {
    connection: row.connection_id,
    id: row.id,
    userName: String(userName),
    hold: { cause: row.hold_cause as HoldCause, since: row.hold_since ?? 0 }, // The column contains only hold causes.
    version: row.version,
    isActive: row.active === 1,
    isDeleted: row.deleted_at !== null,
  };
}

/** Counts people without a decision in SQL; the few with a decision are checked one by one. */
async function countHolds(db: Kysely<Tables>): Promise<HoldCount[]> {
  const undecided = await selectUndecided(db, {})
    .select((row) => ['connection_id', 'hold_cause', row.fn.countAll<number>().as('count')])
    .select((row) => row.fn.min('hold_since').as('since'))
    .where('decision', '=', '')
    .groupBy(['connection_id', 'hold_cause'])
    .execute();
  const decided = await selectUndecided(db, {})
    .select(['connection_id', 'hold_cause', 'hold_since as since', 'version', 'decision'])
    .where('decision', '<>', '')
    .execute();
  const again = decided.filter((row) => !isDecided(row)).map((row) => ({ ...row, count: 1 }));
  const rules = await db.selectFrom('rules_change').selectAll().where('answer', 'is', null).execute();
  const waiting = rules.map((row) => ({ ...row, hold_cause: 'rules', count: row.people }));
  // The people held because of a change of rules are already included in the number of that change.
  const others = [...undecided, ...again].filter(
    ({ connection_id, hold_cause }) =>
      hold_cause !== 'rules' || !waiting.some((change) => change.connection_id === connection_id),
  );
  return sumByCause([...waiting, ...others]);
}

interface CountRow {
  connection_id: string;
  hold_cause: string | null;
  count: number;
  since: number | null;
}

function sumByCause(rows: CountRow[]): HoldCount[] {
  const sums = new Map<string, HoldCount>();
  for (const { connection_id: connection, hold_cause, count, since } of rows) {
    const cause = hold_cause as HoldCause; // The column contains only hold causes.
    const key = `${connection} ${cause}`;
    const sum = sums.get(key) ?? { connection, cause, count: 0, since: Number.MAX_SAFE_INTEGER };
    sums.set(key, {
      ...sum,
      count: sum.count + Number(count),
      since: Math.min(sum.since, Number(since ?? 0)),
    });
  }
  return [...sums.values()];
}

interface DecisionRequest {
  scope: Scope;
  answer: DecisionAnswer;
  now: number;
}

async function saveDecision(
  database: Database,
  request: DecisionRequest,
  target: Parameters<Holds['decide']>[1],
): Promise<number> {
  const { db } = database;
  if ('ids' in target) return decidePeople(database, request, [...new Set(target.ids)]);
  const { scope, answer, now } = request;
  const change = target.cause === 'rules' ? await decideRulesChange(db, request) : undefined;
  const held = await selectHeld(db, { scope, cause: target.cause })
    .select(['id', 'version', 'decision', 'hold_cause'])
    .execute();
  const open = held.filter((row) => !isDecided(row)).map(({ id }) => id);
  const decided = await decidePeople(database, request, open);
  if (!change) return decided;
  if (answer === 'discarded') return Math.max(decided, change.people);
  return Math.max(change.people, decided, await markAllStaleDirty(database, change, now));
}

/** Saves a decision about people in batches, one transaction each. People who are no longer held are skipped. */
async function decidePeople(
  { transaction }: Database,
  { scope, answer, now }: DecisionRequest,
  ids: string[],
): Promise<number> {
  let decided = 0;
  for (const batch of batches(ids)) {
    decided += await transaction(async (tx) => {
      const rows = await selectHeld(tx, { scope })
        .select(['id', 'version', 'hold_cause'])
        .where('id', 'in', batch)
        .execute();
      for (const { id, version, hold_cause: cause } of rows) {
        await tx
          .updateTable('identity')
          .set((row) => ({
            decision: toJson({ cause, answer, version }),
            state: 'dirty',
            next_attempt_at: now,
            revision: row('revision', '+', 1),
          }))
          .where(inScope(scope))
          .where('id', '=', id)
          .execute();
      }
      return rows.length;
    });
  }
  return decided;
}

/** Saves a decision about the change of rules that waits for one, or that was discarded before. Returns the change. */
async function decideRulesChange(
  db: Kysely<Tables>,
  { scope, answer }: DecisionRequest,
): Promise<Tables['rules_change'] | undefined> {
  return db
    .updateTable('rules_change')
    .set({ answer })
    .where(inScope(scope))
    .where((row) => row.or([row('answer', 'is', null), row('answer', '=', 'discarded')]))
    .returningAll()
    .executeTakeFirst();
}

/** In batches, so that other writers do not wait long for the database. */
async function markAllStaleDirty(
  database: Database,
  { connection_id, generation }: Tables['rules_change'],
  now: number,
): Promise<number> {
  let all = 0;
  for (let touched = PAGE; touched === PAGE; all += touched)
    touched = await reconcileQueue(database).markStaleDirty(connection_id, generation, PAGE, now);
  return all;
}

async function readRulesChange(db: Kysely<Tables>, scope: Scope): Promise<HeldRules | undefined> {
  const row = await db.selectFrom('rules_change').selectAll().where(inScope(scope)).executeTakeFirst();
  return row && toHeldRules(row);
}

function toHeldRules(row: Tables['rules_change']): HeldRules {
  const { connection_id, generation, people, since, answer, recent } = row;
  return {
    ...{ connection: connection_id, generation, people, since },
    answer: (answer ?? undefined) as HeldRules['answer'], // The column contains only answers and null.
    recent: new Map(parseJson<[string, number][]>(recent)),
  };
}

async function saveRulesChange({ transaction, scopeOf }: Database, held: HeldRules): Promise<HeldRules> {
  const { connection, generation, people, since, answer, recent } = held;
  const row = { generation, people, since, answer: answer ?? null, recent: toJson([...recent]) };
  const scope = scopeOf(connection);
  return transaction(async (tx) => {
    const saved = await tx
      .insertInto('rules_change')
      .values({ ...scopeColumns(scope), ...row })
      .onConflict((conflict) =>
        conflict
          .columns(['account', 'connection_id'])
          .doUpdateSet(row)
          .where('rules_change.generation', '<', generation),
      )
      .returning('generation')
      .executeTakeFirst();
    // Another replica has checked this change or a later one before.
    if (!saved) return (await readRulesChange(tx, scope)) ?? held;
    if (answer === undefined) return held;
    await tx
      .updateTable('identity')
      .set((identity) => ({ state: 'dirty', next_attempt_at: since, revision: identity('revision', '+', 1) }))
      .where(inScope(scope))
      .where('hold_cause', '=', 'rules')
      .execute();
    return held;
  });
}
