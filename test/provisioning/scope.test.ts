import type { TravelFailure } from '../../src/model/travel-ports.ts';
import {
  addressOf,
  emailsOf,
  managedBy,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const filter = 'not (userType eq "Service")';
const keep = { scope: filter };
const archive = { scope: filter, outOfScope: 'archive' };
const outside = { userType: 'Service' };
const inside = { userType: 'Employee' };
const down: TravelFailure = { kind: 'unavailable', text: 'down' };

type Options = NonNullable<Parameters<typeof withFixture>[1]>;

/** Runs a test whose mapping has a scope, with both policies for people who leave it. */
function withEachPolicy(run: (fixture: ProvisioningFixture) => Promise<void>, options: Options = {}) {
  return async (_: string, mapping: object) => withFixture(run, { ...options, mapping });
}

const policies: [string, object][] = [
  ['keep', keep],
  ['archive', archive],
];

async function create({ bridge }: ProvisioningFixture, name: string, values: object = {}): Promise<string> {
  return (await bridge.users.create(users, person(name, { ...values }))).id;
}

/** Restarts the service with another mapping, and applies it to everybody. */
async function startWith(fixture: ProvisioningFixture, mapping: object): Promise<void> {
  fixture.connection.mapping = mappingOf({ ...mapping });
  await fixture.restart();
  await applyRules(fixture);
}

async function applyRules(fixture: ProvisioningFixture): Promise<void> {
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
}

/** The travelers except the one of the credential. */
function travelersOf({ travel }: ProvisioningFixture) {
  return [...travel.travelers.values()].slice(1);
}

async function isArchived(fixture: ProvisioningFixture, id: string): Promise<boolean | undefined> {
  return (await fixture.traveler(id))?.archived;
}

/** The state of an identity, and what is said about the scope. */
async function standing(fixture: ProvisioningFixture, id: string) {
  const { state, travelId, creating, waitingFor, findings } = await fixture.identity(id);
  const scope = findings.find(({ code }) => code === 'outOfScope');
  return { state, isLinked: travelId !== undefined, creating, waitingFor, isOut: scope !== undefined };
}

const withoutTraveler = {
  ...{ state: 'synced', isLinked: false, creating: undefined, waitingFor: undefined, isOut: true },
};

describe('a person out of scope', () => {
  test('gets no traveler, reserves no address, and stays visible; the finding names the filter', () =>
    withFixture(
      async (fixture) => {
        const id = await create(fixture, 'Bot', outside);
        expect(fixture.travel.calls).toEqual([]);
        expect(await standing(fixture, id)).toEqual(withoutTraveler);
        expect((await fixture.identity(id)).findings[0]?.reason).toContain(filter);
        expect((await fixture.bridge.users.read(users, id)).travelUserId).toBeUndefined();
        expect(await fixture.bridge.reconcileDue()).toBe(0);
      },
      { mapping: keep },
    ));

  test('gets a traveler once it comes into scope, by an attribute or by another mapping', () =>
    withFixture(
      async (fixture) => {
        const [ada, bob] = [await create(fixture, 'Ada', outside), await create(fixture, 'Bob', outside)];
        await fixture.patch(ada, inside);
        expect(await isArchived(fixture, ada)).toBe(false);
        expect(await fixture.findings(ada)).toEqual([]);
        await startWith(fixture, {});
        expect(await isArchived(fixture, bob)).toBe(false);
      },
      { mapping: keep },
    ));

  test.each([
    ['deactivated', (fixture: ProvisioningFixture, id: string) => fixture.patch(id, { active: false })],
    ['deleted', ({ bridge }: ProvisioningFixture, id: string) => bridge.users.remove(users, id)],
  ])('and without a traveler can be %s without a call', (_, leave) =>
    withFixture(
      async (fixture) => {
        const id = await create(fixture, 'Bot', outside);
        await leave(fixture, id);
        expect(fixture.travel.calls).toEqual([]);
        expect((await fixture.identity(id)).state).toBe('synced');
      },
      { mapping: keep },
    ),
  );

  test('keeps no address from others: a second person gets it, and no user of another connection is a conflict', () =>
    withFixture(
      async (fixture) => {
        await create(fixture, 'Bot', outside);
        const other = await create(fixture, 'Other', emailsOf(addressOf('Bot')));
        expect((await fixture.traveler(other))?.email).toBe(addressOf('Bot'));
        const { id } = await fixture.bridge.users.create('second', person('Bot', outside));
        expect((await fixture.identity(id, 'second')).state).toBe('synced');
      },
      { mapping: keep, more: ['second'] },
    ));

  test('is not linked to a traveler that exists, whether it is imported or not', () =>
    withFixture(
      async (fixture) => {
        for (const name of ['Ida', 'Jon']) fixture.travel.addTraveler({ email: addressOf(name) });
        await fixture.importTravelers();
        fixture.travel.addTraveler({ email: addressOf('Kim') });
        const [ida] = await fixture.store.identities.find(users, { by: 'userName', value: addressOf('Ida') });
        expect(ida?.findings).toEqual([]);
        await fixture.patch(ida?.id ?? '', outside);
        const jon = await create(fixture, 'Jon', outside);
        const kim = await create(fixture, 'Kim', outside);
        for (const id of [ida?.id ?? '', jon, kim])
          expect(await standing(fixture, id)).toEqual(withoutTraveler);
        expect(fixture.travel.writes()).toEqual([]);
        await fixture.importTravelers();
        expect(await standing(fixture, jon)).toEqual(withoutTraveler);
        await fixture.patch(jon, inside);
        expect((await fixture.traveler(jon))?.email).toBe(addressOf('Jon'));
      },
      { mapping: archive },
    ));

  test('whose create was sent with an unknown outcome keeps the traveler that this create has made', () =>
    withFixture(
      async (fixture) => {
        fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? 'lose' : undefined);
        const id = await create(fixture, 'Ada');
        fixture.travel.faultFor = () => undefined;
        await fixture.patch(id, outside);
        await fixture.reconcileAfter(120_000);
        await fixture.reconcileAfter(120_000);
        expect(travelersOf(fixture)).toHaveLength(1);
        expect(await isArchived(fixture, id)).toBe(true);
      },
      { mapping: archive },
    ));
});

describe('a person who leaves the scope', () => {
  test('keeps the traveler as it is, and nothing is changed until the person is back', () =>
    withFixture(
      async (fixture) => {
        const id = await create(fixture, 'Ada', { preferredLanguage: 'en' });
        fixture.travel.calls.length = 0;
        await fixture.patch(id, { ...outside, preferredLanguage: 'fr', ...emailsOf('new@corp.example') });
        expect(fixture.travel.calls).toEqual([]);
        expect(await standing(fixture, id)).toEqual({ ...withoutTraveler, isLinked: true });
        await fixture.patch(id, inside);
        expect(await fixture.traveler(id)).toMatchObject({ lang: 'fr', email: 'new@corp.example' });
        expect(await fixture.findings(id)).toEqual([]);
      },
      { mapping: keep },
    ));

  test('is archived where the mapping says so, and restored when the person is back; nothing else changes', () =>
    withFixture(
      async (fixture) => {
        const id = await create(fixture, 'Ada', { preferredLanguage: 'en' });
        await fixture.patch(id, { ...outside, preferredLanguage: 'fr' });
        expect(await fixture.traveler(id)).toMatchObject({ archived: true, lang: 'en' });
        expect(await standing(fixture, id)).toEqual({ ...withoutTraveler, isLinked: true });
        await fixture.patch(id, { title: 'Buyer' });
        await fixture.patch(id, inside);
        expect(await fixture.traveler(id)).toMatchObject({ archived: false, lang: 'fr' });
        expect(await fixture.findings(id)).toEqual([]);
      },
      { mapping: archive },
    ));

  test.each(policies)(
    'and is deactivated is archived all the same (%s), and a reactivation outside of the scope does not undo it',
    withEachPolicy(async (fixture) => {
      const id = await create(fixture, 'Ada');
      await fixture.patch(id, outside);
      await fixture.patch(id, { active: false });
      expect(await isArchived(fixture, id)).toBe(true);
      await fixture.patch(id, { active: true });
      expect(await isArchived(fixture, id)).toBe(true);
      expect(await standing(fixture, id)).toEqual({ ...withoutTraveler, isLinked: true });
      await fixture.patch(id, inside);
      expect(await isArchived(fixture, id)).toBe(false);
    }),
  );

  test.each(policies)(
    'and is deleted is archived all the same (%s)',
    withEachPolicy(async (fixture) => {
      const id = await create(fixture, 'Ada');
      await fixture.patch(id, outside);
      await fixture.bridge.users.remove(users, id);
      expect(await isArchived(fixture, id)).toBe(true);
    }),
  );

  test.each(policies)(
    'and whose traveler is deleted in the travel service gets no new one (%s)',
    withEachPolicy(async (fixture) => {
      const id = await create(fixture, 'Ada');
      fixture.travel.travelers.delete((await fixture.traveler(id))?.id ?? '');
      await fixture.patch(id, { ...outside, title: 'Robot' });
      fixture.clock.advance(60_000);
      await fixture.importTravelers();
      expect(travelersOf(fixture)).toEqual([]);
      expect(await standing(fixture, id)).toEqual(withoutTraveler);
    }),
  );

  test.each(['lose', 'late'] as const)(
    'is archived also if the only call for an existing traveler has no answer (%s)',
    (fault) =>
      withFixture(
        async (fixture) => {
          const { travel } = fixture;
          travel.addTraveler({ email: addressOf('Ada'), firstName: 'A.', lastName: 'Smith' });
          travel.faultFor = ({ verb }) => (verb === 'patch' ? fault : undefined);
          const ada = await create(fixture, 'Ada', inside);
          travel.faultFor = () => undefined;
          await fixture.patch(ada, outside);
          travel.carryOutLateCalls();
          await fixture.reconcileAfter(61_000);
          expect(await isArchived(fixture, ada)).toBe(true);
          await fixture.patch(ada, inside);
          await fixture.reconcileAfter(61_000);
          expect(await fixture.traveler(ada)).toMatchObject({ archived: false, firstName: 'Ada' });
        },
        { mapping: archive },
      ),
  );

  test('by a new mapping is archived, too; the travelers of others stay', () =>
    withFixture(async (fixture) => {
      const [bot, ada] = [await create(fixture, 'Bot', outside), await create(fixture, 'Ada')];
      await startWith(fixture, archive);
      expect([await isArchived(fixture, bot), await isArchived(fixture, ada)]).toEqual([true, false]);
      await startWith(fixture, keep);
      expect(await isArchived(fixture, bot)).toBe(true);
      await startWith(fixture, {});
      expect(await isArchived(fixture, bot)).toBe(false);
    }));

  test('and administers the travel service is archived only after an admin has approved it', () =>
    withFixture(
      async (fixture) => {
        const id = await create(fixture, 'Ada');
        const traveler = await fixture.traveler(id);
        if (!traveler) throw new Error('there is no traveler');
        fixture.travel.travelers.set(traveler.id, { ...traveler, roles: ['admin'] });
        await fixture.patch(id, outside);
        expect((await fixture.identity(id)).hold?.cause).toBe('guarded');
        expect(await isArchived(fixture, id)).toBe(false);
        await saveDecision(fixture.store, users, { ids: [id] }, 'approved', fixture.clock.now());
        await fixture.bridge.reconcileDue();
        expect(await isArchived(fixture, id)).toBe(true);
      },
      { mapping: archive },
    ));
});

describe('when many people leave the scope at once', () => {
  const safetyValve = { share: 0.05, minimum: 2, windowMs: 3_600_000 };

  /** Five people leave the scope: two are archived, and three are held. */
  function withThreeHeld(
    run: (fixture: ProvisioningFixture, held: string[]) => Promise<void>,
  ): Promise<void> {
    return withFixture(
      async (fixture) => {
        const ids: string[] = [];
        for (let n = 0; n < 5; n += 1) ids.push(await create(fixture, `P${n}`));
        for (const id of ids) await fixture.patch(id, outside);
        const held = await fixture.store.holds.findHeldPeople({ cause: 'safetyValve', limit: 10 });
        expect(held).toHaveLength(3);
        await run(
          fixture,
          held.map(({ id }) => id),
        );
      },
      { mapping: archive, policies: { safetyValve } },
    );
  }

  async function decide(fixture: ProvisioningFixture, ids: string[], answer: 'approved' | 'discarded') {
    await saveDecision(fixture.store, users, { ids }, answer, fixture.clock.now(), 'anna');
    await fixture.bridge.reconcileDue();
  }

  test('the safety valve holds them until an admin approves', () =>
    withThreeHeld(async (fixture, held) => {
      for (const id of held) expect(await isArchived(fixture, id)).toBe(false);
      await decide(fixture, held, 'approved');
      for (const id of held) expect(await isArchived(fixture, id)).toBe(true);
    }));

  test('a discarded departure keeps the traveler while the person is out of scope, whatever the IdP writes', () =>
    withThreeHeld(async (fixture, held) => {
      const [id = ''] = held;
      await decide(fixture, held, 'discarded');
      expect(await standing(fixture, id)).toEqual({ ...withoutTraveler, isLinked: true });
      await fixture.patch(id, { title: 'Robot' });
      expect(await isArchived(fixture, id)).toBe(false);
      expect((await fixture.identity(id)).hold).toBeUndefined();
      await fixture.patch(id, { active: false });
      expect((await fixture.identity(id)).hold?.cause).toBe('safetyValve');
    }));

  test('a person who was kept, came back and leaves the scope again is held again', () =>
    withThreeHeld(async (fixture, [id = '']) => {
      await decide(fixture, [id], 'discarded');
      await fixture.patch(id, inside);
      await fixture.patch(id, outside);
      expect((await fixture.identity(id)).hold?.cause).toBe('safetyValve');
    }));

  test('a person who comes back into scope is held no longer', () =>
    withThreeHeld(async (fixture, [id = '']) => {
      await fixture.patch(id, inside);
      expect((await fixture.identity(id)).hold).toBeUndefined();
      expect((await fixture.identity(id)).state).toBe('synced');
    }));
});

test('a new mapping that archives more than 100 people is proposed, and archives nobody', () =>
  withFixture(async (fixture) => {
    for (let n = 0; n < 101; n += 1) await create(fixture, `P${n}`, outside);
    await startWith(fixture, archive);
    expect((await fixture.store.rules.findProposals(users)).proposed).toMatchObject({ people: 101 });
    expect(travelersOf(fixture).some(({ archived }) => archived)).toBe(false);
  }));

describe('a leaver who returns outside of the scope', () => {
  const staff = { externalId: 'emp-7' };

  async function leaver(fixture: ProvisioningFixture): Promise<string> {
    const id = await create(fixture, 'Ada', staff);
    await fixture.bridge.users.remove(users, id);
    expect(await isArchived(fixture, id)).toBe(true);
    return id;
  }

  test.each(policies)(
    'does not get the traveler back, whose place it gets once it is in scope, under another address, too (%s)',
    withEachPolicy(async (fixture) => {
      const old = await leaver(fixture);
      const { travelId } = await fixture.identity(old);
      const id = await create(fixture, 'Eva', { ...staff, ...outside });
      expect(await standing(fixture, id)).toEqual(withoutTraveler);
      expect(await isArchived(fixture, old)).toBe(true);
      await fixture.patch(id, inside);
      expect((await fixture.identity(id)).travelId).toBe(travelId);
      expect(await fixture.traveler(id)).toMatchObject({ archived: false, email: addressOf('Eva') });
      expect(travelersOf(fixture)).toHaveLength(1);
    }),
  );

  test('and leaves again leaves the traveler to nobody else: another person whom the user becomes gets another one', () =>
    withFixture(
      async (fixture) => {
        const old = await leaver(fixture);
        const { travelId } = await fixture.identity(old);
        const id = await create(fixture, 'Ada', { ...staff, ...outside });
        await fixture.patch(id, { active: false });
        const another = { externalId: 'emp-8', name: { givenName: 'Xavier', familyName: 'Young' } };
        await fixture.patch(id, { active: true, ...another });
        await fixture.patch(id, inside);
        await fixture.reconcileAfter(1_000);
        expect((await fixture.identity(id)).travelId).not.toBe(travelId);
        expect(await fixture.traveler(id)).toMatchObject({ archived: false, lastName: 'Young' });
        expect(await fixture.traveler(old)).toMatchObject({ archived: true });
        expect(travelersOf(fixture)).toHaveLength(2);
      },
      { mapping: keep },
    ));

  test('under the same SCIM id stays archived until it is in scope', () =>
    withFixture(
      async (fixture) => {
        const id = await create(fixture, 'Ada', staff);
        await fixture.patch(id, { active: false });
        await fixture.patch(id, { active: true, ...outside });
        expect(await isArchived(fixture, id)).toBe(true);
        await fixture.patch(id, inside);
        expect(await isArchived(fixture, id)).toBe(false);
      },
      { mapping: keep },
    ));

  test('whose departure is not carried out yet loses access all the same', () =>
    withFixture(
      async (fixture) => {
        const old = await create(fixture, 'Ada', staff);
        fixture.travel.faultFor = () => down;
        await fixture.bridge.users.remove(users, old);
        await create(fixture, 'Ada', { ...staff, ...outside });
        fixture.travel.faultFor = () => undefined;
        await fixture.reconcileAfter(120_000);
        expect(await isArchived(fixture, old)).toBe(true);
      },
      { mapping: keep },
    ));
});

test('another person in the place of a leaver, outside of the scope, makes the leaver give up nothing', () =>
  withFixture(
    async (fixture) => {
      const old = await create(fixture, 'Ada', { externalId: 'emp-7' });
      await fixture.bridge.users.remove(users, old);
      fixture.travel.calls.length = 0;
      const id = await create(fixture, 'Ada', {
        ...{ externalId: 'emp-8', name: { givenName: 'Xavier', familyName: 'Young' } },
        ...outside,
      });
      await fixture.bridge.reconcileDue();
      expect(fixture.travel.calls).toEqual([]);
      expect(await standing(fixture, id)).toEqual(withoutTraveler);
    },
    { mapping: keep },
  ));

test('a leaver who returns outside of the scope has no parking address, also where the traveler must be read first', () =>
  withFixture(
    async (fixture) => {
      const { store, clock, travel } = fixture;
      const id = await create(fixture, 'Ada', { userName: 'ada@login.example' });
      await fixture.patch(id, { active: false });
      await create(fixture, 'Eve', emailsOf(addressOf('Ada')));
      await fixture.reconcileAfter(1_000);
      expect((await fixture.traveler(id))?.email).toMatch(/^parked-/);
      // As an import does that cannot read the traveler.
      await store.imports.saveObserved(users, [{ id, observed: undefined }], clock.now());
      await fixture.patch(id, { active: true, ...outside });
      await fixture.bridge.reconcileDue();
      expect(await fixture.traveler(id)).toMatchObject({ email: 'ada@login.example', archived: true });
      travel.calls.length = 0;
      await fixture.importTravelers();
      expect(travel.writes()).toEqual([]);
    },
    { mapping: keep },
  ));

test('a manager without a traveler because of the scope is set once it has one', () =>
  withFixture(
    async (fixture) => {
      const boss = await create(fixture, 'Boss', outside);
      const ada = await create(fixture, 'Ada', managedBy(boss));
      expect((await fixture.traveler(ada))?.managerId).toBeUndefined();
      expect(await fixture.findings(ada)).toEqual(['managerId: managerNotLinked']);
      await fixture.patch(boss, inside);
      await fixture.bridge.reconcileDue();
      const { travelId } = await fixture.identity(boss);
      expect((await fixture.traveler(ada))?.managerId).toBe(travelId);
      await fixture.patch(boss, outside);
      await fixture.bridge.reconcileDue();
      expect((await fixture.traveler(ada))?.managerId).toBe(travelId);
    },
    { mapping: archive },
  ));

test('the traveler of a lost create is archived when the person leaves the scope, even if the travel API does not send its time', () =>
  withFixture(
    async (fixture) => {
      const { travel } = fixture;
      travel.now = undefined;
      travel.faultFor = ({ verb }) => (verb === 'create' ? 'lose' : undefined);
      const id = await create(fixture, 'Ada', inside);
      travel.faultFor = () => undefined;
      await fixture.patch(id, outside);
      for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(51_000);
      expect(travelersOf(fixture)).toEqual([
        expect.objectContaining({ email: addressOf('Ada'), archived: true }),
      ]);
    },
    { mapping: archive },
  ));
