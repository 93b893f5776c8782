import { travelStore } from '../../../src/store/travel/travel-writes.ts';
import type { IndexKeys, PageQuery, StoredResource } from '../../../src/travel/ports.ts';
import { NOW, type OpenDatabase } from '../../fixtures/store.ts';

/** A resource of a type that only the tests use. */
function thing(id: string, data: Partial<StoredResource> = {}): StoredResource {
  return { type: 'thing', id, parentId: '', createdAt: NOW, doc: { name: id }, ...data };
}

const bare: IndexKeys = { archived: false, unique: [], index: [], references: [] };
const named = (value: string) => [{ name: 'name', value }];
const all: PageQuery = { type: 'thing', parentId: '', order: 'asc', offset: 0, limit: 100 };

async function fixture(open: OpenDatabase) {
  const database = await open();
  const store = travelStore(database);
  return {
    database,
    store,
    add: (resource: StoredResource, keys: Partial<IndexKeys> = {}) =>
      store.write([resource.type], (within) => within.insert(resource, { ...bare, ...keys })),
    ids: async (query: Partial<PageQuery> = {}) => {
      const { total, resources } = await store.page({ ...all, ...query });
      return { total, ids: resources.map(({ id }) => id) };
    },
  };
}

/** Conformance tests of travel resources, for any database. */
export function describeTravel(open: OpenDatabase): void {
  describe('a travel resource', () => {
    it('is read as it was written', async () => {
      const { store, add } = await fixture(open);
      const doc = { name: 'É"🛫\\', nested: { list: [1, true, 'x'], empty: {} } };
      await add(thing('a', { doc, parentId: 'p' }));
      expect(await store.read([{ type: 'thing', id: 'a' }])).toEqual([thing('a', { doc, parentId: 'p' })]);
      expect(await store.read([{ type: 'other', id: 'a' }])).toEqual([]);
      expect(await store.read([])).toEqual([]);
    });

    it('is found by its index values, oldest first, until they change', async () => {
      const { store, add } = await fixture(open);
      for (const id of ['b', 'a', 'c']) await add(thing(id), { index: named('same') });
      const find = async (values: string[], limit?: number) => {
        const match = { type: 'thing', name: 'name', values };
        return (await store.find(limit ? { ...match, limit } : match)).map(({ id }) => id);
      };
      expect(await find(['same', 'same', 'none'])).toEqual(['b', 'a', 'c']);
      expect(await find(['same'], 2)).toEqual(['b', 'a']);
      await store.write(['thing'], (within) =>
        within.replace(thing('b'), { ...bare, index: named('other') }, { ...bare, index: named('same') }),
      );
      await store.write(['thing'], (within) => within.remove(thing('a'), { ...bare, index: named('same') }));
      expect(await find(['same'])).toEqual(['c']);
      expect(await find(['other'])).toEqual(['b']);
    });

    it('is found among thousands of values and ids', async () => {
      const { store, add } = await fixture(open);
      await add(thing('a'), { index: named('a') });
      const values = Array.from({ length: 2000 }, (_, number) => `${number}`);
      expect(await store.find({ type: 'thing', name: 'name', values: [...values, 'a'] })).toEqual([
        thing('a'),
      ]);
      const refs = [...values, 'a'].map((id) => ({ type: 'thing', id }));
      expect(await store.read(refs)).toEqual([thing('a')]);
    });

    it('has its unique values exclusively, and releases them', async () => {
      const { store, add } = await fixture(open);
      const unique = named('one');
      expect(await add(thing('a'), { unique })).toBeUndefined();
      expect(await add(thing('x', { type: 'other' }), { unique })).toBeUndefined();
      const clash = store.write(['thing'], async (within) => {
        const taken = await within.insert(thing('b'), { ...bare, unique });
        throw new Error(`taken: ${taken?.taken}`);
      });
      await expect(clash).rejects.toThrow('taken: name');
      const keys = { ...bare, unique };
      await store.write(['thing'], (within) => within.replace(thing('a'), keys, keys));
      await store.write(['thing'], (within) => within.remove(thing('a'), keys));
      expect(await add(thing('b'), { unique })).toBeUndefined();
    });

    it('cannot be deleted while another resource refers to it', async () => {
      const { store, add } = await fixture(open);
      await add(thing('a'));
      await add(thing('b'), { references: [thing('a'), thing('a')] });
      const isReferredTo = (id: string) => store.write(['thing'], (within) => within.isReferenced(thing(id)));
      expect([await isReferredTo('a'), await isReferredTo('b')]).toEqual([true, false]);
      await expect(store.write(['thing'], (within) => within.remove(thing('a'), bare))).rejects.toThrow();
      expect((await store.read([thing('a')])).length).toBe(1);
      await expect(add(thing('c'), { references: [thing('nobody')] })).rejects.toThrow();
      await store.write(['thing'], (within) =>
        within.replace(thing('b'), bare, { ...bare, references: [thing('a'), thing('a')] }),
      );
      await store.write(['thing'], (within) => within.remove(thing('a'), bare));
      expect(await store.read([thing('a')])).toEqual([]);
    });

    it('can be deleted if it refers to itself only', async () => {
      const { store, add } = await fixture(open);
      await add(thing('a'));
      await store.write(['thing'], (within) =>
        within.replace(thing('a'), { ...bare, references: [thing('a')] }, bare),
      );
      expect(await store.write(['thing'], (within) => within.isReferenced(thing('a')))).toBe(false);
    });

    it('is not written when the work fails', async () => {
      const { store, ids } = await fixture(open);
      const failing = store.write(['thing'], async (within) => {
        await within.insert(thing('a'), { ...bare, unique: named('a'), index: named('a') });
        throw new Error('changed my mind');
      });
      await expect(failing).rejects.toThrow('changed my mind');
      expect(await ids()).toEqual({ total: 0, ids: [] });
      expect(await store.find({ type: 'thing', name: 'name', values: ['a'] })).toEqual([]);
    });

    it('is written by one transaction at a time: what a write has read stays true until its end', async () => {
      const { store, add } = await fixture(open);
      await add(thing('a', { doc: { count: 0 } }));
      const count = () =>
        store.write(['thing'], async (within) => {
          const [{ doc } = thing('a')] = await within.read([thing('a')]);
          await within.replace(thing('a', { doc: { count: Number(doc['count']) + 1 } }), bare, bare);
        });
      await Promise.all(Array.from({ length: 20 }, count));
      expect((await store.read([thing('a')]))[0]?.doc).toEqual({ count: 20 });
    });
  });

  describe('a page of travel resources', () => {
    it('is in order of creation, then of insertion, and backwards in exactly the other order', async () => {
      const { add, ids } = await fixture(open);
      for (const id of ['d', 'c', 'b']) await add(thing(id));
      await add(thing('earlier', { createdAt: NOW - 1 }));
      expect((await ids()).ids).toEqual(['earlier', 'd', 'c', 'b']);
      expect((await ids({ order: 'desc' })).ids).toEqual(['b', 'c', 'd', 'earlier']);
      expect(await ids({ offset: 1, limit: 2 })).toEqual({ total: 4, ids: ['d', 'c'] });
      expect(await ids({ offset: 9 })).toEqual({ total: 4, ids: [] });
    });

    it('is sorted by an index, equals in order of insertion', async () => {
      const { add, ids } = await fixture(open);
      for (const [id, name] of [
        ['d', 'x'],
        ['c', 'é'],
        ['b', 'a'],
        ['a', 'x'],
      ] as const) {
        await add(thing(id), { index: named(name) });
      }
      expect((await ids({ sortBy: 'name' })).ids).toEqual(['b', 'd', 'a', 'c']);
      expect((await ids({ sortBy: 'name', order: 'desc', offset: 1, limit: 2 })).ids).toEqual(['a', 'd']);
    });

    it('has an exact total after every change, for each parent, archived or not', async () => {
      const { store, add, ids } = await fixture(open);
      for (const id of ['a', 'b', 'c']) await add(thing(id), { index: named(id) });
      await add(thing('child', { parentId: 'p' }));
      await add(thing('other', { type: 'other' }));
      await store.write(['thing'], (within) =>
        within.replace(
          thing('b'),
          { ...bare, archived: true, index: named('b') },
          { ...bare, index: named('b') },
        ),
      );
      expect(await ids()).toEqual({ total: 3, ids: ['a', 'b', 'c'] });
      expect(await ids({ archived: true })).toEqual({ total: 1, ids: ['b'] });
      expect(await ids({ archived: false, sortBy: 'name', order: 'desc' })).toEqual({
        total: 2,
        ids: ['c', 'a'],
      });
      expect(await ids({ parentId: 'p' })).toEqual({ total: 1, ids: ['child'] });
      await store.write(['thing'], (within) =>
        within.remove(thing('b'), { ...bare, archived: true, index: named('b') }),
      );
      expect(await ids({ archived: true })).toEqual({ total: 0, ids: [] });
      expect(await ids()).toEqual({ total: 2, ids: ['a', 'c'] });
    });

    it('of a match has its own total', async () => {
      const { add, ids } = await fixture(open);
      for (const id of ['b', 'a', 'c']) await add(thing(id), { index: named(id), archived: id === 'c' });
      const match = { name: 'name', values: ['a', 'b', 'c', 'd'] };
      expect(await ids({ match })).toEqual({ total: 3, ids: ['b', 'a', 'c'] });
      expect(await ids({ match, sortBy: 'name', offset: 1, limit: 1 })).toEqual({ total: 3, ids: ['b'] });
      expect(await ids({ match, archived: false, order: 'desc' })).toEqual({ total: 2, ids: ['a', 'b'] });
      expect(await ids({ match: { name: 'name', values: [] } })).toEqual({ total: 0, ids: [] });
    });
  });
}
