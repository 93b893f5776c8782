import type { ScimResource } from '../../src/schema/resource.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const roles = (...values: string[]): ScimResource => ({ roles: values.map((value) => ({ value })) });

/** Adds a role to a traveler by hand, and runs an import. */
async function giveByHand(fixture: ProvisioningFixture, id: string, ...values: string[]): Promise<void> {
  const { travelId = '' } = await fixture.identity(id);
  const now = fixture.travel.travelers.get(travelId);
  if (now) fixture.travel.travelers.set(travelId, { ...now, roles: [...(now.roles ?? []), ...values] });
  await fixture.importTravelers();
}

async function rolesOf(fixture: ProvisioningFixture, id: string): Promise<string[]> {
  return ((await fixture.traveler(id))?.roles ?? []).toSorted();
}

const kept = ['roles.premium: rolePreexisting'];

test('a role that was given by hand stays when the IdP grants it and takes it away, with a finding', () =>
  withFixture(async (fixture) => {
    const { bridge, patch, findings } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    await giveByHand(fixture, ada.id, 'premium');
    await patch(ada.id, roles('premium', 'guest'));
    expect(await findings(ada.id)).toEqual([]);
    await patch(ada.id, roles());
    expect(await rolesOf(fixture, ada.id)).toEqual(['premium']);
    expect(await findings(ada.id)).toEqual(kept);
    await patch(ada.id, { nickName: 'A' });
    await patch(ada.id, roles('organizer'));
    expect(await rolesOf(fixture, ada.id)).toEqual(['organizer', 'premium']);
    expect(await findings(ada.id)).toEqual(kept);
  }));

test('the finding ends when the IdP grants the role again, and returns with the next removal', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await giveByHand(fixture, ada.id, 'premium');
    for (const _ of [1, 2]) {
      await fixture.patch(ada.id, roles('premium'));
      expect(await fixture.findings(ada.id)).toEqual([]);
      await fixture.patch(ada.id, roles());
      expect(await fixture.findings(ada.id)).toEqual(kept);
    }
    expect(await rolesOf(fixture, ada.id)).toEqual(['premium']);
  }));

test('the finding ends when the role is taken away in the travel service', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await giveByHand(fixture, ada.id, 'premium');
    await fixture.patch(ada.id, roles('premium'));
    await fixture.patch(ada.id, roles());
    const { travelId = '' } = await fixture.identity(ada.id);
    const now = fixture.travel.travelers.get(travelId);
    if (now) fixture.travel.travelers.set(travelId, { ...now, roles: [] });
    await fixture.importTravelers();
    await fixture.patch(ada.id, { nickName: 'A' });
    expect(await fixture.findings(ada.id)).toEqual([]);
  }));

test('a role of a traveler who is linked stays, too', () =>
  withFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: addressOf('Ada'), roles: ['premium'] });
    const ada = await fixture.bridge.users.create(users, person('Ada', roles('premium', 'guest')));
    await fixture.patch(ada.id, roles());
    expect(await rolesOf(fixture, ada.id)).toEqual(['premium']);
    expect(await fixture.findings(ada.id)).toEqual(kept);
  }));

test('a role that the bridge has given is removed, although it was given by hand again meanwhile', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', roles('premium')));
    await giveByHand(fixture, ada.id, 'guest');
    await fixture.patch(ada.id, { title: 'Boss', ...roles('premium') });
    await fixture.patch(ada.id, roles());
    expect(await rolesOf(fixture, ada.id)).toEqual(['guest']);
    expect(await fixture.findings(ada.id)).toEqual([]);
  }));

test('a role that was given by a call without an answer is removed', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.faultFor = ({ verb }) => (verb === 'patch' ? 'lose' : undefined);
    await fixture.patch(ada.id, roles('premium'));
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(60_000);
    expect(await rolesOf(fixture, ada.id)).toEqual(['premium']);
    await fixture.patch(ada.id, roles());
    expect(await rolesOf(fixture, ada.id)).toEqual([]);
  }));

test('a role that was adopted in a call without an answer stays', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await giveByHand(fixture, ada.id, 'premium');
    fixture.travel.faultFor = ({ verb }) => (verb === 'patch' ? 'lose' : undefined);
    await fixture.patch(ada.id, roles('premium', 'guest'));
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(60_000);
    await fixture.patch(ada.id, roles());
    expect(await rolesOf(fixture, ada.id)).toEqual(['premium']);
    expect(await fixture.findings(ada.id)).toEqual(kept);
  }));

test('the finding is there although the call that takes other roles away fails first', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', roles('guest')));
    await giveByHand(fixture, ada.id, 'premium');
    await fixture.patch(ada.id, roles('guest', 'premium'));
    fixture.travel.faultFor = ({ verb }) =>
      verb === 'patch' ? ({ kind: 'unavailable', text: 'down' } as const) : undefined;
    await fixture.patch(ada.id, roles());
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(60_000);
    expect(await rolesOf(fixture, ada.id)).toEqual(['premium']);
    expect(await fixture.findings(ada.id)).toEqual(kept);
  }));
