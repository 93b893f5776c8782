import type { HoldCause, Identity } from '../../../src/model/identity.ts';
import type { SafetyValve } from '../../../src/model/policies.ts';
import { fixture, importedIdentity, NOW, type OpenDatabase, person } from '../../fixtures/store.ts';

const valve: SafetyValve = { share: 0.1, minimum: 2, windowMs: 3_600_000 };

/** A person with a hold. */
function held(id: string, cause: HoldCause, extra: Partial<Identity> = {}): Identity {
  const inactive = { ...person(id).desired, active: false };
  return person(id, { desired: inactive, state: 'held', hold: { cause, since: NOW }, ...extra });
}

function many(count: number, of: (id: string) => Identity): Identity[] {
  return Array.from({ length: count }, (_, index) => of(`p${index}`));
}

/** Conformance tests of holds, for any database. */
export function describeHolds(open: OpenDatabase): void {
  describe('held people', () => {
    it('are listed by cause and connection, the longest waiting first', async () => {
      const { add, holds } = await fixture(open);
      await add(
        held('late', 'safetyValve', { hold: { cause: 'safetyValve', since: NOW + 5 } }),
        held('early', 'safetyValve', { version: 3 }),
        held('guarded', 'guarded', { deletedAt: NOW }),
        held('elsewhere', 'safetyValve', { connection: 'entra' }),
        person('free'),
      );
      const ids = async (query: Parameters<typeof holds.findHeldPeople>[0]) =>
        (await holds.findHeldPeople(query)).map(({ id }) => id);
      expect(await ids({ limit: 10 })).toEqual(['elsewhere', 'early', 'guarded', 'late']);
      expect(await ids({ connection: 'okta', cause: 'safetyValve', limit: 10 })).toEqual(['early', 'late']);
      expect(await ids({ connection: 'okta', limit: 1 })).toEqual(['early']);
      expect(await holds.findHeldPeople({ connection: 'okta', limit: 2 })).toEqual([
        {
          connection: 'okta',
          id: 'early',
          userName: 'early@corp.example',
          name: 'early Doe',
          hold: { cause: 'safetyValve', since: NOW },
          version: 3,
          isActive: false,
          isDeleted: false,
        },
        expect.objectContaining({ id: 'guarded', isDeleted: true }),
      ]);
      expect((await holds.countHolds()).toSorted((a, b) => a.connection.localeCompare(b.connection))).toEqual(
        [
          { connection: 'entra', cause: 'safetyValve', count: 1, since: NOW },
          { connection: 'okta', cause: 'guarded', count: 1, since: NOW },
          { connection: 'okta', cause: 'safetyValve', count: 2, since: NOW },
        ],
      );
    });

    it('become dirty with any decision of an admin, and need no further decision', async () => {
      const { add, decide, holds, reconcileQueue, read } = await fixture(open);
      await add(
        held('a', 'safetyValve', { version: 4 }),
        held('b', 'safetyValve'),
        held('c', 'safetyValve'),
        person('free', { state: 'synced' }),
      );
      expect(await decide('okta', { ids: ['a', 'a', 'free', 'unknown'] }, 'approved', NOW)).toBe(1);
      expect(await read('a')).toMatchObject({
        decision: { cause: 'safetyValve', answer: 'approved', version: 4 },
        state: 'dirty',
        revision: 2,
        version: 4,
      });
      expect(await read('free')).toMatchObject({ decision: undefined, state: 'synced' });
      expect(await decide('okta', { ids: ['b'] }, 'discarded', NOW)).toBe(1);
      expect(await reconcileQueue.findDue(NOW, 10, ['okta'])).toHaveLength(2);
      expect((await holds.findHeldPeople({ limit: 10 })).map(({ id }) => id)).toEqual(['c']);
      expect(await holds.countHolds()).toEqual([
        { connection: 'okta', cause: 'safetyValve', count: 1, since: NOW },
      ]);
    });

    it('are decided by cause, and need one decision only', async () => {
      const { add, decide, read } = await fixture(open);
      await add(
        held('a', 'safetyValve'),
        held('no', 'safetyValve', { decision: { cause: 'safetyValve', answer: 'discarded', version: 1 } }),
        held('guarded', 'guarded'),
        held('elsewhere', 'safetyValve', { connection: 'entra' }),
      );
      expect(await decide('okta', { cause: 'safetyValve' }, 'approved', NOW)).toBe(1);
      expect(await read('no')).toMatchObject({ decision: { answer: 'discarded' }, state: 'held' });
      expect(await read('guarded')).toMatchObject({ decision: undefined });
      expect(await read('elsewhere', 'entra')).toMatchObject({ decision: undefined });
      expect(await decide('okta', { ids: ['no'] }, 'approved', NOW)).toBe(0);
    });

    it('need a new decision when the IdP has written since, or when the cause of the hold is another', async () => {
      const { add, holds } = await fixture(open);
      await add(
        held('written', 'guarded', {
          version: 2,
          decision: { cause: 'guarded', answer: 'discarded', version: 1 },
        }),
        held('else', 'guarded', { decision: { cause: 'safetyValve', answer: 'approved', version: 1 } }),
      );
      expect((await holds.findHeldPeople({ limit: 10 })).map(({ id }) => id)).toEqual(['else', 'written']);
      expect(await holds.countHolds()).toEqual([
        { connection: 'okta', cause: 'guarded', count: 2, since: NOW },
      ]);
    });

    it('are listed page by page, also those who became held at the same moment', async () => {
      const { add, holds } = await fixture(open);
      await add(
        ...many(5, (id) => held(id, 'safetyValve')),
        held('early', 'safetyValve', { hold: { cause: 'safetyValve', since: NOW - 1 } }),
        held('p2', 'safetyValve', { connection: 'entra' }),
      );
      const ids: string[] = [];
      for (let after: Parameters<typeof holds.findHeldPeople>[0]['after']; ; ) {
        const page = await holds.findHeldPeople({ limit: 2, ...(after && { after }) });
        ids.push(...page.map(({ connection, id }) => `${connection} ${id}`));
        const last = page.at(-1);
        if (!last) break;
        after = { since: last.hold.since, connection: last.connection, id: last.id };
      }
      expect(ids).toEqual(['okta early', 'entra p2', ...[0, 1, 2, 3, 4].map((n) => `okta p${n}`)]);
    });

    it('are counted by the change that the IdP requested', async () => {
      const { add, holds } = await fixture(open);
      await add(
        held('a', 'safetyValve'),
        held('b', 'safetyValve', { deletedAt: NOW }),
        held('c', 'safetyValve', { decision: { cause: 'safetyValve', answer: 'approved', version: 1 } }),
        held('d', 'safetyValve', { decision: { cause: 'guarded', answer: 'approved', version: 1 } }),
        person('e', { state: 'held', hold: { cause: 'guarded', since: NOW } }),
      );
      const counts = await holds.countRequestedChanges();
      expect(counts.toSorted((one, other) => one.cause.localeCompare(other.cause))).toEqual([
        { connection: 'okta', cause: 'guarded', change: 1, deactivate: 0, delete: 0 },
        { connection: 'okta', cause: 'safetyValve', change: 0, deactivate: 2, delete: 1 },
      ]);
    });

    it('keep the first decision about a version when two admins decide', async () => {
      const { add, holds, read } = await fixture(open);
      await add(held('a', 'safetyValve'), held('b', 'safetyValve', { version: 2 }), held('c', 'safetyValve'));
      const found = await holds.findUndecided('okta', 'safetyValve');
      expect(found.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual([
        { id: 'a', version: 1 },
        { id: 'b', version: 2 },
        { id: 'c', version: 1 },
      ]);
      const written = { id: 'b', version: 1 };
      const a = { id: 'a', version: 1 };
      const decide = (
        people: typeof found,
        answer: 'approved' | 'discarded',
        cause: HoldCause = 'safetyValve',
      ) => holds.decideVersions('okta', { cause, people }, answer, NOW);
      expect(await decide(found, 'approved', 'guarded')).toBe(0);
      expect(await decide([a, written], 'approved')).toBe(1);
      expect(await decide(found, 'discarded')).toBe(2);
      expect(await read('a')).toMatchObject({ decision: { answer: 'approved' } });
      expect(await read('b')).toMatchObject({ decision: { answer: 'discarded', version: 2 } });
      const both = await Promise.all([decide(found, 'discarded'), decide(found, 'approved')]);
      expect(both).toEqual([0, 0]);
    });

    it('are listed by the time of their decision, with the number that are not reconciled yet', async () => {
      const { add, decide, holds } = await fixture(open);
      await add(...many(3, (id) => held(id, 'safetyValve')), held('other', 'guarded'));
      await decide('okta', { ids: ['p2'] }, 'discarded', NOW + 1);
      await decide('okta', { cause: 'safetyValve' }, 'approved', NOW);
      expect(await holds.readProgress('okta', NOW)).toEqual({ people: 2, left: 2 });
      expect(await holds.listDecided('okta', NOW, { after: 'p0', limit: 5 })).toEqual([
        { id: 'p1', userName: 'p1@corp.example', state: 'dirty' },
      ]);
      expect(await holds.readProgress('okta', NOW + 2)).toEqual({ people: 0, left: 0 });
    });
  });

  describe('the safety valve', () => {
    it('always allows the minimum number of deactivations, and counts each once', async () => {
      const { holds } = await fixture(open);
      const admit = (id: string, connection = 'okta') => holds.admitDeparture(connection, id, valve, NOW);
      expect([await admit('a'), await admit('b'), await admit('c')]).toEqual([true, true, false]);
      expect([await admit('a'), await admit('c')]).toEqual([true, false]);
      expect(await admit('c', 'entra')).toBe(true);
    });

    it('counts a share of the people who were active when the window began', async () => {
      const { add, holds } = await fixture(open);
      await add(...many(26, (id) => person(id)), importedIdentity('u', 't-1'));
      await add(held('h1', 'safetyValve'), held('h2', 'safetyValve'), held('else', 'guarded'));
      const admit = (id: string) => holds.admitDeparture('okta', id, valve, NOW);
      // 27 people are active and 2 are held. Each person deactivated here was active as well: a tenth of 30, 31,
      // 32, 33.
      expect([await admit('a'), await admit('b'), await admit('c')]).toEqual([true, true, true]);
      expect(await admit('d')).toBe(false);
      // Releasing a held person must not count the person twice.
      expect(await holds.admitDeparture('okta', 'h1', { ...valve, share: 4 / 32 }, NOW)).toBe(true);
    });

    it('ignores deactivations before the window, even after the clock was set back', async () => {
      const { holds } = await fixture(open);
      const admit = (id: string, now: number) => holds.admitDeparture('okta', id, valve, now);
      expect([await admit('a', NOW), await admit('b', NOW + 10)]).toEqual([true, true]);
      expect(await admit('c', NOW + valve.windowMs - 1)).toBe(false);
      expect(await admit('c', NOW + valve.windowMs)).toBe(true);
      expect(await admit('d', NOW + valve.windowMs)).toBe(false);
      const yesterday = NOW - 86_400_000;
      expect(await admit('d', yesterday)).toBe(false);
      expect(await admit('d', yesterday + valve.windowMs)).toBe(true);
    });

    it('allows exactly the limit for concurrent deactivations', async () => {
      const { holds } = await fixture(open);
      const five = { ...valve, minimum: 5 };
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) => holds.admitDeparture('okta', `p${n}`, five, NOW)),
      );
      expect(answers.filter(Boolean)).toHaveLength(5);
    });
  });
}

/** Conformance tests of decisions about more people than one statement changes, for any database. */
export function describeManyHolds(open: OpenDatabase): void {
  it('held people are decided in large numbers', async () => {
    const { add, decide, holds } = await fixture(open);
    await add(...many(1_100, (id) => held(id, 'safetyValve')));
    expect(await holds.findHeldPeople({ limit: 600 })).toHaveLength(600);
    expect(await decide('okta', { cause: 'safetyValve' }, 'discarded', NOW)).toBe(1_100);
    expect(await holds.countHolds()).toEqual([]);
  });
}
