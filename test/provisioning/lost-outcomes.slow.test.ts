import type { ScimResource } from '../../src/schema/resource.ts';
import type { Call } from '../fixtures/fake-travel.ts';
import { addressOf, emailsOf, type ProvisioningFixture, withFixture } from '../fixtures/provisioning.ts';
import {
  findFaults,
  fullUser,
  minimalUser,
  project,
  rolesOf,
  runUntilIdle,
  type SyncedUser,
  sendUser,
  sendUserWithFault,
  startSyncedUser,
  titleMapping,
} from '../fixtures/unknown-calls.ts';

/** Kills the process at the next call with this verb, which is not carried out. Resolves when the process is dead or the work is done. */
async function killAt(fixture: ProvisioningFixture, verb: Call['verb'], work: () => Promise<unknown>) {
  let markDead = () => {};
  const death = new Promise<void>((resolve) => {
    markDead = resolve;
  });
  fixture.travel.faultFor = async (call) => {
    if (call.verb !== verb) return undefined;
    await fixture.restart();
    markDead();
    return { kind: 'unavailable', text: 'the process is dead' };
  };
  await Promise.race([work(), death]);
  fixture.travel.faultFor = () => undefined;
}

const changes: [string, ScimResource | undefined, ScimResource][] = [
  ['a create', undefined, fullUser],
  ['a change', minimalUser(fullUser), fullUser],
  ['a role more', fullUser, { ...fullUser, ...rolesOf('organizer', 'guest') }],
];

const verbs = ['read', 'findByEmails', 'patch', 'create'] as const;

const cases = changes.flatMap(([name, from, to]) =>
  [true, false].flatMap((isDone) =>
    verbs.flatMap((verb) => [true, false].map((isRemoved) => ({ name, from, to, isDone, verb, isRemoved }))),
  ),
);

test.each(cases)(
  '$name (carried out: $isDone) is removed entirely, if the process is killed again at a $verb (removed before: $isRemoved)',
  ({ from, to, isDone, verb, isRemoved }) =>
    withFixture(
      async (fixture) => {
        fixture.travel.lookupData.customFields.push(project);
        const syncedUser: SyncedUser = from
          ? await startSyncedUser(fixture, from)
          : { fixture, id: '', desired: null };
        const fault = isDone ? 'lose' : ({ kind: 'unavailable', text: 'down' } as const);
        await sendUserWithFault(syncedUser, { trouble: fault, isKilled: true }, to);
        const remove = () => sendUser(syncedUser, minimalUser(fullUser));
        await killAt(fixture, verb, () => (isRemoved ? remove() : fixture.bridge.reconcileDue()));
        if (!isRemoved) await remove();
        await runUntilIdle(syncedUser);
        expect(await findFaults(syncedUser)).toEqual([]);
      },
      { mapping: titleMapping },
    ),
);

test('the values of a leaver are removed even if the process is killed during the takeover', () =>
  withFixture(
    async (fixture) => {
      const leaver = await startSyncedUser(fixture, fullUser);
      await sendUser(leaver, null);
      const nameless = { userName: 'pia2', name: { givenName: 'Pia', familyName: 'Smith' }, active: true };
      const syncedUser: SyncedUser = { fixture, id: '', desired: null };
      await sendUser(syncedUser, nameless);
      expect((await fixture.identity(syncedUser.id)).state).toBe('pending');
      await killAt(fixture, 'patch', () =>
        sendUser(syncedUser, { ...nameless, ...emailsOf(addressOf('Pia')) }),
      );
      await runUntilIdle(syncedUser);
      expect(await findFaults(syncedUser)).toEqual([]);
    },
    { mapping: titleMapping },
  ));
