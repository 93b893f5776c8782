import { join } from 'node:path';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type PostgresServer, startPostgres } from '../fixtures/postgres.ts';
import { kill } from '../fixtures/process.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { type TcpProxy, tcpProxy } from '../fixtures/tcp-proxy.ts';
import { KEY } from '../fixtures/test-database.ts';

const SCIM_TOKEN = 'the-token-of-the-identity-provider';

let folder: ReturnType<typeof temporaryFolder>;
let database: PostgresServer;
let proxy: TcpProxy;
let server: ServerProcess;
beforeAll(async () => {
  folder = temporaryFolder();
  database = await startPostgres();
});
afterAll(async () => {
  await database.close();
  folder.remove();
});
beforeEach(async () => {
  const url = new URL(database.url('postgres'));
  proxy = await tcpProxy(Number(url.port));
  url.port = String(proxy.port);
  server = await startServer({
    ...{ SCIM_TOKEN, TRAVEL_API_KEY: 'the-key-of-the-first-administrator', DATABASE_URL: url.href },
    JETBRIDGE_DATA: join(folder.path, 'data'),
    JETBRIDGE_KEY: KEY,
  });
});
afterEach(async () => {
  await kill(server);
  await proxy.close();
});

const user = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'ada@corp.example',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ value: 'ada@corp.example', type: 'work' }],
};

/** Returns the result of the work, and the seconds that it took. */
async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const begun = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - begun) / 1_000 };
}

test('while the database does not answer, /readyz answers 503 within seconds', async () => {
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  proxy.freeze();
  for (const path of ['/readyz', '/readyz?require=writes']) {
    const { result, seconds } = await timed(() => fetch(`${server.url}${path}`));
    expect([path, result.status]).toEqual([path, 503]);
    expect(await result.json()).toMatchObject({ status: 'not ready', writes: 'failing' });
    expect(seconds).toBeLessThan(5);
  }
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

test('SIGTERM ends a server whose database does not answer within 12 seconds, with exit code 0', async () => {
  proxy.freeze();
  // The database holds it up, so that it is cut off or answered with an error.
  const request = scimClient(server.url, SCIM_TOKEN)
    .send('POST', '/Users', user)
    .then(({ status }) => status)
    .catch(() => 503);
  const { result, seconds } = await timed(() => {
    server.kill('SIGTERM');
    return server.exited;
  });
  expect(result).toMatchObject({ code: 0, signal: null });
  expect(seconds).toBeLessThan(13);
  expect(await request).toBe(503);
});

test('SIGTERM ends a server whose database answers at once', async () => {
  const { result, seconds } = await timed(() => {
    server.kill('SIGTERM');
    return server.exited;
  });
  expect(result).toMatchObject({ code: 0, signal: null });
  expect(seconds).toBeLessThan(5);
});
