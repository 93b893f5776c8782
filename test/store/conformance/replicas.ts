import type { TaskKind } from '../../../src/store/queues/background-tasks.ts';
import { countServers, replicas } from '../../../src/store/queues/replicas.ts';
import { shortenLeases } from '../../../src/store/queues/shorten-leases.ts';
import { fixture, NOW, type OpenDatabase, person } from '../../fixtures/store.ts';
import { describeOnPostgres } from '../../fixtures/test-database.ts';

const MS = 20_000;
const lease = (token: string, now = NOW) => ({ token, ms: MS, now });

/** Conformance tests of what replicas share, for any database. */
export function describeReplicas(open: OpenDatabase): void {
  async function taskFixture(kind: TaskKind = 'import') {
    const { tasks, rules } = await fixture(open);
    return {
      rules,
      tasks,
      acquire: (token: string, now = NOW) => tasks.acquire('okta', kind, lease(token, now)),
      finish: (token: string, dueMs: number, now: number, state?: unknown) =>
        tasks.finish('okta', kind, { token, state, dueMs, now }),
    };
  }

  describe('background work', () => {
    it('is done by one replica at a time, and again when it is due', async () => {
      const { acquire, finish } = await taskFixture();
      expect(await acquire('k1')).toEqual({ state: undefined, generation: 0 });
      expect(await acquire('k2', NOW + 1_000)).toEqual({ state: undefined, retryMs: MS - 1_000 });
      expect(await finish('k1', 500, NOW + 2_000, { position: 'e-7' })).toBe(true);
      expect(await acquire('k2', NOW + 2_100)).toEqual({ state: { position: 'e-7' }, retryMs: 400 });
      expect(await acquire('k2', NOW + 2_500)).toEqual({ state: { position: 'e-7' }, generation: 0 });
    });

    it('is acquired by exactly one of many concurrent callers', async () => {
      const { acquire } = await taskFixture();
      const answers = await Promise.all(['k1', 'k2', 'k3', 'k4'].map((token) => acquire(token)));
      expect(answers.filter((answer) => !('retryMs' in answer))).toHaveLength(1);
    });

    it('of a dead replica is taken over when its lease has ended, and then lost to the former holder', async () => {
      const { acquire, finish, tasks } = await taskFixture();
      await acquire('k1');
      expect(await tasks.extend('okta', 'import', lease('k1', NOW + 5_000))).toBe(true);
      expect(await acquire('k2', NOW + MS)).toHaveProperty('retryMs', 5_000);
      expect(await acquire('k2', NOW + MS + 5_000)).not.toHaveProperty('retryMs');
      expect(await tasks.extend('okta', 'import', lease('k1', NOW + MS + 5_001))).toBe(false);
      expect(await finish('k1', 500, NOW + MS + 5_001, { lost: true })).toBe(false);
      expect(await tasks.listStates('import')).toEqual([]);
    });

    it('that was requested is taken over from a dead replica, too', async () => {
      const { acquire, finish, tasks } = await taskFixture();
      await acquire('k1');
      await finish('k1', 3_600_000, NOW);
      await tasks.request('okta', 'import');
      expect(await acquire('k2', NOW + 1)).not.toHaveProperty('retryMs');
      expect(await acquire('k3', NOW + 1 + MS)).not.toHaveProperty('retryMs');
      await finish('k3', 3_600_000, NOW + MS + 2);
      expect(await acquire('k4', NOW + MS + 3)).toHaveProperty('retryMs', 3_599_999);
    });

    it('that is requested is due at once, also if it was requested while it was done', async () => {
      const { acquire, finish, tasks } = await taskFixture();
      await acquire('k1');
      await finish('k1', 60_000, NOW);
      await tasks.request('okta', 'import');
      expect(await acquire('k2', NOW + 1)).not.toHaveProperty('retryMs');
      await tasks.request('okta', 'import');
      expect(await finish('k2', 60_000, NOW + 2)).toBe(true);
      expect(await acquire('k3', NOW + 3)).not.toHaveProperty('retryMs');
      await finish('k3', 60_000, NOW + 4);
      expect(await acquire('k4', NOW + 5)).toHaveProperty('retryMs', 59_999);
    });

    it('keeps its state if the next run saves none, and is separate for each kind and connection', async () => {
      const { acquire, finish, tasks } = await taskFixture();
      await tasks.saveState('okta', 'import', { isIncomplete: true });
      await acquire('k1');
      await finish('k1', 1, NOW);
      expect(await tasks.listStates('import')).toEqual([
        { connection: 'okta', state: { isIncomplete: true } },
      ]);
      expect(await tasks.listStates('feed')).toEqual([]);
      expect(await tasks.acquire('okta', 'feed', lease('k2'))).not.toHaveProperty('retryMs');
      expect(await tasks.acquire('entra', 'import', lease('k3'))).not.toHaveProperty('retryMs');
    });

    it('is all due again after the start of the only process', async () => {
      const { acquire, finish, tasks } = await taskFixture();
      await acquire('k1');
      await tasks.reset();
      expect(await finish('k1', 1, NOW)).toBe(false);
      expect(await acquire('k2')).not.toHaveProperty('retryMs');
    });

    it('comes with the generation of the rules in force', async () => {
      const { acquire, rules } = await taskFixture();
      const mapping = { edition: 1, digest: 'd', mapping: {}, lookups: undefined, source: 'file' } as const;
      await rules.replace('okta', { ...mapping, generation: 1 }, NOW);
      expect(await acquire('k1')).toEqual({ state: undefined, generation: 1 });
    });
  });

  describe('after the clock of the database was set back', () => {
    const behind = NOW - 600_000;
    const bounds = { leaseMs: { okta: MS }, queueLeaseMs: MS };

    it('the lease of a dead replica ends after its longest duration, and a holder that lives keeps it until then', async () => {
      const { add, database, leases, reconcileQueue } = await fixture(open);
      await add(person('ada'), person('bob'));
      for (const id of ['ada', 'bob']) await leases.acquire('okta', id, lease('k1'));
      await shortenLeases(database, behind, bounds);
      const dueAt = async (now: number) =>
        (await reconcileQueue.findDue(now, 10, ['okta'])).map(({ id }) => id);
      expect(await dueAt(behind + MS - 1)).toEqual([]);
      expect(await leases.extend('okta', 'bob', lease('k1', behind + MS - 1))).toBe(true);
      expect(await dueAt(behind + MS)).toEqual(['ada']);
      expect(await leases.acquire('okta', 'ada', lease('k2', behind + MS))).toBeDefined();
    });

    it('background work further away than the longest delay is due, also that of a dead replica after its longest lease', async () => {
      const { database, tasks } = await fixture(open);
      await tasks.acquire('okta', 'feed', lease('k1'));
      await tasks.finish('okta', 'feed', { token: 'k1', state: undefined, dueMs: 2_000, now: NOW });
      await tasks.acquire('okta', 'import', lease('k1'));
      await shortenLeases(database, behind, bounds);
      const hourAgo = NOW - 3_600_000;
      expect(await tasks.acquire('okta', 'feed', lease('k2', behind))).toHaveProperty('retryMs', 602_000);
      expect(await tasks.acquire('okta', 'feed', lease('k2', hourAgo))).not.toHaveProperty('retryMs');
      expect(await tasks.acquire('okta', 'import', lease('k2', behind))).toHaveProperty('retryMs', MS);
      expect(await tasks.acquire('okta', 'import', lease('k2', behind + MS))).not.toHaveProperty('retryMs');
    });
  });

  describe('live replicas', () => {
    it('are those that were seen within 20 seconds and have not left', async () => {
      const { database } = await fixture(open);
      const live = replicas(database);
      const beat = (id: string, now: number) => live.heartbeat(id, { connections: [], now });
      expect(await beat('a', NOW)).toEqual({ alive: 1, died: 0, time: NOW });
      expect(await beat('b', NOW + 5_000)).toEqual({ alive: 2, died: 0, time: NOW + 5_000 });
      expect(await beat('a', NOW + 19_000)).toMatchObject({ alive: 2, died: 0 });
      expect(await beat('a', NOW + 25_000)).toMatchObject({ alive: 1, died: 1 });
      expect(await beat('c', NOW + 25_000)).toMatchObject({ alive: 2, died: 0 });
      await live.leave('c');
      expect(await beat('a', NOW + 25_000)).toMatchObject({ alive: 1, died: 0 });
    });

    it('report a clock of the database that was set back, until that has been handled, and the dead end soon after', async () => {
      const { database } = await fixture(open);
      const live = replicas(database);
      await live.heartbeat('dead', { connections: [], now: NOW });
      const reports: number[] = [];
      const behind = NOW - 600_000;
      const beat = (now: number, onSetBack: (time: number) => Promise<void>) =>
        live.heartbeat('a', { connections: [], now, onSetBack });
      await expect(beat(behind, () => Promise.reject(new Error('the disk is full')))).rejects.toThrow();
      const report = async (time: number) => void reports.push(time);
      expect(await beat(behind, report)).toMatchObject({ alive: 2, died: 0 });
      expect(await beat(behind + 20_000, report)).toMatchObject({ alive: 1, died: 1 });
      expect(reports).toEqual([behind]);
    });

    it('take a difference of less than a second for none', async () => {
      const { database } = await fixture(open);
      const live = replicas(database);
      await live.heartbeat('a', { connections: [], now: NOW });
      const onSetBack = () => Promise.reject(new Error('the clock was not set back'));
      expect(await live.heartbeat('b', { connections: [], now: NOW - 999, onSetBack })).toMatchObject({
        alive: 2,
      });
    });

    it('and commands get the time by the clock that decides about leases', async () => {
      const { database } = await fixture(open);
      expect(await replicas(database).time(NOW)).toBe(NOW);
    });

    it('are none after the start of the only process', async () => {
      const { database } = await fixture(open);
      const live = replicas(database);
      await live.heartbeat('a', { connections: ['okta'], now: NOW });
      await live.reset();
      expect(await countServers(database.db, database.dialect, NOW)).toEqual(new Map());
    });

    it('are counted for each connection that they serve, as of their last heartbeat', async () => {
      const { database } = await fixture(open);
      const live = replicas(database);
      const counts = async (now: number) =>
        [...(await countServers(database.db, database.dialect, now))].sort();
      await live.heartbeat('a', { connections: ['okta', 'entra'], now: NOW });
      await live.heartbeat('b', { connections: ['okta', 'demo'], now: NOW });
      expect(await counts(NOW)).toEqual([
        ['demo', 1],
        ['entra', 1],
        ['okta', 2],
      ]);
      await live.heartbeat('b', { connections: ['okta'], now: NOW + 10_000 });
      expect(await counts(NOW + 10_000)).toEqual([
        ['entra', 1],
        ['okta', 2],
      ]);
    });
  });

  describeOnPostgres('the record of a server that was killed', () => {
    it('ends 20 seconds after its last heartbeat', async () => {
      const { database } = await fixture(open);
      await replicas(database).heartbeat('a', { connections: ['okta'], now: NOW });
      const counts = async (now: number) =>
        (await countServers(database.db, database.dialect, now)).get('okta');
      expect([await counts(NOW + 19_999), await counts(NOW + 20_000)]).toEqual([1, undefined]);
    });
  });
}
