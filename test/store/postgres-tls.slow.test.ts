import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type CertificateFiles, certificateFiles } from '../fixtures/certificate.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { runJetbridge } from '../fixtures/jetbridge.ts';
import {
  type PostgresAdministration,
  startAdministeredPostgres,
} from '../fixtures/postgres-administration.ts';
import { KEY } from '../fixtures/test-database.ts';

let server: PostgresAdministration;
let files: CertificateFiles;
let expired: CertificateFiles;
beforeAll(async () => {
  server = await startAdministeredPostgres();
  files = await certificateFiles();
  expired = await certificateFiles({ from: -9, to: -1 });
});
afterAll(async () => {
  files.remove();
  expired.remove();
  await server.close();
});

let closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing) close();
  closing = [];
});

/** Starts a TCP server that accepts the TLS of PostgreSQL with a certificate, and forwards to the server. Returns its port. */
async function startTlsProxy({ key, cert }: CertificateFiles, host: string): Promise<number> {
  const upstreamPort = Number(new URL(server.url('postgres')).port);
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    sockets.push(client.on('error', () => {}));
    client.once('data', () => {
      client.write('S');
      const secure = new TLSSocket(client, {
        isServer: true,
        key: readFileSync(key),
        cert: readFileSync(cert),
      });
      const upstream = connect(upstreamPort, '127.0.0.1');
      sockets.push(upstream.on('error', () => {}));
      secure.on('error', () => {});
      secure.pipe(upstream).pipe(secure);
    });
  });
  await once(proxy.listen(0, host), 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  return typeof address === 'object' && address ? address.port : 0;
}

/** A command that reads the database. On one without tables it says that there is no data. */
const listTokens = ['tokens', 'list'];
const onDatabase = (url: string) => ({ DATABASE_URL: url, JETBRIDGE_KEY: KEY });

async function urlThrough(certificate: CertificateFiles, parameters: string, host = '127.0.0.1') {
  const url = new URL(server.url(await server.newDatabase()));
  const port = String(await startTlsProxy(certificate, host));
  return `${Object.assign(url, { hostname: host, port }).href}?${parameters}`;
}

test.each([
  ['verify-full', '&sslrootcert='],
  ['verify-ca', '&sslrootcert='],
  ['require', '&sslrootcert='],
  ['no-verify', undefined],
])('sslmode=%s connects, without a warning of Node', async (mode, authority) => {
  const parameters = `sslmode=${mode}${authority === undefined ? '' : `${authority}${files.cert}`}`;
  // Node writes its warnings to the standard error of the process.
  const { code, err } = await runJetbridge(listTokens, onDatabase(await urlThrough(files, parameters)));
  expect(err).toMatch(/^There is no data in postgres:[^\n]*\n$/);
  expect(code).toBe(1);
});

const authority =
  /self-signed certificate\. Give the file with the certificate of its authority, e\.g\. sslmode=verify-full&sslrootcert=\/path\/ca\.pem in DATABASE_URL; sslmode=no-verify encrypts without a check\.$/;

test.each(['require', 'verify-ca', 'verify-full'])(
  'a certificate of an unknown authority is refused in one line with sslmode=%s',
  async (mode) => {
    const url = await urlThrough(files, `sslmode=${mode}`);
    const { code, err } = await runCommandLine(listTokens, onDatabase(url));
    expect(err).toMatch(/^The database postgres:[^\n]*\n$/);
    expect(err.trimEnd()).toMatch(authority);
    expect(code).toBe(1);
  },
);

test.each([
  [
    'that has expired',
    () => urlThrough(expired, `sslmode=require&sslrootcert=${expired.cert}`),
    /certificate has expired\. Renew the certificate of the server\.$/,
  ],
  [
    'for another name',
    () => urlThrough(files, `sslmode=verify-full&sslrootcert=${files.cert}`, '127.0.0.2'),
    /does not match certificate's altnames: .*\. Give the host in DATABASE_URL by a name that the certificate of the server has\.$/,
  ],
])('a certificate %s is refused in one line', async (_title, urlOf, text) => {
  const { err } = await runCommandLine(listTokens, onDatabase(await urlOf()));
  expect(err).toMatch(/^The database postgres:[^\n]*\n$/);
  expect(err.trimEnd()).toMatch(text);
});

test.each([
  [
    'of an authority that does not exist',
    () => `${server.url('postgres')}?sslmode=verify-full&sslrootcert=/none/ca.pem`,
    /no such file or directory, open '\/none\/ca\.pem'\. Correct sslrootcert, sslcert and sslkey in DATABASE_URL, and let Jetbridge read the files\.$/,
  ],
  [
    'of an authority that is a folder',
    () => `${server.url('postgres')}?sslmode=verify-full&sslrootcert=/`,
    /illegal operation on a directory, read\. Correct sslrootcert, sslcert and sslkey in DATABASE_URL, and let Jetbridge read the files\.$/,
  ],
])('a file %s is told with its parameter', async (_title, urlOf, text) => {
  const { code, err } = await runCommandLine(listTokens, onDatabase(urlOf()));
  expect(code).toBe(1);
  expect(err.trimEnd()).toMatch(text);
});
