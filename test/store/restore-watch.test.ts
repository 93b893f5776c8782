import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { newIdentity } from '../../src/model/identity.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { type RestoreWatch, watchForRestore } from '../../src/store/restore/restore-watch.ts';
import { writeFileOf } from '../../src/store/restore/write-file.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { type Clock, clock } from '../fixtures/clock.ts';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

const databases = temporaryDatabases('jetbridge-watch-');
let folder: string;
let time: Clock;
let logged: string[];
let watches: RestoreWatch[];
beforeEach(() => {
  folder = createDataFolder('jetbridge-file-');
  time = clock();
  logged = [];
  watches = [];
});
afterEach(async () => {
  for (const watch of watches) await watch.close();
  rmSync(folder, { recursive: true });
});

/** Opens a database with one person, whom an IdP has written. */
async function openDatabase(): Promise<Database> {
  const database = await databases.open();
  await ensureConnection(database, { id: 'default', account: 'travel' });
  const runtime = { ...time, newId: () => 'ada' };
  const person = {
    ...newIdentity(runtime, { id: 'default' }, { userName: 'ada' }),
    state: 'synced' as const,
  };
  await provisioningStore(database).identities.commit('default', [{ kind: 'insert', identity: person }]);
  return database;
}

/** Starts the watch of one process. `beforeCount` is called after each comparison. */
async function watch(
  database: Database,
  postgres?: { url: string; connections: number },
  beforeCount: () => Promise<void> = async () => {},
) {
  const log = (_: object, message: string) => void logged.push(message.replace(/[:.].*/, ''));
  const stored = provisioningStore(database).modes;
  const modes: typeof stored = {
    ...stored,
    refresh: async (now) => {
      await beforeCount();
      return stored.refresh(now);
    },
  };
  const file = writeFileOf({ data: folder, postgres });
  const started = await watchForRestore({
    ...{ database, modes, file, runtime: time, log: { warn: log, error: log } },
  });
  watches.push(started);
  return { ...started, modes };
}

async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND_MS) {
    time.advance(SECOND_MS);
    await waitUntilIdle(20);
  }
}

/** True if the person counts as newly imported. */
const isRestored = async ({ db }: Database) =>
  (await db.selectFrom('identity').select('origin').executeTakeFirstOrThrow()).origin.includes('"stated":[]');
const forgetRestore = ({ db }: Database) => db.updateTable('identity').set({ origin: '{}' }).execute();
const fileContent = () => JSON.parse(readFileSync(join(folder, 'jetbridge.writes'), 'utf8'));
const storedWrites = async ({ db }: Database) =>
  (await db.selectFrom('database_record').select('writes').executeTakeFirstOrThrow()).writes;
const loseWrites = ({ db }: Database) => db.updateTable('database_record').set({ writes: 1 }).execute();

const RESTORED = 'the database is older than it was';

test('writes are counted in the database and in the file at most a second later', async () => {
  const database = await openDatabase();
  const { countWrite } = await watch(database);
  for (let writes = 0; writes < 5; writes += 1) countWrite();
  await advance(SECOND_MS);
  expect([Number(await storedWrites(database)), fileContent().writes]).toEqual([5, 5]);
});

test('a server that stops counts its last writes, and the next one sees nothing unusual', async () => {
  const database = await openDatabase();
  const { countWrite, close } = await watch(database);
  countWrite();
  const closed = close();
  await closed;
  expect(fileContent().writes).toBe(1);
  await watch(database);
  expect([await isRestored(database), logged]).toEqual([false, []]);
});

test('a database behind the file was restored, once', async () => {
  const database = await openDatabase();
  const first = await watch(database);
  for (let writes = 0; writes < 5; writes += 1) first.countWrite();
  await first.close();
  await loseWrites(database);
  const { onRestored } = await watch(database);
  let told = 0;
  onRestored(() => {
    told += 1;
  });
  expect([await isRestored(database), told, logged]).toEqual([true, 1, [RESTORED]]);
  await forgetRestore(database);
  await advance(5 * SECOND_MS);
  await watch(database);
  expect([await isRestored(database), told, logged]).toEqual([false, 1, [RESTORED]]);
});

test('a database that falls behind what the process has seen was restored, without a file', async () => {
  const database = await openDatabase();
  const { countWrite } = await watch(database);
  for (let writes = 0; writes < 5; writes += 1) countWrite();
  await advance(SECOND_MS);
  rmSync(join(folder, 'jetbridge.writes'));
  await loseWrites(database);
  await advance(SECOND_MS);
  expect([await isRestored(database), logged]).toEqual([true, [RESTORED]]);
});

test.each([
  ['a write', 1],
  ['more writes than were lost', 10],
  ['no write', 0],
])(
  'a database that is restored between the comparison and the count of %s is recognised',
  async (_, since) => {
    const database = await openDatabase();
    let isDue = false;
    const { countWrite } = await watch(database, undefined, async () => {
      if (isDue) await loseWrites(database);
      isDue = false;
    });
    for (let writes = 0; writes < 5; writes += 1) countWrite();
    await advance(SECOND_MS);
    for (let writes = 0; writes < since; writes += 1) countWrite();
    isDue = true;
    await advance(2 * SECOND_MS);
    expect([await isRestored(database), logged]).toEqual([true, [RESTORED]]);
    await advance(SECOND_MS);
    expect(Number(await storedWrites(database))).toBe(6 + since);
  },
);

test('an empty database beside an old file was restored, and one at another place was not', async () => {
  const url = (name: string) => ({ url: `postgres://localhost/${name}`, connections: 1 });
  await watch(await openDatabase(), url('one'));
  await watch(await openDatabase(), url('two'));
  expect(logged).toEqual([]);
  const empty = await openDatabase();
  await watch(empty, url('two'));
  expect([await isRestored(empty), logged]).toEqual([true, [RESTORED]]);
});

test('a copy at another place is compared with the original', async () => {
  const url = (name: string) => ({ url: `postgres://localhost/${name}`, connections: 1 });
  const database = await openDatabase();
  const { countWrite, close } = await watch(database, url('one'));
  for (let writes = 0; writes < 5; writes += 1) countWrite();
  await close();
  await loseWrites(database);
  await watch(database, url('two'));
  expect(logged).toEqual([RESTORED]);
});

test('a folder that cannot be written is logged once, and the database is watched nevertheless', async () => {
  const database = await openDatabase();
  // A folder in the place of the file cannot be replaced by a file.
  const { countWrite } = await watch(database);
  rmSync(join(folder, 'jetbridge.writes'));
  mkdirSync(join(folder, 'jetbridge.writes', 'obstacle'), { recursive: true });
  for (let seconds = 0; seconds < 3; seconds += 1) {
    countWrite();
    await advance(SECOND_MS);
  }
  expect(logged).toEqual(['the file beside the data could not be written']);
  expect(Number(await storedWrites(database))).toBe(3);
  await loseWrites(database);
  await advance(SECOND_MS);
  expect(await isRestored(database)).toBe(true);
});

test('the time without a server is known at the start', async () => {
  const database = await openDatabase();
  const { close } = await watch(database);
  await advance(2 * MINUTE_MS);
  await close();
  time.advance(30 * MINUTE_MS);
  const { gapMs } = await watch(database);
  expect(gapMs).toBeGreaterThanOrEqual(30 * MINUTE_MS);
  expect(gapMs).toBeLessThanOrEqual(31 * MINUTE_MS);
});
