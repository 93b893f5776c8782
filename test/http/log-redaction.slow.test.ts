import { join } from 'node:path';
import { exchangeReader } from '../../src/log/search.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type RawRequest, rawExchange, requestText } from '../fixtures/raw-http.ts';
import { type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

/**
 * Marked values in every part of a request to a process that logs everything. `SHOWN` is used where the request log
 * of the travel service records values (path, query, body: docs/operations/requests.md), `HIDDEN` everywhere
 * else.
 */
const SHOWN = 'Zq7shown';
const HIDDEN = 'Zq7hidden';
const SCIM_TOKEN = 'the-token-of-the-identity-provider';
const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';

let server: ServerProcess;
let log = '';
const place = temporaryFolder();
beforeAll(async () => {
  const data = { JETBRIDGE_DATA: join(place.path, 'data'), SCIM_TOKEN, TRAVEL_API_KEY };
  const onLog = (text: string) => {
    log += text;
  };
  server = await startServer({ ...data, LOG_LEVEL: 'trace' }, { onLog });
});
afterAll(() => place.remove());

const bytes = (text: string, prefix: string) =>
  [...text].map((letter) => `${prefix}${letter.charCodeAt(0).toString(16)}`).join('');
const percent = (text: string) => bytes(text, '%');
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** All encodings in which a text may occur in the log, in lower case. */
function formsOf(text: string): string[] {
  return [text, percent(text), percent(text).replaceAll('%', '%25'), bytes(text, '\\u00')].map((form) =>
    form.toLowerCase(),
  );
}

type Place = Omit<RawRequest, 'method'> & { method?: string };

/** The parts of the URL of a request to `base`. */
function targets(base: string): Place[] {
  const marked = [
    SHOWN,
    percent(SHOWN),
    percent(SHOWN).replaceAll('%', '%25'),
    `%zz${SHOWN}`,
    `${SHOWN}.php`,
  ];
  const paths = [
    ...marked.flatMap((segment) => [
      `${base}/${segment}`,
      `${base}/${segment}/options`,
      `/${segment}${base}`,
    ]),
    ...[`${base}/../${SHOWN}`, `${base};${SHOWN}=1`, `/.${SHOWN}`, `//${SHOWN}.example${base}`],
    ...[`http://${SHOWN}.example${base}`, `file:///etc/${SHOWN}`, `${base}/http://${SHOWN}/x`],
  ];
  const names = ['filter', 'attributes', 'sortBy', 'count', 'cursor', 'limit', 'pageKind', 'after', 'emails'];
  const queries = [
    ...marked.flatMap((name) => [`${name}=1`, `${name}[${name}]=1`, `x=1&${name}`]),
    ...names.map((name) => `${name}=${SHOWN}`),
    `filter=userName%20eq%20%22${SHOWN}%22%20and%20${SHOWN}`,
  ];
  return [...paths, ...queries.map((query) => `${base}?${query}`)].map((target) => ({ target }));
}

/** The headers of a request to `target`. */
function inHeaders(target: string): Place[] {
  const names = [
    ...['User-Agent', 'Referer', 'Origin', 'Cookie', 'Accept', 'Accept-Language', 'Content-Type', 'Expect'],
    ...['Content-Encoding', 'If-Match', 'If-None-Match', 'X-Forwarded-For', 'X-Forwarded-Host', 'Via'],
    ...['X-Forwarded-Proto', 'X-Real-IP', 'From', 'traceparent', 'Range', 'X-HTTP-Method-Override'],
  ];
  const headers: Record<string, string>[] = [
    ...names.map((name) => ({ [name]: HIDDEN })),
    { [`X-${HIDDEN}`]: '1' },
    { Host: `${HIDDEN}.example` },
    { Host: `${HIDDEN}/x y` },
    { Cookie: `session=${HIDDEN}; ${HIDDEN}=1` },
    { Forwarded: `for=${HIDDEN};proto=${HIDDEN}` },
    { 'X-Forwarded-For': `${HIDDEN}, 203.0.113.9` },
    { 'X-Request-Id': `${HIDDEN} with a blank` },
  ];
  return headers.flatMap((one) => [
    { target, headers: one },
    { target, headers: one, method: 'POST', body: '{}' },
  ]);
}

/** Invalid credentials. */
const credentials = [
  `Bearer ${HIDDEN}`,
  HIDDEN,
  `Bearer ${HIDDEN} ${HIDDEN}`,
  `Basic ${base64(`${HIDDEN}:${HIDDEN}`)}`,
  `${HIDDEN} ${SCIM_TOKEN}`,
  `Bearer eyJ${base64(HIDDEN)}.${base64(HIDDEN)}.${base64(HIDDEN)}`.replaceAll('=', ''),
];

const json = (target: string, method: string, body: unknown): Place => ({
  ...{ target, method, body: typeof body === 'string' ? body : JSON.stringify(body) },
  headers: { 'Content-Type': 'application/json' },
});

const urn = `urn:ietf:params:scim:schemas:extension:${SHOWN}:2.0:User`;
const person = (name: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', urn],
  userName: `${name}@corp.example`,
  externalId: SHOWN,
  displayName: SHOWN,
  title: SHOWN,
  password: HIDDEN,
  name: { givenName: SHOWN, familyName: SHOWN, [SHOWN]: SHOWN },
  emails: [{ value: `${name}@corp.example`, type: SHOWN, primary: true }],
  roles: [{ value: SHOWN }],
  [SHOWN]: SHOWN,
  [urn]: { [SHOWN]: SHOWN },
});
const operations = [
  ...[SHOWN, `emails[type eq "${SHOWN}"].value`, `${SHOWN}[`, `${urn}:${SHOWN}`].map((path) => ({
    ...{ op: 'replace', path, value: SHOWN },
  })),
  { op: SHOWN, path: 'title', value: SHOWN },
  { op: 'add', value: { [SHOWN]: SHOWN, [`${SHOWN}.x`]: SHOWN, title: SHOWN } },
];
const patch = (operation: object) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [operation],
});

const broken = `{"${SHOWN}": "${SHOWN}`;
const scimBodies: Place[] = [
  json('/scim/v2/Users', 'POST', person(SHOWN)),
  json('/scim/v2/Users', 'POST', person('guest')),
  json('/scim/v2/Users', 'POST', { userName: [SHOWN], [SHOWN]: 1, active: SHOWN }),
  json('/scim/v2/Users', 'POST', broken),
  json('/scim/v2/Groups', 'POST', { displayName: SHOWN, externalId: SHOWN, members: [{ value: SHOWN }] }),
  json('/scim/v2/.search', 'POST', { [SHOWN]: 1, filter: `${SHOWN} eq 1` }),
  ...operations.map((operation) => json(`/scim/v2/Users/${SHOWN}`, 'PATCH', patch(operation))),
];
const travelBodies: Place[] = [
  json('/api/users', 'POST', { data: { email: `${SHOWN}@corp.example`, [SHOWN]: SHOWN, apiKey: HIDDEN } }),
  json('/api/users', 'POST', {
    data: { email: `${SHOWN}-2@corp.example`, firstName: SHOWN, lastName: SHOWN },
  }),
  json('/api/users', 'POST', { [SHOWN]: SHOWN }),
  json('/api/users', 'POST', broken),
  json('/api/cost-centers', 'POST', { data: { name: SHOWN } }),
  json('/api/webhooks', 'POST', { data: { url: `https://${SHOWN}.example/${SHOWN}`, description: SHOWN } }),
];
const assertion = [{ alg: 'RS256' }, { sub: HIDDEN, iss: HIDDEN }, HIDDEN]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');
const forms: Record<string, string>[] = [
  { grant_type: HIDDEN, client_id: HIDDEN, client_secret: HIDDEN },
  {
    grant_type: 'client_credentials',
    client_id: HIDDEN,
    client_secret: HIDDEN,
    scope: HIDDEN,
    [HIDDEN]: '1',
  },
  {
    grant_type: 'client_credentials',
    client_assertion: assertion,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  },
];
const oauthBodies: Place[] = forms.map((form) => ({
  target: '/oauth/token',
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(form).toString(),
}));

const areas = [
  { base: '/scim/v2/Users', valid: `Bearer ${SCIM_TOKEN}`, bodies: scimBodies },
  { base: '/api/users', valid: `Bearer ${TRAVEL_API_KEY}`, bodies: travelBodies },
  { base: '/oauth/token', valid: undefined, bodies: oauthBodies },
  { base: '/nothing', valid: undefined, bodies: [json('/nothing', 'POST', broken)] },
  { base: '/healthz', valid: undefined, bodies: [] },
];

/** Sends a request and returns its status; undefined if there was no response. */
async function send(
  { headers = {}, method = 'GET', ...request }: Place,
  authorization?: string,
): Promise<string | undefined> {
  const port = Number(new URL(server.url).port);
  const all = { ...(authorization === undefined ? {} : { Authorization: authorization }), ...headers };
  const answer = await rawExchange(port, requestText({ ...request, method, headers: all })).catch(() => '');
  return /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
}

/** Sends every request with and without a credential. Returns the number of responses by status. */
async function sendAll(): Promise<Map<string | undefined, number>> {
  const statuses = new Map<string | undefined, number>();
  const count = (status: string | undefined) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  for (const { base, valid, bodies } of areas) {
    const places = [...targets(base), ...inHeaders(base), ...bodies];
    for (const one of places) count(await send(one, valid));
    for (const authorization of credentials) count(await send({ target: base }, authorization));
    for (const authorization of credentials) for (const one of bodies) count(await send(one, authorization));
    if (valid !== undefined) for (const one of places.slice(0, 20)) count(await send(one));
  }
  count(await send({ target: '/', method: SHOWN }));
  return statuses;
}

test('the log contains no value that a client chose, nor does the request log without recorded bodies', async () => {
  const statuses = await sendAll();
  for (const status of ['200', '201', '400', '401', '404', '417', '429'])
    expect([...statuses.keys()]).toContain(status);
  const last = await send({ target: '/readyz?require=reads' });
  await eventually(async () => expect(log).toContain('"/readyz"'));
  server.kill('SIGTERM');
  const { stderr } = await server.exited;
  expect(last).toBe('200');
  const lines = log.split('\n').filter((line) => line.includes('"msg":"request"'));
  expect(lines.length).toBeGreaterThan(500);
  for (const text of [...log.split('\n'), ...stderr.split('\n')])
    for (const form of [...formsOf(SHOWN), ...formsOf(HIDDEN), base64(HIDDEN).slice(0, 10)])
      expect(text.toLowerCase().includes(form.toLowerCase()) ? text : '').toBe('');
  for (const text of [SCIM_TOKEN, TRAVEL_API_KEY]) expect(`${log}${stderr}`).not.toContain(text);
  const recorded = await travelLog();
  expect(recorded).toContain(SHOWN);
  for (const form of [...formsOf(HIDDEN), base64(HIDDEN).slice(0, 10), TRAVEL_API_KEY])
    expect(recorded.toLowerCase()).not.toContain(form.toLowerCase());
});

/** Reads the requests to the travel service in the log. */
async function travelLog(): Promise<string> {
  const database = await openTestDatabase(join(place.path, 'data'), false);
  try {
    const log = exchangeReader(database);
    return JSON.stringify((await log.list({ direction: 'api', limit: 5_000 })).exchanges);
  } finally {
    await database.close();
  }
}
