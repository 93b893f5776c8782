import { join } from 'node:path';
import { createToken } from '../../src/cli/credentials.ts';
import { doctor } from '../../src/cli/doctor.ts';
import { makeSampleCompany } from '../../src/cli/travel-service.ts';
import { type Answerer, type TravelServer, travelServer } from '../adapter/travel-server.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { startService } from '../fixtures/service.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: { JETBRIDGE_DATA: string };
beforeEach(() => {
  folder = temporaryFolder();
  data = { JETBRIDGE_DATA: join(folder.path, 'data') };
});
afterEach(() => folder.remove());

/** Runs the doctor and returns its lines, and its exit code. */
async function examine(environment: Record<string, string> = {}) {
  const shell = await recordedShell({ ...data, ...environment });
  const code = await doctor(shell);
  return { code, lines: shell.out };
}

const lineOf = (lines: string[], check: string) =>
  lines.find((line) => line.slice(9).startsWith(check)) ?? '';

test('finds nothing wrong beside a running server, and translates its people', async () => {
  const service = await startService(data);
  await fetch(`${service.url}/scim/v2/Users`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.scimToken}`, 'Content-Type': 'application/scim+json' },
    body: JSON.stringify({ userName: 'ada@corp.example', name: { givenName: 'Ada', familyName: 'Byron' } }),
  });
  const { code, lines } = await examine();
  await service.close();
  expect(code).toBe(0);
  expect(lineOf(lines, 'database')).toMatch(
    /^ok {7}database: (SQLite|PostgreSQL) [\d.]+.* can be written, \d+ MB$/,
  );
  expect(lineOf(lines, 'encryption key')).toBe('ok       encryption key: decrypts all stored secrets');
  expect(lineOf(lines, 'held changes')).toMatch(/^ok /);
  expect(lineOf(lines, 'mapping of default')).toBe(
    'ok       mapping of default: translates 1 person without findings',
  );
});

describeOnSqlite('without a database', () => {
  test('a folder without data is a fault', async () => {
    const { code, lines } = await examine();
    expect(code).toBe(1);
    expect(lineOf(lines, 'database')).toMatch(/^fault {4}database: There is no data in .*JETBRIDGE_DATA/);
  });
});

test('a token that ends soon is a warning with the command that makes another', async () => {
  const shell = await recordedShell(data);
  await makeSampleCompany(shell, { users: 1, trips: 0, seed: 1 });
  await createToken(shell, { connection: 'default', name: 'okta', days: 7 });
  const { code, lines } = await examine();
  expect(code).toBe(0);
  expect(lineOf(lines, 'tokens')).toMatch(
    /^warning {2}tokens: the token "okta" of the connection default ends on \S+\. Run: npx jetbridge tokens create --connection default$/,
  );
});

test('--json prints one object for each check', async () => {
  const shell = await recordedShell(data);
  await makeSampleCompany(shell, { users: 1, trips: 0, seed: 1 });
  const json = await recordedShell(data);
  expect(await doctor(json, { json: true })).toBe(1);
  expect(json.out.map((line) => JSON.parse(line))).toContainEqual({
    check: 'tokens',
    state: 'fault',
    text: 'no valid credential opens the connection default',
    remedy: 'Run: npx jetbridge tokens create --connection default',
  });
});

describe('a travel API', () => {
  let travel: TravelServer;
  afterEach(() => travel.close());

  async function withTravel(answer: Answerer) {
    travel = await travelServer(answer);
    const settings = { TRAVEL_API_URL: travel.url, TRAVEL_API_KEY: 'the-key-of-the-travel-service' };
    await (await startService({ ...data, ...settings }, { background: false })).close();
    const { code, lines } = await examine({ ...settings, SCIM_TOKEN: 'the-token-of-the-provider' });
    return { code, line: lineOf(lines, 'travel API of default'), lines };
  }

  test('that refuses the credential is a fault', async () => {
    const { code, line } = await withTravel((_request, response) => response.writeHead(401).end());
    expect([code, line]).toEqual([
      1,
      'fault    travel API of default: refuses the credential in TRAVEL_API_KEY (401). Set TRAVEL_API_KEY to a valid credential and restart the server.',
    ]);
  });

  test('that hangs up is a fault', async () => {
    const { code, line } = await withTravel((_request, response) => response.destroy());
    expect(code).toBe(1);
    expect(line).toMatch(/^fault .*ECONNRESET.*Check TRAVEL_API_URL/);
  });

  test('whose clock differs is a warning', async () => {
    const { lines } = await withTravel((_request, response) =>
      response.writeHead(401, { Date: 'Thu, 01 Jan 2026 00:00:00 GMT' }).end(),
    );
    expect(lines.join('\n')).toMatch(/warning {2}travel API of default: its clock differs by -\d+ s/);
  });
});
