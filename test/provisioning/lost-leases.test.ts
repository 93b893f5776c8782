import { emailsOf, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

test('an attempt whose lease has ended during a call sends no further one, and the next attempt goes on', () =>
  withFixture(async (fixture) => {
    const { bridge, store, clock, travel } = fixture;
    const { id } = await bridge.users.create(users, person('Ada'));
    const { extend } = store.leases;
    store.leases.extend = async () => false;
    travel.faultFor = ({ verb }) => {
      // The process stands still during the call, for longer than the lease lasts.
      if (verb === 'read') clock.advance(60_000);
      return undefined;
    };
    travel.calls.length = 0;
    await fixture.patch(id, emailsOf('countess@corp.example'));
    await fixture.waitForLeases();
    expect(travel.calls.map(({ verb }) => verb)).toEqual(['read']);
    store.leases.extend = extend;
    await fixture.reconcileAfter(60_000);
    expect(await fixture.traveler(id)).toMatchObject({ email: 'countess@corp.example' });
  }));
