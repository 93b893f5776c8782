import type { Decision } from '../../src/model/identity.ts';
import {
  addressOf,
  emailsOf,
  managedBy,
  type ProvisioningFixture,
  person,
  rolesOf,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';

const users = 'default';
const parking = /^parked-.*@jetbridge\.invalid$/;
const held = {
  policies: { safetyValve: { share: 0, minimum: 0, windowMs: 3_600_000 } },
};

async function settle(fixture: ProvisioningFixture): Promise<void> {
  for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
  expect(await fixture.bridge.reconcileDue()).toBe(0);
}

/** Creates people whose userNames are no addresses, except Ada's. */
async function createPeople({ bridge }: ProvisioningFixture, names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push((await bridge.users.create(users, person(name, { userName: name }))).id);
  return ids;
}

async function leave(fixture: ProvisioningFixture, id: string, isDeleted: boolean): Promise<string> {
  const { travelId = '' } = await fixture.identity(id);
  if (isDeleted) await fixture.bridge.users.remove(users, id);
  else await fixture.patch(id, { active: false });
  await settle(fixture);
  return travelId;
}

async function decide(fixture: ProvisioningFixture, id: string, answer: Decision['answer']): Promise<void> {
  await saveDecision(fixture.store, users, { ids: [id] }, answer, fixture.clock.now());
  await settle(fixture);
}

/** Returns the addresses that were sent for a traveler since the calls were cleared. */
function sentEmails({ travel }: ProvisioningFixture, travelId: string): unknown[] {
  return travel
    .writes()
    .filter(({ id, body }) => id === travelId && body?.email !== undefined)
    .map(({ body }) => body?.email);
}

describe.each([true, false])('a leaver (after a DELETE: %s)', (isDeleted) => {
  test('whose departure is held or discarded keeps the address, and gives it up when the departure is approved', () =>
    withFixture(async (fixture) => {
      const [ada = '', zoe = ''] = await createPeople(fixture, ['Ada', 'Zoe']);
      const travelId = await leave(fixture, ada, isDeleted);
      const email = () => fixture.travel.travelers.get(travelId)?.email;
      await fixture.patch(zoe, emailsOf(addressOf('Ada')));
      await settle(fixture);
      expect(email()).toBe(addressOf('Ada'));
      await decide(fixture, ada, 'discarded');
      await fixture.patch(zoe, { title: 'Weaver' });
      await settle(fixture);
      expect(email()).toBe(addressOf('Ada'));
      expect(await fixture.findings(ada)).toEqual(['archived: keptActive']);
      await fixture.bridge.users.remove(users, ada).catch(() => undefined);
      await settle(fixture);
      await decide(fixture, ada, 'approved');
      expect(fixture.travel.travelers.get(travelId)).toMatchObject({
        archived: true,
        email: expect.stringMatching(parking),
      });
      expect((await fixture.traveler(zoe))?.email).toBe(addressOf('Ada'));
      expect(sentEmails(fixture, travelId)).toHaveLength(1);
    }, held));

  test('stays parked when nobody needs the address any more, by one call', () =>
    withFixture(async (fixture) => {
      const [ada = '', zoe = ''] = await createPeople(fixture, ['Ada', 'Zoe']);
      const travelId = await leave(fixture, ada, isDeleted);
      fixture.travel.calls.length = 0;
      for (const name of ['Ada', 'Zoe', 'Ada']) {
        await fixture.patch(zoe, emailsOf(addressOf(name)));
        await settle(fixture);
        expect((await fixture.traveler(zoe))?.email).toBe(addressOf(name));
      }
      expect(fixture.travel.travelers.get(travelId)).toMatchObject({
        archived: true,
        email: expect.stringMatching(parking),
      });
      expect(sentEmails(fixture, travelId)).toHaveLength(1);
      expect(await fixture.findings(ada)).toEqual([]);
    }));
});

test.each([
  { title: 'whom the travel API does not archive', roles: [], isRefused: true },
  { title: 'who administers the travel service by the mapping', roles: ['admin'], isRefused: false },
])('a leaver $title keeps the address', ({ roles, isRefused }) =>
  withFixture(
    async (fixture) => {
      const [zoe = ''] = await createPeople(fixture, ['Zoe']);
      const ada = await fixture.bridge.users.create(
        users,
        person('Ada', { userName: 'Ada', ...rolesOf(...roles) }),
      );
      await fixture.patch(zoe, emailsOf(addressOf('Ada')));
      const fields = [{ field: 'archived', code: 'invalid', message: 'This person has trips.' }];
      fixture.travel.faultFor = ({ verb, body }) =>
        verb === 'patch' && isRefused && body?.archived === true ? { kind: 'invalid', fields } : undefined;
      await fixture.patch(ada.id, { active: false }).catch(() => undefined);
      await settle(fixture);
      expect(await fixture.traveler(ada.id)).toMatchObject({
        archived: !isRefused,
        email: addressOf('Ada'),
      });
    },
    { mapping: { scimUserMapping: [], roles: { allow: ['admin'] } } },
  ),
);

test('a leaver keeps the address that an administrator of the travel service should get', () =>
  withFixture(async (fixture) => {
    const { travel } = fixture;
    const [ada = '', zoe = ''] = await createPeople(fixture, ['Ada', 'Zoe']);
    const travelId = await leave(fixture, ada, false);
    const traveler = await fixture.traveler(zoe);
    if (!traveler) throw new Error('no traveler was made');
    travel.travelers.set(traveler.id, { ...traveler, roles: ['admin'] });
    await fixture.importTravelers();
    await fixture.patch(zoe, emailsOf(addressOf('Ada')));
    await settle(fixture);
    await fixture.patch(zoe, { title: 'Weaver' });
    await settle(fixture);
    expect(sentEmails(fixture, travelId)).toEqual([]);
    expect(await fixture.findings(zoe)).toContain('roles: guarded');
  }));

test('a leaver does not take the address back from a user who leaves after it, and two leavers do not exchange it', () =>
  withFixture(async (fixture) => {
    const [ada = '', zoe = ''] = await createPeople(fixture, ['Ada', 'Zoe']);
    const travelId = await leave(fixture, ada, false);
    await fixture.patch(zoe, emailsOf(addressOf('Ada')));
    await settle(fixture);
    fixture.travel.calls.length = 0;
    await leave(fixture, zoe, false);
    await fixture.patch(ada, { title: 'Weaver' });
    await settle(fixture);
    expect((await fixture.traveler(zoe))?.email).toBe(addressOf('Ada'));
    expect(sentEmails(fixture, travelId)).toEqual([]);
  }));

test('a leaver who is activated again while another user has the address gets the userName at once', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { userName: addressOf('Login') }));
    const [zoe = ''] = await createPeople(fixture, ['Zoe']);
    const travelId = await leave(fixture, ada.id, false);
    await fixture.patch(zoe, emailsOf(addressOf('Ada')));
    await settle(fixture);
    fixture.travel.calls.length = 0;
    await fixture.patch(ada.id, { active: true });
    expect(fixture.travel.travelers.get(travelId)).toMatchObject({
      ...{ archived: false, email: addressOf('Login') },
    });
    await settle(fixture);
    expect(await fixture.findings(ada.id)).toEqual(['email: emailTaken']);
    await fixture.patch(zoe, emailsOf(addressOf('Zoe')));
    await settle(fixture);
    expect(sentEmails(fixture, travelId)).toEqual([addressOf('Login'), addressOf('Ada')]);
  }));

test('a traveler with a parking address whose deactivation is discarded gets the userName, if the old address is taken', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { userName: addressOf('Login') }));
    const [zoe = ''] = await createPeople(fixture, ['Zoe']);
    const travelId = await leave(fixture, ada.id, false);
    expect(await fixture.identity(ada.id)).toMatchObject({ hold: { cause: 'safetyValve' } });
    const traveler = fixture.travel.travelers.get(travelId);
    if (traveler)
      fixture.travel.travelers.set(travelId, { ...traveler, email: 'parked-1@jetbridge.invalid' });
    await fixture.importTravelers();
    await fixture.patch(zoe, emailsOf(addressOf('Ada')));
    await decide(fixture, ada.id, 'discarded');
    const expected = { archived: false, email: addressOf('Login') };
    expect(fixture.travel.travelers.get(travelId)).toMatchObject(expected);
    const found = (await fixture.findings(ada.id)).toSorted();
    expect(found).toEqual(['archived: keptActive', 'email: emailTaken']);
  }, held));

describe.each([true, false])(
  'a leaver (after a DELETE: %s) whose traveler got another address by hand',
  (isDeleted) => {
    test.each([
      { isFree: true, isListed: true },
      { isFree: false, isListed: true },
      { isFree: true, isListed: false },
    ])('gives it up to the newcomer who wants it ($isFree, $isListed)', ({ isFree, isListed }) =>
      withFixture(async (fixture) => {
        const { bridge, travel } = fixture;
        const [ada = ''] = await createPeople(fixture, ['Ada']);
        const travelId = await leave(fixture, ada, isDeleted);
        const traveler = travel.travelers.get(travelId);
        if (!traveler) throw new Error('there is no traveler');
        travel.travelers.set(travelId, { ...traveler, email: addressOf('Bert') });
        if (isListed) await fixture.importTravelers();
        if (!isFree) travel.addTraveler({ email: addressOf('Ada') });
        const newcomer = person('Bert', {
          userName: 'bert',
          name: { givenName: 'Bert', familyName: 'Quinn' },
        });
        const { id } = await bridge.users.create(users, newcomer);
        await settle(fixture);
        expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Bert'), archived: false });
        expect(travel.travelers.get(travelId)).toMatchObject({
          archived: true,
          email: expect.stringMatching(parking),
        });
      }),
    );

    test('that no list has shown gives it up to the active person who wants it', () =>
      withFixture(async (fixture) => {
        const { travel, patch } = fixture;
        const [ada = '', zoe = ''] = await createPeople(fixture, ['Ada', 'Zoe']);
        const travelId = await leave(fixture, ada, isDeleted);
        const traveler = travel.travelers.get(travelId);
        if (!traveler) throw new Error('there is no traveler');
        travel.travelers.set(travelId, { ...traveler, email: addressOf('Bert') });
        await patch(zoe, emailsOf(addressOf('Bert')));
        await settle(fixture);
        expect(await fixture.traveler(zoe)).toMatchObject({ email: addressOf('Bert'), archived: false });
        expect(travel.travelers.get(travelId)).toMatchObject({
          archived: true,
          email: expect.stringMatching(parking),
        });
      }));

    test('that no list has shown keeps it while the newcomer is inactive, who has the userName until then', () =>
      withFixture(async (fixture) => {
        const { bridge, travel, patch } = fixture;
        const [ada = ''] = await createPeople(fixture, ['Ada']);
        const travelId = await leave(fixture, ada, isDeleted);
        const traveler = travel.travelers.get(travelId);
        if (!traveler) throw new Error('there is no traveler');
        travel.travelers.set(travelId, { ...traveler, email: addressOf('Bert') });
        const { id } = await bridge.users.create(users, {
          ...person('Bert', { userName: 'bert.quinn@corp.example' }),
          ...{ name: { givenName: 'Bert', familyName: 'Quinn' }, active: false },
        });
        await settle(fixture);
        expect(await fixture.traveler(id)).toMatchObject({
          email: 'bert.quinn@corp.example',
          archived: true,
        });
        expect(await fixture.findings(id)).toContain('email: emailTaken');
        expect(travel.travelers.get(travelId)?.email).toBe(addressOf('Bert'));
        await patch(id, { active: true });
        await settle(fixture);
        expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Bert'), archived: false });
        expect(travel.travelers.get(travelId)).toMatchObject({
          archived: true,
          email: expect.stringMatching(parking),
        });
      }));
  },
);

test('a leaver takes an address that the traveler of another person has lost by hand, and is not asked for it again', () =>
  withFixture(async (fixture) => {
    const { travel, bridge, patch } = fixture;
    const [ada = '', zoe = ''] = await createPeople(fixture, ['Ada', 'Zoe']);
    await patch(zoe, managedBy(ada));
    const traveler = await fixture.traveler(zoe);
    if (!traveler) throw new Error('there is no traveler');
    travel.travelers.set(traveler.id, { ...traveler, email: 'by-hand@corp.example' });
    await fixture.importTravelers();
    await patch(ada, { active: false, ...emailsOf(addressOf('Zoe')) });
    const travelId = (await fixture.identity(ada)).travelId ?? '';
    travel.calls.length = 0;
    for (let round = 0; round < 20; round += 1) await bridge.reconcileDue();
    await settle(fixture);
    expect(travel.travelers.get(travelId)?.email).toBe(addressOf('Zoe'));
    expect(sentEmails(fixture, travelId).length).toBeLessThan(2);
    expect(await fixture.findings(zoe)).toEqual(['managerId: managerInactive', 'email: drift']);
  }));
