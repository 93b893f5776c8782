import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../src/store/sql/database.ts';
import { openPostgres } from '../../src/store/sql/postgres.ts';
import { takeFeedNumbers } from '../../src/store/sql/sequences.ts';
import { deliveryQueue } from '../../src/store/travel/delivery-queue.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { create, patch, remove } from '../../src/travel/changes.ts';
import type { Collection } from '../../src/travel/collection.ts';
import type { Resource } from '../../src/travel/declaration/resource.ts';
import type { IndexKeys, StoredResource } from '../../src/travel/ports.ts';
import { customField } from '../../src/travel/resources/custom-field.ts';
import { user } from '../../src/travel/resources/user.ts';
import { isOnPostgres } from '../fixtures/data-folder.ts';
import { NOW } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeOnPostgres, withTestDatabase } from '../fixtures/test-database.ts';

const databases = temporaryDatabases('jetbridge-replicas-');
const bare: IndexKeys = { archived: false, unique: [], index: [], references: [] };
const list = { type: 'thing', parentId: '', order: 'asc' as const, offset: 0, limit: 100 };

function thing(id: string, doc = {}): StoredResource {
  return { type: 'thing', id, parentId: '', createdAt: NOW, doc };
}

/** Two processes on one database. SQLite has one process, so that both are the same there. */
async function openTwo(): Promise<[Database, Database]> {
  const folder = databases.newFolder();
  const one = await databases.open(folder);
  return [one, isOnPostgres() ? await databases.open(folder) : one];
}

async function twoStores() {
  const [one, other] = await openTwo();
  return { databases: [one, other], one: travelStore(one), other: travelStore(other) } as const;
}

describe('two processes that write at once', () => {
  test('take a unique value once', async () => {
    const { one, other } = await twoStores();
    const keys = { ...bare, unique: [{ name: 'email', value: 'ada' }] };
    const insert = (id: string) =>
      (id < 'm' ? one : other).write([], async (within) => {
        const clash = await within.insert(thing(id), keys);
        if (clash) throw new Error(`taken: ${clash.taken}`);
      });
    const results = await Promise.allSettled(['a', 'x', 'b', 'y'].map(insert));
    expect(results.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ]);
    expect((await one.page(list)).total).toBe(1);
  });

  test('keep one answer for each Idempotency-Key, until it is a day old', async () => {
    const { one, other } = await twoStores();
    const once = { owner: 'ada', key: 'k', request: 'r', at: NOW, since: NOW - 1 };
    const keep = (store: typeof one, id: string, from = once) =>
      store.write([], async (within) => {
        await within.insert(thing(id), bare);
        if (!(await within.keepAnswer(from, { id }, false))) throw new Error('answered meanwhile');
      });
    const results = await Promise.allSettled([keep(one, 'a'), keep(other, 'b')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { resources } = await one.page(list);
    expect(await other.findAnswer(once)).toEqual({ request: 'r', data: { id: resources[0]?.id } });
    expect(resources).toHaveLength(1);
    const later = { ...once, at: NOW + 1, since: NOW };
    expect(await other.findAnswer(later)).toBeUndefined();
    await keep(other, 'c', later);
    expect(await one.findAnswer(later)).toEqual({ request: 'r', data: { id: 'c' } });
  });

  test('lose no update of a locked resource', async () => {
    const { one, other } = await twoStores();
    await one.write([], (within) => within.insert(thing('a', { count: 0 }), bare));
    const increment = (_: unknown, n: number) =>
      (n % 2 === 0 ? one : other).write([], async (within) => {
        const [{ doc } = thing('a')] = await within.lock([thing('a')]);
        await within.replace(thing('a', { count: Number(doc['count']) + 1 }), bare, bare);
      });
    await Promise.all(Array.from({ length: 20 }, increment));
    expect((await other.read([thing('a')]))[0]?.doc).toEqual({ count: 20 });
  });

  test('may take the same numbers for resources of one moment', async () => {
    const [first, second] = await openTwo();
    const one = travelStore(first, undefined, () => 0);
    const random = [0, 0.5];
    const other = travelStore(second, undefined, () => random.shift() ?? 0);
    const insert = (store: typeof one, id: string) =>
      store.write([], (within) => within.insert(thing(id), bare));
    for (let n = 0; n < 10; n += 1) await insert(one, `a${n}`);
    await insert(other, 'b');
    expect((await one.page(list)).resources).toHaveLength(11);
  });

  test('keep exact totals', async () => {
    const { one, other } = await twoStores();
    const write = async (_: unknown, n: number) => {
      const [near, far] = n % 2 === 0 ? [one, other] : [other, one];
      const archived = { ...bare, archived: true };
      await near.write([], (within) => within.insert(thing(`t${n}`), bare));
      if (n % 3 === 0) await far.write([], (within) => within.replace(thing(`t${n}`), archived, bare));
      if (n % 5 === 0)
        await near.write([], (within) => within.remove(thing(`t${n}`), n % 3 === 0 ? archived : bare));
    };
    await Promise.all(Array.from({ length: 30 }, write));
    const total = async (archived?: boolean) => {
      const page = await other.page({ ...list, ...(archived === undefined ? {} : { archived }) });
      expect(page.resources).toHaveLength(page.total);
      return page.total;
    };
    expect([await total(), await total(true), await total(false)]).toEqual([24, 8, 16]);
  });

  test('number a feed without gaps, in an order that never changes', async () => {
    const { one, other } = await twoStores();
    const append = (_: unknown, n: number) =>
      (n % 2 === 0 ? one : other).write([], async (within) => within.append(thing(`e${n}`)));
    const writing = Promise.all(Array.from({ length: 30 }, append));
    const seen: string[] = [];
    for (let isDone = false; !isDone; ) {
      // A turn of the event loop: SQLite answers within one, and its transactions begin in the next.
      isDone = await Promise.race([writing.then(() => true), setImmediate(false)]);
      const { resources } = await other.page(list);
      const ids = resources.map(({ id }) => id);
      expect(ids.slice(0, seen.length)).toEqual(seen);
      seen.push(...ids.slice(seen.length));
    }
    expect(seen).toHaveLength(30);
  });

  test('never hold the lease of a webhook both', async () => {
    const { databases: both, one } = await twoStores();
    const index = [{ name: 'kind', value: '*' }];
    await one.write([], (within) => within.insert({ ...thing('w'), type: 'webhook' }, { ...bare, index }));
    await one.write([], async (within) =>
      within.append({ ...thing('e'), type: 'event' }, { kind: 'a', newId: () => 'd' }),
    );
    const acquire = (_: unknown, n: number) => {
      const queue = deliveryQueue(both[n % 2 === 0 ? 0 : 1]);
      return queue.acquireLease({ webhookId: 'w', token: `t${n}`, ms: 1000 }, NOW);
    };
    const acquired = await Promise.all(Array.from({ length: 10 }, acquire));
    expect(acquired.filter(Boolean)).toHaveLength(1);
  });
});

/** A point that one transaction reaches, and at which it waits until the test lets it continue. */
function gate() {
  let arrive = () => {};
  let open = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    arrived,
    open: () => open(),
    pass: async () => {
      arrive();
      await opened;
    },
  };
}

/** True if the promise is still pending after other statements have run. */
async function isWaiting(database: Database, work: Promise<unknown>): Promise<boolean> {
  let isPending = true;
  const finish = () => {
    isPending = false;
  };
  work.then(finish, finish);
  for (let n = 0; n < 20; n++) await database.ping();
  return isPending;
}

describeOnPostgres('a transaction that waits for the one of another process', () => {
  /** Two processes, and the collection of a resource as each of them serves it. */
  async function collections(resource: Resource) {
    const { databases: both, one, other } = await twoStores();
    let ids = 0;
    const collection = (store: typeof one): Collection => {
      const newId = () => `${resource.type}-${store === one ? 'one' : 'other'}-${++ids}`;
      return { resource, deps: { store, now: () => NOW, newId, onChange: () => {} } };
    };
    return { both, one, other, atOne: collection(one), atOther: collection(other) };
  }
  const target = (id = '') => ({ parentId: '', id, caller: 'admin' });

  test('gets a higher number in the feed, and an earlier commit never appears later', async () => {
    const { both, other } = await collections(user);
    const { arrived, open, pass } = gate();
    const first = both[0].transaction(async (tx) => {
      const number = await takeFeedNumbers(tx, 'event', 1);
      await pass();
      return number;
    });
    await arrived;
    const second = other.write([], async (within) => within.append({ ...thing('e'), type: 'event' }));
    expect(await isWaiting(both[1], second)).toBe(true);
    open();
    await second;
    const rows = await both[1].db.selectFrom('travel_resource').select('seq').where('id', '=', 'e').execute();
    expect(rows).toEqual([{ seq: (await first) + 1 }]);
  });

  test('refuses a reference to what was deleted, with the documented answer', async () => {
    const { both, one, atOne, atOther } = await collections(user);
    const { id = '' } = await create(atOne, target(), { email: 'manager@x.example' });
    const { arrived, open, pass } = gate();
    const deleting = one.write([], async (within) => {
      const [manager] = await within.lock([{ type: 'user', id: String(id) }]);
      if (!manager) throw new Error('there is no manager');
      await within.remove(manager, { ...bare, unique: [], index: [] });
      await pass();
    });
    await arrived;
    const creating = create(atOther, target(), { email: 'ada@x.example', managerId: id });
    expect(await isWaiting(both[1], creating)).toBe(true);
    open();
    await deleting;
    await expect(creating).rejects.toMatchObject({ code: 'validationFailed' });
  });

  test('refuses to delete what another process has begun to refer to', async () => {
    const { both, other, atOne } = await collections(user);
    const { id = '' } = await create(atOne, target(), { email: 'manager@x.example' });
    const { arrived, open, pass } = gate();
    const referring = other.write([], async (within) => {
      await within.insert(thing('t'), { ...bare, references: [{ type: 'user', id: String(id) }] });
      await pass();
    });
    await arrived;
    const deleting = remove(atOne, target(String(id)));
    expect(await isWaiting(both[1], deleting)).toBe(true);
    open();
    await referring;
    await expect(deleting).rejects.toMatchObject({ code: 'conflict' });
  });

  test('runs again if it refers to what was deleted meanwhile without having read it', async () => {
    const { both, one, other } = await collections(user);
    await one.write([], (within) =>
      within.insert(thing('a'), { ...bare, index: [{ name: 'name', value: 'a' }] }),
    );
    const { arrived, open, pass } = gate();
    const deleting = one.write([], async (within) => {
      await within.remove(thing('a'), bare);
      await pass();
    });
    await arrived;
    let runs = 0;
    const referring = other.write([], async (within) => {
      runs += 1;
      const [found] = await within.find({ type: 'thing', name: 'name', values: ['a'] });
      if (!found) return 'gone';
      await within.insert(thing('b'), { ...bare, references: [{ type: 'thing', id: 'a' }] });
      return 'referred';
    });
    expect(await isWaiting(both[1], referring)).toBe(true);
    open();
    await deleting;
    expect([await referring, runs]).toEqual(['gone', 2]);
    expect(await other.read([thing('b')])).toEqual([]);
  });

  test('does not give a custom field another type while a value for it is being written', async () => {
    const { both, other, atOne } = await collections(customField);
    const made = await create(atOne, target(), { dataType: 'text', name: 'Team', resourceType: 'user' });
    const field = { type: 'customField', id: String(made['id']) };
    const { arrived, open, pass } = gate();
    const assigning = other.write([], async (within) => {
      await within.read([field]);
      await pass();
      await within.insert(thing('t'), { ...bare, references: [field] });
    });
    await arrived;
    const changing = patch(atOne, target(field.id), { dataType: 'option' });
    expect(await isWaiting(both[1], changing)).toBe(true);
    open();
    await assigning;
    await expect(changing).rejects.toMatchObject({ code: 'conflict' });
  });

  test('compares policies after the commit of the other, so that one of them is the default', async () => {
    const { both, one, other } = await collections(user);
    const { arrived, open, pass } = gate();
    const index = [{ name: 'default', value: 'set' }];
    const first = one.write(['travelPolicy'], async (within) => {
      await within.insert({ ...thing('p'), type: 'travelPolicy' }, { ...bare, index });
      await pass();
    });
    await arrived;
    const second = other.write(['travelPolicy'], (within) =>
      within.find({ type: 'travelPolicy', name: 'default', values: ['set'] }),
    );
    expect(await isWaiting(both[1], second)).toBe(true);
    open();
    await first;
    expect((await second).map(({ id }) => id)).toEqual(['p']);
  });
});

describeOnPostgres('the lease of a webhook', () => {
  test('is measured by the clock of the database, whatever the clocks of the processes show', async () => {
    const folder = databases.newFolder();
    const { DATABASE_URL: url = '' } = await withTestDatabase({ JETBRIDGE_DATA: folder });
    const database = await openPostgres(url);
    try {
      const queue = deliveryQueue(database);
      await database.db
        .insertInto('travel_delivery_queue')
        .values({ webhook_id: 'w', pending: 1, succeeded: 0, failed: 0, canceled: 0 })
        .execute();
      const [past, future] = [0, NOW * 2];
      const mine = { webhookId: 'w', token: 'mine', ms: 60_000 };
      expect(await queue.acquireLease(mine, past)).toBe(true);
      expect(await queue.acquireLease({ ...mine, token: 'yours' }, future)).toBe(false);
      expect(await queue.extendLease({ ...mine, ms: 0 }, future)).toBe(true);
      expect(await queue.acquireLease({ ...mine, token: 'yours' }, past)).toBe(true);
      expect(await queue.extendLease(mine, past)).toBe(false);
    } finally {
      await database.close();
    }
  });
});
