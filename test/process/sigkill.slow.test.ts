import { isDeepStrictEqual } from 'node:util';
import type { Checkpoint } from '../../src/model/runtime-ports.ts';
import { type RunningBridge, waitUntilSyncedOrDead, withProcessFixture } from '../fixtures/process.ts';
import { newIdpUser, userStateOf, type Write } from '../fixtures/remembering-idp.ts';

test('SIGKILL between the commit, the call and the outcome of a write loses nothing, and no traveler is created twice', () =>
  withProcessFixture('embedded', async (fixture) => {
    const ada = newIdpUser('ada');
    const bob = newIdpUser('bob');
    const kills: [Checkpoint, Write][] = [
      ['beforeCommit', { verb: 'hire', person: ada, wish: userStateOf(ada, { department: 'Sales' }) }],
      ['beforeSend', { verb: 'patch', person: bob, wish: userStateOf(bob, { department: 'Legal' }) }],
      ['afterAnswer', { verb: 'put', person: bob, wish: userStateOf(bob, { email: 'bob@example.org' }) }],
      ['beforeOutcome', { verb: 'dismiss', person: ada, wish: 'gone' }],
      ['afterCommit', { verb: 'hire', person: ada, wish: userStateOf(ada, { givenName: 'Augusta' }) }],
    ];
    let bridge = await fixture.startMortalBridge();
    await bridge.idp.send({ verb: 'hire', person: bob, wish: userStateOf(bob, { department: 'Sales' }) });
    for (const [point, write] of kills) {
      await fixture.expectAgreement(bridge, [ada, bob]);
      await dieIn(point, bridge, write);
      bridge = await fixture.startMortalBridge();
      await fixture.expectAgreement(bridge, [ada, bob]);
      // If a request got no answer and had no effect, the IdP repeats it.
      if (!isDeepStrictEqual(write.person.acknowledged, write.wish)) await bridge.idp.send(write);
    }
    await fixture.expectAgreement(bridge, [ada, bob]);
  }));

test('SIGKILL again and again during the recovery loses nothing, and no traveler is created twice', () =>
  withProcessFixture('embedded', async (fixture) => {
    const ada = newIdpUser('ada');
    const hire: Write = { verb: 'hire', person: ada, wish: userStateOf(ada) };
    await dieIn('beforeSend', await fixture.startMortalBridge(), hire);
    for (const point of ['beforeSend', 'afterAnswer', 'beforeOutcome'] as const) {
      // Pending work is resumed without a further request.
      await expectDeath(await fixture.startMortalBridge(point));
    }
    await fixture.expectAgreement(await fixture.startBridge(), [ada]);
  }));

async function dieIn(point: Checkpoint, bridge: RunningBridge, write: Write): Promise<void> {
  await bridge.crashAt(point);
  await bridge.idp.send(write);
  await expectDeath(bridge);
}

/** Expects that the process kills itself at its checkpoint. A process that is still alive when all work is done has missed it. */
async function expectDeath(bridge: RunningBridge): Promise<void> {
  await waitUntilSyncedOrDead(bridge);
  bridge.kill('SIGTERM');
  expect(await bridge.exited).toMatchObject({ signal: 'SIGKILL' });
}
