import {
  announcedCreate,
  fixture,
  importedIdentity,
  linkedOutcome,
  NOW,
  type OpenDatabase,
  person,
  team,
  traveler,
} from '../../fixtures/store.ts';

/** Conformance tests of imports, for any database. */
export function describeImports(open: OpenDatabase): void {
  const at = NOW + 100;

  describe('an import knows', () => {
    it('the identities of the connection for travelers, claimed or not, tombstones included', async () => {
      const { add, imports } = await fixture(open);
      await add(
        person('a', { travelId: 't1' }),
        importedIdentity('b', 't2'),
        person('c', { travelId: 't3', deletedAt: NOW }),
        person('d', { travelId: 't4', connection: 'entra' }),
      );
      const known = await imports.findKnown('okta', ['t1', 't2', 't3', 't4', 't5']);
      expect(known.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
    });

    it('the travelers that another connection of the account has claimed', async () => {
      const { add, imports } = await fixture(open);
      await add(
        person('a', { travelId: 't1' }),
        person('b', { travelId: 't2', connection: 'entra' }),
        importedIdentity('c', 't3', { connection: 'entra' }),
        person('d', { travelId: 't4', connection: 'other' }),
      );
      const many = Array.from({ length: 1200 }, (_, index) => `x${index}`);
      expect(await imports.findLinkedElsewhere('okta', 'acme', [...many, 't1', 't2', 't3', 't4'])).toEqual([
        't2',
      ]);
    });
  });

  describe('saving unclaimed identities', () => {
    it('inserts new ones, with search keys and counters', async () => {
      const { identities, imports } = await fixture(open);
      const many = Array.from({ length: 250 }, (_, index) => importedIdentity(`p${index}`, `t${index}`));
      await imports.saveUnclaimed(many, at);
      expect((await identities.findPage('okta', 0, 0)).total).toBe(250);
      expect(await identities.find('okta', { by: 'email', value: 'P249@corp.example' })).toEqual([many[249]]);
      await imports.saveUnclaimed([], at);
    });

    it('skips those whose userName is taken', async () => {
      const { add, identities, imports } = await fixture(open);
      await add(person('a'));
      const twin = importedIdentity('b', 't1', { desired: person('a').desired });
      await imports.saveUnclaimed([twin, importedIdentity('c', 't2')], at);
      expect(await identities.findById('okta', 'b')).toBeUndefined();
      expect(await identities.findById('okta', 'c')).toBeDefined();
      expect((await identities.findPage('okta', 0, 0)).total).toBe(2);
    });

    it('skips a traveler that is linked in the account, tombstones included, or is being created', async () => {
      const { add, identities, imports, leases } = await fixture(open);
      await add(
        person('a', { travelId: 't1' }),
        person('b', { travelId: 't2', connection: 'entra' }),
        person('c', { travelId: 't3', connection: 'entra', deletedAt: NOW }),
        person('maker', { connection: 'entra' }),
        person('d', { travelId: 't5', connection: 'other' }),
      );
      await leases.acquire('entra', 'maker', { token: 'k', ms: at - NOW, now: NOW });
      await leases.announce('entra', 'maker', 'k', announcedCreate('W@corp.example'));
      await imports.saveUnclaimed(
        [
          importedIdentity('x', 't1'),
          importedIdentity('y', 't2'),
          importedIdentity('z', 't3'),
          importedIdentity('w', 't4'),
          importedIdentity('v', 't5'),
        ],
        at,
      );
      const { identities: all } = await identities.findPage('okta', 0, 10);
      expect(all.map(({ id }) => id)).toEqual(['a', 'v']);
    });

    it('refreshes a known one from its traveler, and raises the version only if the user changed', async () => {
      const { identities, imports, read } = await fixture(open);
      await imports.saveUnclaimed([importedIdentity('a', 't1')], at);
      const again = importedIdentity('other-id', 't1', {
        desired: person('a').desired,
        observed: traveler('t1', 'a@corp.example', { lang: 'fr' }),
        lastModified: NOW + 50,
      });
      await imports.saveUnclaimed([again], at);
      expect(await read('a')).toEqual(importedIdentity('a', 't1', { observed: again.observed }));
      const moved = importedIdentity('third', 't1', { lastModified: NOW + 60 });
      await imports.saveUnclaimed([moved], at);
      expect(await read('a')).toEqual({ ...moved, id: 'a', version: 2 });
      expect(await identities.find('okta', { by: 'email', value: 'third@corp.example' })).toHaveLength(1);
      expect(await identities.find('okta', { by: 'email', value: 'a@corp.example' })).toEqual([]);
      expect((await identities.findPage('okta', 0, 0)).total).toBe(1);
    });

    it('keeps the old userName of a known one while another user has the new one', async () => {
      const { add, imports, read } = await fixture(open);
      await add(person('a'), importedIdentity('b', 't1'));
      const observed = traveler('t1', 'a@corp.example');
      await imports.saveUnclaimed(
        [importedIdentity('x', 't1', { desired: person('a').desired, observed })],
        at,
      );
      expect(await read('b')).toEqual(importedIdentity('b', 't1', { observed }));
    });

    it('never changes one that an IdP has claimed', async () => {
      const { add, imports, read } = await fixture(open);
      await add(person('a', { travelId: 't1' }));
      await imports.saveUnclaimed([importedIdentity('x', 't1')], at);
      expect(await read('a')).toEqual(person('a', { travelId: 't1' }));
    });
  });

  describe('saving observed travelers', () => {
    it('saves the observation, makes the identity dirty, raises the revision and leaves the version alone', async () => {
      const { add, identities, imports, read } = await fixture(open);
      const linked = person('a', { state: 'synced', travelId: 't1', observed: traveler('t1', 'a@x') });
      await add(linked);
      const observed = traveler('t1', 'B@x');
      await imports.saveObserved('okta', [{ id: 'a', observed }], at);
      const dirty = { ...linked, observed, state: 'dirty', revision: 2, nextAttemptAt: at };
      expect(await read('a')).toEqual(dirty);
      expect((await identities.findHolder('acme', { travelEmail: 'b@X' }))?.id).toBe('a');
      await imports.saveObserved('okta', [{ id: 'a', observed: undefined }], at);
      expect((await read('a')).observed).toBeUndefined();
    });

    it('clears the observation of a leased identity, which stays dirty after its attempt', async () => {
      const { add, imports, leases, read } = await fixture(open);
      await add(person('a', { travelId: 't1', observed: traveler('t1', 'a@x') }));
      await leases.acquire('okta', 'a', { token: 'k', ms: at + 1 - NOW, now: NOW });
      await imports.saveObserved('okta', [{ id: 'a', observed: traveler('t1', 'b@x') }], at);
      expect((await read('a')).observed).toBeUndefined();
      const outcome = linkedOutcome('t1', 'a@x');
      expect(await leases.finish('okta', 'a', 'k', { revision: 1 }, outcome)).toBe('moved');
      expect(await read('a')).toMatchObject({ observed: undefined, state: 'dirty' });
    });

    it('clears the observation of an identity that changed since the import read it', async () => {
      const { add, imports, read } = await fixture(open);
      await add(person('a', { travelId: 't1', observed: traveler('t1', 'newer@x') }));
      const look = { id: 'a', observed: traveler('t1', 'b@x'), before: traveler('t1', 'a@x') };
      await imports.saveObserved('okta', [look], at);
      expect((await read('a')).observed).toBeUndefined();
    });
  });

  describe('deleting stale identities', () => {
    it('deletes unseen unclaimed identities, and returns unseen linked ones', async () => {
      const { add, identities, imports, groups } = await fixture(open);
      await add(
        importedIdentity('gone', 't1'),
        person('missing', { travelId: 't2' }),
        person('seen', { travelId: 't3' }),
        person('unlinked'),
        person('dead', { travelId: 't5', deletedAt: NOW }),
        importedIdentity('elsewhere', 't1', { connection: 'entra' }),
      );
      await groups.insert(team('g'), [{ value: 'gone' }]);
      await imports.saveUnclaimed([importedIdentity('fresh', 't6')], at);
      await imports.saveObserved('okta', [{ id: 'seen', observed: undefined }], at);
      expect(
        (await imports.findMissing('okta', at)).sort((one, other) => (one.id < other.id ? -1 : 1)),
      ).toEqual([
        { id: 'gone', travelId: 't1', claimed: false },
        { id: 'missing', travelId: 't2', claimed: true },
      ]);
      expect(await imports.deleteStale('okta', at)).toEqual(['missing', 'dead']);
      expect(await identities.findById('okta', 'gone')).toBeUndefined();
      expect(await identities.findById('okta', 'fresh')).toBeDefined();
      expect(await identities.findById('entra', 'elsewhere')).toBeDefined();
      expect((await groups.allMembers('okta', ['g'])).get('g')).toEqual([]);
      expect((await identities.findPage('okta', 0, 0)).total).toBe(4);
    });

    it('skips identities marked as seen, claimed or not', async () => {
      const { add, identities, imports } = await fixture(open);
      await add(importedIdentity('a', 't1'), person('b', { travelId: 't2' }), importedIdentity('c', 't3'));
      await imports.markSeen('okta', ['a', 'b'], at);
      expect((await imports.findMissing('okta', at)).map(({ id }) => id)).toEqual(['c']);
      expect(await imports.deleteStale('okta', at)).toEqual([]);
      expect(await identities.findById('okta', 'a')).toEqual(importedIdentity('a', 't1'));
      expect(await identities.findById('okta', 'b')).toEqual(person('b', { travelId: 't2' }));
      expect(await identities.findById('okta', 'c')).toBeUndefined();
    });

    it.each(['markSeen', 'saveUnclaimed'] as const)(
      'skips identities that an earlier import, which still runs, lists after this one (%s)',
      async (how) => {
        const { identities, imports } = await fixture(open);
        const ada = importedIdentity('a', 't1');
        await imports.saveUnclaimed([ada], NOW);
        await imports.markSeen('okta', ['a'], at);
        if (how === 'markSeen') await imports.markSeen('okta', ['a'], at - 50);
        else await imports.saveUnclaimed([ada], at - 50);
        expect(await imports.deleteStale('okta', at)).toEqual([]);
        expect(await identities.findById('okta', 'a')).toBeDefined();
      },
    );

    it('skips identities that were written since the import began', async () => {
      const { add, imports, leases } = await fixture(open);
      await add(person('new', { createdAt: at, writtenAt: at }), person('old', { writtenAt: at + 1 }));
      for (const [id, travelId] of [
        ['new', 't1'],
        ['old', 't2'],
      ] as const) {
        await leases.acquire('okta', id, { token: 'k', ms: at - NOW, now: NOW });
        await leases.finish('okta', id, 'k', { revision: 1 }, linkedOutcome(travelId, `${id}@x`));
      }
      expect(await imports.deleteStale('okta', at)).toEqual([]);
    });

    it('skips identities that were linked since the import began', async () => {
      const { add, imports, leases } = await fixture(open);
      await add(person('before'), person('since'));
      for (const [id, linkedAt] of [
        ['before', at - 1],
        ['since', at],
      ] as const) {
        await leases.acquire('okta', id, { token: 'k', ms: 1_000, now: NOW });
        const outcome = { ...linkedOutcome(`t-${id}`, `${id}@x`), linkedAt };
        await leases.finish('okta', id, 'k', { revision: 1 }, outcome);
      }
      expect((await imports.findMissing('okta', at)).map(({ id }) => id)).toEqual(['before']);
      expect(await imports.deleteStale('okta', at)).toEqual(['before']);
    });

    it('uses the clock of the process, not the wall clock', async () => {
      const { add, imports, identities } = await fixture(open);
      const before = person('before', { travelId: 't1', lastModified: at + 86_400_000, writtenAt: NOW });
      const since = person('since', { travelId: 't2', lastModified: NOW - 86_400_000, writtenAt: at });
      const changed = person('changed', { travelId: 't3', writtenAt: NOW });
      const marked = person('marked', { travelId: 't4', lastModified: at + 86_400_000, writtenAt: NOW });
      await add(before, since, changed, marked);
      const identity = { ...changed, version: 2, lastModified: NOW - 86_400_000, writtenAt: at };
      expect(await identities.commit('okta', [{ kind: 'update', identity, expected: 1 }])).toBe('done');
      const { writtenAt: _, ...unwritten } = { ...marked, state: 'dirty' as const };
      expect(await identities.commit('okta', [{ kind: 'update', identity: unwritten, expected: 1 }])).toBe(
        'done',
      );
      expect((await imports.deleteStale('okta', at)).sort()).toEqual(['before', 'marked']);
    });

    it('keeps the time of an observation that is later than a write', async () => {
      const { add, imports, identities } = await fixture(open);
      const a = person('a', { travelId: 't1' });
      await add(a);
      await imports.saveObserved('okta', [{ id: 'a', observed: undefined }], at);
      await identities.commit('okta', [{ kind: 'update', identity: { ...a, version: 2 }, expected: 1 }]);
      expect(await imports.deleteStale('okta', at)).toEqual([]);
    });

    it('treats leased identities as seen', async () => {
      const { add, imports, leases } = await fixture(open);
      await add(person('a', { travelId: 't1' }));
      await leases.acquire('okta', 'a', { token: 'k', ms: at + 1 - NOW, now: NOW });
      await imports.saveObserved('okta', [{ id: 'a', observed: traveler('t1', 'b@x') }], at);
      expect(await imports.deleteStale('okta', at)).toEqual([]);
    });
  });
}
