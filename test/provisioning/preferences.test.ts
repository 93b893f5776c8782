import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const seat = 'travelerPrefs.flightSeatPosition';
const mapping = { scimUserMapping: [{ scimAttribute: 'title', userAttribute: seat }] };

async function preferencesOf({ traveler }: ProvisioningFixture, id: string) {
  return (await traveler(id))?.travelerPrefs;
}

test('a rule sets and removes its preference, and no other one', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, patch, findings } = fixture;
      const ada = await bridge.users.create(users, person('Ada', { title: 'aisle' }));
      const { travelId = '' } = await fixture.identity(ada.id);
      expect(await preferencesOf(fixture, ada.id)).toEqual({ flightSeatPosition: 'aisle' });
      const traveler = travel.travelers.get(travelId);
      if (traveler)
        travel.travelers.set(travelId, {
          ...traveler,
          travelerPrefs: { ...traveler.travelerPrefs, meal: 'kosher' },
        });
      await patch(ada.id, { title: 'window' });
      expect(travel.writes().at(-1)?.body).toEqual({ travelerPrefs: { flightSeatPosition: 'window' } });
      expect(await preferencesOf(fixture, ada.id)).toEqual({ flightSeatPosition: 'window', meal: 'kosher' });
      await patch(ada.id, { title: null });
      expect(await preferencesOf(fixture, ada.id)).toEqual({ meal: 'kosher' });
      expect(await findings(ada.id)).toEqual([]);
    },
    { mapping },
  ));

test('a preference of a traveler who existed before stays if the rule has no value, and is no drift', () =>
  withFixture(
    async (fixture) => {
      const travelerPrefs = { flightSeatPosition: 'aisle', meal: 'kosher' };
      fixture.travel.addTraveler({ email: addressOf('Ida'), travelerPrefs });
      const ida = await fixture.bridge.users.create(users, person('Ida'));
      expect(await preferencesOf(fixture, ida.id)).toEqual(travelerPrefs);
      expect(await fixture.findings(ida.id)).toEqual([]);
    },
    { mapping },
  ));

test('an import reports a preference that was changed in the travel service', () =>
  withFixture(
    async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada', { title: 'aisle' }));
      const { travelId = '' } = await fixture.identity(ada.id);
      const traveler = fixture.travel.travelers.get(travelId);
      if (traveler)
        fixture.travel.travelers.set(travelId, {
          ...traveler,
          travelerPrefs: { flightSeatPosition: 'window' },
        });
      await fixture.importTravelers();
      expect(await fixture.findings(ada.id)).toEqual([`${seat}: drift`]);
    },
    { mapping, policies: { drift: 'report' } },
  ));
