import { join } from 'node:path';
import { connectionSchema } from '../../src/config/connection-schema.ts';
import { type ConnectionSettings, readSettings } from '../../src/config/settings.ts';
import { start } from '../../src/server/start.ts';
import { storedConnections } from '../../src/server/stored-connections.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { addStoredConnection, replaceStoredSettings } from '../../src/store/stored-connections.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { withTestDatabase } from '../fixtures/test-database.ts';

const databases = temporaryDatabases('jetbridge-stored-connections-');
const home = join(__dirname, '../..');
const embedded = { travelApi: { url: 'embedded' } };

/** A process that follows the connections of a database. Its connections are their settings. */
async function follower(environment: Record<string, string> = {}) {
  const database = await databases.open();
  const settings = readSettings(environment, home);
  const connections = settings.connections.map((one) => ({ settings: one }));
  const log: object[] = [];
  const recorded: [string, boolean][] = [];
  const followed = storedConnections({
    ...{ settings, database, connections: connections as never, embedded: {} as never },
    store: provisioningStore(database),
    runtime: { now: () => 0, wait: async () => {} } as never,
    live: {
      recordServed: async (id: string, isServed: boolean) => void recorded.push([id, isServed]),
    } as never,
    log: { warn: (fields) => log.push(fields), error: (fields) => log.push(fields) },
    serveConnection: (added: ConnectionSettings) => void connections.push({ settings: added }),
    endConnection: async (id: string) =>
      void connections.splice(
        connections.findIndex((one) => one.settings.id === id),
        1,
      ),
  });
  const ids = () => connections.map((one) => one.settings.id);
  const find = (id: string) => connections.find((one) => one.settings.id === id)?.settings;
  const store = (id: string, stored: object) =>
    addStoredConnection(database, { connection: { id, account: 'embedded' }, settings: stored, now: 0 });
  return { database, followed, ids, find, store, log, recorded };
}

test('a connection that another process has stored is served, and ended when it is removed', async () => {
  const { database, followed, ids, store, recorded } = await follower();
  await store('okta', embedded);
  await followed.sync();
  await followed.sync();
  expect(ids()).toEqual(['default', 'okta']);
  expect(database.scopes.of('okta')).toEqual({ account: 'embedded', connection: 'okta' });
  await replaceStoredSettings(database, { id: 'okta', settings: embedded }, null);
  await followed.sync();
  expect(ids()).toEqual(['default']);
  expect(recorded).toEqual([
    ['okta', true],
    ['okta', false],
  ]);
});

test('policies change in place, so that what runs goes on; another travel API is another connection', async () => {
  const { database, followed, find, store, recorded } = await follower({
    ...{ OTHER_KEY: 'b6f1c2d3e4f5a6978899aabbccddeeff', OTHER_KEY_URL: 'https://travel.example.com' },
  });
  await store('okta', embedded);
  await followed.sync();
  const before = find('okta');
  const changed = { ...embedded, policies: { safetyValve: false as const } };
  expect(await replaceStoredSettings(database, { id: 'okta', settings: embedded }, changed)).toBe(true);
  await followed.sync();
  expect(find('okta')).toBe(before);
  expect(before?.policies.safetyValve).toBeUndefined();
  const moved = { travelApi: { url: 'https://travel.example.com', keyEnv: 'OTHER_KEY' } };
  await replaceStoredSettings(database, { id: 'okta', settings: changed }, moved);
  await followed.sync();
  expect(find('okta')?.travelApi.url).toBe('https://travel.example.com');
  expect(recorded).toEqual([
    ['okta', true],
    ['okta', true],
  ]);
});

test('settings that somebody else has replaced meanwhile are not replaced', async () => {
  const { database, store } = await follower();
  await store('okta', embedded);
  const stale = { id: 'okta', settings: connectionSchema.parse({}) };
  expect(await replaceStoredSettings(database, stale, {})).toBe(false);
});

test('a connection with a fault on this machine is not served, which is logged once', async () => {
  const { followed, ids, store, log } = await follower();
  await store('okta', { travelApi: { url: 'https://travel.example.com', keyEnv: 'ABSENT' } });
  await followed.sync();
  await followed.sync();
  expect(ids()).toEqual(['default']);
  expect(log).toEqual([
    {
      connection: 'okta',
      faults: [expect.stringMatching(/names ABSENT, which is not declared .* or set ABSENT_URL to the URL/)],
    },
  ]);
});

test('a connection of the settings file takes precedence over a stored one of the same name', async () => {
  const { followed, find, ids, store } = await follower();
  await store('default', { ...embedded, policies: { drift: 'correct' } });
  await followed.sync();
  expect(ids()).toEqual(['default']);
  expect(find('default')).toMatchObject({ source: 'file', policies: { drift: 'report' } });
});

test('a stored connection is served from the start of a process on', async () => {
  const data = databases.newFolder();
  const environment = await withTestDatabase({ PORT: '0', JETBRIDGE_DATA: data, LOG_LEVEL: 'silent' });
  const settings = readSettings(environment, home);
  const first = await start(settings);
  await first.close();
  const database = await databases.open(data, false);
  const connection = { id: 'okta', account: 'embedded' };
  await addStoredConnection(database, { connection, settings: embedded, now: 0 });
  const second = await start(settings);
  await eventually(async () => expect(await second.identities('okta')).toEqual([]));
  await second.close();
});
