import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { StoreUnavailable } from '../../src/model/unavailable.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
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

/** Makes every write fail, as on a full disk; reads still work. */
async function forbidWrites(): Promise<void> {
  await sql`pragma query_only = on`.execute(database.db);
}

async function allowWrites(): Promise<void> {
  await sql`pragma query_only = off`.execute(database.db);
}

const down = () => ({ kind: 'unavailable', text: 'down' }) as const;

/** Creates a user while the travel API is down, so that the traveler is still to be created. Returns the SCIM id. */
async function createPendingUser(name: string): Promise<string> {
  fixture.travel.faultFor = down;
  const { id } = await fixture.bridge.users.create('default', person(name));
  fixture.travel.faultFor = () => undefined;
  fixture.clock.advance(60_000);
  return id;
}

test('a write is refused as unavailable, and nothing of it is stored', async () => {
  await forbidWrites();
  await expect(fixture.bridge.users.create('default', person('Ada'))).rejects.toThrow(StoreUnavailable);
  await allowWrites();
  expect((await fixture.bridge.users.list('default', usersWhere({ all: [] }))).total).toBe(0);
  expect(fixture.travel.writes()).toEqual([]);
});

test('while leases cannot be saved, reconciling due identities ends with an error and makes no call', async () => {
  const id = await createPendingUser('Ada');
  const callsBefore = fixture.travel.calls.length;
  await forbidWrites();
  await expect(fixture.bridge.reconcileDue()).rejects.toThrow('leases or outcomes could not be saved');
  expect(fixture.travel.calls).toHaveLength(callsBefore);
  await allowWrites();
  await fixture.bridge.reconcileDue();
  expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada') });
});

test('the background tasks wait longer after each failed write, and continue when writes work again', async () => {
  const id = await createPendingUser('Ada');
  await forbidWrites();
  let refusedWrites = 0;
  database.onUnavailable(() => {
    refusedWrites += 1;
  });
  const background = fixture.bridge.startBackground();
  const advanceBySeconds = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      fixture.clock.advance(1_000);
      await waitUntilIdle();
    }
  };
  await advanceBySeconds(60);
  // The loops of due identities and of the import retry after 1, 2, 4, 8 and then every 10 seconds.
  expect(refusedWrites).toBeGreaterThan(4);
  expect(refusedWrites).toBeLessThan(30);
  await allowWrites();
  await advanceBySeconds(11);
  expect(await fixture.traveler(id)).toMatchObject({ email: addressOf('Ada') });
  await background.stop();
});

test('an attempt whose outcome could not be saved is repeated once writes work again, without a second traveler', async () => {
  const id = await createPendingUser('Ada');
  const writesBefore = fixture.travel.writes().length;
  fixture.travel.faultFor = async ({ verb }) => {
    if (verb === 'create') await forbidWrites();
    return undefined;
  };
  await expect(fixture.bridge.reconcileDue()).rejects.toThrow('leases or outcomes could not be saved');
  expect(fixture.travel.writes()).toHaveLength(writesBefore + 1);
  await expect(fixture.bridge.reconcileDue()).rejects.toThrow('outcomes could not be saved');
  await allowWrites();
  fixture.travel.faultFor = () => undefined;
  // Far less than the duration of the lease.
  await fixture.reconcileAfter(10_000);
  expect(await fixture.identity(id)).toMatchObject({ state: 'synced' });
  expect(fixture.travel.travelers.size).toBe(2);
  expect(fixture.travel.writes()).toHaveLength(writesBefore + 1);
});

test('a search for a traveler that the store does not know finds nothing while writes fail', async () => {
  fixture.travel.addTraveler({ email: addressOf('Ada') });
  const byEmail = { field: 'userName', operator: 'eq', value: addressOf('Ada') } as const;
  await forbidWrites();
  expect((await fixture.bridge.users.list('default', usersWhere(byEmail))).rows).toEqual([]);
  await allowWrites();
  fixture.clock.advance(10_000);
  expect((await fixture.bridge.users.list('default', usersWhere(byEmail))).rows).toHaveLength(1);
});
