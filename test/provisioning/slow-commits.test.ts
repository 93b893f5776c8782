import { waitUntilIdle } from '../fixtures/idle.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

/** Lets each commit of a write take this time, in milliseconds. */
function slowDownCommits({ store, clock }: ProvisioningFixture, ms: number): void {
  const { commit } = store.identities;
  store.identities.commit = async (...values) => {
    const result = await commit(...values);
    clock.advance(ms);
    return result;
  };
}

test('a call that was sent long after its announcement is looked for until it can no longer arrive', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock, connection } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    slowDownCommits(fixture, 5_000);
    const call = travel.holdCall('patch');
    void fixture.patch(ada.id, { name: { givenName: 'Grace', familyName: 'Smith' } });
    await call.reached;
    const lastArrival = clock.now() + connection.callTimeoutMs + connection.lateMs;
    // The process ends, and another one finds out what became of the call.
    await fixture.restart();
    await fixture.bridge.reconcileDue();
    expect((await fixture.identity(ada.id)).readAgainAt).toBeGreaterThanOrEqual(lastArrival);
  }));

test('a deletion that was sent long after its announcement is looked for until it can no longer arrive', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, clock, connection, store } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      const { announce } = store.leases;
      store.leases.announce = async (...values) => {
        const result = await announce(...values);
        clock.advance(5_000);
        return result;
      };
      const call = travel.holdCall('remove');
      void bridge.users.remove(users, ada.id);
      await call.reached;
      const lastArrival = clock.now() + connection.callTimeoutMs + connection.lateMs;
      await fixture.restart();
      expect((await fixture.identity(ada.id)).readAgainAt).toBeGreaterThanOrEqual(lastArrival);
    },
    { policies: { deprovision: 'delete' } },
  ));

test('a call whose announcement took too long to commit is announced again before it is sent', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, store } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    const { commit } = store.identities;
    slowDownCommits(fixture, 11_000);
    travel.calls.length = 0;
    await fixture.patch(ada.id, { name: { givenName: 'Grace', familyName: 'Smith' } });
    await waitUntilIdle();
    expect(travel.calls.filter(({ verb }) => verb === 'patch')).toEqual([]);
    store.identities.commit = commit;
    await fixture.reconcileAfter(60_000);
    expect((await fixture.traveler(ada.id))?.firstName).toBe('Grace');
  }));
