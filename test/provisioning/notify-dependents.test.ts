import { notifyDependents } from '../../src/provisioning/reconcile/run/notify-dependents.ts';
import { addressOf, emailsOf, managedBy, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

test('an attempt that does not read the traveler frees no address, and makes nobody dirty', () =>
  withFixture(async ({ bridge, store, connection, identity, clock }) => {
    const ada = await bridge.users.create(users, person('Ada'));
    await bridge.users.create(users, person('Bob', managedBy(ada.id)));
    const unread = { ...(await identity(ada.id)), observed: undefined };
    const marked: unknown[] = [];
    const reconcileQueue = {
      markDirty: async (_connection: string, ids: string[]) => void marked.push(...ids),
      markEmailWaitersDirty: async (_account: string, email: string) => void marked.push(email),
    };
    const deps = { ...store, reconcileQueue, wake: () => {}, runtime: { now: clock.now } };
    await notifyDependents(deps, connection, { before: unread, after: unread, former: [] });
    expect(marked).toEqual([]);
    const gone = { ...unread, travelId: undefined };
    await notifyDependents(deps, connection, { before: unread, after: gone, former: [] });
    expect(marked).toHaveLength(2);
  }));

test('the address of a call without an answer is freed by the attempt after which it can no longer be carried out, and by no other', () =>
  withFixture(async ({ bridge, store, connection, identity, clock }) => {
    const { id } = await bridge.users.create(users, person('Ada'));
    const ada = await identity(id);
    const email = { sent: 'late@corp.example', source: 'late@corp.example' };
    const doubted = { ...ada, applied: { ...ada.applied, email } };
    const before = { ...doubted, readAgainAt: clock.now() };
    const marked: string[] = [];
    const reconcileQueue = {
      markDirty: async () => {},
      markEmailWaitersDirty: async (_account: string, email: string) => void marked.push(email),
    };
    const deps = { ...store, reconcileQueue, wake: () => {}, runtime: { now: clock.now } };
    const read = { ...before, observed: ada.observed && { ...ada.observed } };
    for (const after of [before, read]) {
      await notifyDependents(deps, connection, { before, after, former: [] });
      expect(marked).toEqual([]);
    }
    const after = { ...read, readAgainAt: undefined };
    // A restored backup doubts its records. Its address was never that of a call.
    await notifyDependents(deps, connection, { before: doubted, after, former: [] });
    expect(marked).toEqual([]);
    await notifyDependents(deps, connection, { before, after, former: [] });
    expect(marked).toEqual(['late@corp.example']);
  }));

test('two people who wait for an address that both were to have by a lost call are not tried again before the calls are settled', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock, patch } = fixture;
    const ids: string[] = [];
    for (const name of ['Ada', 'Zoe', 'Max']) ids.push((await bridge.users.create(users, person(name))).id);
    const [ada = '', zoe = '', max = ''] = ids;
    travel.faultFor = ({ verb }) => (verb === 'patch' ? { kind: 'unavailable', text: '502' } : undefined);
    for (const id of [ada, zoe]) await patch(id, emailsOf('shared@corp.example'));
    travel.faultFor = () => undefined;
    await patch(max, emailsOf('shared@corp.example'));
    travel.calls.length = 0;
    // Attempts that follow each other without end would end here.
    travel.faultFor = () => (travel.calls.length > 20 ? 'hang' : undefined);
    clock.advance(5_000);
    await bridge.reconcileDue();
    expect(travel.calls.length).toBeLessThan(9);
    for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(51_000);
    await patch(max, emailsOf(addressOf('Max')));
    await fixture.reconcileAfter(0);
    const emails = [ada, zoe].map(async (id) => (await fixture.traveler(id))?.email);
    expect(await Promise.all(emails)).toContain('shared@corp.example');
  }));
