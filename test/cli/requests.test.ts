import { join } from 'node:path';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

let folder: ReturnType<typeof temporaryFolder>;
let settings: { JETBRIDGE_DATA: string; TRAVEL_API_KEY: string; SCIM_TOKEN: string };
let server: RunningService | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  settings = {
    JETBRIDGE_DATA: join(folder.path, 'data'),
    TRAVEL_API_KEY: 'the-key-of-the-first-administrator',
    SCIM_TOKEN: 'the-token-of-the-identity-provider',
  };
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  folder.remove();
});

const requests = (...args: string[]) => runCommandLine(['requests', ...args], settings);

/** Returns the log as JSON once it has that many matching requests. The server writes it shortly after the answers. */
async function logged(count: number, ...args: string[]) {
  return eventually(async () => {
    const { out } = await requests('--json', ...args);
    const rows = out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    if (rows.length < count) throw new Error(`there are ${rows.length} yet`);
    return rows;
  });
}

function ask(path: string, init: { method?: string; body?: unknown; id?: string; key?: string } = {}) {
  const { method = 'GET', body, id, key = settings.TRAVEL_API_KEY } = init;
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(id ? { 'X-Request-Id': id } : {}),
    ...(body === undefined
      ? {}
      : { 'Content-Type': path.startsWith('/api') ? 'application/json' : 'application/scim+json' }),
  };
  return fetch(`${server?.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

it('shows the requests to the travel service while the server runs, as a table or as JSON', async () => {
  server = await startService(settings);
  await ask('/api/users/nobody', { id: 'case-1' });
  await ask('/api/cost-centers', {
    method: 'POST',
    body: { data: { name: 'R&D', secret: 'hush' } },
    id: 'case-2',
  });
  await ask('/api/whoami', { key: 'wrong', id: 'case-3' });
  const [last, created, missing] = (await logged(3, '--direction', 'api', '--status', '4xx')).slice(0, 3);
  expect([last.requestId, created.requestId, missing.requestId]).toEqual(['case-3', 'case-2', 'case-1']);
  expect(last).not.toHaveProperty('user');
  expect(created).toEqual({
    direction: 'api',
    position: expect.stringMatching(/^\d+$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    ms: expect.any(Number),
    method: 'POST',
    path: '/api/cost-centers',
    status: 422,
    user: 'admin@jetbridge.local',
    credential: 'apiKey:environment',
    requestId: 'case-2',
    request: { headers: {}, body: { text: '{"data":{"name":"R&D","secret":"*"}}', isCut: false } },
    response: { headers: {}, body: { text: expect.stringContaining('unknown'), isCut: false } },
  });
  const { code, out, err } = await requests('--direction', 'api', '--status', '422');
  expect([code, err]).toEqual([0, '"npx jetbridge requests show ID" shows headers and bodies.\n']);
  expect(out).toMatch(/│ 422 +│ \d+ +│ POST +│ \/api\/cost-centers +│ \S+@\S+ +│ \d+ +│/);
  expect(out).not.toContain('/api/users/nobody');
});

it('contains the requests of the IdP, the calls of the bridge, and as requests to the travel service none to SCIM', async () => {
  server = await startService(settings);
  const userName = 'ada@corp.example';
  const made = await ask('/scim/v2/Users', {
    method: 'POST',
    key: settings.SCIM_TOKEN,
    body: {
      userName,
      name: { givenName: 'Ada', familyName: 'L' },
      emails: [{ value: userName, type: 'work' }],
    },
  });
  expect(made.status).toBe(201);
  const [row] = await logged(1, '--direction', 'api', '--path', '/api/users', '--status', '201');
  expect(row).toMatchObject({ method: 'POST', path: '/api/users', credential: 'bridge' });
  const all = await logged(1, '--direction', 'api', '--limit', '1000');
  expect(all.filter(({ path }) => !path.startsWith('/api/'))).toEqual([]);
  const [written] = await logged(1, '--person', userName, '--direction', 'scim');
  expect(written).toMatchObject({
    method: 'POST',
    path: '/scim/v2/Users',
    status: 201,
    connection: 'default',
  });
  expect(JSON.parse(written.request.body.text).userName).toBe(userName);
  const calls = await logged(1, '--person', userName, '--direction', 'travel', '--method', 'post');
  expect(calls).toEqual([expect.objectContaining({ requestId: written.requestId, status: 201 })]);
  const shown = await requests('show', written.requestId);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toMatch(/^POST \/scim\/v2\/Users → 201$/m);
  expect(shown.out).toMatch(/^POST \/api\/users → 201$/m);
  expect(shown.out).toContain(`"userName": "${userName}"`);
  expect(await requests('show', 'no-such-id')).toMatchObject({ code: 1, out: '' });
  const explained = await runCommandLine(['explain', userName], settings);
  expect(explained.out).toMatch(
    /Last requests .*\n.* scim .*POST \/scim\/v2\/Users → 201 .*\n.* travel {2}POST \/api\/users → 201 /,
  );
});

it('searches by user, path and time, and reports if there are more or none', async () => {
  server = await startService(settings);
  for (const path of ['/api/users', '/api/users/x', '/api/users-x']) await ask(path);
  const me = (await (await ask('/api/whoami')).json()) as { data: { email: string; id: string } };
  await logged(1, '--direction', 'api', '--path', '/api/whoami');
  const { email, id } = me.data;
  expect(
    (await logged(1, '--path', '/api/users/x', '--user', email.toUpperCase())).map(({ path }) => path),
  ).toEqual(['/api/users/x']);
  expect(await logged(1, '--path', '/api/users-x', '--user', id)).toHaveLength(1);
  expect(await requests('--direction', 'api', '--path', '/api/users', '--limit', '1')).toMatchObject({
    code: 0,
    err: expect.stringContaining('These are the first 1; --limit shows more.\n'),
  });
  expect(await requests('--since', '2100-01-01T00:00:00Z')).toEqual({
    code: 0,
    out: '',
    err: 'There are no such requests.\n',
  });
  await eventually(async () => {
    // The bridge, too, asks who it is.
    const asked = await logged(1, '--direction', 'api', '--since', '1h', '--path', '/api/whoami');
    expect(asked.filter(({ credential }) => credential !== 'bridge')).toHaveLength(1);
  });
  expect(await requests('--user', 'nobody@corp.example')).toMatchObject({ code: 1, out: '' });
});

it.each([
  ['--since', 'yesterday', 'must be e.g. 90s, 15m'],
  ['--status', '4x', 'must be a status or a class'],
  ['--status', '999', 'must be a status or a class'],
  ['--limit', '-1', 'must be a whole number'],
])('%s %s is wrong use', async (option, value, text) => {
  const ran = await requests(option, value);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.err).toContain(text);
});
