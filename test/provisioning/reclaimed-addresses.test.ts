import { addressOf, emailsOf, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const address = addressOf('Ada');

test('an address that an archived leaver holds is a finding with a remedy, and nothing is taken', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    await fixture.patch(ada.id, { active: false });
    const bob = await fixture.bridge.users.create(users, person('Bob', emailsOf(address)));
    await fixture.reconcileAfter(61_000);
    expect(await fixture.findings(bob.id)).toContain('email: emailHeldByLeaver');
    expect((await fixture.traveler(ada.id))?.email).toBe(address);
    expect((await fixture.traveler(bob.id))?.email).toBe(addressOf('Bob'));
  }));

test('where addresses are reclaimed the leaver parks theirs, and waits for it when they come back', () =>
  withFixture(
    async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      await fixture.patch(ada.id, { active: false });
      const bob = await fixture.bridge.users.create(users, person('Bob', emailsOf(address)));
      for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
      expect((await fixture.traveler(bob.id))?.email).toBe(address);
      expect((await fixture.traveler(ada.id))?.email).toMatch(/@jetbridge\.invalid$/);
      await fixture.patch(ada.id, { active: true });
      for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
      expect(await fixture.findings(ada.id)).toContain('email: emailTaken');
      expect((await fixture.traveler(ada.id))?.archived).toBe(false);
      await fixture.patch(bob.id, emailsOf(addressOf('Bob')));
      for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
      expect((await fixture.traveler(ada.id))?.email).toBe(address);
      expect(await fixture.findings(ada.id)).toEqual([]);
    },
    { policies: { reclaimEmail: true } },
  ));
