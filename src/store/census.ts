import { type Kysely, sql } from 'kysely';
import { pick, prepared } from './prepared.ts';
import type { Tables } from './tables.ts';
import { tally } from './tally.ts';

/** How many positions are counted together: an offset is found by whole blocks, then by steps within one. */
export const BLOCK = 1024;

/** Positions of those who came incomplete begin here, behind all others: no connection ever has so many. */
const INCOMPLETE = 2 ** 40;

/** What an identity adds to the counts, at its place in the stable order. */
export interface Counted {
  position: number;
  live: 0 | 1;
  active: 0 | 1;
}

/** Whether a row is of the living, as it is counted. */
export function liveOf({ deleted_at }: { deleted_at: number | null }): 0 | 1 {
  return deleted_at === null ? 1 : 0;
}

type Newcomer = Omit<Counted, 'position'> & { incomplete: 0 | 1 };

/** Gives new identities of a connection their places, in their order and for life, and counts them. */
export async function admit(
  tx: Kysely<Tables>,
  connection: string,
  newcomers: Newcomer[],
): Promise<Counted[]> {
  const live = newcomers.filter((one) => one.live === 1);
  const by = { count: live.length, active: live.filter(({ active }) => active === 1).length };
  const last = await tally(tx, connection, { kind: 'live', ...by, places: newcomers.length });
  const first = last - newcomers.length + 1;
  const counted = newcomers.map(({ incomplete, ...one }, index) => ({
    ...one,
    position: first + index + incomplete * INCOMPLETE,
  }));
  await tally(tx, connection, { kind: 'dead', count: newcomers.length - live.length });
  await countBlocks(
    tx,
    connection,
    counted.map((now) => ({ now })),
  );
  return counted;
}

/** One identity before and after a change; without one of them it came or went. */
interface Move {
  before?: Counted;
  now?: Counted;
}

/** Counts anew those that live, die, are erased, or are switched on or off; in the transaction that does it. */
export async function recount(tx: Kysely<Tables>, connection: string, moves: Move[]): Promise<void> {
  const sum = (of: (one: Counted) => number) =>
    moves.reduce((total, { before, now }) => total + (now ? of(now) : 0) - (before ? of(before) : 0), 0);
  const active = sum((one) => one.live * one.active);
  await tally(tx, connection, { kind: 'live', count: sum(({ live }) => live), active });
  await tally(tx, connection, { kind: 'dead', count: sum(({ live }) => 1 - live) });
  await countBlocks(tx, connection, moves);
}

async function countBlocks(tx: Kysely<Tables>, connection: string, moves: Move[]): Promise<void> {
  const blocks = new Map<number, { live: number; active: number }>();
  const add = ({ position, live, active }: Counted, by: number) => {
    const block = Math.floor(position / BLOCK);
    const before = blocks.get(block) ?? { live: 0, active: 0 };
    blocks.set(block, { live: before.live + by * live, active: before.active + by * live * active });
  };
  for (const { before, now } of moves) {
    if (before) add(before, -1);
    if (now) add(now, 1);
  }
  for (const [block, { live, active }] of blocks) {
    if (live === 0 && active === 0) continue;
    await counted(tx, { connection_id: connection, block, live, active });
  }
}

const counted = prepared((db, blanks: Tables['identity_block']) =>
  db
    .insertInto('identity_block')
    .values(pick(blanks, ['connection_id', 'block', 'live', 'active']))
    .onConflict((conflict) =>
      conflict.columns(['connection_id', 'block']).doUpdateSet({
        live: sql`identity_block.live + excluded.live`,
        active: sql`identity_block.active + excluded.active`,
      }),
    ),
);
