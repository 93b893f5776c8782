import { holdFirstCall } from '../fixtures/holding-first.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

/** Runs a reconciliation that makes no call, and an import that reads the changes of `byHand` before the reconciliation ends. */
async function importedDuringAttempt(
  fixture: ProvisioningFixture,
  byHand: (travelId: string) => void,
): Promise<string> {
  const { bridge, store, clock } = fixture;
  const { id } = await bridge.users.create(users, person('Ada'));
  const { travelId = '' } = await fixture.identity(id);
  clock.advance(60_000);
  const { held, reached, release } = holdFirstCall(store.leases.finish);
  store.leases.finish = held;
  await store.reconcileQueue.markDirty(users, [id], clock.now());
  const attempt = bridge.reconcileDue();
  await reached;
  byHand(travelId);
  await bridge.importer.run(fixture.connection);
  release();
  await attempt;
  await fixture.waitForLeases();
  await fixture.reconcileAfter(31_000);
  return id;
}

test('a traveler deleted during a reconciliation without a call, and missing in an import, is created again', () =>
  withFixture(async (fixture) => {
    const id = await importedDuringAttempt(fixture, (travelId) => fixture.travel.travelers.delete(travelId));
    expect(await fixture.traveler(id)).toMatchObject({ firstName: 'Ada', archived: false });
  }));

test('a change by hand during a reconciliation without a call, which an import reads, is reported', () =>
  withFixture(async (fixture) => {
    const id = await importedDuringAttempt(fixture, (travelId) => {
      const traveler = fixture.travel.travelers.get(travelId);
      if (traveler) fixture.travel.travelers.set(travelId, { ...traveler, firstName: 'Eve' });
    });
    expect(await fixture.findings(id)).toEqual(['firstName: drift']);
  }));
