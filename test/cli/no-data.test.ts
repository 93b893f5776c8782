import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createToken, listApiKeys, listTokens, revokeToken } from '../../src/cli/credentials.ts';
import { listClients } from '../../src/cli/oauth-clients.ts';
import type { Shell } from '../../src/cli/output.ts';
import { showRequests } from '../../src/cli/requests.ts';
import { makeSampleCompany } from '../../src/cli/travel-service.ts';
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
  const commands: [string, (shell: Shell) => Promise<unknown>][] = [
    ['tokens create', (shell) => createToken(shell, { connection: 'default', name: 'okta' })],
    ['tokens list', listTokens],
    ['tokens revoke', (shell) => revokeToken(shell, 'x')],
    ['api-keys list', listApiKeys],
    ['oauth-clients list', listClients],
    ['requests', (shell) => showRequests(shell, { limit: 1 })],
  ];

  test.each(commands)('%s says so, names JETBRIDGE_DATA and creates nothing', async (_name, command) => {
    const shell = await recordedShell({ JETBRIDGE_DATA: data });
    await expect(command(shell)).rejects.toThrow(
      `There is no data in ${data}. Set JETBRIDGE_DATA to the folder of the server, or start the server once with "npx jetbridge serve".`,
    );
    expect(existsSync(data)).toBe(false);
  });

  test.each(['connections list', 'people', 'holds list', 'shadow report'])(
    '%s says so, and creates nothing',
    async (line) => {
      expect(await runCommandLine(line.split(' '), { JETBRIDGE_DATA: data })).toEqual({
        ...{ code: 1, out: '' },
        err: expect.stringContaining(`There is no data in ${data}. Set JETBRIDGE_DATA`),
      });
      expect(existsSync(data)).toBe(false);
    },
  );

  test('sample-data creates it', async () => {
    const shell = await recordedShell({ JETBRIDGE_DATA: data });
    expect(await makeSampleCompany(shell, { users: 1, trips: 0, seed: 1 })).toBe(0);
    expect(existsSync(data)).toBe(true);
  });
});

test('tokens list shows which tokens have expired', async () => {
  const shell = await recordedShell({ JETBRIDGE_DATA: data });
  await makeSampleCompany(shell, { users: 1, trips: 0, seed: 1 });
  expect(await createToken(shell, { connection: 'default', name: 'new', days: 1 })).toBe(0);
  const database = await openDatabase(readSettings(shell.environment, shell.home), { exclusive: false });
  const times = { createdAt: 0, expiresAt: Date.parse('2026-01-02T03:04:00Z') };
  await scimTokens(database).create({ id: 't1', name: 'old', connection: 'default', hash: 'h', ...times });
  await database.close();
  await listTokens(shell);
  const table = shell.out.join('\n');
  expect(table).toMatch(/old .*│ never +│ expired 2026-01-02 03:04 │/);
  expect(table).toMatch(/new .*│ never +│ \d{4}-\d\d-\d\d \d\d:\d\d +│/);
});

test('tokens list shows when a token opened the service last', async () => {
  const service = await startService({ JETBRIDGE_DATA: data }, { background: false });
  const shell = await recordedShell({ JETBRIDGE_DATA: data });
  await createToken(shell, { connection: 'default', name: 'okta' });
  const headers = { Authorization: `Bearer ${shell.out.at(-1)}` };
  expect((await fetch(`${service.url}/scim/v2/Users`, { headers })).status).toBe(200);
  await service.close();
  await listTokens(shell);
  const table = shell.out.join('\n');
  expect(table).toMatch(/okta .*│ \d{4}-\d\d-\d\d \d\d:\d\d │ never +│/);
  expect(table).toMatch(/first token .*│ never +│ never +│/);
});
