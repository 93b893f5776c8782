import { join } from 'node:path';
import { startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { isOnPostgres } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { startServer } from '../fixtures/server-process.ts';
import { startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { letTimePass } from '../fixtures/test-database.ts';

let folder: ReturnType<typeof temporaryFolder>;
const files: { remove(): void }[] = [];
const services: { close(): Promise<void> }[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
  folder.remove();
  for (const file of files.splice(0)) file.remove();
});

/** Returns the environment of settings with these connections, all of one travel account. */
function environment(...ids: string[]): Record<string, string> {
  const file = writeSettingsFile({}, Object.fromEntries(ids.map((id) => [id, {}])));
  files.push(file);
  return { JETBRIDGE_CONFIG: file.path, JETBRIDGE_DATA: join(folder.path, 'data'), TRAVEL_API_KEY: key };
}

const key = 'travel-key-of-the-tests-of-connections';

const connections = (env: Record<string, string>, ...args: string[]) =>
  runCommandLine(['connections', ...args], env);

const user = (name: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: 'Smith' },
  emails: [{ value: `${name}@corp.example`, type: 'work' }],
});

/** Returns a SCIM client with a new token of the connection. */
async function clientOf({ url }: { url: string }, env: Record<string, string>, connection: string) {
  const made = await runCommandLine(['tokens', 'create', '--connection', connection], env);
  expect(made.code).toBe(0);
  return scimClient(url, made.out.trim());
}

/** Serves these connections without background work. */
async function served(...ids: string[]) {
  const env = environment(...ids);
  const service = await startService(env, { background: false });
  services.push(service);
  const stop = async () => {
    services.splice(services.indexOf(service), 1);
    await service.close();
  };
  const travelers = async (): Promise<{ id: string; email: string; archived: boolean }[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${service.url}/api/users?limit=100&sortBy=email`, { headers });
    return ((await answer.json()) as { data: { id: string; email: string; archived: boolean }[] }).data;
  };
  return { stop, clientOf: (connection: string) => clientOf(service, env, connection), travelers };
}

/** The connection okta has Ada and the deleted Eve, and is then removed from the settings. */
async function oktaIsGone() {
  const { stop, clientOf, travelers } = await served('okta', 'entra');
  const { send } = await clientOf('okta');
  expect((await send('POST', '/Users', user('ada'))).status).toBe(201);
  const eve = await send('POST', '/Users', user('eve'));
  expect((await send('DELETE', `/Users/${eve.body.id}`)).status).toBe(204);
  const before = await travelers();
  await stop();
  return { before };
}

test('all connections in the database are listed, whether or not the settings have them', async () => {
  await oktaIsGone();
  const { code, out } = await connections(environment('entra'), 'list');
  expect(code).toBe(0);
  const [head = '', ...rows] = out.split('\n').filter((line) => line.startsWith('│'));
  const cells = (line: string) =>
    line
      .split('│')
      .slice(1, -1)
      .map((cell) => cell.trim());
  expect(cells(head)).toEqual([
    ...['connection', 'from', 'mode', 'pilot', 'people', 'deleted', 'groups', 'travelers linked'],
  ]);
  expect(rows.map(cells)).toEqual([
    ['entra', 'settings file', 'live', '-', '0', '0', '0', '0'],
    ['okta', '–', 'live', '-', '1', '1', '0', '2'],
  ]);
});

test('a connection of the admin page is listed as such, gets tokens by the command, and is removed on the page only', async () => {
  const env = environment('okta');
  const fixture = await startAdmin(env);
  services.push(fixture);
  const body = { name: 'page', travelApi: { url: 'embedded' } };
  expect((await fixture.admin('POST', '/connections', { body })).status).toBe(204);
  const { send } = await clientOf(fixture.service, env, 'page');
  expect((await send('GET', '/Users')).status).toBe(200);
  const { out } = await connections(env, 'list', '--json');
  const listed = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(listed.map(({ id, source, servers }) => [id, source, servers])).toEqual([
    ['okta', 'file', 1],
    ['page', 'database', 1],
  ]);
  expect(await connections(env, 'forget', 'page', '--yes')).toEqual({
    ...{ code: 1, out: '' },
    err: 'The connection page was added on the admin page. Remove it there.\n',
  });
});

if (isOnPostgres())
  test('a connection that is added through one server is served by the other within seconds, until it is removed', async () => {
    const env = environment('okta');
    const fixture = await startAdmin(env);
    const other = await startService(env);
    services.push(fixture, other);
    const body = { name: 'page', travelApi: { url: 'embedded' } };
    expect((await fixture.admin('POST', '/connections', { body })).status).toBe(204);
    const { send } = await clientOf(other, env, 'page');
    const statusOf = async () => (await send('GET', '/Users?count=1')).status;
    await eventually(async () => expect(await statusOf()).toBe(200));
    expect((await fixture.admin('DELETE', '/connections/page')).status).toBe(204);
    await eventually(async () => {
      expect(await statusOf()).toBe(401);
      expect((await fixture.admin('GET', '/connections/page/records')).status).toBe(404);
    });
  });

test('a forgotten connection leaves its travelers unchanged, and another connection can find and link them', async () => {
  const { before } = await oktaIsGone();
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return 'y';
  };
  expect(await runCommandLine(['connections', 'forget', 'okta'], environment('entra'), { ask })).toEqual({
    ...{ code: 0, out: 'forgotten\n' },
    err: [
      'The connection okta (travel account embedded) has 1 person, 1 deleted person and 0 groups.',
      'They go, with its tokens and OAuth clients. 2 travelers become free for the other connections of the account; no traveler is changed.',
      '',
    ].join('\n'),
  });
  expect(asked).toEqual(['Forget okta? It cannot be undone. [y/N] ']);
  const { clientOf, travelers } = await served('entra');
  expect(await travelers()).toEqual(before);
  const { send } = await clientOf('entra');
  const query = encodeURIComponent('userName eq "ada@corp.example"');
  const found = await send('GET', `/Users?filter=${query}`);
  expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ userName: 'ada@corp.example' }] });
  expect((await send('POST', '/Users', user('ada'))).status).toBe(201);
  expect((await send('POST', '/Users', user('eve'))).status).toBe(201);
  // Nobody knows whose the archived traveler of Eve is by now, so she gets one of her own.
  const after = await travelers();
  const left = before.filter(({ archived }) => archived).map(({ id }) => id);
  expect(after.filter(({ archived }) => archived).map(({ id }) => id)).toEqual(left);
  expect(after).toHaveLength(before.length + left.length);
});

test('a connection can be forgotten while a server without it runs', async () => {
  await oktaIsGone();
  const { clientOf } = await served('entra');
  expect((await connections(environment('entra'), 'forget', 'okta', '--yes')).code).toBe(0);
  const { send } = await clientOf('entra');
  expect((await send('POST', '/Users', user('ada'))).status).toBe(201);
});

test('a connection that running servers serve, idle or not, is not forgotten', async () => {
  const serving = environment('okta', 'entra');
  const service = await startService(serving);
  services.push(service);
  const { send } = await clientOf(service, serving, 'okta');
  expect((await send('POST', '/Users', user('ada'))).status).toBe(201);
  const forget = () => runCommandLine(['connections', 'forget', 'okta', '--yes'], environment('entra'));
  const refused = await forget();
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toMatch(
    /^1 running server serves the connection okta, so nothing was changed\. Remove it from the settings and restart it, or stop it; then try again\.( A server that was killed counts for 20 seconds more\.)?\n$/,
  );
  const listed = await runCommandLine(['connections', 'list', '--json'], environment('entra'));
  expect(listed.out).toMatch(/"id": ?"okta".*"servers": ?1, ?"isInUse": ?true/);
  expect((await send('POST', '/Users', user('eve'))).status).toBe(201);
  services.pop();
  await service.close();
  expect(await forget()).toMatchObject({ code: 0, out: 'forgotten\n' });
});

test.each([
  ['tokens', 'create', '--connection', 'okta', '--name', 'new'],
  ['oauth-clients', 'create', '--connection', 'okta', '--name', 'new'],
])('%s %s with another travel account moves no people of a running server', async (...args) => {
  const { clientOf } = await served('okta');
  const { send } = await clientOf('okta');
  expect((await send('POST', '/Users', user('ada'))).status).toBe(201);
  const file = writeSettingsFile({}, { okta: { travelApi: { account: 'another' } } });
  files.push(file);
  expect(await runCommandLine(args, { ...environment(), JETBRIDGE_CONFIG: file.path })).toMatchObject({
    code: 0,
  });
  expect((await send('GET', '/Users')).body.totalResults).toBe(1);
  expect((await send('POST', '/Users', user('eve'))).status).toBe(201);
});

test('a server that was killed hinders nothing in its data folder, and on PostgreSQL for 20 seconds', async () => {
  const serving = environment('okta', 'entra');
  const server = await startServer(serving);
  server.kill('SIGKILL');
  await server.exited;
  const forget = () => runCommandLine(['connections', 'forget', 'okta', '--yes'], environment('entra'));
  if (isOnPostgres()) {
    expect(await forget()).toMatchObject({ code: 1, out: '' });
    await letTimePass(join(folder.path, 'data'), 20_000);
  }
  expect(await forget()).toMatchObject({ code: 0, out: 'forgotten\n' });
});

test.each(['', 'n', 'no', 'okta'])('the answer "%s" changes nothing', async (answer) => {
  await oktaIsGone();
  const terminal = { ask: async () => answer };
  expect(
    await runCommandLine(['connections', 'forget', 'okta'], environment('entra'), terminal),
  ).toMatchObject({
    ...{ code: 1, out: '' },
    err: expect.stringMatching(/\nNothing was changed\.\n$/),
  });
  expect((await connections(environment('entra'), 'list')).out).toContain('okta');
});

test.each([
  [
    'okta',
    'The connection okta is in the settings. Remove it there and restart the server; then it can be forgotten.',
  ],
  ['mars', 'There is no connection mars in the database; it has entra, okta.'],
])('the connection %s is not forgotten', async (name, fault) => {
  await oktaIsGone();
  expect(await connections(environment('okta', 'entra'), 'forget', name, '--yes')).toEqual({
    ...{ code: 1, out: '' },
    err: `${fault}\n`,
  });
});

test('without a terminal the numbers are printed, and it exits with 2 unless --yes is given', async () => {
  await oktaIsGone();
  const env = environment('entra');
  const refused = await runCommandLine(['connections', 'forget', 'okta'], env);
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toMatch(
    /has 1 person, 1 deleted person and 0 groups[\s\S]*error: give --yes where nobody can be asked/,
  );
  const listed = await runCommandLine(['connections', 'list'], env);
  expect(listed).toMatchObject({ code: 0, err: '' });
  expect(listed.out).toMatch(/okta +│ – +│ live +│ - +│ 1 /);
  expect(await runCommandLine(['connections', 'forget', 'okta', '--yes'], env)).toMatchObject({
    ...{ code: 0, out: 'forgotten\n' },
  });
  expect(await runCommandLine(['connections', 'forget', 'okta', '--yes'], env)).toMatchObject({
    code: 1,
    out: '',
  });
});
