import { person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const DAY_MS = 24 * 60 * 60_000;

describe.each([DAY_MS, -DAY_MS])('when the wall clock is set by %d ms', (byMs) => {
  test('the times of created, changed and deleted users and groups follow the wall clock', () =>
    withFixture(async (fixture) => {
      const { bridge, clock } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      const team = await bridge.groups.create(users, { displayName: 'Team' }, []);
      expect([ada.createdAt, team.createdAt]).toEqual([clock.now(), clock.now()]);
      clock.setWallClock(byMs);
      const time = clock.now() + byMs;
      await fixture.patch(ada.id, { nickName: 'A' });
      expect((await bridge.users.read(users, ada.id)).lastModified).toBe(time);
      expect((await bridge.users.create(users, person('Bob'))).createdAt).toBe(time);
      const attributes = () => ({ displayName: 'Crew' });
      const changed = await bridge.groups.change(users, team.id, { attributes, members: [] }, false);
      expect(changed.lastModified).toBe(time);
      await bridge.users.remove(users, ada.id);
      expect((await fixture.identity(ada.id)).deletedAt).toBe(time);
    }));

  test('an identity that backs off is retried within a second', () =>
    withFixture(async (fixture) => {
      fixture.travel.faultFor = () => ({ kind: 'unavailable', text: '500' });
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      fixture.clock.setWallClock(byMs);
      fixture.travel.faultFor = () => undefined;
      await fixture.reconcileAfter(1_000);
      expect((await fixture.identity(ada.id)).state).toBe('synced');
    }));

  test('a user who is written during an import is not treated as deleted', () =>
    withFixture(async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada'));
      const { travelId = '' } = await fixture.identity(ada.id);
      fixture.clock.advance(1_000);
      fixture.travel.faultFor = async ({ verb }) => {
        if (verb !== 'readPage') return undefined;
        // The import began before this write, so a traveler that is missing from the page must not count as deleted.
        fixture.clock.setWallClock(byMs);
        fixture.clock.advance(1_000);
        await fixture.patch(ada.id, { nickName: 'A' });
        fixture.travel.travelers.delete(travelId);
        return undefined;
      };
      await fixture.bridge.importer.run(fixture.connection);
      expect((await fixture.identity(ada.id)).state).toBe('synced');
    }));
});

test('a deleted traveler is found by an import after a request that changed nothing but findings, whatever the wall clock shows', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock } = fixture;
    clock.setWallClock(DAY_MS);
    const ada = await bridge.users.create(users, person('Ada'));
    const { travelId = '' } = await fixture.identity(ada.id);
    const leftOut = { code: 'valueRefused', attribute: 'title', value: '7', fault: 'is no text' } as const;
    await bridge.users.change(
      users,
      ada.id,
      (current, _version, report) => {
        report?.([leftOut]);
        return current;
      },
      'patch',
    );
    travel.travelers.delete(travelId);
    clock.advance(60_000);
    await fixture.importTravelers();
    expect((await fixture.traveler(ada.id))?.email).toBe('ada@corp.example');
  }));
