import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite-file.ts';
import { certificateFiles } from '../fixtures/certificate.ts';
import { eventually } from '../fixtures/eventually.ts';
import {
  type JetbridgeServer,
  runJetbridge,
  serveJetbridge,
  temporaryFolder,
} from '../fixtures/jetbridge.ts';
import { shownCertificate } from '../fixtures/plain-and-tls.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';

/** An empty data folder for each test, and files in it. */
let folder: ReturnType<typeof temporaryFolder>;
let data: { JETBRIDGE_DATA: string };
beforeEach(() => {
  folder = temporaryFolder();
  data = { JETBRIDGE_DATA: join(folder.path, 'data') };
});
afterEach(() => folder.remove());

function file(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

it('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'));
  expect(await runJetbridge(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

describe('serve', () => {
  it('prints the created secrets once, and exits with 0 on SIGTERM', async () => {
    const first = await serveJetbridge(data);
    const token = /SCIM token {6}(scim_\S{43})\n/.exec(first.welcome)?.[1] ?? '';
    const key = /travel API key {2}(travel_\S{43})\n/.exec(first.welcome)?.[1] ?? '';
    expect(await statusOf(first, token)).toBe(200);
    expect(await first.stop()).toMatchObject({ code: 0, out: '' });

    const second = await serveJetbridge(data);
    expect(second.welcome).not.toMatch(/scim_|travel_/);
    expect(await statusOf(second, token)).toBe(200);
    const travel = await fetch(`${second.url}/api/whoami`, { headers: { Authorization: `Bearer ${key}` } });
    expect(travel.status).toBe(200);
    expect((await second.stop()).code).toBe(0);
  });

  it('names the variable whose credential the travel API refuses, and serves nevertheless', async () => {
    const refusing = createServer((_request, response) => response.writeHead(401).end());
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const { port } = refusing.address() as AddressInfo;
    const settings = { TRAVEL_API_URL: `http://127.0.0.1:${port}`, TRAVEL_API_KEY: 'not-the-key-of-anyone' };
    const server = await serveJetbridge({ ...data, ...settings });
    expect(await statusOf(server, 'wrong')).toBe(401);
    await eventually(async () =>
      expect(server.errors()).toContain('refuses the credential in TRAVEL_API_KEY (401)'),
    );
    expect(await server.stop()).toMatchObject({ code: 0 });
    refusing.close();
  });

  it('goes on after SIGHUP without a certificate, and applies a changed mapping file', async () => {
    const mapping = file('mapping.json', '{"scimUserMapping": []}');
    const settings = writeSettingsFile({}, { default: { mapping } });
    const server = await serveJetbridge({ ...data, JETBRIDGE_CONFIG: settings.path, LOG_LEVEL: 'info' });
    file(
      'mapping.json',
      '{"scimUserMapping": [{ "scimAttribute": "nickName", "userAttribute": "firstName" }]}',
    );
    server.signal('SIGHUP');
    await eventually(async () =>
      expect(server.log()).toContain('"msg":"the mapping file has come into force"'),
    );
    expect(await statusOf(server, 'wrong')).toBe(401);
    expect(await server.stop()).toMatchObject({ code: 0 });
    settings.remove();
  });

  it('serves HTTPS, and a renewed certificate after SIGHUP', async () => {
    const files = await certificateFiles();
    const server = await serveJetbridge({ ...data, TLS_CERT: files.cert, TLS_KEY: files.key });
    expect(server.url).toMatch(/^https:/);
    const before = await shownCertificate(server.url);
    await files.renew();
    server.signal('SIGHUP');
    await eventually(async () => expect(await shownCertificate(server.url)).not.toBe(before));
    expect(await server.stop()).toMatchObject({ code: 0 });
    files.remove();
  });

  it('a port in use ends it with one line, and the next start shows the secrets', async () => {
    const other = await serveJetbridge({ JETBRIDGE_DATA: join(folder.path, 'other') });
    const ran = await runJetbridge(['serve'], { ...data, PORT: new URL(other.url).port });
    await other.stop();
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^listen EADDRINUSE.* set PORT to another port\.\n$/);
    const server = await serveJetbridge(data);
    expect(server.welcome).toMatch(/scim_\S+/);
    await server.stop();
  });
});

describeOnSqlite('serve, with a data folder', () => {
  it('a data folder that another server uses, or that is a file, ends it with one line', async () => {
    const server = await serveJetbridge(data);
    const second = await runJetbridge(['serve'], data);
    await server.stop();
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.err).toMatch(/is in use by another Jetbridge\. Stop it, or .*\n$/);
    const none = await runJetbridge(['serve'], { JETBRIDGE_DATA: file('file', '') });
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('JETBRIDGE_DATA must be a folder.') });
  });

  it('a database file with other content ends it with one line', async () => {
    file('jetbridge.db', 'x'.repeat(5000));
    const ran = await runJetbridge(['serve'], { JETBRIDGE_DATA: folder.path });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^The database in JETBRIDGE_DATA cannot be used: file is not a database\. .*\n$/);
  });

  it('a database of a build before the first release ends it with one line', async () => {
    const database = await openSqlite(join(folder.path, 'jetbridge.db'));
    database.exec(
      `create table write_probe (id integer); create table kysely_migration (name text, timestamp text);
        insert into kysely_migration values ('0001-bridge', '')`,
    );
    database.close();
    const ran = await runJetbridge(['serve'], { JETBRIDGE_DATA: folder.path });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(
      /^.* was written by a build of Jetbridge before its first release, .* JETBRIDGE_DATA .*\n$/,
    );
  });
});

/** Returns the status with which the SCIM service answers a token. */
async function statusOf({ url }: JetbridgeServer, token: string): Promise<number> {
  const answer = await fetch(`${url}/scim/v2/Users?count=1`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  await answer.text();
  return answer.status;
}
