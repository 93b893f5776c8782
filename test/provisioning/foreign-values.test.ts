import { foreignValues } from '../../src/provisioning/people/foreign-values.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const MINUTE_MS = 60_000;
const names = ['Ada', 'Bob', 'Carl', 'Dora'];

/** Starts a service after a time without one, in milliseconds; `alarms` are the connections that were reported. */
function afterGap(
  gapMs: number,
  test: (fixture: ProvisioningFixture, alarms: [string, number][]) => Promise<void>,
): Promise<void> {
  const alarms: [string, number][] = [];
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const values = foreignValues({ gapMs, runtime: { now: () => 0, log } });
  values.onSuspicion((...suspicion) => alarms.push(suspicion));
  return withFixture(
    async (fixture) => {
      for (const name of names) await fixture.bridge.users.create(users, person(name));
      await test(fixture, alarms);
    },
    { foreignValues: values },
  );
}

/** Changes a value of these people's travelers in the travel service, and imports. */
async function edit({ travel, importTravelers }: ProvisioningFixture, people: string[], firstName: string) {
  for (const traveler of [...travel.travelers.values()])
    if (people.some((name) => traveler.email.startsWith(name.toLowerCase())))
      travel.travelers.set(traveler.id, { ...traveler, firstName });
  await importTravelers();
}

test('three people with values that were never sent, ten minutes after the last server, raise one alarm', () =>
  afterGap(10 * MINUTE_MS, async (fixture, alarms) => {
    await edit(fixture, names.slice(0, 2), 'Other');
    expect(alarms).toEqual([]);
    // The same two people again.
    await edit(fixture, names.slice(0, 2), 'Third');
    expect(alarms).toEqual([]);
    await edit(fixture, names.slice(2), 'Other');
    expect(alarms).toEqual([[users, 3]]);
  }));

test('without a gap, changes by hand raise no alarm', () =>
  afterGap(9 * MINUTE_MS, async (fixture, alarms) => {
    await edit(fixture, names, 'Other');
    expect(alarms).toEqual([]);
  }));

test('values that IdPs write meanwhile raise no alarm', () =>
  afterGap(10 * MINUTE_MS, async (fixture, alarms) => {
    for (const traveler of fixture.travel.travelers.values()) {
      const [found] = await fixture.store.identities.find(users, { by: 'travelId', value: traveler.id });
      if (found) await fixture.patch(found.id, { name: { givenName: 'Other', familyName: 'Smith' } });
    }
    await fixture.importTravelers();
    expect(alarms).toEqual([]);
  }));
