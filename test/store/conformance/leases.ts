import {
  announcedCreate,
  callOf,
  createOf,
  fixture,
  importedIdentity,
  linkedOutcome,
  NOW,
  type OpenDatabase,
  person,
  traveler,
} from '../../fixtures/store.ts';

/** Conformance tests of leases, for any database. */
export function describeLeases(open: OpenDatabase): void {
  const lease = (token: string, now = NOW) => ({ token, now, ms: 1000 });

  describe('a lease', () => {
    it('is granted to one holder at a time, with the identity', async () => {
      const { add, leases } = await fixture(open);
      await add(person('a'));
      expect(await leases.acquire('okta', 'a', lease('k1'))).toEqual({
        identity: { ...person('a'), leasedUntil: NOW + 1000 },
        generation: 0,
      });
      expect(await leases.acquire('okta', 'a', lease('k2', NOW + 999))).toBeUndefined();
    });

    it('is granted to exactly one of many concurrent callers', async () => {
      const { add, leases } = await fixture(open);
      await add(person('a'));
      const taken = await Promise.all(
        ['k1', 'k2', 'k3'].map((token) => leases.acquire('okta', 'a', lease(token))),
      );
      expect(taken.filter((identity) => identity !== undefined)).toHaveLength(1);
    });

    it('expires, and is then useless to its former holder', async () => {
      const { add, leases, read } = await fixture(open);
      await add(person('a'));
      await leases.acquire('okta', 'a', lease('k1'));
      expect(await leases.acquire('okta', 'a', lease('k2', NOW + 1000))).toBeDefined();
      expect(await leases.announce('okta', 'a', 'k1', announcedCreate('a@x'))).toBe('lost');
      expect(await leases.finish('okta', 'a', 'k1', { revision: 1 }, linkedOutcome('t1', 'a@x'))).toBe(
        'lost',
      );
      await leases.release('okta', 'a', 'k1');
      expect(await read('a')).toMatchObject({
        leasedUntil: NOW + 2000,
        travelId: undefined,
        creating: undefined,
      });
    });

    it('is extended from now on, but only by its holder', async () => {
      const { add, leases, read } = await fixture(open);
      await add(person('a'));
      await leases.acquire('okta', 'a', lease('k1'));
      expect(await leases.extend('okta', 'a', lease('k1', NOW + 900))).toBe(true);
      expect(await leases.extend('okta', 'a', lease('k2', NOW + 900))).toBe(false);
      expect((await read('a')).leasedUntil).toBe(NOW + 1900);
      expect(await leases.acquire('okta', 'a', lease('k2', NOW + 1899))).toBeUndefined();
      expect(await leases.acquire('okta', 'a', lease('k2', NOW + 1900))).toBeDefined();
      expect(await leases.extend('okta', 'a', lease('k1', NOW + 1900))).toBe(false);
    });

    it('comes with the generation of the rules in force', async () => {
      const { add, leases, rules } = await fixture(open);
      await add(person('a'));
      const mapping = { edition: 1, digest: 'd', mapping: {}, lookups: undefined, source: 'file' } as const;
      await rules.replace('okta', { ...mapping, generation: 1 }, NOW);
      await rules.replace('okta', { ...mapping, generation: 2, digest: 'e' }, NOW);
      expect(await leases.acquire('okta', 'a', lease('k1'))).toMatchObject({ generation: 2 });
    });

    it('lets only its holder wait for an address', async () => {
      const { add, reconcileQueue, leases, read } = await fixture(open);
      await add(person('a', { state: 'synced' }));
      await leases.acquire('okta', 'a', lease('k1'));
      await leases.waitFor('okta', 'a', 'k0', 'not@x');
      expect((await read('a')).waitingFor).toBeUndefined();
      await leases.waitFor('okta', 'a', 'k1', 'Éva@X');
      await reconcileQueue.markEmailWaitersDirty('acme', 'ÉVA@x', NOW);
      expect(await read('a')).toMatchObject({ waitingFor: 'éva@x', state: 'dirty', revision: 2 });
    });

    it('keeps the awaited address through any number of outcomes, even if its lower case is not NFC', async () => {
      const { add, reconcileQueue, identities, leases, read } = await fixture(open);
      await add(person('a', { state: 'synced' }), person('b', linkedOutcome('t1', 'J\u030c@x')));
      await leases.acquire('okta', 'a', lease('k1'));
      await leases.waitFor('okta', 'a', 'k1', 'J\u030c@X');
      for (const token of ['k1', 'k2']) {
        const { waitingFor, revision } = await read('a');
        const outcome = { ...linkedOutcome('t2', 'a@x'), waitingFor };
        expect(await leases.finish('okta', 'a', token, { revision }, outcome)).toBe('kept');
        await leases.acquire('okta', 'a', lease('k2'));
      }
      expect(await identities.isWaitedFor('acme', 'J\u030c@x', 'b')).toBe(true);
      await reconcileQueue.markEmailWaitersDirty('acme', 'J\u030c@x', NOW);
      expect((await read('a')).state).toBe('dirty');
    });

    it('can be released, and all can be ended at once', async () => {
      const { add, leases, read } = await fixture(open);
      await add(person('a'), person('b'));
      await leases.acquire('okta', 'a', lease('k1'));
      await leases.release('okta', 'a', 'k1');
      expect(await read('a')).toEqual(person('a'));
      await leases.acquire('okta', 'a', lease('k2'));
      await leases.acquire('okta', 'b', lease('k3'));
      await leases.releaseAll();
      expect(await read('a')).toEqual(person('a'));
      expect(await read('b')).toEqual(person('b'));
      expect(await leases.announce('okta', 'b', 'k3', announcedCreate('b@x'))).toBe('lost');
    });

    it('on an identity that does not exist is not granted', async () => {
      const { add, leases } = await fixture(open);
      await add(person('a'));
      expect(await leases.acquire('entra', 'a', lease('k'))).toBeUndefined();
      expect(await leases.acquire('okta', 'x', lease('k'))).toBeUndefined();
    });
  });

  describe('a reserved address', () => {
    it('is stored as spelled, and found in the account regardless of case', async () => {
      const { add, leases, imports, read } = await fixture(open);
      await add(person('a'));
      await leases.acquire('okta', 'a', lease('k'));
      expect(await leases.announce('okta', 'a', 'k', announcedCreate('Éva@X'))).toBe('done');
      expect((await read('a')).creating).toEqual(createOf('Éva@X'));
      expect(await imports.findOpenCreates('acme')).toEqual(['éva@x']);
      expect(await imports.findOpenCreates('globex')).toEqual([]);
      expect(await leases.announce('okta', 'a', 'k', announcedCreate(undefined))).toBe('done');
      expect(await imports.findOpenCreates('acme')).toEqual([]);
    });
  });

  describe('the traveler of a leaver', () => {
    it('is only taken once the lease has ended by the clock that decides about leases', async () => {
      const { add, leases, read } = await fixture(open);
      await add(person('leaver', { travelId: 't1', deletedAt: NOW }), person('newcomer'));
      await leases.acquire('okta', 'leaver', { token: 'k1', ms: 20_000, now: NOW });
      await leases.acquire('okta', 'newcomer', { token: 'k2', ms: 60_000, now: NOW });
      const { leasedUntil, applied, origin } = await read('leaver');
      const take = (leaseEndedBy: number) => {
        const leaver = { connection: 'okta', id: 'leaver', leasedUntil, applied, origin, leaseEndedBy };
        const from = { kind: 'giveUpTraveler', ...leaver } as const;
        return leases.announce('okta', 'newcomer', 'k2', {
          ...callOf(person('newcomer')),
          travelId: 't1',
          from,
        });
      };
      expect([await take(NOW + 19_999), await take(NOW + 20_000)]).toEqual(['taken', 'done']);
    });
  });

  describe('an outcome', () => {
    it('is saved completely, raises the revision and releases the lease', async () => {
      const { add, leases, read } = await fixture(open);
      await add(person('a'));
      const before = (await leases.acquire('okta', 'a', lease('k')))?.identity;
      const outcome = linkedOutcome('t1', 'a@x', {
        ...{
          state: 'refused',
          attempts: 2,
          nextAttemptAt: NOW + 60,
          creating: createOf('c@x'),
          waitingFor: 'w@x',
        },
        findings: [{ field: 'lang', code: 'unknown', reason: 'r', remedy: 'm' }],
      });
      expect(await leases.finish('okta', 'a', 'k', { revision: 1 }, outcome)).toBe('kept');
      expect(await read('a')).toEqual({ ...before, ...outcome, revision: 2, leasedUntil: undefined });
    });

    it('based on an older revision is saved, and the identity stays dirty', async () => {
      const { add, identities, leases, read } = await fixture(open);
      await add(person('a'));
      await leases.acquire('okta', 'a', lease('k'));
      const write = person('a', { desired: { userName: 'new' }, version: 2, lastModified: NOW + 7 });
      await identities.commit('okta', [{ kind: 'update', identity: write, expected: 1 }]);
      const outcome = linkedOutcome('t1', 'a@x', { nextAttemptAt: NOW + 60_000 });
      expect(await leases.finish('okta', 'a', 'k', { revision: 1 }, outcome)).toBe('moved');
      expect(await read('a')).toMatchObject({
        ...{ state: 'dirty', nextAttemptAt: undefined, leasedUntil: undefined, travelId: 't1' },
        ...{ desired: { userName: 'new' }, version: 2, revision: 3, lastModified: NOW + 7 },
        applied: outcome.applied,
      });
    });

    it('that links the traveler of another identity of the account is not saved', async () => {
      const { add, leases, read } = await fixture(open);
      await add(person('a', { travelId: 't1' }), person('b', { connection: 'entra' }));
      await leases.acquire('entra', 'b', lease('k'));
      expect(await leases.finish('entra', 'b', 'k', { revision: 1 }, linkedOutcome('t1', 'a@x'))).toBe(
        'taken',
      );
      expect(await read('b', 'entra')).toMatchObject({
        travelId: undefined,
        state: 'dirty',
        leasedUntil: NOW + 1000,
      });
      expect(await leases.finish('entra', 'b', 'k', { revision: 1 }, linkedOutcome('t2', 'b@x'))).toBe(
        'kept',
      );
    });

    it('that links the same traveler in another account is saved', async () => {
      const { add, leases } = await fixture(open);
      await add(person('a', { travelId: 't1' }), person('b', { connection: 'other' }));
      await leases.acquire('other', 'b', lease('k'));
      expect(await leases.finish('other', 'b', 'k', { revision: 1 }, linkedOutcome('t1', 'a@x'))).toBe(
        'kept',
      );
    });

    it('that links a traveler deletes the unclaimed identities of the traveler', async () => {
      const { add, identities, leases } = await fixture(open);
      await add(
        importedIdentity('here', 't1'),
        importedIdentity('there', 't1', { connection: 'entra' }),
        importedIdentity('far', 't1', { connection: 'other' }),
        person('a'),
      );
      await leases.acquire('okta', 'a', lease('k'));
      expect(await leases.finish('okta', 'a', 'k', { revision: 1 }, linkedOutcome('t1', 'a@x'))).toBe('kept');
      expect(await identities.findById('okta', 'here')).toBeUndefined();
      expect(await identities.findById('entra', 'there')).toBeUndefined();
      expect(await identities.findById('other', 'far')).toBeDefined();
      expect((await identities.findPage('okta', 0, 0)).total).toBe(1);
    });

    it('links a traveler to exactly one of two concurrent identities', async () => {
      const { add, leases } = await fixture(open);
      await add(person('a'), person('b', { connection: 'entra' }));
      await leases.acquire('okta', 'a', lease('k1'));
      await leases.acquire('entra', 'b', lease('k2'));
      const results = await Promise.all([
        leases.finish('okta', 'a', 'k1', { revision: 1 }, linkedOutcome('t1', 'a@x')),
        leases.finish('entra', 'b', 'k2', { revision: 1 }, linkedOutcome('t1', 'a@x')),
      ]);
      expect(results.sort()).toEqual(['kept', 'taken']);
    });

    it('of an unclaimed identity does not delete it', async () => {
      const { add, leases, read } = await fixture(open);
      await add(importedIdentity('a', 't1'));
      await leases.acquire('okta', 'a', lease('k'));
      expect(await leases.finish('okta', 'a', 'k', { revision: 1 }, linkedOutcome('t1', 'a@x'))).toBe('kept');
      expect(await read('a')).toMatchObject({ claimed: false, travelId: 't1' });
    });

    it('that unlinks frees the traveler and its address', async () => {
      const { add, identities, leases } = await fixture(open);
      await add(person('a', { travelId: 't1', observed: traveler('t1', 'a@x') }), person('b'));
      await leases.acquire('okta', 'a', lease('k'));
      const outcome = { ...linkedOutcome('t1', 'a@x'), travelId: undefined, observed: undefined };
      expect(await leases.finish('okta', 'a', 'k', { revision: 1 }, outcome)).toBe('kept');
      expect(await identities.findHolder('acme', { travelEmail: 'a@x' })).toBeUndefined();
      expect(await identities.findHolder('acme', { travelId: 't1' })).toBeUndefined();
    });
  });
}
