import type { TravelAnswer, TravelUserPage } from '../../src/model/travel-ports.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import { readTravelerPages } from '../../src/provisioning/import/traveler-pages.ts';

interface List {
  size: number;
  /** The longest page that the travel API sends. */
  limit?: number;
  isTotalGiven?: boolean;
  /** Returns another answer for an offset. */
  instead?: (offset: number) => TravelAnswer<TravelUserPage> | undefined;
}

/** A travel API with the travelers 0, 1, 2 and so on, which records the offsets that it is asked for. */
function travelList({ size, limit = 100, isTotalGiven = true, instead = () => undefined }: List) {
  const offsets: number[] = [];
  const readPage = async (offset: number, asked: number): Promise<TravelAnswer<TravelUserPage>> => {
    offsets.push(offset);
    const length = Math.max(0, Math.min(asked, limit, size - offset));
    return instead(offset) ?? { kind: 'ok', value: page(offset, length) };
  };
  const page = (offset: number, length: number): TravelUserPage => {
    const end = offset + length;
    const isLast = isTotalGiven ? length === 0 || end >= size : length < limit;
    const total = isTotalGiven ? size : end + (isLast ? 0 : 1);
    const users = Array.from({ length }, (_, n) => ({ id: String(offset + n) }) as TravelUser);
    return { users, unreadable: [], length, total, isTotalGiven, isLast };
  };
  return { readPage, offsets, page };
}

/** The ids of each batch, and the kind of a failure. */
async function batchesOf(travel: ReturnType<typeof travelList>) {
  const batches: (number[] | string)[] = [];
  for await (const batch of readTravelerPages(travel))
    batches.push(
      'kind' in batch ? batch.kind : batch.flatMap(({ users }) => users.map(({ id }) => Number(id))),
    );
  return batches;
}

function upTo(size: number): number[] {
  return Array.from({ length: size }, (_, n) => n);
}

it.each([
  ['an empty list', { size: 0 }],
  ['one page', { size: 100 }],
  ['many pages', { size: 1_234 }],
  ['a travel API without totals', { size: 730, isTotalGiven: false }],
  ['a travel API without totals, whose last page is full', { size: 600, isTotalGiven: false }],
  ['a travel API with shorter pages', { size: 1_234, limit: 30 }],
  ['shorter pages without totals', { size: 250, limit: 30, isTotalGiven: false }],
])('%s: every traveler is read once and in order', async (_what, list) => {
  const travel = travelList(list);
  expect((await batchesOf(travel)).flat()).toEqual(upTo(list.size));
  expect(new Set(travel.offsets).size).toBe(travel.offsets.length);
});

it('ten pages are read at the same time, and none behind the total', async () => {
  const travel = travelList({ size: 2_234 });
  const batches = await batchesOf(travel);
  expect(batches.map(({ length }) => length)).toEqual([100, 1_000, 1_000, 134]);
  expect(travel.offsets).toEqual(upTo(23).map((n) => n * 100));
});

it('the next pages are asked for while the caller saves the last ones', async () => {
  const travel = travelList({ size: 2_234 });
  const pages = readTravelerPages(travel);
  await pages.next();
  expect(travel.offsets).toEqual(upTo(11).map((n) => n * 100));
});

it('after a page of another length, the pages behind it are read again from where it ends', async () => {
  const travel = travelList({
    size: 1_000,
    instead: (offset) => (offset === 300 ? { kind: 'ok', value: travel.page(300, 40) } : undefined),
  });
  expect((await batchesOf(travel)).flat()).toEqual(upTo(1_000));
});

it('the pages before a failure are returned, and then the failure', async () => {
  const travel = travelList({
    size: 1_000,
    instead: (offset) => (offset === 300 ? { kind: 'unavailable', text: 'down' } : undefined),
  });
  const [first = [], second = [], ...rest] = await batchesOf(travel);
  expect([...first, ...second]).toEqual(upTo(300));
  expect(rest).toEqual(['unavailable']);
});
