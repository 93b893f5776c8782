import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../src/http/log.ts';
import { exchangeReader } from '../../src/log/search.ts';
import type { LoggedExchange } from '../../src/model/exchange.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { type JetbridgeServer, serveJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

/** The promise is five seconds. A busy machine may take longer; the next import would run after an hour. */
const SOON_MS = 30_000;

const SCIM_TOKEN = 'the-token-of-the-identity-provider';
const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';

type Send = (method: string, path: string, body?: object) => Promise<{ status: number; json: Json }>;
// biome-ignore lint/suspicious/noExplicitAny: the expectations check the bodies of another service
type Json = any;

function sender(url: string, token: string, type: string): Send {
  return async (method, path, body) => {
    const headers = { Authorization: `Bearer ${token}`, ...(body ? { 'Content-Type': type } : {}) };
    const sent = body ? { body: JSON.stringify(body) } : {};
    const answer = await fetch(`${url}${path}`, { method, headers, ...sent });
    const text = await answer.text();
    return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
  };
}

describe('a change by hand in the embedded travel service', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let server: JetbridgeServer;
  let scim: Send;
  let travel: Send;
  beforeEach(async () => {
    folder = temporaryFolder();
    server = await serveJetbridge({ JETBRIDGE_DATA: join(folder.path, 'data'), SCIM_TOKEN, TRAVEL_API_KEY });
    scim = sender(`${server.url}/scim/v2`, SCIM_TOKEN, 'application/scim+json');
    travel = sender(`${server.url}/api`, TRAVEL_API_KEY, 'application/json');
  });
  afterEach(async () => {
    await server.stop();
    folder.remove();
  });

  /** Finds a user in the list of all users. A filter by name or address would search the travel service, which the test must avoid. */
  const findInList = async (userName: string): Promise<Json | undefined> => {
    const { json } = await scim('GET', '/Users?count=100');
    return json.Resources.find((user: Json) => user.userName === userName);
  };
  const expectSoon = (expectation: () => Promise<void>) => eventually(expectation, SOON_MS);

  test('is soon visible in SCIM: a new traveler, an update, an archiving and a deletion', async () => {
    const email = 'ada@corp.example';
    const { json } = await travel('POST', '/users', { data: { email, firstName: 'Ada', lastName: 'King' } });
    const path = `/users/${json.data.id}`;
    await expectSoon(async () =>
      expect(await findInList(email)).toMatchObject({ name: { givenName: 'Ada' }, active: true }),
    );
    await travel('PATCH', path, { data: { firstName: 'Augusta' } });
    await expectSoon(async () =>
      expect(await findInList(email)).toMatchObject({ name: { givenName: 'Augusta' } }),
    );
    await travel('PATCH', path, { data: { archived: true } });
    await expectSoon(async () => expect(await findInList(email)).toMatchObject({ active: false }));
    await travel('DELETE', path);
    await expectSoon(async () => expect(await findInList(email)).toBeUndefined());
  });

  test('that frees an email address soon gives it to the user that waits for it', async () => {
    const wanted = 'wanted@corp.example';
    const { json: holder } = await travel('POST', '/users', { data: { email: 'first@corp.example' } });
    const person = { userName: 'bob@corp.example', emails: [{ value: 'bob@corp.example', type: 'work' }] };
    const { json: bob } = await scim('POST', '/Users', person);
    await travel('PATCH', `/users/${holder.data.id}`, { data: { email: wanted } });
    await scim('PUT', `/Users/${bob.id}`, { ...person, emails: [{ value: wanted, type: 'work' }] });
    const emailOfBob = async () => {
      const { json } = await scim('GET', `/Users/${bob.id}`);
      const id = json['urn:ietf:params:scim:schemas:extension:travel:2.0:User'].travelUserId;
      return (await travel('GET', `/users/${id}`)).json.data.email;
    };
    expect(await emailOfBob()).toBe('bob@corp.example');
    await travel('PATCH', `/users/${holder.data.id}`, { data: { email: 'moved@corp.example' } });
    await expectSoon(async () => expect(await emailOfBob()).toBe(wanted));
  });
});

describe('the events of what an IdP writes', () => {
  const WRITES = 400;
  let data: string;
  let service: RunningService | undefined;
  /** The log of the service: the request log leaves out the polls that succeed. */
  let lines: JsonObject[];
  beforeEach(async () => {
    data = mkdtempSync(join(tmpdir(), 'jetbridge-feed-'));
    lines = [];
    const log = createLog('debug', parseLinesInto(lines));
    service = await startService({ JETBRIDGE_DATA: data, SCIM_TOKEN, TRAVEL_API_KEY }, { log });
  });
  const close = async () => {
    await service?.close();
    service = undefined;
  };
  afterEach(async () => {
    await close();
    rmSync(data, { recursive: true, force: true });
  });

  /** Reads all requests to the travel API below a path. */
  async function readRequests(path: string): Promise<LoggedExchange[]> {
    const database = await openTestDatabase(data, false);
    const log = exchangeReader(database);
    const rows: LoggedExchange[] = [];
    let before: string | undefined;
    do {
      const page = await log.list({ direction: 'api', path, limit: 500, before });
      rows.push(...page.exchanges);
      before = page.next;
    } while (before !== undefined);
    await database.close();
    return rows;
  }

  test('cause almost no reads of travelers', async () => {
    const scim = sender(`${service?.url}/scim/v2`, SCIM_TOKEN, 'application/scim+json');
    const names = Array.from({ length: WRITES }, (_, n) => `p${n}@corp.example`);
    const createUsers = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const person = { userName: name, emails: [{ value: name, type: 'work' }] };
        expect((await scim('POST', '/Users', person)).status).toBe(201);
      }
    };
    await Promise.all(Array.from({ length: 10 }, createUsers));
    const countPolls = () => lines.filter((line) => line['path'] === '/api/events').length;
    const before = countPolls();
    // After two more polls all events have been read.
    await eventually(async () => expect(countPolls()).toBeGreaterThanOrEqual(before + 2));
    const settings = service?.settings;
    await close();
    const own = (settings ? await readRequests('/api/users') : []).filter(
      ({ credential }) => credential === 'bridge',
    );
    const writes = own.filter(({ method, status }) => method === 'POST' && status === 201);
    const reads = own.filter(({ method, path }) => method === 'GET' && /^\/api\/users\/[^?]+$/.test(path));
    expect(writes.length).toBeGreaterThanOrEqual(WRITES);
    // A traveler that is being written during a poll may be read: at most one per concurrent write and poll.
    expect(reads.length).toBeLessThan(WRITES / 5);
  });
});
