import { join } from 'node:path';
import { eventually } from '../fixtures/eventually.ts';
import { runJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';
import { type PostgresServer, startPostgres } from '../fixtures/postgres.ts';
import { kill, waitUntilSyncedOrDead } from '../fixtures/process.ts';
import { type ScimAnswer, scimClient } from '../fixtures/scim-client.ts';
import { type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { KEY } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const SCIM_TOKEN = 'the-token-of-the-identity-provider';
const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';

let folder: ReturnType<typeof temporaryFolder>;
let database: PostgresServer;
let environment: Record<string, string>;
let closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});
beforeAll(async () => {
  folder = temporaryFolder();
  database = await startPostgres();
  environment = {
    ...{ SCIM_TOKEN, TRAVEL_API_KEY },
    JETBRIDGE_DATA: join(folder.path, 'data'),
    DATABASE_URL: database.url('postgres'),
    JETBRIDGE_KEY: KEY,
    LOG_LEVEL: 'info',
  };
});
afterAll(async () => {
  await database.close();
  folder.remove();
});

/** An IdP that creates users, and repeats each request until it is answered with 201 or 409. */
function persistentIdp({ url }: ServerProcess, run: string) {
  const { send } = scimClient(url, SCIM_TOKEN);
  const answers: ScimAnswer[] = [];
  let next = 0;
  let isOver = false;
  let isKilled = false;
  const work = async () => {
    while (!isOver) {
      next += 1;
      const value = `${run}-${next}@corp.example`;
      const name = { givenName: 'Ada', familyName: 'Lovelace' };
      const user = { userName: value, name, emails: [{ value, type: 'work', primary: true }] };
      for (let isDone = false; !isDone && !isKilled; ) {
        const answer = await send('POST', '/Users', user);
        answers.push(answer);
        isDone = answer.status !== 503;
      }
    }
  };
  const workers = Array.from({ length: 5 }, work);
  closing.unshift(async () => {
    isOver = true;
    isKilled = true;
    await Promise.allSettled(workers);
  });
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  return {
    answers,
    count,
    stop: async () => {
      isOver = true;
      await Promise.all(workers);
      return next;
    },
  };
}

test.each(['SIGQUIT', 'SIGINT'] as const)(
  'a database that is stopped by %s and started again delays writes, and loses and duplicates nothing',
  async (signal) => {
    let log = '';
    const server = await startServer(environment, {
      onLog: (text) => {
        log += text;
      },
    });
    closing.push(() => kill(server));
    const before = (await travelAdmin(server.url, TRAVEL_API_KEY).travelers()).length;
    const scim = scimClient(server.url, SCIM_TOKEN);
    const countUsers = async () => (await scim.send('GET', '/Users?count=1')).body.totalResults;
    const known = await countUsers();
    const idp = persistentIdp(server, signal);
    await eventually(async () => expect(idp.count(201)).toBeGreaterThan(20));

    await database.stop(signal);
    const refused = idp.count(503);
    await eventually(async () => expect(idp.count(503)).toBeGreaterThan(refused + 20));
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect((await scim.send('GET', '/Users')).status).toBe(503);
    await expect(travelAdmin(server.url, TRAVEL_API_KEY).travelers()).rejects.toThrow('503');

    await database.start();
    const acknowledged = idp.count(201);
    await eventually(async () => expect(idp.count(201)).toBeGreaterThan(acknowledged + 20));
    const created = await idp.stop();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);

    for (const { status, headers, body } of idp.answers) {
      if (status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/);
      else expect([201, 409, JSON.stringify(body)]).toContain(status);
    }
    await waitUntilSyncedOrDead(server);
    expect(await countUsers()).toBe(known + created);
    const travelers = await travelAdmin(server.url, TRAVEL_API_KEY).travelers();
    expect(new Set(travelers.map(({ email }) => email)).size).toBe(travelers.length);
    expect(travelers.length - before).toBe(created);
    await eventually(async () => expect(log).toContain('the database can be written again'));
    expect(log).not.toContain('the-password');
  },
  120_000,
);

test('a server that starts while the database is down ends with one line and exit code 1', async () => {
  await database.stop('SIGINT');
  closing.push(database.start);
  for (const command of [['serve'], ['connections', 'list'], ['tokens', 'list']]) {
    const ran = await runJetbridge(command, { ...environment, PORT: '0' });
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(
      /^The database postgres:\/\/postgres@127\.0\.0\.1:\d+\/postgres cannot be used: connect ECONNREFUSED .*\n$/,
    );
  }
});
