import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runDoctor } from '../../src/checks/doctor.ts';
import { doctor } from '../../src/cli/service/doctor.ts';
import { makeSampleCompany } from '../../src/cli/service/travel-service.ts';
import { readSettings } from '../../src/config/settings.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { scimTokens } from '../../src/store/credentials/credentials.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { openDatabase } from '../../src/store/sql/open-database.ts';
import { addStoredConnection } from '../../src/store/stored-connections.ts';
import { type Answerer, json, type TravelServer, travelServer } from '../adapter/travel-server.ts';
import { type CertificateFiles, certificateFiles } from '../fixtures/certificate.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { folderForEachTest } from '../fixtures/folder-for-each-test.ts';
import { startService } from '../fixtures/service.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { NOW, person } from '../fixtures/store.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';

const { data } = folderForEachTest();

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
  beforeEach(() => rmSync(data.JETBRIDGE_DATA, { recursive: true }));

  test('a folder without data is a fault', async () => {
    const { code, lines } = await examine();
    expect(code).toBe(1);
    expect(lineOf(lines, 'database')).toMatch(/^fault {4}database: There is no data in .*JETBRIDGE_DATA/);
  });

  test('a file in place of the data folder is a fault', async () => {
    writeFileSync(data.JETBRIDGE_DATA, '');
    const { code, lines } = await examine();
    expect(code).toBe(1);
    expect(lineOf(lines, 'database')).toMatch(/^fault {4}database: .*ENOTDIR: not a directory, stat /);
    expect(lineOf(lines, 'data folder')).toBe(
      `fault    data folder: ${data.JETBRIDGE_DATA} is a file. Set JETBRIDGE_DATA to a folder.`,
    );
  });

  test('a file that is no database is a fault with the folder and what to do, as at the start', async () => {
    mkdirSync(data.JETBRIDGE_DATA);
    writeFileSync(join(data.JETBRIDGE_DATA, 'jetbridge.db'), 'x'.repeat(5000));
    const { code, lines } = await examine();
    expect(code).toBe(1);
    expect(lineOf(lines, 'database')).toBe(
      `fault    database: The database in ${data.JETBRIDGE_DATA} cannot be used: file is not a database. ` +
        'Restore a backup, or point JETBRIDGE_DATA at another folder. ' +
        'Then run this again: checks that need it were left out.',
    );
  });
});

test('a token that ends soon is a warning with the command that makes another', async () => {
  const shell = await recordedShell(data);
  await makeSampleCompany(shell, { users: 1, trips: 0, seed: 1 });
  await runCommandLine(['tokens', 'create', '--name', 'okta', '--days', '7'], data);
  const { code, lines } = await examine();
  expect(code).toBe(0);
  expect(lineOf(lines, 'tokens')).toMatch(
    /^warning {2}tokens: A token of the connection default ends on [\d-]+ \("okta"\)\. Run: npx jetbridge tokens create --connection default$/,
  );
});

test('a token that has ended and a connection that no credential opens are told', async () => {
  const shell = await recordedShell(data);
  await makeSampleCompany(shell, { users: 1, trips: 0, seed: 1 });
  const database = await openDatabase(readSettings(shell.environment, shell.home), { exclusive: false });
  await ensureConnection(database, { id: 'default', account: 'embedded' });
  const times = { createdAt: 0, expiresAt: Date.now() - 1 };
  await scimTokens(database).create({ id: 't1', name: 'old', connection: 'default', hash: 'h', ...times });
  await database.close();
  const { code, lines } = await examine();
  expect(code).toBe(1);
  expect(lineOf(lines, 'tokens')).toMatch(
    /^fault .*no valid credential opens the connection default\. Run: npx jetbridge tokens create/,
  );
});

describe('the certificate', () => {
  let files: CertificateFiles;
  afterEach(() => files.remove());

  async function certificateLine(wanted: { from?: number; to?: number }) {
    files = await certificateFiles(wanted);
    const { lines } = await examine({ TLS_CERT: files.cert, TLS_KEY: files.key });
    return lineOf(lines, 'certificate');
  }

  test('that ends in more than 30 days is in order', async () => {
    expect(await certificateLine({ to: 31 })).toMatch(
      /^ok {7}certificate: the certificate in TLS_CERT ends on \d{4}-/,
    );
  });

  test('that ends within 30 days is a warning, with what to do', async () => {
    expect(await certificateLine({ to: 29 })).toMatch(
      /^warning {2}certificate: .* ends on .*Renew it in the files of TLS_CERT and TLS_KEY, then send SIGHUP/,
    );
  });

  test('that has ended, or is not valid yet, is a fault', async () => {
    expect(await certificateLine({ from: -9, to: -1 })).toMatch(/^fault {4}certificate: .* ended on .*Renew/);
    files.remove();
    expect(await certificateLine({ from: 1 })).toMatch(/^fault {4}certificate: .* begins on /);
  });

  test('with the key of another one is told with the variable', async () => {
    files = await certificateFiles();
    const { cert } = files;
    const other = await certificateFiles();
    await expect(examine({ TLS_CERT: cert, TLS_KEY: other.key })).rejects.toThrow(
      'environment TLS_KEY: does not belong to the certificate in TLS_CERT.',
    );
    other.remove();
  });
});

test('little disk space is a warning, and almost none a fault', async () => {
  const shell = await recordedShell(data);
  await makeSampleCompany(shell, { users: 1, trips: 0, seed: 1 });
  const settings = readSettings(shell.environment, shell.home);
  const measured: string[] = [];
  const spaceLeft = async (megabytes: number) => {
    const measure = (path: string) => {
      measured.push(path);
      return megabytes * 1024 * 1024;
    };
    const results = await runDoctor(settings, Date.now(), measure);
    return results.find(({ check }) => check === 'data folder');
  };
  mkdirSync(settings.data, { recursive: true, mode: 0o700 });
  chmodSync(settings.data, 0o700);
  expect(await spaceLeft(1_024)).toMatchObject({
    state: 'ok',
    text: expect.stringContaining('1024 MB are free'),
  });
  expect(await spaceLeft(1_023)).toEqual({
    check: 'data folder',
    state: 'warning',
    text: `only 1023 MB are free on the disk of ${settings.data}`,
    remedy: 'Make room on the disk.',
  });
  expect(await spaceLeft(99)).toMatchObject({ state: 'fault' });
  expect(new Set(measured)).toEqual(new Set([settings.data]));
});

test('a data folder that others may enter is a warning', async () => {
  await makeSampleCompany(await recordedShell(data), { users: 1, trips: 0, seed: 1 });
  mkdirSync(data.JETBRIDGE_DATA, { recursive: true });
  chmodSync(data.JETBRIDGE_DATA, 0o755);
  const { lines } = await examine();
  expect(lineOf(lines, 'data folder')).toMatch(
    /^warning {2}data folder: other users may enter .*Run: chmod 700 /,
  );
});

/** Starts the service with a webhook, whose secret is encrypted, and stops it. */
async function makeWebhook(keys: Record<string, string>): Promise<void> {
  const service = await startService({ ...data, ...keys, TRAVEL_API_KEY }, { background: false });
  const created = await fetch(`${service.url}/api/webhooks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TRAVEL_API_KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ data: { url: 'https://hooks.example/travel' } }),
  });
  expect(created.status).toBe(201);
  await service.close();
}

const TRAVEL_API_KEY = 'travel-key-of-the-tests';

test('secrets of webhooks that another key encrypted are a fault', async () => {
  const keys = { TRAVEL_API_KEY, JETBRIDGE_KEY: randomBytes(32).toString('hex') };
  await makeWebhook(keys);
  expect(lineOf((await examine(keys)).lines, 'encryption key')).toMatch(/^ok /);
  const { code, lines } = await examine({ ...keys, JETBRIDGE_KEY: randomBytes(32).toString('hex') });
  expect(code).toBe(1);
  expect(lineOf(lines, 'encryption key')).toMatch(
    /^fault {4}encryption key: decrypts not all .*: 1 was encrypted with another key\. Set JETBRIDGE_KEY_PREVIOUS/,
  );
});

// With PostgreSQL the key must be in the settings.
describeOnSqlite('a key file', () => {
  test('that is missing is a fault; neither doctor nor requests create another key', async () => {
    await makeWebhook({});
    const file = join(data.JETBRIDGE_DATA, 'jetbridge.key');
    rmSync(file);
    const { code, lines } = await examine();
    expect(code).toBe(1);
    expect(lineOf(lines, 'encryption key')).toMatch(
      /^fault {4}encryption key: .*jetbridge\.key is missing, .*Restore it from a backup, or set JETBRIDGE_KEY\./,
    );
    expect(await runCommandLine(['requests', '--limit', '1'], data)).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(false);
  });

  const damages: [string, (file: string) => void, RegExp][] = [
    ['is damaged', (file) => writeFileSync(file, 'xyz\n'), /jetbridge\.key holds no key\. Restore it from a/],
    [
      'is a folder',
      (file) => mkdirSync(file),
      /jetbridge\.key is a folder, and must be a file\. Restore it from a/,
    ],
  ];

  test.each(damages)('that %s is a fault, and all other checks are made', async (_title, damage, text) => {
    const service = await startService(data);
    await service.close();
    const sound = await examine();
    const file = join(data.JETBRIDGE_DATA, 'jetbridge.key');
    rmSync(file);
    damage(file);
    const { code, lines } = await examine();
    expect(code).toBe(1);
    expect(lineOf(lines, 'encryption key')).toMatch(/^fault /);
    expect(lineOf(lines, 'encryption key')).toMatch(text);
    const others = (all: string[]) => all.filter((line) => !/ (encryption key|data folder): /.test(line));
    expect(others(lines)).toEqual(others(sound.lines));
  });
});

/** Opens the database of an embedded travel service with one person. */
async function openCompany() {
  const shell = await recordedShell(data);
  await makeSampleCompany(shell, { users: 1, trips: 0, seed: 1 });
  return openDatabase(readSettings(shell.environment, shell.home), { exclusive: false });
}

test('a connection of the database is tried like one of the settings file', async () => {
  const database = await openCompany();
  const add = (id: string, travelApi: object) =>
    addStoredConnection(database, { connection: { id, account: id }, settings: { travelApi }, now: NOW });
  await add('okta', { url: 'embedded' });
  await add('entra', { url: 'https://travel.corp.example', keyEnv: 'ENTRA_KEY' });
  await database.close();
  const { code, lines } = await examine();
  expect(code).toBe(1);
  expect(lineOf(lines, 'travel API of okta')).toMatch(/^ok .* is the embedded service/);
  expect(lineOf(lines, 'mapping of okta')).toBe(
    'ok       mapping of okta: translates 0 people without findings',
  );
  expect(lineOf(lines, 'connection entra')).toMatch(/^fault .*ENTRA_KEY/);
});

test('of many people the first ones are translated, and the number of all is told', async () => {
  const database = await openCompany();
  await ensureConnection(database, { id: 'default', account: 'embedded' });
  const people = Array.from({ length: 101 }, (_, index) => ({
    ...person(`p${index}`, { connection: 'default' }),
  }));
  await provisioningStore(database).identities.commit(
    'default',
    people.map((identity) => ({ kind: 'insert', identity })),
  );
  await database.close();
  const { lines } = await examine();
  expect(lineOf(lines, 'mapping of default')).toMatch(/100 of 101 people, those who were created first,/);
});

test('held changes are a warning with their number and cause', async () => {
  const database = await openCompany();
  await ensureConnection(database, { id: 'default', account: 'embedded' });
  const hold = { cause: 'safetyValve', since: NOW } as const;
  for (const id of ['ada', 'bob']) {
    const desired = { ...person(id).desired, active: false };
    const identity = person(id, { connection: 'default', desired, state: 'held', hold });
    await provisioningStore(database).identities.commit('default', [{ kind: 'insert', identity }]);
  }
  await database.close();
  const { lines } = await examine();
  expect(lineOf(lines, 'held changes')).toBe(
    'warning  held changes: Changes of 2 people are held: the safety valve has stopped these departures. Run: npx jetbridge holds list',
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
    expect(line).toMatch(
      /^fault .*ECONNRESET.*Check the URL http:\/\/127\.0\.0\.1:\d+ and travelApi\.paths of the connection default,/,
    );
  });

  /** Answers as a travel API with one traveler, the bridge's own user; others answer 404 with this body. */
  const withNotFound =
    (body: unknown, ownStatus = 200): Answerer =>
    ({ url }, response) => {
      const own = { id: 'u1', email: 'bridge@travel.example' };
      if (url.startsWith('/api/whoami')) json(response, 200, { data: own });
      else if (url === '/api/users/u1') json(response, ownStatus, ownStatus === 200 ? { data: own } : body);
      else if (url.startsWith('/api/users/')) json(response, 404, body);
      else json(response, 200, { data: [] });
    };

  test.each([
    ['that never sends error codes is a warning about its profile', {}, 200, /profile must say so/],
    [
      'behind a gateway that knows no traveler is a warning',
      { message: 'no Route' },
      404,
      /what stands between/,
    ],
    ['that sends error codes is in order', { code: 'notFound' }, 200, undefined],
  ])('%s', async (_title, body, ownStatus, warning) => {
    const { lines } = await withTravel(withNotFound(body, ownStatus));
    const warnings = lines.filter((line) => line.startsWith('warning  travel API of default'));
    expect(warnings).toEqual(warning ? [expect.stringMatching(warning)] : []);
  });

  test('whose clock differs is a warning', async () => {
    const { lines } = await withTravel((_request, response) =>
      response.writeHead(401, { Date: 'Thu, 01 Jan 2026 00:00:00 GMT' }).end(),
    );
    expect(lines.join('\n')).toMatch(/warning {2}travel API of default: its clock differs by -\d+ s/);
  });
});

test('a database at another machine without TLS is a warning', async () => {
  // An address that is not loopback and leads to this machine, where nothing listens at the port.
  const environment = {
    DATABASE_URL: 'postgres://jetbridge:password@0.0.0.0:1/jetbridge',
    JETBRIDGE_KEY: randomBytes(32).toString('hex'),
  };
  const { lines } = await examine(environment);
  expect(lineOf(lines, 'database connection')).toMatch(
    /^warning {2}database connection: DATABASE_URL leads to another machine without TLS: .* Give sslmode=verify-full/,
  );
});
