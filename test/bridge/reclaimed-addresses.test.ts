import { addressOf, emailsOf, inHouse, person } from '../support/bridge-house.ts';

const users = 'default';
const address = addressOf('Ada');

test('an address that an archived leaver holds is a finding with a remedy, and nothing is taken', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    await house.patch(ada.id, { active: false });
    const bob = await house.bridge.users.create(users, person('Bob', emailsOf(address)));
    await house.pass(61_000);
    expect(await house.findings(bob.id)).toContain('email: emailHeldByLeaver');
    expect((await house.traveler(ada.id))?.email).toBe(address);
    expect((await house.traveler(bob.id))?.email).toBe(addressOf('Bob'));
  }));

test('where addresses are reclaimed the leaver parks theirs, and waits for it when they come back', () =>
  inHouse(
    async (house) => {
      const ada = await house.bridge.users.create(users, person('Ada'));
      await house.patch(ada.id, { active: false });
      const bob = await house.bridge.users.create(users, person('Bob', emailsOf(address)));
      for (let round = 0; round < 3; round += 1) await house.pass(61_000);
      expect((await house.traveler(bob.id))?.email).toBe(address);
      expect((await house.traveler(ada.id))?.email).toMatch(/@jetbridge\.invalid$/);
      await house.patch(ada.id, { active: true });
      for (let round = 0; round < 3; round += 1) await house.pass(61_000);
      expect(await house.findings(ada.id)).toContain('email: emailTaken');
      expect((await house.traveler(ada.id))?.archived).toBe(false);
      await house.patch(bob.id, emailsOf(addressOf('Bob')));
      for (let round = 0; round < 3; round += 1) await house.pass(61_000);
      expect((await house.traveler(ada.id))?.email).toBe(address);
      expect(await house.findings(ada.id)).toEqual([]);
    },
    { policies: { reclaimEmail: true } },
  ));
