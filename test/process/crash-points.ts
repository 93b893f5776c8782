import { isDeepStrictEqual } from 'node:util';
import type { Checkpoint } from '../../src/provisioning/runtime-ports.ts';
import {
  type Arrangement,
  type ProcessFixture,
  type RunningBridge,
  waitUntilSyncedOrDead,
  withProcessFixture,
} from '../fixtures/process.ts';
import { newIdpUser, userStateOf, type Write } from '../fixtures/remembering-idp.ts';

/** Starting processes takes long on a busy machine. Failed expectations are reported earlier, because each wait has its own limit. */
const points = ['beforeCommit', 'afterCommit', 'beforeSend', 'afterAnswer', 'beforeOutcome'] as const;

/** Kills the bridge at each crash point of each kind of write and restarts it on the same data (docs/architecture.md, Promises). */
export function describeCrashPoints(arrangement: Arrangement, chosen: readonly Checkpoint[] = points): void {
  it.each(chosen)(
    'a bridge killed at "%s" of every kind of write loses nothing and creates no traveler twice',
    (point) => withProcessFixture(arrangement, (fixture) => crashInEveryWrite(fixture, point)),
  );

  it('a bridge killed again and again while it recovers loses nothing and creates no traveler twice', () =>
    withProcessFixture(arrangement, async (fixture) => {
      const ada = newIdpUser('ada');
      const hire: Write = { verb: 'hire', person: ada, wish: userStateOf(ada) };
      await crashInWrite('beforeSend', await fixture.startBridge(), hire);
      for (const point of ['beforeSend', 'afterAnswer', 'beforeOutcome'] as const) {
        // Pending work is resumed without a further request.
        await expectDeath(await fixture.startBridge({ point, passings: 1 }));
      }
      await fixture.expectAgreement(await fixture.startBridge(), [ada]);
    }));
}

async function crashInEveryWrite(fixture: ProcessFixture, point: Checkpoint): Promise<void> {
  const ada = newIdpUser('ada');
  const bob = newIdpUser('bob');
  const writes: Write[] = [
    { verb: 'hire', person: ada, wish: userStateOf(ada, { department: 'Sales' }) },
    { verb: 'patch', person: bob, wish: userStateOf(bob, { givenName: 'Robert', department: 'Legal' }) },
    { verb: 'put', person: bob, wish: userStateOf(bob, { email: 'bob@example.org', active: false }) },
    { verb: 'dismiss', person: ada, wish: 'gone' },
    { verb: 'hire', person: ada, wish: userStateOf(ada, { givenName: 'Augusta' }) },
  ];
  let bridge = await fixture.startBridge();
  await bridge.idp.send({ verb: 'hire', person: bob, wish: userStateOf(bob, { department: 'Sales' }) });
  for (const write of writes) {
    await fixture.expectAgreement(bridge, [ada, bob]);
    await crashInWrite(point, bridge, write);
    bridge = await fixture.startBridge();
    await fixture.expectAgreement(bridge, [ada, bob]);
    // If a request got no answer and had no effect, the IdP repeats it.
    if (!isDeepStrictEqual(write.person.acknowledged, write.wish)) await bridge.idp.send(write);
  }
  await fixture.expectAgreement(bridge, [ada, bob]);
}

async function crashInWrite(point: Checkpoint, bridge: RunningBridge, write: Write): Promise<void> {
  await bridge.crashAt({ point, passings: 1 });
  await bridge.idp.send(write);
  await expectDeath(bridge);
}

/** Expects that the process kills itself at its crash point. A process that is still alive when all work is done has missed it. */
async function expectDeath(bridge: RunningBridge): Promise<void> {
  await waitUntilSyncedOrDead(bridge);
  bridge.kill('SIGTERM');
  expect(await bridge.exited).toMatchObject({ signal: 'SIGKILL' });
}
