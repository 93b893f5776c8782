import { type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';
import { holdingFirst } from '../support/holding-first.ts';

const users = 'default';

/** A person whose attempt without a call ends only when the import has seen what `byHand` did to the traveler. */
async function importedDuringAttempt(
  house: BridgeHouse,
  byHand: (travelId: string) => void,
): Promise<string> {
  const { bridge, store, clock } = house;
  const { id } = await bridge.users.create(users, person('Ada'));
  const { travelId = '' } = await house.identity(id);
  clock.advance(60_000);
  const { held, reached, release } = holdingFirst(store.leases.finish);
  store.leases.finish = held;
  await store.agenda.touch(users, [id], clock.now());
  const attempt = bridge.settleDue();
  await reached;
  byHand(travelId);
  await bridge.importer.run(house.connection);
  release();
  await attempt;
  await house.quiet();
  await house.pass(31_000);
  return id;
}

test('a traveler that vanishes during an attempt without a call, and is missed by an import, is made again', () =>
  inHouse(async (house) => {
    const id = await importedDuringAttempt(house, (travelId) => house.travel.people.delete(travelId));
    expect(await house.traveler(id)).toMatchObject({ firstName: 'Ada', archived: false });
  }));

test('a change by hand during an attempt without a call, which an import sees, is told', () =>
  inHouse(async (house) => {
    const id = await importedDuringAttempt(house, (travelId) => {
      const traveler = house.travel.people.get(travelId);
      if (traveler) house.travel.people.set(travelId, { ...traveler, firstName: 'Eve' });
    });
    expect(await house.findings(id)).toEqual(['firstName: drift']);
  }));
