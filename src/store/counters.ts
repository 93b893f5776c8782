import { type Kysely, sql } from 'kysely';
import { inScope, type Scope, scopeColumns } from './connection-scopes.ts';
import { compiledQuery, pick } from './queries.ts';
import type { Tables } from './tables.ts';

type CounterRow = Tables['tally'];

/** Creates a connection's counters with the value zero. */
export async function createCounters(tx: Kysely<Tables>, scope: Scope): Promise<void> {
  const kinds: CounterRow['kind'][] = ['live', 'dead', 'group'];
  const rows = kinds.map((kind) => ({ ...scopeColumns(scope), kind, count: 0, active: 0, last: 0 }));
  await tx
    .insertInto('tally')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** A change of a counter. `positions` is the number of positions to assign. */
interface Change {
  kind: CounterRow['kind'];
  count: number;
  active?: number;
  positions?: number;
}

/**
 * Adds to a counter in the transaction that inserts or deletes the rows. Returns the last position that was assigned
 * so far.
 */
export async function addToCounter(
  tx: Kysely<Tables>,
  scope: Scope,
  { kind, count, active = 0, positions = 0 }: Change,
): Promise<number> {
  if (count === 0 && active === 0 && positions === 0) return 0;
  const [row] = (await addToCount(tx, { ...scope, kind, count, active, positions })).rows;
  if (!row) throw new Error('A connection was not opened.');
  return row.last;
}

const addToCount = compiledQuery((db, change: Required<Change> & Scope) =>
  db
    .updateTable('tally')
    .set((old) => ({
      count: old('count', '+', change.count),
      active: old('active', '+', change.active),
      last: old('last', '+', change.positions),
    }))
    .where(inScope(change))
    .where('kind', '=', change.kind)
    .returning('last'),
);

/** Returns the exact counts without counting rows. */
export async function readCounter(
  db: Kysely<Tables>,
  scope: Scope,
  kind: CounterRow['kind'],
): Promise<Pick<CounterRow, 'count' | 'active'>> {
  const [row] = (await selectCounter(db, { ...scope, kind })).rows;
  return row ?? { count: 0, active: 0 };
}

const selectCounter = compiledQuery((db, counter: Scope & Pick<CounterRow, 'kind'>) =>
  db.selectFrom('tally').select(['count', 'active']).where(inScope(counter)).where('kind', '=', counter.kind),
);

/** How many positions one block counts. An offset is found by skipping whole blocks, then by steps within one. */
export const POSITIONS_PER_BLOCK = 1024;

/**
 * The first position of users that were created incomplete. They come after all others: no connection ever has this
 * many users.
 */
const INCOMPLETE = 2 ** 40;

/** An identity with the columns that counters depend on. */
export interface CountedIdentity {
  position: number;
  live: 0 | 1;
  active: 0 | 1;
}

/** 1 for a live row, 0 for a tombstone. */
export function liveFlag({ deleted_at }: { deleted_at: number | null }): 0 | 1 {
  return deleted_at === null ? 1 : 0;
}

type NewIdentity = Omit<CountedIdentity, 'position'> & { incomplete: 0 | 1 };

/**
 * Assigns permanent positions to new identities, in their order, and counts them. Returns the identities with their
 * positions.
 */
export async function assignPositions(
  tx: Kysely<Tables>,
  scope: Scope,
  newcomers: NewIdentity[],
): Promise<CountedIdentity[]> {
  const live = newcomers.filter((one) => one.live === 1);
  const by = { count: live.length, active: live.filter(({ active }) => active === 1).length };
  const last = await addToCounter(tx, scope, { kind: 'live', ...by, positions: newcomers.length });
  const first = last - newcomers.length + 1;
  const counted = newcomers.map(({ incomplete, ...one }, index) => ({
    ...one,
    position: first + index + incomplete * INCOMPLETE,
  }));
  await addToCounter(tx, scope, { kind: 'dead', count: newcomers.length - live.length });
  await countBlocks(
    tx,
    scope,
    counted.map((now) => ({ now })),
  );
  return counted;
}

/** An identity before and after a change. Without `before` it is new, without `now` it is deleted. */
interface Move {
  before?: CountedIdentity;
  now?: CountedIdentity;
}

/**
 * Updates the counters for identities that were deleted, restored, activated or deactivated. Must run in the
 * transaction of the change.
 */
export async function updateCounters(tx: Kysely<Tables>, scope: Scope, moves: Move[]): Promise<void> {
  const sum = (of: (one: CountedIdentity) => number) =>
    moves.reduce((total, { before, now }) => total + (now ? of(now) : 0) - (before ? of(before) : 0), 0);
  const active = sum((one) => one.live * one.active);
  await addToCounter(tx, scope, { kind: 'live', count: sum(({ live }) => live), active });
  await addToCounter(tx, scope, { kind: 'dead', count: sum(({ live }) => 1 - live) });
  await countBlocks(tx, scope, moves);
}

async function countBlocks(tx: Kysely<Tables>, scope: Scope, moves: Move[]): Promise<void> {
  const blocks = new Map<number, { live: number; active: number }>();
  const add = ({ position, live, active }: CountedIdentity, by: number) => {
    const block = Math.floor(position / POSITIONS_PER_BLOCK);
    const before = blocks.get(block) ?? { live: 0, active: 0 };
    blocks.set(block, { live: before.live + by * live, active: before.active + by * live * active });
  };
  for (const { before, now } of moves) {
    if (before) add(before, -1);
    if (now) add(now, 1);
  }
  for (const [block, { live, active }] of blocks) {
    if (live === 0 && active === 0) continue;
    await addToBlock(tx, { ...scopeColumns(scope), block, live, active });
  }
}

const addToBlock = compiledQuery((db, placeholders: Tables['identity_block']) =>
  db
    .insertInto('identity_block')
    .values(pick(placeholders, ['account', 'connection_id', 'block', 'live', 'active']))
    .onConflict((conflict) =>
      conflict.columns(['account', 'connection_id', 'block']).doUpdateSet({
        live: sql`identity_block.live + excluded.live`,
        active: sql`identity_block.active + excluded.active`,
      }),
    ),
);
