import { tables } from '../../src/store/migrations/index.ts';
import { UnknownSchema } from '../../src/store/sql/migrate.ts';
import { type DatabaseLocation, withDatabaseAt } from '../../src/store/sql/open-database.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { isOnPostgres } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { executeAt } from '../fixtures/execute.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { createDatabaseWithoutTables, KEY } from '../fixtures/test-database.ts';

/** What the migration of the next version may do, to every table: a column with a default, a table, an index. */
const nextSchema = [
  ...Object.keys(tables).map((table) => `alter table ${table} add column next text not null default 'none'`),
  'create table next (id text primary key, note text not null)',
  'create index identity_next on identity (next)',
  `update identity set next = 'filled'`,
  `insert into kysely_migration (name, timestamp) values ('9999-next', '2027-01-01T00:00:00.000Z')`,
];

let fixture: AdminFixture;
let environment: Record<string, string>;
let location: DatabaseLocation;
beforeAll(async () => {
  // A database of its own: others would be used again by later tests.
  environment = isOnPostgres()
    ? { DATABASE_URL: await createDatabaseWithoutTables(), JETBRIDGE_KEY: KEY }
    : {};
  fixture = await startAdmin(environment);
  location = fixture.service.settings;
  environment = { ...environment, JETBRIDGE_DATA: fixture.service.data };
});
afterAll(() => fixture.close());

const person = (name: string, extra: object = {}) => ({
  ...{ userName: `${name}@corp.example`, name: { givenName: name, familyName: 'King' }, active: true },
  ...{ emails: [{ value: `${name}@corp.example`, primary: true, type: 'work' }], ...extra },
});
const patch = (value: object) => ({ Operations: [{ op: 'replace', value }] });

/** What an IdP, an integration and an admin do in a day: almost every table is read and written. */
async function liveADay(name: string): Promise<void> {
  const { service, admin } = fixture;
  const idp = scimClient(service.url, service.scimToken);
  const statuses: number[] = [];
  const send = async (...request: Parameters<typeof idp.send>) => {
    const { status, body } = await idp.send(...request);
    statuses.push(status);
    return body?.id;
  };
  const boss = await send('POST', '/Users', person(`${name}boss`));
  const id = await send('POST', '/Users', person(name));
  await send('PUT', `/Users/${id}`, person(name, { title: 'Countess' }));
  await send('PATCH', `/Users/${id}`, patch({ displayName: 'Ada King' }));
  const group = await send('POST', '/Groups', { displayName: `${name}s`, members: [{ value: id }] });
  await send('PATCH', `/Groups/${group}`, {
    Operations: [{ op: 'add', path: 'members', value: [{ value: boss }] }],
  });
  await send('GET', `/Users?filter=${encodeURIComponent(`userName sw "${name}"`)}`);
  await send('PATCH', `/Users/${id}`, patch({ active: false }));
  await send('PATCH', `/Users/${id}`, patch({ active: true }));
  await send('DELETE', `/Users/${boss}`);
  expect((await idp.send('POST', '/Users', person(name))).status).toBe(409);
  expect(statuses.filter((status) => status >= 300)).toEqual([]);
  const headers = { authorization: `Bearer ${service.travelApiKey}`, 'content-type': 'application/json' };
  await eventually(async () => {
    const listed = await fetch(`${service.url}/api/users?emails=${name}@corp.example`, { headers });
    expect(await listed.json()).toMatchObject({ data: [{ firstName: name, archived: false }] });
  });
  const body = JSON.stringify({ data: { name: `${name} office` } });
  expect(
    (await fetch(`${service.url}/api/cost-centers`, { method: 'POST', headers, body })).status,
  ).toBeLessThan(300);
  for (const path of ['/overview', '/people?limit=5', `/people/default/${id}`, '/exchanges?limit=5'])
    expect([path, (await admin('GET', path)).status]).toEqual([path, 200]);
  const token = await admin('POST', '/admin-tokens', { body: { name, role: 'viewer' } });
  expect(token.status).toBe(200);
  for (const path of ['/readyz', '/metrics']) expect((await fetch(`${service.url}${path}`)).status).toBe(200);
}

test('a replica goes on working after a newer one has migrated the database', async () => {
  await liveADay('ada');
  await executeAt(location, nextSchema);
  await liveADay('bob');
  await fixture.service.people('default');
});

test('a replica of the older version does not start on it, nor do its commands work', async () => {
  await expect(withDatabaseAt(location, async () => {})).rejects.toThrow(UnknownSchema);
  const listed = await runCommandLine(['people', 'list'], environment);
  expect([listed.code, listed.err]).toEqual([
    1,
    expect.stringContaining('was written by a newer version of Jetbridge'),
  ]);
});
