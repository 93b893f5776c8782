import { type Kysely, sql, type Transaction } from 'kysely';
import type { Position } from '../travel/ports.ts';
import { compiledQuery, compiledQueryVariants } from './queries.ts';
import type { Tables, TravelRow } from './tables.ts';

/** A list that is long, is cut into blocks; below that nobody minds passing by all. */
export const LONG_LIST = 2048;
/** A block that has become larger is cut in two. */
const LARGE = 1024;
/** So many are in a block when it is made. */
const MADE = 512;
/** Whether a list has become long is asked for with every so many numbers only. */
const LOOK_EVERY = 256;

/** Keeps the blocks of a list right when something comes into it. */
export async function addToBlocks(tx: Kysely<Tables>, list: TravelList, place: ListEntry): Promise<void> {
  const [block] = (await addToBlock(tx, { ...list, ...place, ...delta(place, 1) })).rows;
  if (block && block.others + block.archived > LARGE) await split(tx, list, block);
  if (!block && place.seq % LOOK_EVERY === 0) await cut(tx, list);
}

/** Keeps the blocks of a list right when something leaves it. */
export async function removeFromBlocks(
  tx: Kysely<Tables>,
  list: TravelList,
  place: ListEntry,
): Promise<void> {
  const [block] = (await addToBlock(tx, { ...list, ...place, ...delta(place, -1) })).rows;
  const isFirst = block?.value === '';
  if (!block || isFirst) return;
  if (block.others + block.archived === 0) await removeBlock(tx, list, block);
  else if (block.value === place.value && block.seq === place.seq) await beginLater(tx, list, block);
}

/** A block does not keep the value of what has left it, which may be the address of somebody who is erased. */
async function beginLater(tx: Kysely<Tables>, list: TravelList, { value, seq }: Block): Promise<void> {
  const [next] = await entriesFrom(tx, list, { from: { value, seq }, inclusive: false, limit: 1 });
  if (!next) return;
  await tx
    .updateTable('travel_block')
    .set({ value: next.value, seq: next.seq })
    .where('type', '=', list.type)
    .where('list', '=', list.list)
    .where('value', '=', value)
    .where('seq', '=', seq)
    .execute();
}

interface Block extends Position {
  value: string;
  others: number;
  archived: number;
}

/** The block that a place far into a list is in, and how many of it come before: in the given order. */
export async function findBlockAt(
  db: Kysely<Tables>,
  list: TravelList,
  { order, offset, archived }: { order: 'asc' | 'desc'; offset: number; archived: boolean | undefined },
): Promise<{ from: { place: Position; inclusive: boolean } | undefined; skip: number } | undefined> {
  let passed = 0;
  // Going backwards a block ends where the one before it, which comes after it in the list, begins.
  let end: Position | undefined;
  for (let last: Block | undefined; ; ) {
    // Mostly they hold what they were made with or more, so that so many are enough.
    const limit = Math.min(MOST_AT_ONCE, Math.ceil((offset - passed) / MADE) + 1);
    const blocks = await blocksFrom(db, { ...list, order, last, limit });
    for (const block of blocks) {
      const size =
        archived === undefined ? block.others + block.archived : archived ? block.archived : block.others;
      if (passed + size > offset) {
        const from =
          order === 'asc' ? { place: block, inclusive: true } : end && { place: end, inclusive: false };
        return { from, skip: offset - passed };
      }
      passed += size;
      end = block;
    }
    last = blocks.at(-1);
    if (!last) return undefined;
  }
}

const MOST_AT_ONCE = 512;

async function blocksFrom(
  db: Kysely<Tables>,
  {
    type,
    list,
    order,
    last,
    limit,
  }: TravelList & { order: 'asc' | 'desc'; last: Block | undefined; limit: number },
): Promise<Block[]> {
  const run = blocksBeyond({ order, isFirst: last === undefined });
  return (await run(db, { type, list, value: last?.value ?? '', seq: last?.seq ?? 0, limit })).rows;
}

const blocksBeyond = compiledQueryVariants<
  { order: 'asc' | 'desc'; isFirst: boolean },
  TravelList & Pick<Block, 'value' | 'seq'> & { limit: number },
  Block
>(
  ({ order, isFirst }) =>
    (db, { type, list, value, seq, limit }) =>
      db
        .selectFrom('travel_block')
        .select(['value', 'seq', 'others', 'archived'])
        .where('type', '=', type)
        .where('list', '=', list)
        .$if(!isFirst, (all) =>
          all.where(sql<boolean>`(value, seq) ${sql.raw(order === 'asc' ? '>' : '<')} (${value}, ${seq})`),
        )
        .orderBy('value', order)
        .orderBy('seq', order)
        .limit(limit),
);

function delta({ archived }: ListEntry, by: number): { addArchived: number; addOthers: number } {
  return archived === 1 ? { addArchived: by, addOthers: 0 } : { addArchived: 0, addOthers: by };
}

/** The block of a place is the last that begins at it or before. */
const addToBlock = compiledQuery<TravelList & ListEntry & { addArchived: number; addOthers: number }, Block>(
  (db, { type, list, value, seq, addArchived, addOthers }) =>
    db
      .updateTable('travel_block')
      .set((block) => ({
        others: block('others', '+', addOthers),
        archived: block('archived', '+', addArchived),
      }))
      .where('type', '=', type)
      .where('list', '=', list)
      .where(({ eb, selectFrom }) =>
        eb(
          sql`(value, seq)`,
          '=',
          selectFrom('travel_block as before')
            .select([sql`before.value`.as('value'), sql`before.seq`.as('seq')])
            .where('before.type', '=', type)
            .where('before.list', '=', list)
            .where(sql<boolean>`(before.value, before.seq) <= (${value}, ${seq})`)
            .orderBy('before.value', 'desc')
            .orderBy('before.seq', 'desc')
            .limit(1),
        ),
      )
      .returning(['value', 'seq', 'others', 'archived']),
);

async function removeBlock(
  tx: Kysely<Tables>,
  { type, list }: TravelList,
  { value, seq }: Block,
): Promise<void> {
  await tx
    .deleteFrom('travel_block')
    .where('type', '=', type)
    .where('list', '=', list)
    .where('value', '=', value)
    .where('seq', '=', seq)
    .execute();
}

/** The first half stays, the second becomes a block of its own. */
async function split(tx: Kysely<Tables>, list: TravelList, block: Block): Promise<void> {
  const places = await entriesFrom(tx, list, { from: block, inclusive: true, limit: MADE + 1 });
  const next = places[MADE];
  if (!next) return;
  const first = sizes(places.slice(0, MADE));
  await tx
    .updateTable('travel_block')
    .set(first)
    .where('type', '=', list.type)
    .where('list', '=', list.list)
    .where('value', '=', block.value)
    .where('seq', '=', block.seq)
    .execute();
  const rest = { others: block.others - first.others, archived: block.archived - first.archived };
  await addBlock(tx, list, { ...rest, value: next.value, seq: next.seq });
}

/** Makes the blocks of a list that has become long, from its beginning to its end. */
async function cut(tx: Kysely<Tables>, list: TravelList): Promise<void> {
  let places = await entriesFrom(tx, list, { limit: LONG_LIST });
  if (places.length < LONG_LIST) return;
  let begin = { value: '', seq: 0 };
  while (places.length > 0) {
    const block = places.slice(0, MADE);
    await addBlock(tx, list, { ...begin, ...sizes(block) });
    const last = block[block.length - 1];
    if (!last) return;
    places = await entriesFrom(tx, list, { from: last, inclusive: false, limit: MADE });
    begin = places[0] ?? begin;
  }
}

function sizes(places: ListEntry[]): { others: number; archived: number } {
  const archived = places.filter((place) => place.archived === 1).length;
  return { others: places.length - archived, archived };
}

async function addBlock(
  tx: Kysely<Tables>,
  { type, list }: TravelList,
  { value, seq, others, archived }: Block,
): Promise<void> {
  await tx.insertInto('travel_block').values({ type, list, value, seq, others, archived }).execute();
}

/** A list of one type: an index, or those of a parent in order of creation. */
export interface TravelList {
  type: string;
  list: string;
}

/** Where a resource stands in a list. */
export interface ListEntry {
  value: string;
  seq: number;
  archived: number;
}

const CREATION = '=';

/** The list of all that have this parent, in order of creation. */
export function creationList(parentId: string): string {
  return `${CREATION}${parentId}`;
}

/** A time of creation in the form in which places are compared in any list. */
export function creationValue(createdAt: number): string {
  return String(createdAt).padStart(16, '0');
}

/** The places of a list from one of them on, in order. */
export async function entriesFrom(
  db: Kysely<Tables>,
  { type, list }: TravelList,
  { from, inclusive = true, limit }: { from?: Position; inclusive?: boolean; limit: number },
): Promise<ListEntry[]> {
  const { value, seq } = from ?? { value: '', seq: 0 };
  const sign = sql.raw(inclusive ? '>=' : '>');
  if (!list.startsWith(CREATION)) {
    return db
      .selectFrom('travel_index')
      .select(['value', 'seq', 'archived'])
      .where('type', '=', type)
      .where('name', '=', list)
      .where(sql<boolean>`(value, seq) ${sign} (${value}, ${seq})`)
      .orderBy('value')
      .orderBy('seq')
      .limit(limit)
      .execute();
  }
  const rows = await db
    .selectFrom('travel_resource')
    .select(['created_at', 'seq', 'archived'])
    .where('type', '=', type)
    .where('parent_id', '=', list.slice(CREATION.length))
    .where(sql<boolean>`(created_at, seq) ${sign} (${Number(value)}, ${seq})`)
    .orderBy('created_at')
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, value: creationValue(row.created_at) }));
}

/** Counts a list up or down, which is a collection under its parent ('': none) or a counted index. */
export async function addToListCount(
  tx: Kysely<Tables>,
  change: { type: string; list: string; archived: number; by: number },
): Promise<void> {
  await addToCount(tx, change);
}

const addToCount = compiledQuery<{ type: string; list: string; archived: number; by: number }, unknown>(
  (db, { type, list, archived, by }) =>
    db
      .insertInto('travel_count')
      .values({ type, parent_id: list, archived, count: by })
      .onConflict((same) =>
        same
          .columns(['type', 'parent_id', 'archived'])
          .doUpdateSet((row) => ({ count: sql<number>`${row.ref('travel_count.count')} + ${by}` })),
      ),
);

/** Counts a resource into its collection, and into the blocks of that. */
export async function countIntoCollection(tx: Transaction<Tables>, row: TravelRow): Promise<void> {
  const { type, parent_id, archived } = row;
  await addToListCount(tx, { type, list: parent_id, archived, by: 1 });
  await addToBlocks(tx, { type, list: creationList(parent_id) }, entryOf(row));
}

/** Counts a resource out of its collection, and out of the blocks of that. */
export async function countOutOfCollection(tx: Transaction<Tables>, row: TravelRow): Promise<void> {
  const { type, parent_id, archived } = row;
  await addToListCount(tx, { type, list: parent_id, archived, by: -1 });
  await removeFromBlocks(tx, { type, list: creationList(parent_id) }, entryOf(row));
}

function entryOf({ created_at, seq, archived }: TravelRow) {
  return { value: creationValue(created_at), seq, archived };
}
