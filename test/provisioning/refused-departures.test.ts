import { waitUntilIdle } from '../fixtures/idle.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

/** Creates a user whose deactivation the travel API has refused once with 403. */
async function refusedLeaver({ bridge, travel, patch }: ProvisioningFixture) {
  const ada = await bridge.users.create(users, person('Ada'));
  travel.faultFor = ({ verb }) => (verb === 'patch' ? { kind: 'forbidden' } : undefined);
  await expect(patch(ada.id, { active: false })).rejects.toMatchObject({ kind: 'refused' });
  return ada;
}

describe('a repeated deactivation that is answered 200 is carried out', () => {
  test('after a pause of the connection', () =>
    withFixture(async (fixture) => {
      const { bridge, travel } = fixture;
      const ada = await refusedLeaver(fixture);
      const throttled = {
        kind: 'unavailable',
        text: '429',
        isThrottled: true,
        retryAfterMs: 30_000,
      } as const;
      travel.faultFor = () => throttled;
      await bridge.users.create(users, person('Bob'));
      expect(bridge.pauses()).toEqual([expect.objectContaining({ reason: expect.anything() })]);
      await fixture.patch(ada.id, { active: false });
      travel.faultFor = () => undefined;
      for (let round = 0; round < 5; round += 1) await fixture.reconcileAfter(61_000);
      expect((await fixture.traveler(ada.id))?.archived).toBe(true);
    }));

  test.each(['hang', 'die'] as const)(
    'by another replica if its own is killed during the call (%s)',
    (fault) =>
      withFixture(async (fixture) => {
        const { travel, clock } = fixture;
        const ada = await refusedLeaver(fixture);
        travel.faultFor = ({ verb }) => (verb === (fault === 'hang' ? 'read' : 'patch') ? fault : undefined);
        const repeated = fixture.patch(ada.id, { active: false });
        await waitUntilIdle();
        clock.advance(801);
        await repeated;
        travel.faultFor = () => undefined;
        const other = fixture.replica();
        for (let passed = 0; passed < 180_000; passed += 20_000) {
          clock.advance(20_000);
          await other.reconcileDue();
        }
        expect((await fixture.traveler(ada.id))?.archived).toBe(true);
        expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced', findings: [] });
      }),
  );
});

test.each(['deactivation', 'DELETE'] as const)(
  'a %s that the travel API refuses answers 403 although the person becomes dirty during the call',
  (kind) =>
    withFixture(async (fixture) => {
      const { bridge, travel, clock, store } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      const call = travel.holdCall('patch');
      const answer = (
        kind === 'DELETE' ? bridge.users.remove(users, ada.id) : fixture.patch(ada.id, { active: false })
      ).then(
        () => 'accepted',
        (error: { kind: string }) => error.kind,
      );
      await call.reached;
      // As another replica does after an import, or when an address has become free.
      await store.reconcileQueue.markDirty(users, [ada.id], clock.now());
      travel.faultFor = ({ verb }) => (verb === 'patch' ? { kind: 'forbidden' } : undefined);
      call.release({ kind: 'forbidden' });
      expect(await answer).toBe('refused');
      for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
      expect(await fixture.identity(ada.id)).toMatchObject({ state: 'refused', deletedAt: undefined });
      expect((await fixture.traveler(ada.id))?.archived).toBe(false);
    }),
);
