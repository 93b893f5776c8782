import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Database, openEmbedded } from '../../src/store/database.ts';
import { StoreUnavailable } from '../../src/store/unavailable.ts';
import {
  addressOf,
  type ProvisioningFixture,
  person,
  provisioningFixture,
  usersWhere,
} from '../fixtures/provisioning.ts';

let directory: string;
let database: Database;
let fixture: ProvisioningFixture;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'jetbridge-'));
  database = await openEmbedded(directory, true);
  fixture = await provisioningFixture({ database });
});
afterEach(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

/** From now on every write fails, as on a full disk, and reads go on. */
async function forbidWrites(): Promise<void> {
  await sql`pragma query_only = on`.execute(database.db);
}

async function allowWrites(): Promise<void> {
  await sql`pragma query_only = off`.execute(database.db);
}

const down = () => ({ kind: 'unavailable', text: 'down' }) as const;

/** A person who is written, and not yet at the travel service, as that does not answer. */
async function waiting(name: string): Promise<string> {
  fixture.travel.faultFor = down;
  const { id } = await fixture.bridge.users.create('default', person(name));
  fixture.travel.faultFor = () => undefined;
  fixture.clock.advance(60_000);
  return id;
}

test('a write is refused as unavailable, and nothing of it is kept', async () => {
  await forbidWrites();
  await expect(fixture.bridge.users.create('default', person('Ada'))).rejects.toThrow(StoreUnavailable);
  await allowWrites();
  expect((await fixture.bridge.users.list('default', usersWhere({ all: [] }))).total).toBe(0);
  expect(fixture.travel.writes()).toEqual([]);
});

test('working off what is due ends with a fault, not with the next attempt, while leases cannot be kept', async () => {
  const id = await waiting('Ada');
  const before = fixture.travel.calls.length;
  await forbidWrites();
  await expect(fixture.bridge.reconcileDue()).rejects.toThrow('leases or outcomes could not be saved');
  expect(fixture.travel.calls).toHaveLength(before);
  await allowWrites();
  await fixture.bridge.reconcileDue();
  expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada') });
});

test('the background waits longer and longer, and goes on when writes work again', async () => {
  const id = await waiting('Ada');
  await forbidWrites();
  let refused = 0;
  database.onUnavailable(() => {
    refused += 1;
  });
  const background = fixture.bridge.startBackground();
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      fixture.clock.advance(1_000);
      for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    }
  };
  await pass(60);
  // The loop of what is due, and that of the import: after 1, 2, 4, 8, and then each 10 seconds.
  expect(refused).toBeGreaterThan(4);
  expect(refused).toBeLessThan(30);
  await allowWrites();
  await pass(11);
  expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada') });
  await background.stop();
});

test('an attempt whose outcome could not be kept is taken up as soon as it can, and makes nobody twice', async () => {
  const id = await waiting('Ada');
  const before = fixture.travel.writes().length;
  fixture.travel.faultFor = async ({ verb }) => {
    if (verb === 'create') await forbidWrites();
    return undefined;
  };
  await expect(fixture.bridge.reconcileDue()).rejects.toThrow('leases or outcomes could not be saved');
  expect(fixture.travel.writes()).toHaveLength(before + 1);
  await expect(fixture.bridge.reconcileDue()).rejects.toThrow('outcomes could not be saved');
  await allowWrites();
  fixture.travel.faultFor = () => undefined;
  // Far less than its lease.
  await fixture.reconcileAfter(10_000);
  expect(await fixture.identity(id)).toMatchObject({ state: 'synced' });
  expect(fixture.travel.travelers.size).toBe(2);
  expect(fixture.travel.writes()).toHaveLength(before + 1);
});

test('a search that finds somebody new at the travel service is a miss while they cannot be kept', async () => {
  fixture.travel.addTraveler({ email: addressOf('Ada') });
  const byEmail = { field: 'userName', operator: 'eq', value: addressOf('Ada') } as const;
  await forbidWrites();
  expect((await fixture.bridge.users.list('default', usersWhere(byEmail))).rows).toEqual([]);
  await allowWrites();
  fixture.clock.advance(10_000);
  expect((await fixture.bridge.users.list('default', usersWhere(byEmail))).rows).toHaveLength(1);
});
