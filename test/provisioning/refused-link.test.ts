import type { TravelUser } from '../../src/model/traveler.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

/** What makes the address of the traveler free. */
const releases = {
  'is deleted': ({ travel }: ProvisioningFixture, { id }: TravelUser) => void travel.travelers.delete(id),
  'gets another address': ({ travel }: ProvisioningFixture, traveler: TravelUser) =>
    void travel.travelers.set(traveler.id, { ...traveler, email: addressOf('Grace') }),
};

describe('a person with the address of a traveler that administers the travel service', () => {
  test.each(Object.entries(releases))('gets one after an import shows that the traveler %s', (_, release) =>
    withFixture(async (fixture) => {
      const old = fixture.travel.addTraveler({ email: addressOf('Ada'), roles: ['admin'] });
      const { id } = await fixture.bridge.users.create('default', person('Ada'));
      await fixture.importTravelers();
      expect(await fixture.traveler(id)).toBeUndefined();
      release(fixture, old);
      await fixture.importTravelers();
      expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada'), firstName: 'Ada' });
      expect(await fixture.identity(id)).toMatchObject({
        state: 'synced',
        hold: undefined,
        findings: [],
      });
    }),
  );

  test('is tried again by each import without a create while the traveler is as it was', () =>
    withFixture(async (fixture) => {
      fixture.travel.addTraveler({ email: addressOf('Ada'), roles: ['admin'] });
      await fixture.bridge.users.create('default', person('Ada'));
      await fixture.importTravelers();
      fixture.travel.calls.length = 0;
      await fixture.importTravelers();
      expect(fixture.travel.writes()).toEqual([]);
    }));

  test('as userName is tried again by each import without a create while another user has the wanted address', () =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      await bridge.users.create('default', person('Bob'));
      travel.addTraveler({ email: addressOf('Ada'), roles: ['admin'] });
      const ada = person('Ada', { userName: addressOf('Ada'), ...emailsOf(addressOf('Bob')) });
      await bridge.users.create('default', ada);
      await fixture.importTravelers();
      travel.calls.length = 0;
      await fixture.importTravelers();
      expect(travel.writes()).toEqual([]);
    }));
});

test('a person whose traveler waits for an approval gets it after an import shows that it has no administrator role any more', () =>
  withFixture(async (fixture) => {
    const admin = fixture.travel.addTraveler({ email: addressOf('Ada'), roles: ['admin'] });
    const { id } = await fixture.bridge.users.create('default', person('Ada'));
    await fixture.importTravelers();
    fixture.travel.travelers.set(admin.id, { ...admin, roles: [] });
    await fixture.importTravelers();
    expect(await fixture.identity(id)).toMatchObject({
      state: 'synced',
      travelId: admin.id,
      hold: undefined,
    });
  }));

test('a person who waits for the address of an administrator who left gets it once that one is archived without the role', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const leaver = await bridge.users.create('default', person('Ada', { externalId: 'ada' }));
    const newcomer = person('Eve', { externalId: 'eve', ...emailsOf(addressOf('Ada')), userName: 'eve' });
    const { id } = await bridge.users.create('default', newcomer);
    const traveler = await fixture.traveler(leaver.id);
    if (!traveler) throw new Error('there is no traveler');
    travel.travelers.set(traveler.id, { ...traveler, roles: ['admin'] });
    await expect(fixture.patch(leaver.id, { active: false })).rejects.toMatchObject({ kind: 'refused' });
    await bridge.reconcileDue();
    expect(await fixture.identity(id)).toMatchObject({ state: 'pending', travelId: undefined });
    travel.travelers.set(traveler.id, traveler);
    await fixture.patch(leaver.id, { active: false });
    await bridge.reconcileDue();
    expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada'), firstName: 'Eve' });
    expect(await fixture.traveler(leaver.id)).toMatchObject({ archived: true });
  }));
