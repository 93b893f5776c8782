import { notifyDependents } from '../../src/provisioning/reconcile/run/notify-dependents.ts';
import { managedBy, person, withFixture } from '../fixtures/provisioning.ts';

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

test('the address of a call that may be carried out late is freed by an attempt that reads the traveler, and by no other', () =>
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
    await notifyDependents(deps, connection, { before, after: before, former: [] });
    expect(marked).toEqual([]);
    const after = { ...before, observed: ada.observed && { ...ada.observed } };
    // A restored backup doubts its records. Its address was never that of a call.
    await notifyDependents(deps, connection, { before: doubted, after, former: [] });
    expect(marked).toEqual([]);
    await notifyDependents(deps, connection, { before, after, former: [] });
    expect(marked).toEqual(['late@corp.example']);
  }));
