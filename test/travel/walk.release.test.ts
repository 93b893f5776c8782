import { type Fixture, openFixture } from '../fixtures/travel.ts';

const EVENTS = 100_000;
const IN_ONE_TRANSACTION = 5_000;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
  const { store, now } = fixture.runtime;
  for (let first = 1; first < EVENTS; first += IN_ONE_TRANSACTION) {
    const end = Math.min(EVENTS, first + IN_ONE_TRANSACTION);
    await store.write([], async (within) => {
      for (let n = first; n < end; n++) {
        const id = String(n).padStart(24, '0');
        const data = { id, type: 'costCenter', createdAt: '2026-11-20T12:00:00Z', archived: false, name: id };
        const doc = { kind: 'costCenter.created', data };
        // Several share a millisecond, so that time alone does not decide their order.
        const createdAt = now() + Math.floor(n / 7);
        within.append({
          ...{ type: 'event', parentId: '', createdAt, doc },
          id: n.toString(16).padStart(24, '0'),
        });
      }
    });
  }
});
afterAll(() => fixture.close());

interface Walked {
  /** The number of items shown, with repetitions. */
  shown: number;
  different: number;
  /** The cursor of the last page. */
  last: string | undefined;
}

async function page(query: string) {
  return (await fixture.send('get', `/events?pageKind=cursor&${query}`)).body;
}

/** Follows cursors from a starting cursor (or the beginning) to the end. */
async function walk(order: string, by: 'after' | 'before', from?: string): Promise<Walked> {
  const seen = new Set<string>();
  let shown = 0;
  for (let cursor = from, pages = 0; pages <= EVENTS / 100; pages++) {
    const { data, meta } = await page(`limit=100&order=${order}${cursor ? `&${by}=${cursor}` : ''}`);
    for (const { id } of data) seen.add(id);
    shown += data.length;
    const next = by === 'after' ? meta.nextAfter : meta.prevBefore;
    if (next === undefined) return { shown, different: seen.size, last: cursor };
    cursor = next;
  }
  throw new Error('the walk does not end');
}

test('a walk of 100,000 shows every item exactly once, in either order and from either end', async () => {
  const all = { shown: EVENTS, different: EVENTS };
  const forwards = await walk('asc', 'after');
  expect(forwards).toMatchObject(all);
  expect(await walk('desc', 'after')).toMatchObject(all);
  // The last page is full, so it still names the cursor of its last item.
  const { meta } = await page(`limit=99&order=asc&after=${forwards.last}`);
  expect(await walk('asc', 'before', meta.nextAfter)).toMatchObject(all);
});

test.each([1_000, 20_000, 20_001, 45_000, 50_000, 50_001, 79_999, 99_997])(
  'the page at offset %d begins with the event of this number, in either order',
  async (offset) => {
    const idOf = (number: number) => number.toString(16).padStart(24, '0');
    const idsAt = async (query: string) => {
      const { body } = await fixture.send('get', `/events?limit=3&${query}`);
      return body.data.map(({ id }: { id: string }) => id);
    };
    // The first event is that of the first admin.
    expect(await idsAt(`offset=${offset}`)).toEqual(
      [offset, offset + 1, offset + 2].filter((number) => number < EVENTS).map(idOf),
    );
    expect(await idsAt(`order=desc&offset=${EVENTS - 1 - offset}`)).toEqual(
      [offset, offset - 1, offset - 2].map(idOf),
    );
  },
);
