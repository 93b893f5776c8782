import { person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

test('by default 25 of 500 users may leave, and a restart keeps the count', () =>
  withFixture(async (fixture) => {
    const ids: string[] = [];
    for (let n = 0; n < 500; n += 1) ids.push((await fixture.bridge.users.create(users, person(`P${n}`))).id);
    const deactivate = async (some: string[]) => {
      for (const id of some) await fixture.patch(id, { active: false });
    };
    await deactivate(ids.slice(0, 15));
    await fixture.restart();
    await deactivate(ids.slice(15, 35));
    expect([...fixture.travel.travelers.values()].filter(({ archived }) => archived)).toHaveLength(25);
    expect(await fixture.store.holds.countHolds()).toMatchObject([{ cause: 'safetyValve', count: 10 }]);
  }));
