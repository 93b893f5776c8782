import { sql } from 'kysely';
import { holdFirstCall } from '../fixtures/holding-first.ts';
import { waitForLockWaits } from '../fixtures/lock-waits.ts';
import {
  addressOf,
  type ProvisioningFixture,
  person,
  provisioningFixture,
  withFixture,
} from '../fixtures/provisioning.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeOnPostgres } from '../fixtures/test-database.ts';

const users = 'default';
const { open } = temporaryDatabases('jetbridge-import-');

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

/** Lets creates wait for `answer` before the travel API carries them out. `reached` resolves when `count` of them wait. */
function holdCreates({ travel }: ProvisioningFixture, count: number) {
  let waiting = 0;
  let arrive = () => {};
  let answer = () => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const answered = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined);
  });
  travel.faultFor = ({ verb }) => {
    if (verb !== 'create') return undefined;
    waiting += 1;
    if (waiting === count) arrive();
    return answered;
  };
  return { reached, answer: () => answer() };
}

describe('users whose travelers are created while an import reads the list', () => {
  test('are not read again, and do not count as missing from the list', () =>
    withFixture(async (fixture) => {
      const { bridge, store, travel, clock, connection } = fixture;
      const { reached, answer } = holdCreates(fixture, 25);
      const created = Array.from({ length: 25 }, (_, at) => bridge.users.create(users, person(`P${at}`)));
      await reached;
      clock.advance(1);
      const listed = holdFirstCall(store.imports.findMissing);
      store.imports.findMissing = listed.held;
      const imported = bridge.importer.run(connection);
      await listed.reached;
      clock.advance(1);
      answer();
      const views = await Promise.all(created);
      listed.release();
      expect(await imported).toEqual({ read: 1, complete: true });
      for (const { id } of views) expect((await fixture.identity(id)).state).toBe('synced');
      expect(travel.calls.filter(({ verb }) => verb === 'read')).toEqual([]);
    }));

  test('are not read again if the import has listed the travelers before they were linked', () =>
    withFixture(async (fixture) => {
      const { bridge, store, travel, clock, connection } = fixture;
      const linking = holdFirstCall(store.leases.finish);
      store.leases.finish = linking.held;
      const created = bridge.users.create(users, person('Ada'));
      await linking.reached;
      clock.advance(1);
      const listed = holdFirstCall(store.imports.findMissing);
      store.imports.findMissing = listed.held;
      const imported = bridge.importer.run(connection);
      await listed.reached;
      linking.release();
      const { id } = await created;
      listed.release();
      expect(await imported).toEqual({ read: 2, complete: true });
      expect((await fixture.identity(id)).state).toBe('synced');
      expect(travel.calls.filter(({ verb }) => verb === 'read')).toEqual([]);
    }));
});

/**
 * Calls `interrupt` before the store call of an import with this number, until `end`, which returns whether the import
 * has made that many.
 */
function beforeStoreCall({ store }: ProvisioningFixture, number: number, interrupt: () => Promise<void>) {
  let left = number;
  const interrupted = <Values extends unknown[], T>(call: (...values: Values) => Promise<T>) => {
    return async (...values: Values): Promise<T> => {
      left -= 1;
      if (left === 0) await interrupt();
      return call(...values);
    };
  };
  const { imports, reconcileQueue } = store;
  imports.findKnown = interrupted(imports.findKnown);
  imports.saveObserved = interrupted(imports.saveObserved);
  imports.markSeen = interrupted(imports.markSeen);
  imports.findMissing = interrupted(imports.findMissing);
  imports.deleteStale = interrupted(imports.deleteStale);
  reconcileQueue.markDirty = interrupted(reconcileQueue.markDirty);
  return {
    end: (): boolean => {
      const isReached = left <= 0;
      left = Number.POSITIVE_INFINITY;
      return isReached;
    },
  };
}

async function editedByHand({ bridge, travel, identity, clock }: ProvisioningFixture): Promise<string> {
  const { id } = await bridge.users.create(users, person('Ada'));
  const { travelId = '' } = await identity(id);
  clock.advance(60_000);
  const traveler = travel.travelers.get(travelId);
  if (traveler) travel.travelers.set(travelId, { ...traveler, firstName: 'Eve' });
  return id;
}

describe('a change by hand is reported', () => {
  test('if a reconciliation without a call ends at any moment of the import that reads it', async () => {
    for (let number = 1, isReached = true; isReached; number += 1) {
      await withFixture(async (fixture) => {
        const { bridge, store, clock, connection } = fixture;
        const id = await editedByHand(fixture);
        await store.reconcileQueue.markDirty(users, [id], clock.now());
        const ending = holdFirstCall(store.leases.finish);
        store.leases.finish = ending.held;
        const attempt = bridge.reconcileDue();
        await ending.reached;
        const end = async () => {
          ending.release();
          await fixture.waitForLeases();
        };
        const interrupted = beforeStoreCall(fixture, number, end);
        await bridge.importer.run(connection);
        isReached = interrupted.end();
        ending.release();
        await attempt;
        await fixture.reconcileAfter(31_000);
        expect([number, ...(await fixture.findings(id))]).toEqual([number, 'firstName: drift']);
      });
    }
  });

  test('if the process dies at any moment of the import that reads it', async () => {
    for (let number = 1, isReached = true; isReached; number += 1) {
      await withFixture(async (fixture) => {
        const id = await editedByHand(fixture);
        let die = () => {};
        const death = new Promise<void>((resolve) => {
          die = resolve;
        });
        const interrupted = beforeStoreCall(fixture, number, () => {
          die();
          return new Promise(() => {});
        });
        await Promise.race([fixture.bridge.importer.run(fixture.connection), death]);
        isReached = interrupted.end();
        await fixture.restart();
        fixture.clock.advance(60_000);
        await fixture.importTravelers();
        await fixture.reconcileAfter(31_000);
        expect([number, ...(await fixture.findings(id))]).toEqual([number, 'firstName: drift']);
      });
    }
  });

  test('soon if the travel API fails once while the import reads the traveler, even if its list changes', () =>
    withFixture(async (fixture) => {
      const { travel } = fixture;
      const id = await editedByHand(fixture);
      for (let number = 0; number < 120; number += 1)
        travel.addTraveler({ email: `p${number}@corp.example` });
      travel.faultFor = ({ verb }) => {
        if (verb === 'readPage') travel.addTraveler({ email: `new-${travel.calls.length}@corp.example` });
        if (verb !== 'read') return undefined;
        travel.faultFor = () => undefined;
        return { kind: 'unavailable', text: 'timeout' };
      };
      expect(await fixture.bridge.importer.run(fixture.connection)).toMatchObject({ complete: false });
      await fixture.reconcileAfter(31_000);
      expect(await fixture.findings(id)).toEqual(['firstName: drift']);
    }));
});

describeOnPostgres('a POST whose transaction overlaps with that of an import', () => {
  test.each([
    ['claims the person whom the import is just listing', false],
    ['leaves an archived person alone whom the import is just listing: that may be somebody else', true],
  ])('%s', async (_title, archived) => {
    const database = await open();
    const fixture = await provisioningFixture({ database });
    const { bridge, travel } = fixture;
    // The first write of a process reads the rules, which would wait here.
    await bridge.users.create(users, person('First'));
    const ada = travel.addTraveler({
      email: addressOf('Ada'),
      firstName: 'Ada',
      lastName: 'Smith',
      archived,
    });
    let importing: Promise<void> | undefined;
    let posting: Promise<{ id: string }> | undefined;
    await database.transaction(async (tx) => {
      // Holds the import where it counts the rows that it has inserted.
      await sql`lock table list_counter in share mode`.execute(tx);
      importing = fixture.importTravelers();
      await waitForLockWaits(database, 1);
      posting = bridge.users.create(users, person('Ada'));
      await waitForLockWaits(database, 2);
    });
    await importing;
    const { id = '' } = (await posting) ?? {};
    const { claimed, travelId } = await fixture.identity(id);
    expect(claimed).toBe(true);
    expect(travelId === ada.id).toBe(!archived);
    expect(travel.travelers.get(ada.id)).toMatchObject({ archived });
  });
});
