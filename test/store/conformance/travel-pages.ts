import fc from 'fast-check';
import { travelStore } from '../../../src/store/travel/travel-writes.ts';
import type { Edge, IndexKeys, ListQuery, StoredResource, TravelStore } from '../../../src/travel/ports.ts';
import { runs } from '../../fixtures/runs.ts';
import { seededRandom } from '../../fixtures/seeded.ts';
import { NOW, type OpenDatabase } from '../../fixtures/store.ts';

const bare: IndexKeys = { archived: false, unique: [], index: [], references: [] };
const all: ListQuery = { type: 'thing', parentId: '', order: 'asc', limit: 100 };

function thing(id: string, createdAt = NOW): StoredResource {
  return { type: 'thing', id, parentId: '', createdAt, doc: { id } };
}

/** The keys of a resource in a counted list of its owner, sorted by creation and by name. */
function keysFor(owner: string, name: string, createdAt: number): IndexKeys {
  const list = `owner/${owner}`;
  const created = new Date(createdAt).toISOString();
  return {
    ...bare,
    index: [
      { name: 'name', value: name },
      { name: list, value: created, counted: true },
      { name: `${list}/name`, value: name },
    ],
  };
}

/** Reads a list from one end to the other, page by page. */
async function walk(store: TravelStore, query: ListQuery, back = false): Promise<string[]> {
  const ids: string[] = [];
  let edge: Edge | undefined;
  for (let pages = 0; pages < 1000; pages++) {
    const { resources, next, previous } = await store.pageFrom(query, edge);
    const page = resources.map(({ id }) => id);
    if (back) ids.unshift(...page);
    else ids.push(...page);
    const place = back ? previous : next;
    if (!place) return ids;
    edge = back ? { before: place } : { after: place };
  }
  throw new Error('the walk does not end');
}

/** Conformance tests of pages, counted indexes, feeds and expiry, for any database. */
export function describeTravelPages(open: OpenDatabase): void {
  const opened = async () => travelStore(await open());
  const add = (store: TravelStore, resource: StoredResource, keys: IndexKeys = bare) =>
    store.write(['thing'], (within) => within.insert(resource, keys));

  describe('a page from a position', () => {
    it('begins or ends at the position, and returns the neighboring positions', async () => {
      const store = await opened();
      for (const id of ['a', 'b', 'c', 'd', 'e']) await add(store, thing(id));
      const first = await store.pageFrom({ ...all, limit: 2 }, undefined);
      expect([first.resources.map(({ id }) => id), first.previous]).toEqual([['a', 'b'], undefined]);
      if (!first.next) throw new Error('there is no next page');
      const second = await store.pageFrom({ ...all, limit: 2 }, { after: first.next });
      expect(second.resources.map(({ id }) => id)).toEqual(['c', 'd']);
      if (!second.previous || !second.next) throw new Error('a page in the middle has neighbours');
      const again = await store.pageFrom({ ...all, limit: 2 }, { before: second.previous });
      expect(again.resources.map(({ id }) => id)).toEqual(['a', 'b']);
      expect([again.previous, again.next]).toEqual([undefined, first.next]);
      const last = await store.pageFrom({ ...all, limit: 2 }, { after: second.next });
      expect([last.resources.map(({ id }) => id), last.next]).toEqual([['e'], undefined]);
    });

    it('continues at the position even if its resource was deleted', async () => {
      const store = await opened();
      for (const id of ['a', 'b', 'c', 'd']) await add(store, thing(id));
      const { next } = await store.pageFrom({ ...all, limit: 2 }, undefined);
      await store.write(['thing'], (within) => within.remove(thing('c'), bare));
      if (!next) throw new Error('there is no next page');
      const rest = await store.pageFrom(all, { after: next });
      expect(rest.resources.map(({ id }) => id)).toEqual(['d']);
      const before = await store.pageFrom(all, { before: next });
      expect(before.resources.map(({ id }) => id)).toEqual(['a', 'b']);
    });

    it('contains each resource once, in every order, from either end', async () => {
      const made = fc.record({
        owner: fc.constantFrom('p', 'q'),
        name: fc.constantFrom('x', 'y', 'z'),
        late: fc.integer({ min: 0, max: 2 }),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(made, { maxLength: 14 }),
          fc.integer({ min: 1, max: 5 }),
          async (things, limit) => {
            const store = await opened();
            const rows = things.map(({ owner, name, late }, seq) => ({
              id: `t${seq}`,
              owner,
              name,
              late,
              seq,
            }));
            for (const { id, owner, name, late } of rows) {
              await add(store, thing(id, NOW + late), keysFor(owner, name, NOW + late));
            }
            const byCreation = [...rows].sort((one, other) => one.late - other.late || one.seq - other.seq);
            const byName = [...rows].sort(
              (one, other) => compare(one.name, other.name) || one.seq - other.seq,
            );
            for (const [sortBy, sorted] of [
              [undefined, byCreation],
              ['name', byName],
            ] as const) {
              for (const owner of [undefined, 'p', 'q']) {
                const wanted = sorted
                  .filter((row) => owner === undefined || row.owner === owner)
                  .map(({ id }) => id);
                const query = { ...all, limit, ...listOf(owner, sortBy) };
                expect(await walk(store, query)).toEqual(wanted);
                expect(await walk(store, { ...query, order: 'desc' })).toEqual([...wanted].reverse());
                const page = await store.page({ ...query, offset: 0 });
                expect(page.total).toBe(wanted.length);
                expect(page.resources.map(({ id }) => id)).toEqual(wanted.slice(0, limit));
                const [first] = wanted;
                if (first === undefined) continue;
                const end = await store.pageFrom({ ...query, limit: 1, order: 'desc' }, undefined);
                expect(end.resources[0]?.id).toBe(wanted.at(-1));
              }
            }
          },
        ),
        runs(25),
      );
    });

    it('is the same backwards from the end as forwards', async () => {
      const store = await opened();
      const ids = Array.from({ length: 23 }, (_one, number) => `t${number}`);
      for (const id of ids) await add(store, thing(id));
      let edge: Edge | undefined;
      for (;;) {
        const { next } = await store.pageFrom({ ...all, limit: 7 }, edge);
        if (!next) break;
        edge = { after: next };
      }
      if (!edge || !('after' in edge)) throw new Error('there is no last page');
      const last = await store.pageFrom({ ...all, limit: 1 }, edge);
      expect(last.resources[0]?.id).toBe('t21');
      const before = await store.pageFrom({ ...all, limit: 100 }, { before: edge.after });
      expect(before.resources.map(({ id }) => id)).toEqual(ids.slice(0, 22));
    });
  });

  describe('a counted index', () => {
    it('keeps its exact length when members are added, changed and removed', async () => {
      const store = await opened();
      const total = async (owner: string) =>
        (await store.page({ ...all, within: `owner/${owner}`, offset: 0, limit: 1 })).total;
      await add(store, thing('a'), keysFor('p', 'x', NOW));
      await add(store, thing('b'), keysFor('p', 'y', NOW));
      await store.write(['thing'], (within) =>
        within.replace(thing('b'), keysFor('q', 'y', NOW), keysFor('p', 'y', NOW)),
      );
      expect([await total('p'), await total('q')]).toEqual([1, 1]);
      await store.write(['thing'], (within) =>
        within.replace(thing('b'), keysFor('q', 'z', NOW), keysFor('q', 'y', NOW)),
      );
      await store.write(['thing'], (within) => within.remove(thing('a'), keysFor('p', 'x', NOW)));
      expect([await total('p'), await total('q')]).toEqual([0, 1]);
    });
  });

  describe('the total of a list', () => {
    it('is the sum of its counters, whichever of them a transaction changed', async () => {
      const database = await open();
      const store = travelStore(database);
      await add(store, thing('a'));
      const counted = { type: 'thing', parent_id: '', archived: 0 };
      await database.db
        .insertInto('travel_count')
        .values([
          { ...counted, slot: 100, count: 5 },
          { ...counted, slot: 101, count: -2 },
        ])
        .execute();
      expect((await store.page({ ...all, offset: 0 })).total).toBe(4);
    });
  });

  describe('a page at a high offset', () => {
    it('is found in a feed whose oldest entries have expired', async () => {
      const store = await opened();
      await store.write(['other'], async (within) => {
        for (let n = 0; n < 5000; n++) within.append(thing(`e${n}`, NOW + n));
      });
      expect(await store.deleteOlderThan('thing', NOW + 2000, 10_000)).toBe(2000);
      const far = await store.page({ ...all, offset: 2900, limit: 2 });
      expect([far.total, far.resources.map(({ id }) => id)]).toEqual([3000, ['e4900', 'e4901']]);
    });
  });

  describe('a feed', () => {
    it('never goes back in time, and expires oldest first', async () => {
      const store = await opened();
      const append = async (id: string, createdAt: number) => {
        await store.write(['other'], async (within) => within.append(thing(id, createdAt)));
        const [appended] = await store.read([{ type: 'thing', id }]);
        return appended?.createdAt;
      };
      expect(await append('a', NOW)).toBe(NOW);
      expect(await append('b', NOW - 5000)).toBe(NOW);
      expect(await append('c', NOW + 1)).toBe(NOW + 1);
      expect(await walk(store, all)).toEqual(['a', 'b', 'c']);
      expect(await store.deleteOlderThan('thing', NOW + 1, 1)).toBe(1);
      expect(await store.deleteOlderThan('thing', NOW + 1, 10)).toBe(1);
      expect(await store.deleteOlderThan('thing', NOW + 1, 10)).toBe(0);
      expect(await store.page({ ...all, offset: 0 })).toMatchObject({ total: 1, resources: [{ id: 'c' }] });
    });
  });
}

/** Conformance tests of lists of thousands, for any database. */
export function describeLongLists(open: OpenDatabase): void {
  const opened = async () => travelStore(await open());
  describe('a page at a high offset', () => {
    /** The expected content of a list: name and id, in order of creation. */
    type Model = { id: string; name: string; archived: boolean }[];

    it('is the same in a long list as in a short one, after any inserts, deletes and archivals', async () => {
      const store = await opened();
      const { below } = seededRandom(7);
      let made = 0;
      const keys = ({ name, archived }: Model[number]): IndexKeys => ({
        ...bare,
        archived,
        index: [{ name: 'name', value: name }],
      });
      const model: Model = [];
      const grow = (count: number) =>
        store.write(['thing'], async (within) => {
          for (let n = 0; n < count; n++) {
            const one = { id: `t${made}`, name: `n${below(900)}`, archived: below(5) === 0 };
            await within.insert(thing(one.id, NOW + made), keys(one));
            model.push(one);
            made += 1;
          }
        });
      const change = (count: number) =>
        store.write(['thing'], async (within) => {
          for (let changed = 0; changed < count; changed++) {
            const at = below(model.length);
            const one = model[at];
            if (!one) continue;
            if (below(3) === 0) {
              model.splice(at, 1);
              await within.remove(thing(one.id), keys(one));
            } else {
              const other = { ...one, name: `n${below(900)}`, archived: below(3) === 0 };
              model[at] = other;
              await within.replace(thing(one.id), keys(other), keys(one));
            }
          }
        });
      const compareAll = async () => {
        const numbered = model.map((one, seq) => ({ ...one, seq }));
        for (const sortBy of [undefined, 'name']) {
          for (const archived of [undefined, true, false]) {
            const wanted = numbered.filter((one) => archived === undefined || one.archived === archived);
            if (sortBy) wanted.sort((one, other) => compare(one.name, other.name) || one.seq - other.seq);
            for (const order of ['asc', 'desc'] as const) {
              const ids = wanted.map(({ id }) => id);
              if (order === 'desc') ids.reverse();
              const query = {
                ...all,
                order,
                limit: 3,
                ...(sortBy ? { sortBy } : {}),
                ...(archived === undefined ? {} : { archived }),
              };
              for (const offset of [0, 2047, 2048, 2600, 3100, 3900, ids.length - 2, ids.length]) {
                const page = await store.page({ ...query, offset });
                expect([offset, page.resources.map(({ id }) => id)]).toEqual([
                  offset,
                  ids.slice(offset, offset + 3),
                ]);
                expect(page.total).toBe(ids.length);
              }
            }
          }
        }
      };
      await grow(4400);
      await compareAll();
      await change(700);
      await grow(600);
      await compareAll();
    });
  });
}

function listOf(owner: string | undefined, sortBy: string | undefined): Partial<ListQuery> {
  if (owner === undefined) return sortBy === undefined ? {} : { sortBy };
  const within = `owner/${owner}`;
  return sortBy === undefined ? { within } : { within, sortBy: `${within}/${sortBy}` };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
