import {
  fixture,
  importedIdentity,
  linkedOutcome,
  NOW,
  type OpenDatabase,
  person,
  traveler,
} from '../../fixtures/store.ts';

/** Conformance tests of the reconcile queue, for any database. */
export function describeReconcileQueue(open: OpenDatabase): void {
  describe('the reconcile queue', () => {
    it('returns due dirty identities of the connections, longest waiting first', async () => {
      const { add, reconcileQueue } = await fixture(open);
      await add(
        person('later', { nextAttemptAt: NOW + 1 }),
        person('due', { nextAttemptAt: NOW }),
        person('atOnce'),
        person('before', { nextAttemptAt: NOW - 9, connection: 'entra' }),
        person('notAsked', { connection: 'other' }),
        person('synced', { state: 'synced' }),
        person('held', { state: 'held' }),
      );
      const due = await reconcileQueue.findDue(NOW, 10, ['okta', 'entra']);
      expect(due).toEqual([
        { connection: 'okta', id: 'atOnce' },
        { connection: 'entra', id: 'before' },
        { connection: 'okta', id: 'due' },
      ]);
      expect(await reconcileQueue.findDue(NOW, 2, ['okta', 'entra'])).toEqual(due.slice(0, 2));
      expect(await reconcileQueue.findDue(NOW, 10, [])).toEqual([]);
    });

    it('returns tombstones, too, since their travelers must be archived', async () => {
      const { add, reconcileQueue } = await fixture(open);
      await add(person('dead', { deletedAt: NOW }));
      expect(await reconcileQueue.findDue(NOW, 10, ['okta'])).toHaveLength(1);
    });

    it('returns deactivations before all others, however many there are', async () => {
      const { add, reconcileQueue } = await fixture(open);
      const others = Array.from({ length: 5 }, (_, index) =>
        person(`other${index}`, { nextAttemptAt: NOW - 50 + index }),
      );
      await add(
        ...others,
        person('inactive', { nextAttemptAt: NOW, desired: { ...person('inactive').desired, active: false } }),
        person('dead', { nextAttemptAt: NOW - 1, deletedAt: NOW }),
        person('deadElsewhere', { nextAttemptAt: NOW - 2, deletedAt: NOW, connection: 'entra' }),
        person('deadLater', { nextAttemptAt: NOW + 1, deletedAt: NOW }),
      );
      const names = async (limit: number) =>
        (await reconcileQueue.findDue(NOW, limit, ['okta', 'entra'])).map(({ id }) => id);
      expect(await names(4)).toEqual(['deadElsewhere', 'dead', 'inactive', 'other0']);
      expect(await names(20)).toHaveLength(8);
    });

    it('returns due checks for late creates in any state, once, and not before a pending attempt', async () => {
      const { add, reconcileQueue, leases } = await fixture(open);
      const late = (checkAt: number) => ({ readAgainAt: checkAt });
      const states = ['synced', 'pending', 'refused', 'held'] as const;
      await add(
        ...states.map((state, index) => person(state, { state, ...late(NOW - index) })),
        person('dirty', { ...late(NOW - 9), nextAttemptAt: NOW - 10 }),
        person('waiting', { ...late(NOW - 9), nextAttemptAt: NOW + 1 }),
        person('later', { state: 'synced', ...late(NOW + 1) }),
        person('never', { state: 'synced' }),
        person('leased', { state: 'synced', ...late(NOW) }),
        person('dead', { state: 'synced', deletedAt: NOW, ...late(NOW) }),
      );
      await leases.acquire('okta', 'leased', { token: 'k', ms: 5, now: NOW });
      expect((await reconcileQueue.findDue(NOW, 10, ['okta'])).map(({ id }) => id)).toEqual([
        'dead',
        'dirty',
        'held',
        'refused',
        'pending',
        'synced',
      ]);
    });

    it('skips leased identities until the lease has expired', async () => {
      const { add, reconcileQueue, leases } = await fixture(open);
      await add(person('a'));
      await leases.acquire('okta', 'a', { token: 'k', ms: 5, now: NOW });
      expect(await reconcileQueue.findDue(NOW + 4, 10, ['okta'])).toEqual([]);
      expect(await reconcileQueue.findDue(NOW + 5, 10, ['okta'])).toHaveLength(1);
    });
  });

  describe('a time further away than the longest delay', () => {
    const hour = 3_600_000;

    it('makes an attempt due: a wrong clock has set it', async () => {
      const { add, reconcileQueue } = await fixture(open);
      await add(
        person('ahead', { nextAttemptAt: NOW + hour + 1 }),
        person('gone', { nextAttemptAt: NOW + hour + 1, deletedAt: NOW }),
        person('soon', { nextAttemptAt: NOW + hour }),
        person('due', { nextAttemptAt: NOW - 5 }),
      );
      const due = await reconcileQueue.findDue(NOW, 10, ['okta']);
      expect(due.map(({ id }) => id)).toEqual(['gone', 'due', 'ahead']);
    });

    it('makes a read due, in the identity as well', async () => {
      const { add, reconcileQueue, leases } = await fixture(open);
      const [state, day] = ['synced' as const, 24 * hour];
      const reads = (at: number) => ({
        readAgainAt: at,
        applied: { archived: { sent: true, source: false, seen: false, resendAt: at } },
      });
      await add(
        person('ahead', { state, ...reads(NOW + day + 1) }),
        person('soon', { state, ...reads(NOW + day) }),
        person('none', { state }),
      );
      expect((await reconcileQueue.findDue(NOW, 10, ['okta'])).map(({ id }) => id)).toEqual(['ahead']);
      const identityOf = async (id: string) =>
        (await leases.acquire('okta', id, { token: 'k', ms: 1, now: NOW }))?.identity;
      expect(await identityOf('ahead')).toMatchObject(reads(NOW));
      expect(await identityOf('soon')).toMatchObject(reads(NOW + day));
    });

    it('does not count as seen by an import, until the next one sees the traveler', async () => {
      const { add, imports } = await fixture(open);
      const travelIds = ['a', 'b', 'c'].map((id) => person(id, { travelId: `t-${id}` }));
      await add(...travelIds);
      const ahead = ['a', 'b'].map((id) => ({ id, observed: undefined }));
      await imports.saveObserved('okta', ahead, NOW + 26 * hour);
      await imports.saveObserved('okta', [{ id: 'c', observed: undefined }], NOW + hour);
      await imports.markSeen('okta', ['b', 'c'], NOW + 1);
      expect(await imports.deleteStale('okta', NOW + 1)).toEqual(['a']);
    });
  });

  describe('marking dirty', () => {
    it('makes identities due now and raises the revision, not the version', async () => {
      const { add, reconcileQueue, read } = await fixture(open);
      await add(
        person('a', { state: 'synced' }),
        person('b', { state: 'synced' }),
        person('c', { nextAttemptAt: NOW + 60 }),
      );
      await reconcileQueue.markDirty('okta', ['a', 'c', 'unknown'], NOW);
      expect(await read('a')).toMatchObject({ state: 'dirty', revision: 2, version: 1, lastModified: NOW });
      expect(await read('b')).toMatchObject({ state: 'synced', revision: 1 });
      const due = await reconcileQueue.findDue(NOW, 10, ['okta']);
      expect(due.map(({ id }) => id).sort()).toEqual(['a', 'c']);
    });

    it('never moves an identity back in the queue', async () => {
      const { add, reconcileQueue } = await fixture(open);
      await add(person('late', { nextAttemptAt: NOW - 5 }), person('early', { nextAttemptAt: NOW - 9 }));
      await reconcileQueue.markDirty('okta', ['early'], NOW);
      expect((await reconcileQueue.findDue(NOW, 10, ['okta'])).map(({ id }) => id)).toEqual([
        'early',
        'late',
      ]);
    });

    it('for an address hastens nobody who waits for the next attempt, unless an attempt runs', async () => {
      const { add, leases, reconcileQueue, read } = await fixture(open);
      const nextAttemptAt = NOW + 60;
      await add(
        person('a', { state: 'synced' }),
        person('b', { nextAttemptAt }),
        person('c', { nextAttemptAt }),
      );
      await leases.acquire('okta', 'c', { token: 'k', ms: 9, now: NOW });
      for (const id of ['a', 'b', 'c'])
        await reconcileQueue.askForEmail({ connection: 'okta', id }, 'a@x', NOW);
      expect(await read('a')).toMatchObject({ state: 'dirty', revision: 2 });
      expect(await read('b')).toMatchObject({ state: 'dirty', revision: 1, nextAttemptAt });
      expect(await read('c')).toMatchObject({ state: 'dirty', revision: 2, nextAttemptAt: NOW });
    });

    it('for an address forgets a traveler whose stored address is another one, so that it is read', async () => {
      const { add, reconcileQueue, read } = await fixture(open);
      const observed = traveler('t1', 'Éva@X');
      await add(person('a', { state: 'synced', travelId: 't1', observed }));
      await reconcileQueue.askForEmail({ connection: 'okta', id: 'a' }, 'éva@x', NOW);
      expect(await read('a')).toMatchObject({ state: 'dirty', observed });
      await reconcileQueue.askForEmail({ connection: 'okta', id: 'a' }, 'other@x', NOW);
      expect((await read('a'))?.observed).toBeUndefined();
    });

    it('works for any number of identities', async () => {
      const { add, reconcileQueue } = await fixture(open);
      await add(person('a', { state: 'synced' }));
      const many = Array.from({ length: 1200 }, (_, index) => `x${index}`);
      await reconcileQueue.markDirty('okta', [...many, 'a'], NOW);
      expect(await reconcileQueue.findDue(NOW, 10, ['okta'])).toHaveLength(1);
    });

    it('by address reaches the identities of the account that wait for it', async () => {
      const { add, reconcileQueue } = await fixture(open);
      await add(
        person('a', { state: 'synced', waitingFor: 'éva@x' }),
        person('b', { state: 'synced', waitingFor: 'éva@x', connection: 'entra' }),
        person('c', { state: 'synced', waitingFor: 'éva@x', connection: 'other' }),
        person('d', { state: 'synced', waitingFor: 'other@x' }),
      );
      await reconcileQueue.markEmailWaitersDirty('acme', 'ÉVA@X', NOW);
      const due = await reconcileQueue.findDue(NOW, 10, ['okta', 'entra', 'other']);
      expect(due.map(({ id }) => id).sort()).toEqual(['a', 'b']);
    });

    it('by address leaves out the identity that gave it up, and only in its connection', async () => {
      const { add, reconcileQueue } = await fixture(open);
      const waiting = { state: 'synced', waitingFor: 'éva@x' } as const;
      await add(person('a', waiting), person('a', { ...waiting, connection: 'entra' }), person('b', waiting));
      await reconcileQueue.markEmailWaitersDirty('acme', 'éva@x', NOW, { connection: 'okta', id: 'a' });
      const due = await reconcileQueue.findDue(NOW, 10, ['okta', 'entra']);
      expect(due.map(({ connection, id }) => `${connection} ${id}`).sort()).toEqual(['entra a', 'okta b']);
    });

    it('by address reaches identities without a traveler that have it as their userName and wait for another one', async () => {
      const { add, reconcileQueue } = await fixture(open);
      const waiting = { state: 'pending', waitingFor: 'other@x' } as const;
      const desired = { userName: 'Éva@x' };
      await add(
        person('a', { ...waiting, desired }),
        person('b', { ...waiting, desired, connection: 'entra' }),
        person('c', { ...waiting, desired, connection: 'other' }),
        person('d', { state: 'pending', desired: { userName: 'éva2@x' }, waitingFor: 'other@x' }),
      );
      await reconcileQueue.markEmailWaitersDirty('acme', 'ÉVA@X', NOW);
      const due = await reconcileQueue.findDue(NOW, 10, ['okta', 'entra', 'other']);
      expect(due.map(({ id }) => id).sort()).toEqual(['a', 'b']);
    });

    it('of open identities reaches one whose attempt runs, because that may have searched already', async () => {
      const { add, leases, reconcileQueue } = await fixture(open);
      await add(person('a', { state: 'dirty' }));
      const acquired = await leases.acquire('okta', 'a', { token: 'k', ms: 60_000, now: NOW });
      await leases.waitFor('okta', 'a', 'k', 'ada@corp.example');
      await reconcileQueue.markUnresolvedDirty('okta', NOW + 25_000);
      const outcome = linkedOutcome('t1', 'a@corp.example', { waitingFor: 'ada@corp.example' });
      expect(acquired && (await leases.finish('okta', 'a', 'k', acquired.identity, outcome))).toBe('moved');
    });

    it('of open identities reaches those that wait, and those whose reference has no or another target', async () => {
      const { add, reconcileQueue, references } = await fixture(open);
      const synced = { state: 'synced' } as const;
      const names = ['settled', 'unresolved', 'unlinked', 'moved', 'bereft', 'busy'];
      await add(
        person('waiting', { ...synced, waitingFor: 'w@x' }),
        person('waitingElsewhere', { ...synced, waitingFor: 'w@x', connection: 'entra' }),
        person('boss', { ...synced, travelId: 't1' }),
        person('dead', { ...synced, travelId: 't2', deletedAt: NOW }),
        ...names.map((id) => person(id, id === 'busy' ? { nextAttemptAt: NOW + 60 } : synced)),
      );
      const refer = (id: string, target: string | undefined, travelId: string | undefined) =>
        references.save('okta', id, [{ raw: 'boss', target, travelId }]);
      await refer('settled', 'boss', 't1');
      await refer('unresolved', undefined, undefined);
      await refer('unlinked', 'boss', undefined);
      await refer('moved', 'boss', 't0');
      await refer('bereft', 'dead', 't2');
      await refer('busy', undefined, undefined);
      await reconcileQueue.markUnresolvedDirty('okta', NOW);
      const due = await reconcileQueue.findDue(NOW, 10, ['okta', 'entra']);
      expect(due.map(({ id }) => id).sort()).toEqual([
        'bereft',
        'moved',
        'unlinked',
        'unresolved',
        'waiting',
      ]);
    });

    it('of stale identities reaches claimed ones with earlier rules or none, in finitely many batches', async () => {
      const { add, reconcileQueue, read } = await fixture(open);
      const synced = { state: 'synced' } as const;
      await add(
        person('none', synced),
        person('older', { ...synced, rulesGeneration: 1 }),
        person('newer', { ...synced, rulesGeneration: 3 }),
        person('dead', { ...synced, rulesGeneration: 1, deletedAt: NOW }),
        person('current', { ...synced, rulesGeneration: 2 }),
        // A plan waits for another mode of the connection; a failed attempt is repeated anyway.
        person('planned', { rulesGeneration: 1, nextAttemptAt: NOW + 9 }),
        person('failed', { rulesGeneration: 1, nextAttemptAt: NOW + 9, attempts: 1 }),
        person('elsewhere', { ...synced, connection: 'entra' }),
        importedIdentity('unclaimed', 't1', { rulesGeneration: 1 }),
      );
      expect(await reconcileQueue.markStaleDirty('okta', 2, 2, NOW)).toBe(2);
      expect(await reconcileQueue.markStaleDirty('okta', 2, 2, NOW)).toBe(2);
      expect(await reconcileQueue.markStaleDirty('okta', 2, 2, NOW)).toBe(0);
      const due = await reconcileQueue.findDue(NOW, 10, ['okta', 'entra']);
      expect(due.map(({ id }) => id).sort()).toEqual(['dead', 'none', 'older', 'planned']);
      expect((await read('none')).revision).toBe(2);
    });
  });

  it('counts the identities of each connection in each state', async () => {
    const { add, reconcileQueue } = await fixture(open);
    await add(
      person('a', { state: 'synced' }),
      person('b', { state: 'synced', deletedAt: NOW }),
      person('c'),
      person('d', { state: 'held' }),
      person('e', { connection: 'entra' }),
    );
    const counts = await reconcileQueue.countByState();
    const told = counts
      .filter(({ count }) => count > 0)
      .map((row) => `${row.connection} ${row.state} ${row.count}`);
    expect(told.sort()).toEqual(['entra dirty 1', 'okta dirty 1', 'okta held 1', 'okta synced 2']);
  });
}
