import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../fixtures/eventually.ts';
import { faultyProxy } from '../fixtures/faulty-proxy.ts';
import { runJetbridge } from '../fixtures/jetbridge.ts';
import { kill } from '../fixtures/process.ts';
import { limitFileSize } from '../fixtures/process-limits.ts';
import { type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

/** Starting processes takes long on a busy machine. */
const TOKEN = 'the-token-of-the-identity-provider';
const KEY = 'the-key-of-the-first-administrator';
const SCIM_ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
const DISK = 'the disk is full, a limit on the size of files is reached, or the disk fails';

let closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

interface Running extends ServerProcess {
  data: string;
  /** Returns the log so far without the lines about single requests. */
  lines(): { level: number; msg: string }[];
}

/** Starts a service on its own data directory and reads its log. */
async function serve(environment: Record<string, string> = {}, logFile?: number): Promise<Running> {
  const data = mkdtempSync(join(tmpdir(), 'jetbridge-full-'));
  closing.push(() => rmSync(data, { recursive: true }));
  let log = '';
  const server = await startServer(
    {
      ...{ JETBRIDGE_DATA: data, SCIM_TOKEN: TOKEN, TRAVEL_API_KEY: KEY, LOG_LEVEL: 'info' },
      ...environment,
    },
    {
      onLog: (text) => {
        log += text;
      },
      ...(logFile === undefined ? {} : { logFile }),
    },
  );
  closing.unshift(() => kill(server));
  const lines = () =>
    log
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg !== 'request' && msg !== 'reconciled');
  return { ...server, data, lines };
}

async function call(url: string, method: string, path: string, body?: object) {
  const isScim = path.startsWith('/scim');
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${isScim ? TOKEN : KEY}`,
      'content-type': isScim ? 'application/scim+json' : 'application/json',
    },
    body: body ? JSON.stringify(body) : null,
    // A request that hangs is a failure, too.
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    type: response.headers.get('content-type'),
    body: text === '' ? undefined : JSON.parse(text),
  };
}

function user(name: string, familyName = 'Smith'): object {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: name,
    name: { givenName: name, familyName },
    emails: [{ type: 'work', primary: true, value: `${name}@example.com` }],
  };
}

function patchOf(path: string, value: unknown): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path, value }],
  };
}

async function hire(url: string, name: string): Promise<string> {
  const { status, body } = await call(url, 'POST', '/scim/v2/Users', user(name));
  expect({ name, status }).toEqual({ name, status: 201 });
  return body.id;
}

async function metric(url: string, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1];
}

/** Waits until writes work again. */
async function recovered({ url }: ServerProcess): Promise<void> {
  await eventually(async () => {
    expect(await call(url, 'GET', '/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ready', writes: 'ok' },
    });
  });
}

/** Waits until the travel service has exactly these people, given by local part of the email address and last name. */
async function travelersAre(url: string, people: Record<string, string>): Promise<void> {
  await eventually(async () => {
    const all = await travelAdmin(url, KEY).travelers();
    const named = all
      .filter(({ email }) => email.endsWith('@example.com'))
      .map(({ email, lastName }) => [email.replace('@example.com', ''), lastName]);
    expect(Object.fromEntries(named)).toEqual(people);
    expect(named).toHaveLength(Object.keys(people).length);
  });
}

const failing = { status: 'ready', writes: 'failing', reason: DISK };

describe('on a full disk', () => {
  it('every write is answered 503 in the format of its API, reads continue, and later writes work again', async () => {
    const server = await serve();
    const { url } = server;
    const made = await runJetbridge(
      ['oauth-clients', 'create', '--connection', 'default', '--name', 'entra'],
      {
        JETBRIDGE_DATA: server.data,
      },
    );
    const [, client = ''] = /client_id=(\S+)/.exec(made.out) ?? [];
    const [, secret = ''] = /client_secret=(\S+)/.exec(made.out) ?? [];
    const form = { grant_type: 'client_credentials', client_id: client, client_secret: secret };
    const askToken = () => fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    const id = await hire(url, 'ada');
    const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Pilots' };
    const groupId = (await call(url, 'POST', '/scim/v2/Groups', group)).body.id;
    const [traveler] = (await travelAdmin(url, KEY).travelers()).filter(({ email }) =>
      email.startsWith('ada'),
    );
    expect((await call(url, 'GET', '/readyz')).body).toEqual({ status: 'ready', writes: 'ok' });
    expect(await metric(url, 'jetbridge_store_writes_failing')).toBe('0');

    limitFileSize(server.pid, 0);
    const scimWrites: [method: string, path: string, body?: object][] = [
      ['POST', '/Users', user('bob')],
      ['PUT', `/Users/${id}`, user('ada', 'Jones')],
      ['PATCH', `/Users/${id}`, patchOf('active', false)],
      ['DELETE', `/Users/${id}`],
      ['POST', '/Groups', { ...group, displayName: 'Crew' }],
      ['PATCH', `/Groups/${groupId}`, patchOf('displayName', 'Crew')],
      ['DELETE', `/Groups/${groupId}`],
    ];
    for (const [method, path, body] of scimWrites) {
      const answer = await call(url, method, `/scim/v2${path}`, body);
      expect({ method, path, ...answer }).toEqual({
        ...{ method, path, status: 503, retryAfter: '5' },
        type: expect.stringContaining('application/scim+json'),
        body: { schemas: [SCIM_ERROR], status: '503', detail: expect.any(String) },
      });
    }
    const travelWrites: [method: string, path: string, body?: object][] = [
      ['POST', '/api/users', { data: { email: 'eve@corp.example' } }],
      ['PATCH', `/api/users/${traveler?.id}`, { data: { lastName: 'Jones' } }],
      ['POST', '/api/cost-centers', { data: { name: 'Paris' } }],
    ];
    for (const [method, path, body] of travelWrites) {
      expect({ method, path, ...(await call(url, method, path, body)) }).toEqual({
        ...{ method, path, status: 503, retryAfter: '5' },
        type: expect.stringContaining('application/json'),
        body: { code: 'internalError', message: expect.any(String) },
      });
    }
    // More than the number of failures after which a client is answered 429.
    for (let tries = 0; tries < 105; tries += 1) {
      const answer = await askToken();
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await answer.json()).toEqual({
        error: 'temporarily_unavailable',
        error_description: expect.any(String),
      });
    }

    const reads = [
      ...['/Users', `/Users/${id}`, '/Groups', `/Groups/${groupId}`, '/Users?sortBy=userName'],
      `/Users?filter=${encodeURIComponent('userName eq "nobody@example.com"')}`,
    ].map((path) => `/scim/v2${path}`);
    for (const path of [...reads, '/api/users', `/api/users/${traveler?.id}`, '/api/events', '/healthz'])
      expect({ path, status: (await call(url, 'GET', path)).status }).toEqual({ path, status: 200 });
    expect((await call(url, 'GET', `/scim/v2/Users/${id}`)).body).toMatchObject({
      ...{ userName: 'ada', active: true, name: { familyName: 'Smith' } },
    });
    expect(await call(url, 'GET', '/readyz')).toMatchObject({ status: 200, body: failing });
    expect(await call(url, 'GET', '/readyz?require=writes')).toMatchObject({
      status: 503,
      body: { ...failing, status: 'not ready' },
    });
    expect(await metric(url, 'jetbridge_store_writes_failing')).toBe('1');

    limitFileSize(server.pid, 'unlimited');
    await recovered(server);
    expect((await call(url, 'GET', '/readyz?require=writes')).status).toBe(200);
    expect(await metric(url, 'jetbridge_store_writes_failing')).toBe('0');
    expect((await askToken()).status).toBe(200);
    expect((await call(url, 'PUT', `/scim/v2/Users/${id}`, user('ada', 'Jones'))).status).toBe(200);
    await hire(url, 'bob');
    await travelersAre(url, { ada: 'Jones', bob: 'Smith' });
    expect(server.lines().filter(({ level }) => level >= 50)).toEqual([
      expect.objectContaining({
        msg: 'the database cannot be written; writes are answered 503 until it can',
        reason: DISK,
      }),
    ]);
    expect(server.lines()).toContainEqual(
      expect.objectContaining({ level: 30, msg: 'the database can be written again' }),
    );
  });

  it('?require=writes detects failing writes before any was tried', async () => {
    const server = await serve({ TRAVEL_API_URL: 'http://127.0.0.1:9' });
    expect((await call(server.url, 'GET', '/readyz?require=writes')).status).toBe(200);
    limitFileSize(server.pid, 0);
    await eventually(async () =>
      expect(await call(server.url, 'GET', '/readyz?require=writes')).toMatchObject({
        status: 503,
        body: { status: 'not ready', writes: 'failing', reason: DISK },
      }),
    );
    limitFileSize(server.pid, 'unlimited');
    await recovered(server);
  });

  it('people who wait for the travel API cause no busy loop, and are provisioned when both recover', async () => {
    const travel = await serve();
    const proxy = await faultyProxy(travel.url);
    closing.unshift(() => proxy.close());
    const bridge = await serve({ TRAVEL_API_URL: proxy.url });
    // Too few to open the circuit breaker, so they are due all the time.
    const people = ['ada', 'bob', 'eve'];
    await proxy.shut();
    for (const name of people) await hire(bridge.url, name);
    limitFileSize(bridge.pid, 0);
    await proxy.open();
    await eventually(async () => expect((await call(bridge.url, 'GET', '/readyz')).body).toEqual(failing));
    const begun = { cpu: cpuSeconds(bridge.pid), lines: bridge.lines().length };
    const watched = 6_000;
    for (const end = performance.now() + watched; performance.now() < end; await delay(500)) {
      const asked = performance.now();
      expect((await call(bridge.url, 'GET', '/scim/v2/Users')).status).toBe(200);
      expect(performance.now() - asked).toBeLessThan(2_000);
    }
    expect(bridge.lines().length - begun.lines).toBeLessThan(10);
    expect(cpuSeconds(bridge.pid) - begun.cpu).toBeLessThan(watched / 1_000 / 2);
    limitFileSize(bridge.pid, 'unlimited');
    await travelersAre(travel.url, Object.fromEntries(people.map((name) => [name, 'Smith'])));
  });

  it.each([
    ['embedded', 0],
    ['embedded', 60_000],
    ['split', 20_000],
    ['split', 200_000],
  ] as const)(
    'a disk that fills under writers (%s, %d bytes left) loses nothing that was acknowledged',
    async (arrangement, left) => {
      const travel = arrangement === 'split' ? await serve() : undefined;
      const bridge = await serve(travel ? { TRAVEL_API_URL: travel.url } : {});
      const people: Record<string, string> = {};
      const ids = new Map<string, string>();
      for (let index = 0; index < 10; index += 1) {
        ids.set(`p${index}`, await hire(bridge.url, `p${index}`));
        people[`p${index}`] = 'Smith';
      }
      limitFileSize(bridge.pid, walSize(bridge) + left);
      const answers = new Set<number>();
      const rename = async (name: string, id: string, familyName: string) => {
        const path = `/scim/v2/Users/${id}`;
        const { status } = await call(bridge.url, 'PATCH', path, patchOf('name.familyName', familyName));
        answers.add(status);
        if (status === 200) people[name] = familyName;
      };
      for (let round = 0; round < 40 && !answers.has(503); round += 1)
        await Promise.all([...ids].map(([name, id]) => rename(name, id, `R${round}`)));
      expect([...answers].filter((status) => status !== 200)).toEqual([503]);
      limitFileSize(bridge.pid, 'unlimited');
      for (const [name, id] of ids) {
        const { body } = await call(bridge.url, 'GET', `/scim/v2/Users/${id}`);
        expect({ name, is: body.name.familyName }).toEqual({ name, is: people[name] });
      }
      await travelersAre(travel?.url ?? bridge.url, people);
    },
  );

  it('SIGTERM ends the process with exit code 0 within ten seconds, and the next one has all data', async () => {
    const log = join(mkdtempSync(join(tmpdir(), 'jetbridge-log-')), 'log');
    const logFile = openSync(log, 'a');
    closing.push(() => closeSync(logFile));
    const server = await serve({}, logFile);
    for (const name of ['ada', 'bob']) await hire(server.url, name);
    limitFileSize(server.pid, 0);
    expect((await call(server.url, 'POST', '/scim/v2/Users', user('eve'))).status).toBe(503);
    expect((await call(server.url, 'POST', '/api/users', { data: { email: 'x@corp.example' } })).status).toBe(
      503,
    );
    const asked = performance.now();
    server.kill('SIGTERM');
    expect(await server.exited).toMatchObject({ code: 0, signal: null });
    expect(performance.now() - asked).toBeLessThan(10_000);
    const again = await startServer({ JETBRIDGE_DATA: server.data, SCIM_TOKEN: TOKEN, TRAVEL_API_KEY: KEY });
    closing.unshift(() => kill(again));
    const { body } = await call(again.url, 'GET', '/scim/v2/Users');
    const names = body.Resources.map(({ userName }: { userName: string }) => userName);
    expect(names.sort()).toEqual(['ada', 'bob']);
    await travelersAre(again.url, { ada: 'Smith', bob: 'Smith' });
  });
});

function walSize({ data }: Running): number {
  return statSync(join(data, 'jetbridge.db-wal')).size;
}

/** Returns the processor time that a process has used so far. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
