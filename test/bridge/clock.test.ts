import { inHouse, person } from '../support/bridge-house.ts';

const users = 'default';
const DAY_MS = 24 * 60 * 60_000;

describe.each([DAY_MS, -DAY_MS])('when the wall clock is set by %d ms', (byMs) => {
  test('what an IdP reads follows it: users and groups that are made, changed and deleted', () =>
    inHouse(async (house) => {
      const { bridge, clock } = house;
      const ada = await bridge.users.create(users, person('Ada'));
      const team = await bridge.groups.create(users, { displayName: 'Team' }, []);
      expect([ada.createdAt, team.createdAt]).toEqual([clock.now(), clock.now()]);
      clock.setWallClock(byMs);
      const time = clock.now() + byMs;
      await house.patch(ada.id, { nickName: 'A' });
      expect((await bridge.users.read(users, ada.id)).lastModified).toBe(time);
      expect((await bridge.users.create(users, person('Bob'))).createdAt).toBe(time);
      const attributes = () => ({ displayName: 'Crew' });
      const changed = await bridge.groups.change(users, team.id, { attributes, members: [] }, false);
      expect(changed.lastModified).toBe(time);
      await bridge.users.remove(users, ada.id);
      expect((await house.identity(ada.id)).deletedAt).toBe(time);
    }));

  test('a person who backs off is tried again in seconds', () =>
    inHouse(async (house) => {
      house.travel.trouble = () => ({ kind: 'unavailable', text: '500' });
      const ada = await house.bridge.users.create(users, person('Ada'));
      house.clock.setWallClock(byMs);
      house.travel.trouble = () => undefined;
      await house.pass(1_000);
      expect((await house.identity(ada.id)).state).toBe('synced');
    }));

  test('during an import, a person who is written meanwhile is not missed', () =>
    inHouse(async (house) => {
      const ada = await house.bridge.users.create(users, person('Ada'));
      const { travelId = '' } = await house.identity(ada.id);
      house.clock.advance(1_000);
      house.travel.trouble = async ({ verb }) => {
        if (verb !== 'page') return undefined;
        // The page is older than the write.
        house.clock.setWallClock(byMs);
        house.clock.advance(1_000);
        await house.patch(ada.id, { nickName: 'A' });
        house.travel.people.delete(travelId);
        return undefined;
      };
      await house.bridge.importer.run(house.connection);
      expect((await house.identity(ada.id)).state).toBe('synced');
    }));
});
