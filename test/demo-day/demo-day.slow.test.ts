import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { readSettings } from '../../src/config/settings.ts';
import { createLog } from '../../src/http/log.ts';
import { start } from '../../src/server/start.ts';
import { withDatabaseAt } from '../../src/store/sql/open-database.ts';
import { type AdminClient, type AdminFixture, adminClient, signIn, startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { ask } from '../fixtures/plain-and-tls.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { describeOnPostgres, withTestDatabase } from '../fixtures/test-database.ts';

const home = join(__dirname, '../..');
/** The folder of the recorded day. */
const demo = join(home, 'demo');
const PASSWORD = 'correct-horse-battery';
/** The people of the recorded day; one of them was deleted and has returned. */
const PEOPLE = 20;
/** The requests of the day with a wrong token, which belong to no connection. */
const REFUSED = 1;
/** A slow machine plays and removes the demo day within this time. */
const TIMEOUT_MS = 120_000;

const employee = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'real@corp.example',
  name: { givenName: 'Real', familyName: 'Person' },
  emails: [{ value: 'real@corp.example', type: 'work', primary: true }],
  active: true,
};

async function phaseOf(client: AdminClient): Promise<string> {
  return (await client('GET', '/demo-day')).body.phase;
}

async function waitFor(phase: string, client: AdminClient): Promise<void> {
  await eventually(async () => expect(await phaseOf(client)).toBe(phase), TIMEOUT_MS / 2);
}

/** Reads the people, credentials and exchanges that the page and the travel service show, without the calls of other connections. */
async function traces({ service, viewer, admin }: AdminFixture) {
  const travel = async (path: string) => {
    const headers = { Authorization: `Bearer ${service.travelApiKey}` };
    const { body } = await ask(`${service.url}/api/${path}?limit=100`, { headers });
    return body.data;
  };
  const read = async (path: string) => (await viewer('GET', path)).body;
  const { connections, ...overview } = await read('/overview');
  return {
    overview,
    connections: connections.map(({ id, people }: { id: string; people: number }) => ({ id, people })),
    people: (await read('/people')).people.map(({ userName }: { userName: string }) => userName),
    held: (await read('/holds')).groups,
    mappings: (await read('/mappings')).mappings.map(({ connection }: { connection: string }) => connection),
    tokens: (await admin('GET', '/tokens')).body.tokens.map(({ name }: { name: string }) => name),
    exchanges: (await read('/exchanges?direction=scim&limit=100')).exchanges,
    requests: (await read('/activity')).hour.reduce(
      (sum: number, { requests }: { requests: number }) => sum + requests,
      0,
    ),
    travelers: (await travel('users')).map(({ email }: { email: string }) => email),
    customFields: await travel('custom-fields'),
  };
}

/** What grows, or changes by itself: the audit log, counters, names in logged reads, and the places that replicas, tasks and the feed have reached. */
const growingTables = ['audit_entry', 'background_task', 'database_record', 'replica', 'travel_turn'];
const growingColumns = [
  'generation',
  'followed_generation',
  'followed_lookups',
  'rules_generation',
  'revision',
  'since',
];

/** Reads all rows, without what grows, events of the travel service, and reads in the log of exchanges. */
async function dump({ service }: AdminFixture): Promise<Record<string, string[]>> {
  return withDatabaseAt(service.settings, async ({ db }) => {
    const all = await db.introspection.getTables();
    const tables = all.map(({ name }) => name).filter((name) => !growingTables.includes(name));
    const read = async (name: string) => {
      const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
      const kept = rows.filter(({ type, method }) => type !== 'event' && method !== 'GET');
      const isSteady = ([column]: [string, unknown]) => !growingColumns.includes(column);
      const texts = kept.map((row) => JSON.stringify(Object.entries(row).filter(isSteady)));
      return [name, texts.sort()] as const;
    };
    return Object.fromEntries(await Promise.all(tables.map(read)));
  });
}

/** Creates a traveler with an API key, as an admin does. Returns whether a service still has that traveler. */
async function createTraveler(
  { service, client }: { service: { url: string }; client: AdminClient },
  email: string,
): Promise<(url: string) => Promise<boolean>> {
  const key = { name: 'by hand', email: 'admin@jetbridge.local' };
  const { body } = await client('POST', '/travel/api-keys', { body: key });
  const headers = { Authorization: `Bearer ${body.key}`, 'Content-Type': 'application/json' };
  const data = { email, firstName: 'Another', lastName: 'Person' };
  const created = await ask(`${service.url}/api/users`, {
    ...{ headers, method: 'POST', body: JSON.stringify({ data }) },
  });
  expect(created.status).toBe(201);
  return async (url) => (await ask(`${url}/api/users/${created.body.data.id}`, { headers })).status === 200;
}

describe('on a service with the embedded travel service', () => {
  let fixture: AdminFixture;
  const lines: Parameters<typeof parseLinesInto>[0] = [];
  beforeAll(async () => {
    fixture = await startAdmin({}, { demo, log: createLog('warn', parseLinesInto(lines)) });
    await eventually(async () => expect((await traces(fixture)).people).toHaveLength(1));
  });
  afterAll(() => fixture.close());

  test(
    'the demo day shows people, findings, held changes and traffic, and its removal leaves nothing of it',
    async () => {
      const { admin, viewer } = fixture;
      const before = await traces(fixture);
      expect(before.overview).toMatchObject({
        state: 'empty',
        demoDay: { phase: 'none', done: 0, total: 0 },
      });
      const pressedTwice = await Promise.all([admin('POST', '/demo-day'), admin('POST', '/demo-day')]);
      expect(pressedTwice.map(({ status }) => status)).toEqual([200, 200]);
      expect((await admin('DELETE', '/demo-day')).body).toMatchObject({
        ...{ code: 'conflict', message: expect.stringContaining('Wait until that has ended') },
      });
      await waitFor('played', viewer);
      const played = await traces(fixture);
      expect(played).toMatchObject({
        overview: {
          sentence: 'Demo day: 18 of 20 people are in step with the travel service; 1 is held, 1 lacks data.',
          // The demo day has connected no identity provider, and its mapping is none of the admin.
          steps: { isConnected: false, hasMapping: false },
          demoDay: { phase: 'played' },
        },
        connections: [
          { id: 'default', people: 1 },
          { id: 'demo', people: PEOPLE },
        ],
        ...{ mappings: ['default', 'demo'], tokens: ['first token', 'demo day'] },
        customFields: [{ name: 'Department (demo day)' }],
      });
      expect([played.people.length, played.travelers.length, played.exchanges.length]).toEqual([
        ...[PEOPLE + 1, PEOPLE, played.overview.demoDay.total],
      ]);
      expect(played.requests).toBe(played.exchanges.length);
      const statuses = played.exchanges.map(({ status }: { status: number }) => status);
      for (const status of [200, 201, 204, 401, 409]) expect(statuses).toContain(status);
      const codes = played.overview.findings.kinds.map(({ code }: { code: string }) => code);
      expect(codes).toEqual(['emailInvalid', 'noEmail', 'phoneUnreadable', 'returnHeld']);

      const environment = { JETBRIDGE_DATA: fixture.service.data };
      expect(await runCommandLine(['connections', 'forget', 'demo', '--yes'], environment)).toMatchObject({
        ...{ code: 1, err: expect.stringContaining('Remove the demo day on the admin page.') },
      });

      const undone = await admin('DELETE', '/demo-day');
      expect([undone.status, undone.body.phase]).toEqual([200, 'none']);
      expect(await traces(fixture)).toEqual(before);
      expect((await admin('DELETE', '/demo-day')).body.phase).toBe('none');
      const { entries } = (await admin('GET', '/audit')).body;
      expect(entries.map(({ action }: { action: string }) => action)).toContain('undoDemoDay');
      // Nobody is alarmed about the invented return that is held.
      expect(lines).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'beside real people the demo day changes no number and no row of theirs, and its removal leaves no row',
    async () => {
      const { service, admin, viewer } = fixture;
      const { send } = scimClient(service.url, service.scimToken);
      expect((await send('POST', '/Users', employee)).status).toBe(201);
      const sentence = 'All 2 people are in step with the travel service.';
      // The log of exchanges is written after the answer.
      const settled = { overview: { sentence }, requests: 1 };
      await eventually(async () => expect(await traces(fixture)).toMatchObject(settled));
      const [before, rows] = [await traces(fixture), await dump(fixture)];
      expect((await admin('POST', '/demo-day')).status).toBe(200);
      await waitFor('played', viewer);
      const { overview, requests } = await traces(fixture);
      const { demoDay: _played, ...during } = overview;
      const { demoDay: _none, ...without } = before.overview;
      expect([during, requests]).toEqual([without, before.requests + REFUSED]);
      expect((await admin('DELETE', '/demo-day')).body.phase).toBe('none');
      expect(await traces(fixture)).toEqual(before);
      expect(await dump(fixture)).toEqual(rows);
    },
    TIMEOUT_MS,
  );
});

test(
  'a demo day that a stop interrupts is told as interrupted after the start, and can be removed or played again',
  async () => {
    const data = createDataFolder('jetbridge-demo-day-');
    const environment = { PORT: '0', JETBRIDGE_DATA: data, LOG_LEVEL: 'silent', ADMIN_PASSWORD: PASSWORD };
    const settings = readSettings(await withTestDatabase(environment), home);
    // The same database, used by one process after the other.
    const restart = async () => {
      const service = await start(settings, { demo });
      await service.makeFirstAdmin();
      return { service, client: await signIn(adminClient(service.url), 'admin', PASSWORD) };
    };
    const first = await restart();
    expect((await first.client('POST', '/demo-day')).body.phase).toBe('playing');
    await first.service.close();
    const second = await restart();
    expect(await phaseOf(second.client)).toBe('interrupted');
    const isCreatedByHand = await createTraveler(second, 'niklaus.wirth@demo.example');
    expect((await second.client('POST', '/demo-day')).status).toBe(200);
    await waitFor('played', second.client);
    await second.service.close();
    const third = await restart();
    expect(await phaseOf(third.client)).toBe('played');
    expect((await third.client('GET', '/overview')).body.connections).toHaveLength(2);
    expect((await third.client('DELETE', '/demo-day')).body.phase).toBe('none');
    expect((await third.client('GET', '/overview')).body.connections).toHaveLength(1);
    expect(await isCreatedByHand(third.service.url)).toBe(true);
    await third.service.close();
    rmSync(data, { recursive: true });
  },
  TIMEOUT_MS,
);

test.each([
  [
    'a real travel API',
    { TRAVEL_API_URL: 'http://127.0.0.1:1', TRAVEL_API_KEY: 'key' },
    { demo },
    'The demo day is played to the embedded travel service only, and no connection uses that.',
  ],
  ['no recorded day', {}, {}, 'The files of the demo day are not installed.'],
])('with %s the demo day is refused with the reason', async (_case, environment, options, message) => {
  const { admin, viewer, close } = await startAdmin(environment, options);
  try {
    expect((await viewer('GET', '/demo-day')).body).toMatchObject({ phase: 'none', refusal: message });
    expect((await admin('POST', '/demo-day')).body).toEqual({ code: 'conflict', message });
    expect((await admin('DELETE', '/demo-day')).body).toEqual({ code: 'conflict', message });
  } finally {
    await close();
  }
});

describeOnPostgres('with two replicas', () => {
  test(
    'each shows the demo day that the other plays, and removes it',
    async () => {
      const { service, admin, viewer, password, close } = await startAdmin({}, { demo });
      const other = await start({ ...service.settings, port: 0 }, { demo });
      try {
        const client = await signIn(adminClient(other.url), 'admin', password);
        const pressed = await Promise.all([admin('POST', '/demo-day'), client('POST', '/demo-day')]);
        expect(pressed.map(({ status }) => status)).toEqual([200, 200]);
        await waitFor('played', client);
        expect((await client('GET', '/overview')).body.people.total).toBe(PEOPLE + 1);
        expect((await client('DELETE', '/demo-day')).body.phase).toBe('none');
        await eventually(async () => {
          const { connections, people } = (await viewer('GET', '/overview')).body;
          expect([connections.length, people.total]).toEqual([1, 1]);
        });
      } finally {
        await other.close();
        await close();
      }
    },
    TIMEOUT_MS,
  );
});
