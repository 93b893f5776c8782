import { ensureConnection } from '../../src/store/connections.ts';
import { auditLog } from '../../src/store/credentials/audit-log.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { NOW, person } from '../fixtures/store.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

let folder: ReturnType<typeof temporaryFolder>;
let settings: ReturnType<typeof writeSettingsFile>;
let database: Database;
let environment: Record<string, string>;
beforeEach(async () => {
  folder = temporaryFolder();
  settings = writeSettingsFile({}, { okta: {}, entra: {} });
  database = await openTestDatabase(folder.path, false);
  const { identities } = provisioningStore(database);
  for (const connection of ['okta', 'entra']) {
    await ensureConnection(database, { id: connection, account: 'embedded' });
    const hold = { cause: 'guarded', since: NOW } as const;
    const identity = person(`dan of ${connection}`, { connection, state: 'held', hold });
    await identities.commit(connection, [{ kind: 'insert', identity }]);
  }
  environment = { JETBRIDGE_DATA: folder.path, JETBRIDGE_CONFIG: settings.path };
});
afterEach(async () => {
  await database.close();
  settings.remove();
  folder.remove();
});

const alerts = (...args: string[]) => runCommandLine(['alerts', ...args], environment);
const inMinutes = /until \d{4}-\d\d-\d\d \d\d:\d\d UTC/;

test('a condition is acknowledged for some time, which the list and the audit log tell, and told again', async () => {
  expect((await alerts('list')).out).toMatch(
    /^hold entra guarded\n {2}Changes of 1 person of entra are held: .*\n/m,
  );
  const done = await alerts('acknowledge', 'hold', '--connection', 'okta', '--for', '4h');
  expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/^hold is acknowledged until /) });
  const { out } = await alerts('list');
  expect(out).toMatch(/^hold okta guarded\n.*\n {2}acknowledged by \S+ until /m);
  expect(out.match(inMinutes)).toHaveLength(1);
  const { conditions } = JSON.parse((await alerts('list', '--json')).out);
  expect(conditions).toMatchObject([
    { connection: 'entra' },
    { connection: 'okta', acknowledged: { isOfKind: false } },
  ]);
  await alerts('acknowledge', 'hold', '--connection', 'okta', '--end');
  expect((await alerts('list')).out).not.toContain('acknowledged');
  const [entry] = await auditLog(database).list({ limit: 1 });
  expect(entry).toMatchObject({
    action: 'acknowledgeCondition',
    details: { kind: 'hold', connection: 'okta', subject: 'guarded', until: 'taken back' },
    status: 204,
  });
});

test('which condition is meant must be clear, and for how long', async () => {
  expect(await alerts('acknowledge', 'hold', '--for', '4h')).toMatchObject({
    code: 2,
    err: expect.stringContaining('there are several: give --connection and --subject'),
  });
  expect(await alerts('acknowledge', 'travelOutage', '--for', '4h')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no such condition.'),
  });
  expect(await alerts('acknowledge', 'hold', '--connection', 'okta')).toMatchObject({
    code: 2,
    err: expect.stringContaining('give --for or --end'),
  });
  expect(await alerts('quiet', 'hold', '--for', '91d')).toMatchObject({
    code: 1,
    err: expect.stringContaining('until: must be in the future, within 90 days.'),
  });
});

test('a kind is kept quiet, which its conditions tell, and no others', async () => {
  expect((await alerts('quiet', 'hold', '--for', '7d')).code).toBe(0);
  const { out } = await alerts('list');
  expect(out.match(/^ {2}kept quiet by /gm)).toHaveLength(2);
  expect(out).toMatch(/^hold: kept quiet by \S+ until /m);
  await alerts('quiet', 'hold', '--end');
  expect((await alerts('list')).out).not.toContain('quiet');
  const entries = await auditLog(database).list({ limit: 2 });
  expect(entries.map(({ details }) => details)).toEqual([
    { kind: 'hold', until: 'taken back' },
    { kind: 'hold', until: expect.stringMatching(/^\d{4}-/) },
  ]);
});
