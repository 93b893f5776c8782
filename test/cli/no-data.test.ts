import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../src/config/settings.ts';
import { scimTokens } from '../../src/store/credentials/credentials.ts';
import { openDatabase } from '../../src/store/sql/open-database.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { startService } from '../fixtures/service.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder.path, 'data');
});
afterEach(() => folder.remove());

describeOnSqlite('a folder without data', () => {
  test.each([
    ['tokens create'],
    ['tokens list'],
    ['tokens revoke x'],
    ['api-keys list'],
    ['oauth-clients list'],
    ['connections list'],
    ['people'],
    ['holds list'],
    ['shadow report'],
    ['requests'],
  ])('%s says so, names JETBRIDGE_DATA and creates nothing', async (command) => {
    expect(await runCommandLine(command.split(' '), { JETBRIDGE_DATA: data })).toEqual({
      code: 1,
      out: '',
      err: `There is no data in ${data}. Set JETBRIDGE_DATA to the folder of the server, or start the server once with "npx jetbridge serve".\n`,
    });
    expect(existsSync(data)).toBe(false);
  });

  test('sample-data creates it', async () => {
    expect(await run('sample-data', '--users', '1', '--trips', '0')).toMatchObject({ code: 0 });
    expect(existsSync(data)).toBe(true);
  });
});

const run = (...args: string[]) => runCommandLine(args, { JETBRIDGE_DATA: data });

test('tokens list shows which tokens have expired', async () => {
  await run('sample-data', '--users', '1', '--trips', '0');
  expect(await run('tokens', 'create', '--name', 'new', '--days', '1')).toMatchObject({ code: 0 });
  const shell = await recordedShell({ JETBRIDGE_DATA: data });
  const database = await openDatabase(readSettings(shell.environment, shell.home), { exclusive: false });
  const times = { createdAt: 0, expiresAt: Date.parse('2026-01-02T03:04:00Z') };
  await scimTokens(database).create({ id: 't1', name: 'old', connection: 'default', hash: 'h', ...times });
  await database.close();
  const { out } = await run('tokens', 'list');
  expect(out).toMatch(/old .*│ expired +│ 1970-01-01 00:00 +│ - +│ - +│ 2026-01-02 03:04 +│/);
  expect(out).toMatch(
    /new .*│ active +│ \d{4}-\d\d-\d\d \d\d:\d\d +│ - +│ - +│ \d{4}-\d\d-\d\d \d\d:\d\d +│/,
  );
});

test('tokens list shows when a token opened the service last', async () => {
  const service = await startService({ JETBRIDGE_DATA: data }, { background: false });
  const made = await run('tokens', 'create', '--name', 'okta');
  const headers = { Authorization: `Bearer ${made.out.trim()}` };
  expect((await fetch(`${service.url}/scim/v2/Users`, { headers })).status).toBe(200);
  await service.close();
  const { out } = await run('tokens', 'list');
  expect(out).toMatch(/okta .*│ active +│ \S+ \S+ +│ \d{4}-\d\d-\d\d \d\d:\d\d +│ - +│ - +│/);
  expect(out).toMatch(/first token .*│ active +│ \S+ \S+ +│ - +│ - +│ - +│/);
});
