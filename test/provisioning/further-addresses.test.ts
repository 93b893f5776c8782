import { joinPeople } from '../../src/provisioning/people/join-people.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

/** Ada, whose further address is that of an existing traveler. */
const ada = person('Ada', {
  emails: [
    { value: addressOf('Ada'), type: 'work', primary: true },
    { value: 'ADA@home.example', type: 'home' },
  ],
});

/** Imports a traveler with Ada's further address, and returns the id under which the person is listed. */
async function importAtHome(fixture: ProvisioningFixture, roles: string[] = []): Promise<string> {
  fixture.travel.addTraveler({ email: 'ada@home.example', currency: 'EUR', roles });
  await fixture.importTravelers();
  const [identity] = await fixture.store.identities.find(users, { by: 'travelId', value: 't-2' });
  return identity?.id ?? '';
}

async function join(fixture: ProvisioningFixture, leaver: string, newcomer: string) {
  const people = { leaver: await fixture.identity(leaver), newcomer: await fixture.identity(newcomer) };
  const runtime = { ...fixture.clock, newId: () => 'joined' };
  const result = await joinPeople({ identities: fixture.store.identities, runtime }, people);
  for (let round = 0; round < 4; round += 1) await fixture.reconcileAfter(61_000);
  return result;
}

test('a new user with the address of an unlinked traveler among the further ones has a finding, until the two are joined', () =>
  withFixture(async (fixture) => {
    const listed = await importAtHome(fixture);
    const { id, travelUserId } = await fixture.bridge.users.create(users, ada);
    expect((await fixture.identity(id)).findings).toEqual([
      expect.objectContaining({
        ...{ field: '*', code: 'furtherTraveler', value: 't-2' },
        remedy: expect.stringContaining(`npx jetbridge people join t-2 ${id}`),
      }),
    ]);
    expect(await join(fixture, listed, id)).toBe('joined');
    expect(await fixture.traveler(id)).toMatchObject({
      ...{ id: 't-2', archived: false, email: addressOf('Ada'), currency: 'EUR' },
    });
    expect(fixture.travel.travelers.get(travelUserId ?? '')).toMatchObject({ archived: true });
    expect(await fixture.findings(id)).toEqual([]);
  }));

test('there is no finding about the traveler of another user', () =>
  withFixture(async (fixture) => {
    const home = person('Home', { emails: [{ value: 'ada@home.example', type: 'work' }] });
    await fixture.bridge.users.create(users, home);
    const { id } = await fixture.bridge.users.create(users, ada);
    expect(await fixture.findings(id)).toEqual([]);
  }));

test('a traveler in use is joined only with a user who has its address, and never one that administers the travel service', () =>
  withFixture(async (fixture) => {
    const listed = await importAtHome(fixture, ['admin']);
    const bob = await fixture.bridge.users.create(users, person('Bob'));
    const { id } = await fixture.bridge.users.create(users, ada);
    expect(await join(fixture, listed, bob.id)).toEqual({ refused: expect.stringContaining('not archived') });
    expect(await join(fixture, listed, id)).toEqual({ refused: expect.stringContaining('administers') });
  }));
