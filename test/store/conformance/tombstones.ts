import { readCounter } from '../../../src/store/lists/list-counters.ts';
import { fixture, NOW, type OpenDatabase, person } from '../../fixtures/store.ts';

const DAY = 24 * 60 * 60_000;

/** Conformance tests of the expiry of tombstones, for any database. */
export function describeTombstones(open: OpenDatabase): void {
  describe('the retention', () => {
    const old = { deletedAt: NOW - 500 * DAY, state: 'synced' } as const;
    const bounds = { before: NOW - 400 * DAY, now: NOW, limit: 10 };

    it('deletes old tombstones of the connection without pending work, and no others', async () => {
      const { add, retention, identities, leases } = await fixture(open);
      const late = { readAgainAt: NOW + 1 };
      await add(
        person('old', old),
        person('younger', { ...old, deletedAt: NOW - 399 * DAY }),
        person('living', { state: 'synced' }),
        person('dirty', { ...old, state: 'dirty' }),
        person('held', { ...old, state: 'held' }),
        person('refused', { ...old, state: 'refused' }),
        person('late', { ...old, ...late }),
        person('leased', old),
        person('elsewhere', { ...old, connection: 'entra' }),
      );
      await leases.acquire('okta', 'leased', { token: 't', ms: 1, now: NOW });
      expect(await retention.expireTombstones('okta', bounds)).toBe(1);
      expect(await identities.findById('okta', 'old')).toBeUndefined();
      expect(await identities.find('okta', { by: 'email', value: 'old@corp.example' })).toEqual([]);
      for (const id of ['younger', 'living', 'dirty', 'held', 'refused', 'late', 'leased'])
        expect(await identities.findById('okta', id)).toBeDefined();
      expect(await identities.findById('entra', 'elsewhere')).toBeDefined();
    });

    it('deletes them in batches, oldest first, and updates the counters', async () => {
      const { add, retention, identities, database } = await fixture(open);
      for (let n = 0; n < 5; n += 1) await add(person(`p${n}`, { ...old, deletedAt: old.deletedAt + n }));
      const dead = async () => (await readCounter(database.db, database.scopeOf('okta'), 'dead')).count;
      expect(await dead()).toBe(5);
      expect(await retention.expireTombstones('okta', { ...bounds, limit: 2 })).toBe(2);
      expect(await identities.findById('okta', 'p1')).toBeUndefined();
      expect(await identities.findById('okta', 'p2')).toBeDefined();
      expect(await dead()).toBe(3);
      expect(await retention.expireTombstones('okta', { ...bounds, limit: 10 })).toBe(3);
      expect(await retention.expireTombstones('okta', bounds)).toBe(0);
      expect(await dead()).toBe(0);
    });

    it('marks identities dirty that wait for the address of a traveler that becomes unlinked', async () => {
      const { add, read, retention } = await fixture(open);
      const observed = { id: 't1', email: 'ada@corp.example', archived: true, createdAt: '' };
      await add(
        person('gone', { ...old, travelId: 't1', observed }),
        person('waiting', { state: 'pending', waitingFor: 'ada@corp.example' }),
      );
      await retention.expireTombstones('okta', bounds);
      expect((await read('waiting')).state).toBe('dirty');
    });
  });
}
