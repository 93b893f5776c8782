import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import { compiledInsert, compiledQuery } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

type CounterRow = Tables['list_counter'];

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
  const difference = (isCounted: (identity: CountedIdentity) => boolean) =>
    changes.reduce(
      (sum, { before, now }) => sum + (now && isCounted(now) ? 1 : 0) - (before && isCounted(before) ? 1 : 0),
      0,
    );
  const countsOf = (kind: CounterRow['kind'], isCounted: (identity: CountedIdentity) => boolean) => ({
    kind,
    count: difference(isCounted),
    active: kind === 'dead' ? 0 : difference((one) => isCounted(one) && one.active === 1),
  });
  await addToCounters(tx, scope, [
    countsOf('live', isLive),
    countsOf('unclaimed', (identity) => isLive(identity) && identity.claimed === 0),
    countsOf('dead', (identity) => !isLive(identity)),
  ]);
}

/** True for a live identity, false for a tombstone. */
export function isLive({ deleted_at }: Pick<CountedIdentity, 'deleted_at'>): boolean {
  return deleted_at === null;
}

/** Updates the counter of groups. Must run in the transaction that inserts or deletes them. */
export async function countGroups(tx: Kysely<Tables>, scope: Scope, difference: number): Promise<void> {
  await addToCounters(tx, scope, [{ kind: 'group', count: difference, active: 0 }]);
}

async function addToCounters(
  tx: Kysely<Tables>,
  scope: Scope,
  changes: Pick<CounterRow, 'kind' | 'count' | 'active'>[],
): Promise<void> {
  const changed = changes.filter(({ count, active }) => count !== 0 || active !== 0);
  lastSlot = (lastSlot + 1) % SLOTS;
  const rows = changed.map(({ kind, count, active }) => ({
    ...scopeColumns(scope),
    ...{ kind, slot: lastSlot, count, active },
  }));
  await upsertCounters(tx, rows);
}

const upsertCounters = compiledInsert((db, rows: CounterRow[]) =>
  db
    .insertInto('list_counter')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['account', 'connection_id', 'kind', 'slot']).doUpdateSet({
        count: sql`list_counter.count + excluded.count`,
        active: sql`list_counter.active + excluded.active`,
      }),
    ),
);

/**
 * The rows of a list whose number the counters tell: those of one counter, the live identities that an IdP has written, or the live
 * identities without the unclaimed one of a traveler.
 */
export type CountedRows = CounterRow['kind'] | 'claimed' | { liveExcept: string };

/** Returns the exact counts without counting rows. */
export async function readCounter(db: Kysely<Tables>, scope: Scope, rows: CountedRows): Promise<Counts> {
  if (rows === 'claimed') return sumSlots(db, scope, { live: 1, unclaimed: -1 });
  if (typeof rows === 'string') return sumSlots(db, scope, { [rows]: 1 });
  const [
    live,
    {
      rows: [hidden],
    },
  ] = await Promise.all([
    sumSlots(db, scope, { live: 1 }),
    selectHidden(db, { ...scope, travelId: rows.liveExcept }),
  ]);
  return hidden ? { count: live.count - 1, active: live.active - hidden.active } : live;
}

const selectHidden = compiledQuery((db, of: Scope & { travelId: string }) =>
  db.selectFrom('identity').select('active').where(unclaimedOfTraveler(of, of.travelId)),
);

const selectSlots = compiledQuery((db, of: Scope & { one: CounterRow['kind']; other: CounterRow['kind'] }) =>
  db
    .selectFrom('list_counter')
    .select(['kind', 'count', 'active'])
    .where(inScope(of))
    .where('kind', 'in', [of.one, of.other]),
);

/** Adds the slots of one kind, and subtracts those of another. */
async function sumSlots(
  db: Kysely<Tables>,
  scope: Scope,
  signs: Partial<Record<CounterRow['kind'], 1 | -1>>,
): Promise<Counts> {
  const [one = 'live', other = one] = Object.keys(signs) as CounterRow['kind'][]; // The keys of this record.
  const { rows: slots } = await selectSlots(db, { ...scope, one, other });
  const sum = (column: 'count' | 'active') =>
    slots.reduce((total, slot) => total + (signs[slot.kind] ?? 0) * slot[column], 0);
  return { count: sum('count'), active: sum('active') };
}

/** The condition of the live unclaimed identity of a traveler. */
export function unclaimedOfTraveler(scope: Scope, travelId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${inScope(scope, 'identity')} and identity.travel_id = ${travelId}
    and identity.claimed = 0 and identity.deleted_at is null`;
}
