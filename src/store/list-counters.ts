import {
  type CompiledQuery,
  type Kysely,
  type OnConflictBuilder,
  type QueryResult,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { inScope, type Scope, scopeColumns } from './connection-scopes.ts';
import { compiledQuery, pick } from './queries.ts';
import type { Tables } from './tables.ts';

type CounterRow = Tables['list_counter'];

export type CounterKind = CounterRow['kind'];

/** The number of rows of a list, and of those that are active. */
export type Counts = Pick<CounterRow, 'count' | 'active'>;

/**
 * The number of rows of one counter. Each write adds to one of them in turn, because a row is locked until the
 * transaction ends: with a single row, all writers of a connection would wait for each other. Reading sums them.
 */
const SLOTS = 8;

let lastSlot = 0;

/** The part of an identity's row that its counters depend on. */
export interface CountedIdentity {
  deleted_at: number | null;
  active: 0 | 1;
  claimed: 0 | 1;
}

/** An identity before and after a change. Without `before` it is new, without `now` it is deleted. */
interface CountedChange {
  before?: CountedIdentity;
  now?: CountedIdentity;
}

/** Updates the counters of identities. Must run in the transaction of the changes. */
export async function countIdentities(
  tx: Kysely<Tables>,
  scope: Scope,
  changes: CountedChange[],
): Promise<void> {
  const difference = (counts: (identity: CountedIdentity) => boolean) =>
    changes.reduce(
      (sum, { before, now }) => sum + (now && counts(now) ? 1 : 0) - (before && counts(before) ? 1 : 0),
      0,
    );
  const isActive = ({ active }: CountedIdentity) => active === 1;
  const ofLive = (counts: (identity: CountedIdentity) => boolean) =>
    difference((identity) => isLive(identity) && counts(identity));
  const dead = difference((identity) => !isLive(identity));
  await updateCounter(tx, scope, { kind: 'live', count: difference(isLive), active: ofLive(isActive) });
  await updateCounter(tx, scope, {
    kind: 'unclaimed',
    count: ofLive(isUnclaimed),
    active: ofLive((identity) => isUnclaimed(identity) && isActive(identity)),
  });
  await updateCounter(tx, scope, { kind: 'dead', count: dead, active: 0 });
}

function isUnclaimed({ claimed }: CountedIdentity): boolean {
  return claimed === 0;
}

/** Returns the statements that count a new identity if the identity is stored. */
export function countStoredIdentity(
  db: Kysely<Tables>,
  scope: Scope,
  { id, ...identity }: CountedIdentity & { id: string },
): CompiledQuery<unknown>[] {
  const { active } = identity;
  const kinds: Pick<CounterRow, 'kind' | 'active'>[] = isLive(identity)
    ? [{ kind: 'live', active }, ...(isUnclaimed(identity) ? [{ kind: 'unclaimed', active } as const] : [])]
    : [{ kind: 'dead', active: 0 }];
  return kinds.map((counted) => countIfStored.compile(db, { ...scope, id, slot: nextSlot(), ...counted }));
}

type NewlyCounted = Scope & { id: string } & Pick<CounterRow, 'kind' | 'slot' | 'active'>;

const countIfStored = compiledQuery((db, counted: NewlyCounted) =>
  db
    .insertInto('list_counter')
    .columns([...counterColumns])
    .expression((of) =>
      of
        .selectFrom('identity')
        .select([
          ...(['account', 'connection_id'] as const),
          sql<CounterRow['kind']>`${counted.kind}`.as('kind'),
          sql<number>`${counted.slot}`.as('slot'),
          sql.lit(1).as('count'),
          sql<number>`${counted.active}`.as('active'),
        ])
        .where(inScope(counted))
        .where('id', '=', counted.id),
    )
    .onConflict(addCounts),
);

/** True for a live identity, false for a tombstone. */
export function isLive({ deleted_at }: Pick<CountedIdentity, 'deleted_at'>): boolean {
  return deleted_at === null;
}

/** Updates the counter of groups. Must run in the transaction that inserts or deletes them. */
export async function countGroups(tx: Kysely<Tables>, scope: Scope, difference: number): Promise<void> {
  await updateCounter(tx, scope, { kind: 'group', count: difference, active: 0 });
}

async function updateCounter(
  tx: Kysely<Tables>,
  scope: Scope,
  change: Pick<CounterRow, 'kind' | 'count' | 'active'>,
): Promise<void> {
  if (change.count === 0 && change.active === 0) return;
  await upsertCounter(tx, change, { slot: nextSlot(), ...scopeColumns(scope) });
}

function nextSlot(): number {
  lastSlot = (lastSlot + 1) % SLOTS;
  return lastSlot;
}

const counterColumns = ['account', 'connection_id', 'kind', 'slot', 'count', 'active'] as const;

const upsertCounter = compiledQuery((db, placeholders: CounterRow) =>
  db.insertInto('list_counter').values(pick(placeholders, counterColumns)).onConflict(addCounts),
);

function addCounts(conflict: OnConflictBuilder<Tables, 'list_counter'>) {
  return conflict.columns(['account', 'connection_id', 'kind', 'slot']).doUpdateSet({
    count: sql`list_counter.count + excluded.count`,
    active: sql`list_counter.active + excluded.active`,
  });
}

/**
 * The rows of a list whose number the counters tell: those of one counter, the live identities that an IdP has written, or the live
 * identities without the unclaimed one of a traveler.
 */
export type CountedRows = CounterKind | 'claimed' | { liveExcept: string };

/** Returns the exact counts without counting rows. */
export async function readCounter(db: Kysely<Tables>, scope: Scope, rows: CountedRows): Promise<Counts> {
  return toCounts(await db.executeQuery(compileCounter(db, scope, rows)));
}

/** The sums of the slots of a counter; null if there are none. */
interface CounterSums {
  count: number | null;
  active: number | null;
}

/** Converts the result of a query of `compileCounter`. */
export function toCounts({ rows: [row] }: QueryResult<CounterSums>): Counts {
  return { count: row?.count ?? 0, active: row?.active ?? 0 };
}

/** Returns the query of a counter. */
export function compileCounter(
  db: Kysely<Tables>,
  scope: Scope,
  rows: CountedRows,
): CompiledQuery<CounterSums> {
  if (rows === 'claimed') return selectClaimedCounter.compile(db, scope);
  if (typeof rows === 'string') return selectCounter.compile(db, { ...scope, kind: rows });
  return selectCounterExcept.compile(db, { ...scope, travelId: rows.liveExcept });
}

const selectCounter = compiledQuery((db, counter: Scope & Pick<CounterRow, 'kind'>) =>
  db
    .selectFrom('list_counter')
    .select(({ fn }) => [
      fn.sum<number | null>('count').as('count'),
      fn.sum<number | null>('active').as('active'),
    ])
    .where(inScope(counter))
    .where('kind', '=', counter.kind),
);

const selectClaimedCounter = compiledQuery((db, scope: Scope) => {
  const sign = sql`case when kind = 'unclaimed' then -1 else 1 end`;
  return db
    .selectFrom('list_counter')
    .select([
      sql<number | null>`sum(${sign} * ${sql.ref('count')})`.as('count'),
      sql<number | null>`sum(${sign} * ${sql.ref('active')})`.as('active'),
    ])
    .where(inScope(scope))
    .where(sql<boolean>`kind in ('live', 'unclaimed')`);
});

const selectCounterExcept = compiledQuery((db, key: Scope & { travelId: string }) => {
  const sumWithout = (column: 'count' | 'active', hidden: RawBuilder<unknown>) =>
    sql<number | null>`sum(${sql.ref(column)}) - coalesce((
      select ${hidden} from identity where ${unclaimedOfTraveler(key, key.travelId)}), 0)`.as(column);
  return db
    .selectFrom('list_counter')
    .select([sumWithout('count', sql`count(*)`), sumWithout('active', sql`sum(identity.active)`)])
    .where(inScope(key))
    .where('kind', '=', sql.lit('live'));
});

/** The condition of the live unclaimed identity of a traveler. */
export function unclaimedOfTraveler(scope: Scope, travelId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${inScope(scope, 'identity')} and identity.travel_id = ${travelId}
    and identity.claimed = 0 and identity.deleted_at is null`;
}
