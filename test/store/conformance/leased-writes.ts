import type { Identity } from '../../../src/model/identity.ts';
import type { UserField } from '../../../src/model/list-ports.ts';
import type { RulesInForce } from '../../../src/store/queues/rules-in-force.ts';
import {
  callOf,
  createOf,
  fieldEquals,
  fixture,
  importedIdentity,
  linkedOutcome,
  listQuery,
  NOW,
  type OpenDatabase,
  person,
  plainScan,
  team,
  traveler,
} from '../../fixtures/store.ts';

/** Conformance tests of writes that take the lease in their commit, for any database. */
export function describeLeasedWrites(open: OpenDatabase): void {
  const lease = { token: 'k', ms: 1000, now: NOW };
  const address = traveler('t', 'NEW@x');
  const inForce: RulesInForce = {
    ...{ generation: 1, edition: 4, digest: 'a', mapping: {}, lookups: undefined, source: 'file' },
  };

  describe('a write that takes the lease', () => {
    it('is inserted with the lease and the reserved address', async () => {
      const { add, identities, leases, read } = await fixture(open);
      await add();
      const identity = person('a', { creating: createOf('a@x') });
      expect(await identities.commit('okta', [{ kind: 'insert', identity, lease }])).toBe('done');
      expect(await read('a')).toEqual({ ...identity, leasedUntil: NOW + 1000 });
      expect(await leases.acquire('okta', 'a', { token: 'k2', ms: 9, now: NOW + 999 })).toBeUndefined();
      const outcome = linkedOutcome('t1', 'a@x');
      expect(await leases.finish('okta', 'a', 'k', { revision: 1 }, outcome)).toBe('kept');
    });

    it('is stale if a traveler of the account has the reserved address meanwhile, and nothing of it is stored', async () => {
      const { add, identities } = await fixture(open);
      const holder = { connection: 'entra', travelId: 't1', observed: traveler('t1', 'A@x') };
      await add(person('holder', holder));
      const identity = person('a', { creating: createOf('a@x') });
      expect(await identities.commit('okta', [{ kind: 'insert', identity, lease }])).toBe('stale');
      expect(await identities.commit('okta', [{ kind: 'insert', identity }])).toBe('stale');
      expect(await identities.findById('okta', 'a')).toBeUndefined();
      expect(await identities.find('okta', { by: 'email', value: 'a@corp.example' })).toEqual([]);
      expect((await identities.findPage('okta', 0, 0)).total).toBe(0);
      const other = person('a', { creating: createOf('b@x') });
      expect(await identities.commit('okta', [{ kind: 'insert', identity: other, lease }])).toBe('done');
    });

    it.each<[string, Partial<Identity>]>([
      ['a tombstone has the userName', { desired: { userName: 'NEW' }, deletedAt: NOW }],
      ['an identity has the externalId', { desired: { userName: 'm', externalId: 'e1' } }],
      ['an imported traveler has the address', { claimed: false, travelId: 't', observed: address }],
      [
        'a traveler of another connection has the address',
        { connection: 'entra', travelId: 't', observed: address },
      ],
      [
        'another connection creates a traveler with the address',
        { connection: 'entra', creating: createOf('new@x') },
      ],
      ['the rules in force are of another generation', { rulesGeneration: 1 }],
    ])('is stale under the condition that a user is new, and stores nothing, if %s', async (why, match) => {
      const { add, identities, rules } = await fixture(open);
      await rules.replace('okta', inForce, NOW);
      await add(person('match', match));
      const before = (await identities.findPage('okta', 0, 0)).total;
      const generation = why.startsWith('the rules') ? 2 : 1;
      const condition = {
        userName: 'New',
        externalId: 'e1',
        email: 'New@x',
        generation,
      };
      const insert = {
        kind: 'insert',
        identity: person('a', { creating: createOf('New@x') }),
        condition,
      } as const;
      for (const change of [insert, { ...insert, lease }])
        expect(await identities.commit('okta', [change])).toBe('stale');
      expect(await identities.findById('okta', 'a')).toBeUndefined();
      expect(await identities.find('okta', { by: 'email', value: 'a@corp.example' })).toEqual([]);
      expect((await identities.findPage('okta', 0, 0)).total).toBe(before);
    });

    it('is inserted under the condition that a user is new, with its addresses and counted', async () => {
      const { add, identities, rules } = await fixture(open);
      await rules.replace('okta', inForce, NOW);
      const elsewhere = { connection: 'entra', desired: { userName: 'a', externalId: 'e1' } };
      await add(person('elsewhere', elsewhere));
      const condition = {
        userName: 'a',
        externalId: 'e1',
        email: 'a@x',
        generation: 1,
      };
      const identity = person('a', { creating: createOf('a@x') });
      expect(await identities.commit('okta', [{ kind: 'insert', identity, condition, lease }])).toBe('done');
      expect(await identities.find('okta', { by: 'email', value: 'a@corp.example' })).toHaveLength(1);
      expect((await identities.findPage('okta', 0, 0)).total).toBe(1);
      const second = {
        ...condition,
        userName: 'b',
        externalId: undefined,
        email: undefined,
      };
      const change = { kind: 'insert', identity: person('b'), condition: second } as const;
      expect(await identities.commit('okta', [change])).toBe('done');
      expect((await identities.findPage('okta', 0, 0)).total).toBe(2);
    });

    it('updates what the IdP decides, announces a call and raises the revision', async () => {
      const { add, identities, leases, read } = await fixture(open);
      await add(person('a', { travelId: 't1', observed: traveler('t1', 'a@x') }));
      const before = await read('a');
      const applied = { lang: { sent: 'fr', source: 'fr', before: 'en' } };
      const call = { applied, readAgainAt: NOW + 50, progress: { settledVersion: 1 } };
      const identity = { ...before, desired: { userName: 'new' }, version: 2, lastModified: NOW + 7 };
      const change = {
        kind: 'update',
        identity,
        expected: 1,
        lease: { ...lease, before, call },
      } as const;
      expect(await identities.commit('okta', [change])).toBe('done');
      expect(await read('a')).toEqual({ ...identity, ...call, revision: 2, leasedUntil: NOW + 1000 });
      const outcome = linkedOutcome('t1', 'a@x');
      expect(await leases.finish('okta', 'a', 'k', { revision: 2 }, outcome)).toBe('kept');
    });

    it('is committed without the lease and the call if the identity has changed since it was read', async () => {
      const { add, identities, reconcileQueue, read } = await fixture(open);
      await add(person('a', { state: 'synced' }));
      const before = await read('a');
      await reconcileQueue.markDirty('okta', ['a'], NOW);
      const identity = { ...before, desired: { userName: 'new' }, version: 2 };
      const call = { ...callOf(before), progress: { settledVersion: 1 } };
      const change = {
        kind: 'update',
        identity,
        expected: 1,
        lease: { ...lease, before, call },
      } as const;
      expect(await identities.commit('okta', [change])).toBe('unleased');
      expect(await read('a')).toMatchObject({
        ...{ desired: { userName: 'new' }, version: 2, revision: 3, progress: {}, leasedUntil: undefined },
      });
    });

    it('is committed without the lease while another attempt holds it, or if an outcome was saved meanwhile', async () => {
      const { add, identities, leases, read } = await fixture(open);
      await add(person('a'));
      const before = await read('a');
      await leases.acquire('okta', 'a', { token: 'other', ms: 9, now: NOW });
      const second = { ...before, version: 2 };
      const update = (identity: typeof before, expected: number) =>
        ({ kind: 'update', identity, expected, lease: { ...lease, before, call: callOf(before) } }) as const;
      expect(await identities.commit('okta', [update(second, 1)])).toBe('unleased');
      await leases.finish('okta', 'a', 'other', { revision: 1 }, linkedOutcome('t1', 'a@x'));
      expect(await identities.commit('okta', [update({ ...before, version: 3 }, 2)])).toBe('unleased');
      expect(await read('a')).toMatchObject({ version: 3, leasedUntil: undefined, travelId: 't1' });
    });

    it('is stale if another write came first', async () => {
      const { add, identities, read } = await fixture(open);
      await add(person('a'));
      const before = await read('a');
      const write = { ...before, version: 2 };
      await identities.commit('okta', [{ kind: 'update', identity: write, expected: 1 }]);
      const leased = { ...lease, before, call: callOf(before) };
      const change = { kind: 'update', identity: write, expected: 1, lease: leased } as const;
      expect(await identities.commit('okta', [change])).toBe('stale');
      expect((await read('a')).leasedUntil).toBeUndefined();
    });

    it('changes email keys, counters and group memberships with the identity', async () => {
      const { add, identities, leases, groups, read } = await fixture(open);
      const active = () =>
        identities.list('okta', listQuery<UserField>(fieldEquals('active', true)), plainScan);
      await add(person('a'));
      await groups.insert(team('g'), [{ value: 'a' }]);
      const write = async (changed: Partial<Identity>) => {
        const before = await read('a');
        const identity = { ...before, ...changed, version: before.version + 1 };
        const leased = { ...lease, before, call: callOf(before) };
        const change = { kind: 'update', identity, expected: before.version, lease: leased } as const;
        expect(await identities.commit('okta', [change])).toBe('done');
        await leases.release('okta', 'a', 'k');
      };
      const { desired } = person('a', {});
      await write({ desired: { ...desired, emails: [{ value: 'new@x' }] } });
      expect(await identities.find('okta', { by: 'email', value: 'a@corp.example' })).toEqual([]);
      expect(await identities.find('okta', { by: 'email', value: 'NEW@x' })).toHaveLength(1);
      expect((await active()).total).toBe(1);
      expect(await identities.findForWrite('okta', 'a')).toMatchObject({ view: { inGroups: true } });
      await write({ desired: { ...desired, active: false } });
      expect((await active()).total).toBe(0);
      await write({ deletedAt: NOW });
      expect(await identities.findForWrite('okta', 'a')).toMatchObject({
        ...{ isDeleted: true, view: { inGroups: false } },
      });
      expect((await identities.findPage('okta', 0, 0)).total).toBe(0);
    });
  });

  describe('the identities that decide what a POST is', () => {
    const user = {
      userName: 'ADA@x',
      externalId: 'e1',
      email: 'Ada@Corp.example',
    };

    it('are none for a new person', async () => {
      const { add, identities } = await fixture(open);
      await add(person('other'));
      expect(await identities.findForNewUser('okta', user)).toEqual({
        ...{ userName: [], externalId: [], travelEmail: [], generation: 0 },
        ...{ holder: undefined, creator: undefined },
      });
    });

    it('are found by userName and externalId in the connection, and by address in the account', async () => {
      const { add, identities } = await fixture(open);
      const address = 'ada@corp.example';
      await add(
        // Its address is reserved while no traveler has it.
        person('creator', { connection: 'entra', creating: createOf('ADA@corp.example') }),
        person('name', { desired: { userName: 'ada@X' } }),
        person('left', {
          desired: { userName: 'ada@x', externalId: 'e1' },
          deletedAt: NOW,
          createdAt: NOW - 1,
        }),
        person('external', { desired: { userName: 'other', externalId: 'e1' }, createdAt: NOW - 2 }),
        person('elsewhere', { connection: 'entra', desired: { userName: 'ada@x', externalId: 'e1' } }),
        importedIdentity('imported', 't1', { observed: traveler('t1', address) }),
        person('gone', { travelId: 't2', observed: traveler('t2', address), deletedAt: NOW }),
        person('holder', {
          ...{ connection: 'entra', travelId: 't3', observed: traveler('t3', address), createdAt: NOW - 9 },
        }),
        person('waiter', { waitingFor: address }),
        person('globex', { connection: 'other', waitingFor: address }),
      );
      const found = await identities.findForNewUser('okta', user);
      const ids = (all: Identity[]) => all.map(({ id }) => id);
      expect(ids(found.userName)).toEqual(['name', 'left']);
      expect(ids(found.externalId)).toEqual(['left', 'external']);
      expect(ids(found.travelEmail)).toEqual(['imported', 'gone']);
      expect([found.holder?.id, found.creator?.id]).toEqual(['holder', 'creator']);
    });

    it('have nothing in common with a user without address and externalId but the userName', async () => {
      const { add, identities } = await fixture(open);
      await add(person('a', { desired: { userName: 'ada@x' }, waitingFor: undefined }));
      const found = await identities.findForNewUser('okta', {
        ...{ userName: 'ada@x', externalId: undefined, email: undefined },
      });
      expect([found.userName.length, found.externalId]).toEqual([1, []]);
    });
  });

  it('reads an identity for a write with its groups and references', async () => {
    const { add, identities, references } = await fixture(open);
    await add(person('a', { state: 'held' }));
    expect(await identities.findForWrite('okta', 'none')).toBeUndefined();
    expect(await identities.findForWrite('okta', 'a')).toMatchObject({
      ...{ isDeleted: false, hasReferences: false, generation: 0 },
      view: { id: 'a', inGroups: false },
      canAnswerNoOp: false,
    });
    await references.save('okta', 'a', [{ raw: 'boss', target: undefined, travelId: undefined }]);
    const stored = await identities.findForWrite('okta', 'a');
    expect(stored?.hasReferences).toBe(true);
    expect(stored?.parse()).toEqual(await identities.findById('okta', 'a'));
  });
}
