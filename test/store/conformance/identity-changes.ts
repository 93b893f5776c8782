import type { IdentityChange } from '../../../src/model/store-ports.ts';
import { urns } from '../../../src/schema/resource.ts';
import {
  announcedCreate,
  createOf,
  fixture,
  importedIdentity,
  linkedOutcome,
  NOW,
  type OpenDatabase,
  person,
  team,
  traveler,
} from '../../fixtures/store.ts';

/** Conformance tests of commits, for any database. */
export function describeIdentityChanges(open: OpenDatabase): void {
  describe('a commit', () => {
    it('refuses the userName of another live identity of the connection, regardless of case', async () => {
      const { add, identities } = await fixture(open);
      await add(person('a', { desired: { userName: 'ÉVA' } }));
      const twin = person('b', { desired: { userName: 'éva' } });
      expect(await identities.commit('okta', [{ kind: 'insert', identity: twin }])).toBe('duplicate');
      expect(await identities.findById('okta', 'b')).toBeUndefined();
      await add({ ...twin, connection: 'entra' });
    });

    it('refuses an update to the userName of another identity', async () => {
      const { add, identities, read } = await fixture(open);
      await add(person('a'), person('b'));
      const renamed = { ...person('b'), desired: person('a').desired, version: 2 };
      expect(await identities.commit('okta', [{ kind: 'update', identity: renamed, expected: 1 }])).toBe(
        'duplicate',
      );
      expect((await read('b')).version).toBe(1);
    });

    it('accepts a userName again once its owner is deleted', async () => {
      const { add } = await fixture(open);
      const { desired } = person('a');
      await add(
        person('a', { deletedAt: NOW }),
        person('b', { desired, deletedAt: NOW }),
        person('c', { desired }),
      );
    });

    it('accepts exactly one of many concurrent inserts with the same userName', async () => {
      const { identities } = await fixture(open);
      const { desired } = person('x');
      const results = await Promise.all(
        ['a', 'b', 'c', 'd', 'e'].map((id) =>
          identities.commit('okta', [{ kind: 'insert', identity: person(id, { desired }) }]),
        ),
      );
      expect(results.filter((result) => result === 'done')).toHaveLength(1);
      expect(results.filter((result) => result === 'duplicate')).toHaveLength(4);
      expect((await identities.findPage('okta', 0, 10)).total).toBe(1);
    });

    it('accepts exactly one of many concurrent updates of the same version', async () => {
      const { add, identities } = await fixture(open);
      await add(person('a'));
      const results = await Promise.all(
        [1, 2, 3].map(() =>
          identities.commit('okta', [
            { kind: 'update', identity: { ...person('a'), version: 2 }, expected: 1 },
          ]),
        ),
      );
      expect(results.sort()).toEqual(['done', 'stale', 'stale']);
    });

    it('applies all of its changes or none', async () => {
      const { add, identities, read } = await fixture(open);
      await add(person('a'), importedIdentity('b', 't1'));
      const changes: IdentityChange[] = [
        { kind: 'deleteUnclaimed', id: 'b' },
        { kind: 'insert', identity: person('c') },
        { kind: 'update', identity: { ...person('a'), version: 8 }, expected: 7 },
      ];
      expect(await identities.commit('okta', changes)).toBe('stale');
      expect((await read('a')).version).toBe(1);
      expect((await read('b')).travelId).toBe('t1');
      expect(await identities.findById('okta', 'c')).toBeUndefined();
      expect((await identities.findPage('okta', 0, 0)).total).toBe(2);
    });

    it('is stale, not a duplicate, when the traveler was linked meanwhile', async () => {
      const { add, identities } = await fixture(open);
      await add(person('a', { travelId: 't1' }));
      const late = person('b', { connection: 'entra', travelId: 't1' });
      expect(await identities.commit('entra', [{ kind: 'insert', identity: late }])).toBe('stale');
    });

    it('is stale when the identity no longer exists', async () => {
      const { identities } = await fixture(open);
      expect(await identities.commit('okta', [{ kind: 'update', identity: person('x'), expected: 1 }])).toBe(
        'stale',
      );
      expect(await identities.commit('okta', [{ kind: 'deleteUnclaimed', id: 'x' }])).toBe('stale');
      expect(
        await identities.commit('okta', [
          {
            kind: 'giveUpTraveler',
            connection: 'okta',
            origin: {},
            applied: {},
            id: 'x',
            leasedUntil: undefined,
          },
        ]),
      ).toBe('stale');
    });
  });

  describe('an update', () => {
    it("writes the IdP's columns only, and raises the revision", async () => {
      const { add, identities, leases, read } = await fixture(open);
      await add(person('a'));
      await leases.acquire('okta', 'a', { token: 'k', ms: 9, now: NOW });
      await leases.finish(
        'okta',
        'a',
        'k',
        { revision: 1 },
        linkedOutcome('t1', 'a@x', { waitingFor: 'w@x', creating: createOf('c@x') }),
      );
      const before = await read('a');
      const write = {
        ...person('a', { desired: { userName: 'new', externalId: 'e' } }),
        version: 2,
        attempts: 4,
        nextAttemptAt: NOW + 60,
        lastModified: NOW + 5,
      };
      await identities.commit('okta', [{ kind: 'update', identity: write, expected: 1 }]);
      expect(await read('a')).toEqual({
        ...before,
        desired: write.desired,
        state: 'dirty',
        version: 2,
        revision: 3,
        attempts: 4,
        nextAttemptAt: NOW + 60,
        lastModified: NOW + 5,
      });
      expect(await identities.find('okta', { by: 'userName', value: 'NEW' })).toHaveLength(1);
      expect(await identities.find('okta', { by: 'userName', value: 'a@corp.example' })).toEqual([]);
      expect(await identities.find('okta', { by: 'externalId', value: 'e' })).toHaveLength(1);
    });

    it('keeps the email keys up to date', async () => {
      const { add, identities } = await fixture(open);
      await add(person('a', { desired: { userName: 'a', emails: [{ value: '1@x' }, { value: '2@x' }] } }));
      const desired = { userName: 'a', emails: [{ value: '2@X' }, { value: '3@x' }, { value: '3@X' }] };
      const identity = person('a', { desired, version: 2 });
      expect(await identities.commit('okta', [{ kind: 'update', identity, expected: 1 }])).toBe('done');
      const found = async (value: string) => (await identities.find('okta', { by: 'email', value })).length;
      expect([await found('1@x'), await found('2@x'), await found('3@x')]).toEqual([0, 1, 1]);
    });

    it('finds a person by the employee number, without case and with its zeros', async () => {
      const { add, identities } = await fixture(open);
      const numbered = (employeeNumber: string) => ({
        userName: employeeNumber,
        [urns.enterprise]: { employeeNumber },
      });
      for (const number of ['007x', '7x', '8']) await add(person(number, { desired: numbered(number) }));
      const found = async (value: string) =>
        (await identities.find('okta', { by: 'employeeNumber', value })).map(({ id }) => id);
      expect([await found('007X'), await found('7x'), await found('08'), await found('0')]).toEqual([
        ['007x'],
        ['7x'],
        [],
        [],
      ]);
    });

    it('does not end a lease', async () => {
      const { add, identities, leases } = await fixture(open);
      await add(person('a'));
      await leases.acquire('okta', 'a', { token: 'k', ms: 9, now: NOW });
      await identities.commit('okta', [
        { kind: 'update', identity: person('a', { version: 2 }), expected: 1 },
      ]);
      expect(await leases.announce('okta', 'a', 'k', announcedCreate('a@x'))).toBe('done');
    });

    it('writes `applied` only when it claims the identity', async () => {
      const { add, identities, read } = await fixture(open);
      await add(importedIdentity('a', 't1'));
      const applied = { lang: { sent: 'en', seen: 'en', source: 'en' } };
      const claim = person('a', { version: 2, applied });
      await identities.commit('okta', [{ kind: 'update', identity: claim, expected: 1 }]);
      expect(await read('a')).toMatchObject({
        claimed: true,
        applied,
        travelId: 't1',
        observed: { id: 't1' },
      });
      const later = person('a', { version: 3, applied: {} });
      await identities.commit('okta', [{ kind: 'update', identity: later, expected: 2 }]);
      expect((await read('a')).applied).toEqual(applied);
    });

    it('that claims hides the traveler from the other connections of the account', async () => {
      const { add, identities } = await fixture(open);
      await add(
        importedIdentity('a', 't1'),
        importedIdentity('b', 't1', { connection: 'entra' }),
        importedIdentity('c', 't1', { connection: 'other' }),
        importedIdentity('d', 't2', { connection: 'entra' }),
      );
      await identities.commit('okta', [
        { kind: 'update', identity: person('a', { version: 2 }), expected: 1 },
      ]);
      expect(await identities.findById('entra', 'b')).toBeUndefined();
      expect(await identities.findById('other', 'c')).toBeDefined();
      expect(await identities.findById('entra', 'd')).toBeDefined();
      expect((await identities.findPage('entra', 0, 0)).total).toBe(1);
    });

    it('that deletes removes the user from all groups', async () => {
      const { add, identities, groups } = await fixture(open);
      await add(person('a'), person('b'));
      await groups.insert(team('g'), [{ value: 'a' }, { value: 'b' }]);
      const dead = person('a', { version: 2, deletedAt: NOW });
      await identities.commit('okta', [{ kind: 'update', identity: dead, expected: 1 }]);
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([{ value: 'b', names: 'User' }]);
      expect((await groups.findById('okta', 'g'))?.version).toBe(2);
    });
  });

  describe('an insert', () => {
    it('that is claimed leaves one identity of the traveler in the account', async () => {
      const { add, identities } = await fixture(open);
      await add(importedIdentity('a', 't1'), importedIdentity('b', 't1', { connection: 'entra' }));
      await add(person('new', { travelId: 't1' }));
      expect(await identities.findById('okta', 'a')).toBeUndefined();
      expect(await identities.findById('entra', 'b')).toBeUndefined();
      expect((await identities.findPage('okta', 0, 0)).total).toBe(1);
    });

    it('that takes the place of an unclaimed identity has its memberships, beside those of its own', async () => {
      const { add, identities, groups } = await fixture(open);
      await add(importedIdentity('listed', 't1'), person('b'));
      await groups.insert(team('g'), [{ value: 'listed', display: 'Ada' }, { value: 'b' }]);
      await groups.insert(team('h'), [{ value: 'new' }, { value: 'listed' }]);
      const identity = person('new', { travelId: 't1', lastModified: NOW + 7 });
      const deletion = { kind: 'deleteUnclaimed', id: 'listed', heir: identity } as const;
      expect(await identities.commit('okta', [deletion, { kind: 'insert', identity }])).toBe('done');
      const members = await groups.allMembers('okta', ['g', 'h']);
      expect(members.get('g')).toEqual([
        { value: 'new', display: 'Ada', names: 'User' },
        { value: 'b', names: 'User' },
      ]);
      expect(members.get('h')).toEqual([{ value: 'new', names: 'User' }]);
      expect(await groups.findById('okta', 'g')).toMatchObject({ version: 2, lastModified: NOW + 7 });
      expect(await identities.findById('okta', 'listed')).toBeUndefined();
    });

    it('that replaces an erased identity may have its userName', async () => {
      const { add, identities, read } = await fixture(open);
      await add(importedIdentity('a', 't1'));
      const identity = person('new', { desired: person('a').desired, travelId: 't1' });
      expect(
        await identities.commit('okta', [
          { kind: 'deleteUnclaimed', id: 'a' },
          { kind: 'insert', identity },
        ]),
      ).toBe('done');
      expect((await read('new')).travelId).toBe('t1');
    });
  });

  describe('a release', () => {
    it('unlinks the traveler of a tombstone and ends its work, so that a restored user can get the traveler', async () => {
      const { add, identities, leases, read } = await fixture(open);
      const observed = traveler('t1', 'a@x');
      const applied = { lang: { sent: 'en', seen: 'en', source: 'en' } };
      await add(
        person('old', {
          ...{ travelId: 't1', observed, applied, creating: createOf('c@x'), waitingFor: 'w@x' },
          ...{ deletedAt: NOW, attempts: 2, nextAttemptAt: NOW },
        }),
      );
      await leases.acquire('okta', 'old', { token: 'k', ms: 9, now: NOW });
      const identity = person('new', { travelId: 't1' });
      const changes: IdentityChange[] = [
        { kind: 'giveUpTraveler', connection: 'okta', origin: {}, applied, id: 'old', leasedUntil: NOW + 9 },
        { kind: 'insert', identity },
      ];
      expect(await identities.commit('okta', changes)).toBe('done');
      expect(await read('old')).toMatchObject({
        ...{
          travelId: undefined,
          applied: {},
          observed: undefined,
          creating: undefined,
          waitingFor: undefined,
        },
        ...{ state: 'dirty', revision: 2, leasedUntil: undefined, nextAttemptAt: undefined, deletedAt: NOW },
      });
      expect((await identities.findHolder('acme', { travelId: 't1' }))?.id).toBe('new');
      expect(await leases.finish('okta', 'old', 'k', { revision: 1 }, linkedOutcome('t1', 'a@x'))).toBe(
        'lost',
      );
    });

    it.each([undefined, NOW + 8])(
      'is stale when the lease was %s when it was read, and has changed',
      async (leasedUntil) => {
        const { add, identities, leases, read } = await fixture(open);
        await add(person('old', { travelId: 't1', deletedAt: NOW }));
        await leases.acquire('okta', 'old', { token: 'k', ms: 9, now: NOW });
        expect(
          await identities.commit('okta', [
            { kind: 'giveUpTraveler', connection: 'okta', origin: {}, applied: {}, id: 'old', leasedUntil },
          ]),
        ).toBe('stale');
        await leases.release('okta', 'old', 'k');
        expect(
          await identities.commit('okta', [
            {
              kind: 'giveUpTraveler',
              connection: 'okta',
              origin: {},
              applied: {},
              id: 'old',
              leasedUntil: NOW + 9,
            },
          ]),
        ).toBe('stale');
        expect((await read('old')).travelId).toBe('t1');
      },
    );

    it('is stale when a reconciliation has changed the applied values since it was read', async () => {
      const { add, identities, leases, read } = await fixture(open);
      await add(person('old', { travelId: 't1', deletedAt: NOW }));
      await leases.acquire('okta', 'old', { token: 'k', ms: 9, now: NOW });
      await leases.finish('okta', 'old', 'k', { revision: 1 }, linkedOutcome('t1', 'old@x'));
      const change = { kind: 'giveUpTraveler', connection: 'okta', origin: {}, id: 'old' } as const;
      const stale = { ...change, leasedUntil: undefined, applied: {} };
      expect(await identities.commit('okta', [stale])).toBe('stale');
      const { applied } = await read('old');
      expect(await identities.commit('okta', [{ ...stale, applied }])).toBe('done');
    });

    it('does nothing to live identities', async () => {
      const { add, identities, read } = await fixture(open);
      await add(person('a', { travelId: 't1' }));
      expect(
        await identities.commit('okta', [
          {
            kind: 'giveUpTraveler',
            connection: 'okta',
            origin: {},
            applied: {},
            id: 'a',
            leasedUntil: undefined,
          },
        ]),
      ).toBe('stale');
      expect((await read('a')).travelId).toBe('t1');
    });
  });

  describe('an erase', () => {
    it('never deletes an identity that an IdP has written', async () => {
      const { add, identities, read } = await fixture(open);
      await add(person('a'));
      expect(await identities.commit('okta', [{ kind: 'deleteUnclaimed', id: 'a' }])).toBe('stale');
      expect((await read('a')).claimed).toBe(true);
    });

    it('leaves no records', async () => {
      const { add, identities, references, groups } = await fixture(open);
      await add(importedIdentity('a', 't1'));
      await references.save('okta', 'a', [{ raw: 'boss', target: undefined, travelId: undefined }]);
      await groups.insert(team('g'), [{ value: 'a' }]);
      await identities.commit('okta', [{ kind: 'deleteUnclaimed', id: 'a' }]);
      expect(await identities.find('okta', { by: 'email', value: 'a@corp.example' })).toEqual([]);
      expect(await references.findReferrers('okta', 'x', ['boss'])).toEqual([]);
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([]);
    });
  });
}
