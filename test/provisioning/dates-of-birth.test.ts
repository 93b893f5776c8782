import { urns } from '../../src/schema/resource.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const DAY = 86_400_000;
const born = (at: number) => ({
  [urns.travel]: { dateOfBirth: new Date(at).toISOString().slice(0, 10) },
});

async function birthOf(fixture: ProvisioningFixture, id: string): Promise<[unknown, string[]]> {
  const { dateOfBirth } = (await fixture.traveler(id)) ?? {};
  return [dateOfBirth, await fixture.findings(id)];
}

test('a date of birth in the future is not sent, by a POST or a PATCH, and removed where it was sent before', () =>
  withFixture(async (fixture) => {
    const today = fixture.clock.wallClock();
    const finding = ['dateOfBirth: dateOfBirthImplausible'];
    const { id } = await fixture.bridge.users.create(users, person('Ada', born(today + DAY)));
    expect(await birthOf(fixture, id)).toEqual([undefined, finding]);
    await fixture.patch(id, born(today));
    expect(await birthOf(fixture, id)).toEqual([new Date(today).toISOString().slice(0, 10), []]);
    await fixture.patch(id, born(today + 20_000 * DAY));
    expect(await birthOf(fixture, id)).toEqual([undefined, finding]);
  }));
