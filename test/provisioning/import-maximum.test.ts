import { travelUsers } from '../../src/adapter/users.ts';
import { ownUsers } from '../../src/provisioning/calls/own-users.ts';
import { importer, lastImportOf } from '../../src/provisioning/import/import.ts';
import { rulesSnapshots } from '../../src/provisioning/rules/rules-snapshots.ts';
import { json, type TravelServer, travelServer } from '../adapter/travel-server.ts';
import { allUsers, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const MAXIMUM = 500;

let server: TravelServer;
/** The number of travelers that the travel API lists; those of the fixture are not among them. */
let size: number;
beforeEach(async () => {
  size = Number.POSITIVE_INFINITY;
  server = await travelServer(({ url }, response) => {
    const { searchParams } = new URL(url, 'http://x');
    const [offset, limit] = [Number(searchParams.get('offset')), Number(searchParams.get('limit'))];
    const length = Math.max(0, Math.min(limit, size - offset));
    const data = Array.from({ length }, (_, index) => ({
      id: `endless-${offset + index}`,
      email: `p${offset + index}@endless.example`,
      archived: false,
    }));
    json(response, 200, { data });
  });
});
afterEach(() => server.close());

/** Imports from the server at a later time. Returns the result and the messages in the log. */
async function importFromServer(
  { clock, store, connection, bridge }: ProvisioningFixture,
  { maxImported }: { maxImported: number | undefined } = { maxImported: MAXIMUM },
) {
  clock.advance(60_000);
  const logged: string[] = [];
  const at = (level: string) => (_fields: object, message: string) =>
    void logged.push(`${level}: ${message}`);
  const log = { info: at('info'), warn: at('warn'), error: at('error') };
  let last = 0;
  const newId = () => {
    last += 1;
    return `later-${clock.now()}-${last}`;
  };
  const runtime = { ...clock, newId, random: () => 0.5, log, checkpoint: () => {} };
  const deps = {
    ...store,
    rulesSnapshots: rulesSnapshots({ rules: store.rules, runtime, configuredMappingOf: () => connection }),
    ownUsers: ownUsers({ tasks: store.tasks, runtime }),
    wake: () => {},
    runtime,
  };
  const travel = travelUsers(server.client());
  const imported = await importer(deps).run({ ...connection, travel, maxImported });
  await bridge.reconcileDue();
  return { imported, logged };
}

const lastImport = async ({ store }: ProvisioningFixture) =>
  lastImportOf((await store.tasks.listStates('import'))[0]?.state);

test('an import of a list that never ends ends at its maximum, with an alarm', () =>
  withFixture(async (fixture) => {
    const { imported, logged } = await importFromServer(fixture);
    expect(imported).toEqual({ read: MAXIMUM, complete: false, maximum: MAXIMUM });
    expect(logged).toEqual([expect.stringMatching(/^error: the travel API lists more travelers than/)]);
    expect((await lastImport(fixture))?.maximum).toBe(MAXIMUM);
  }));

test('nobody is harmed by it: those beyond are not touched, and none is treated as deleted', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create('default', person('Ada'));
    fixture.travel.addTraveler({ email: 'known@corp.example' });
    await fixture.importTravelers();
    const before = await fixture.identity(ada.id);
    for (let time = 0; time < 2; time += 1) await importFromServer(fixture);
    const { total } = await fixture.bridge.users.list('default', allUsers(0));
    // Ada, the known traveler, and the first travelers of the list.
    expect(total).toBe(2 + MAXIMUM);
    const after = await fixture.identity(ada.id);
    expect([after.state, after.travelId, after.applied]).toEqual([
      before.state,
      before.travelId,
      before.applied,
    ]);
    expect(fixture.travel.calls.filter(({ verb }) => verb === 'create')).toHaveLength(1);
  }));

test('a list that has as many travelers as the maximum is complete, and ends the alarm', () =>
  withFixture(async (fixture) => {
    await importFromServer(fixture);
    size = MAXIMUM;
    const { imported, logged } = await importFromServer(fixture);
    expect(imported).toEqual({ read: MAXIMUM, complete: true });
    expect(logged).toEqual([]);
    expect(await lastImport(fixture)).toEqual({
      ...{ isIncomplete: false, at: expect.any(Number), ms: expect.any(Number) },
      read: MAXIMUM,
    });
  }));

test('without a setting the maximum is 100,000, and a list that never ends does not raise it', () =>
  withFixture(async (fixture) => {
    size = 1_000;
    const { imported } = await importFromServer(fixture, { maxImported: undefined });
    expect(imported).toEqual({ read: 1_000, complete: true });
    // As an import has left it that ended at its maximum.
    await fixture.store.tasks.saveState('default', 'import', {
      isIncomplete: false,
      at: 1,
      read: 300,
      maximum: 300,
    });
    size = Number.POSITIVE_INFINITY;
    const { imported: cut } = await importFromServer(fixture, { maxImported: undefined });
    expect(cut).toMatchObject({ maximum: 300 });
  }));
