import { type CompiledQuery, type Kysely, type OnConflictBuilder, type QueryResult, sql } from 'kysely';
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
  const count = difference(isLive);
  const active = difference((identity) => isLive(identity) && identity.active === 1);
  const dead = difference((identity) => !isLive(identity));
  await updateCounter(tx, scope, { kind: 'live', count, active });
  await updateCounter(tx, scope, { kind: 'dead', count: dead, active: 0 });
}

/** Returns the statement that counts a new identity if the identity is stored. */
export function countStoredIdentity(
  db: Kysely<Tables>,
  scope: Scope,
  { id, ...identity }: CountedIdentity & { id: string },
): CompiledQuery<unknown> {
  const counted = isLive(identity)
    ? ({ kind: 'live', active: identity.active } as const)
    : ({ kind: 'dead', active: 0 } as const);
  return countIfStored.compile(db, { ...scope, id, slot: nextSlot(), ...counted });
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

/** Returns the exact counts without counting rows. */
export async function readCounter(db: Kysely<Tables>, scope: Scope, kind: CounterKind): Promise<Counts> {
  return toCounts(await selectCounter(db, { ...scope, kind }));
}

/** Converts the result of `selectCounter`. */
export function toCounts({
  rows: [row],
}: QueryResult<{ count: number | null; active: number | null }>): Counts {
  return { count: row?.count ?? 0, active: row?.active ?? 0 };
}

/** Selects the sums of the slots of a counter. */
export const selectCounter = compiledQuery((db, counter: Scope & Pick<CounterRow, 'kind'>) =>
  db
    .selectFrom('list_counter')
    .select(({ fn }) => [
      fn.sum<number | null>('count').as('count'),
      fn.sum<number | null>('active').as('active'),
    ])
    .where(inScope(counter))
    .where('kind', '=', counter.kind),
);
