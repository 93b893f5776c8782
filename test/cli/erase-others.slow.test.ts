import { join } from 'node:path';
import { eraseUser } from '../../src/cli/people/erase.ts';
import { openExchangeLog } from '../../src/log/open-log.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { bookingTransactionsOf } from '../fixtures/bookings.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';
import { car, hotel } from '../travel/booking/quotes.ts';

const SCIM_TOKEN = 'the-token-of-the-identity-provider';
const OTHER_TOKEN = 'the-token-of-the-other-provider';
const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';
const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

let folder: ReturnType<typeof temporaryFolder>;
let file: ReturnType<typeof writeSettingsFile> | undefined;
let environment: Record<string, string>;
let service: RunningService | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  file?.remove();
  folder.remove();
});

async function serve(connections: Record<string, object> = { default: {} }): Promise<RunningService> {
  file = writeSettingsFile({}, connections);
  environment = {
    ...{ TRAVEL_API_KEY, SCIM_TOKEN, OTHER_TOKEN },
    JETBRIDGE_DATA: join(folder.path, 'data'),
    JETBRIDGE_CONFIG: file.path,
  };
  service = await startService(environment);
  return service;
}

/** Returns the output of the plan and of the erasure. */
async function erase(user: string): Promise<string> {
  const shell = await recordedShell(environment);
  const end = await eraseUser(shell, { user, yes: true });
  expect({ end, err: shell.err }).toEqual({ end: 0, err: [] });
  return shell.out.join('\n');
}

async function settled({ url }: RunningService): Promise<void> {
  await eventually(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    expect([...text.matchAll(/state="dirty"} [1-9]/g)]).toEqual([]);
  });
}

const user = (name: string, extra: object = {}) => ({
  schemas: [core, enterprise],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: 'Smith' },
  emails: [{ value: `${name}@corp.example`, type: 'work', primary: true }],
  ...extra,
});

async function make({ send }: ScimClient, path: '/Users' | '/Groups', resource: object): Promise<string> {
  const { status, body } = await send('POST', path, resource);
  expect(status).toBe(201);
  return body.id;
}

/** Creates Bob, whose manager has this name, and a group with that manager. */
async function referrers(scim: ScimClient, manager: string): Promise<{ bob: string; group: string }> {
  const bob = await make(scim, '/Users', user('bob', { [enterprise]: { manager: { value: manager } } }));
  const group = await make(scim, '/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: 'Team',
    members: [{ value: manager }],
  });
  return { bob, group };
}

/** Returns the stored records of the people who refer to the person, and their travelers. */
async function kept(
  { url }: RunningService,
  scim: ScimClient,
  { bob, group }: { bob: string; group: string },
) {
  const { body } = await scim.send('GET', `/Users/${bob}`);
  const travelers = await travelAdmin(url, TRAVEL_API_KEY).travelers();
  return {
    manager: body[enterprise]?.manager,
    version: body.meta.version,
    members: (await scim.send('GET', `/Groups/${group}`)).body.members,
    managerId: travelers.find(({ email }) => email === 'bob@corp.example')?.managerId,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: events have data of every shape
async function events({ url }: RunningService): Promise<any[]> {
  const response = await fetch(`${url}/api/events?limit=100`, {
    headers: { authorization: `Bearer ${TRAVEL_API_KEY}` },
  });
  return JSON.parse(await response.text()).data;
}

async function leave(running: RunningService, scim: ScimClient, id: string): Promise<void> {
  await settled(running);
  expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
  await settled(running);
}

test.each([
  ['the address', 'assistant@corp.example'],
  ['a second address', 'assistant@home.example'],
])(
  '%s that the erased person had beside its owner stays with the owner everywhere',
  async (_which, shared) => {
    const running = await serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const second = { value: shared, type: 'other' };
    const emails = [...user('assistant').emails, ...(shared === 'assistant@home.example' ? [second] : [])];
    await make(scim, '/Users', user('assistant', { emails }));
    const referring = await referrers(scim, shared);
    const chief = await make(scim, '/Users', user('chief', { emails: [...user('chief').emails, second] }));
    await settled(running);
    const before = await kept(running, scim, referring);
    expect(before).toMatchObject({
      manager: { value: shared },
      members: [{ value: shared }],
      managerId: expect.any(String),
    });
    const recorded = (await events(running)).filter(({ data }) => data.email === 'assistant@corp.example');
    expect(recorded).not.toEqual([]);
    await leave(running, scim, chief);
    expect(await erase(chief)).toContain(
      'the person from 0 groups, and from what is kept of 0 other people: managers, findings, traces',
    );
    await settled(running);
    expect(await kept(running, scim, referring)).toEqual(before);
    expect(await events(running)).toEqual(expect.arrayContaining(recorded));
  },
);

test('the address of a traveler of no identity provider stays in events and in the request log', async () => {
  const running = await serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const desk = { email: 'desk@corp.example', firstName: 'Front', lastName: 'Desk' };
  const id = await travelAdmin(running.url, TRAVEL_API_KEY).make('/users', desk);
  const second = { value: desk.email, type: 'other' };
  const chief = await make(scim, '/Users', user('chief', { emails: [...user('chief').emails, second] }));
  await leave(running, scim, chief);
  const own = async () => (await events(running)).filter(({ data }) => data.id === id);
  const recorded = await own();
  expect(recorded).toMatchObject([{ data: desk }]);
  const logged = async () => {
    const database = await openTestDatabase(running.data, false);
    const log = openExchangeLog(database, running.settings);
    const { exchanges } = await log.list({ direction: 'api', method: 'POST', limit: 500 });
    await database.close();
    return exchanges.filter(({ requestBody }) => requestBody?.text.includes(desk.email)).length;
  };
  await eventually(async () => expect(await logged()).toBe(1));
  await erase(chief);
  expect(await own()).toEqual(recorded);
  expect(await logged()).toBe(1);
});

test('events about a deleted traveler keep the travel id, even if the erasure is repeated', async () => {
  const running = await serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const ann = await make(scim, '/Users', user('ann'));
  await leave(running, scim, ann);
  const travelers = await travelAdmin(running.url, TRAVEL_API_KEY).travelers();
  const { id = '' } = travelers.find(({ email }) => email === 'ann@corp.example') ?? {};
  const before = (await events(running)).filter(({ data }) => data.id === id);
  expect(before.map(({ kind }) => kind)).toContain('user.created');
  await erase(ann);
  const after = (await events(running)).filter(({ data }) => data.id === id);
  expect(after.map(({ kind }) => kind)).toEqual([...before.map(({ kind }) => kind), 'user.deleted']);
  for (const { data } of after) expect(Object.keys(data)).toEqual(['id', 'type', 'createdAt']);
});

test('a userName and an address that another person has now stay with that person', async () => {
  const running = await serve({ default: { policies: { onReturn: 'separate' } } });
  const scim = scimClient(running.url, SCIM_TOKEN);
  const first = await make(scim, '/Users', user('ann', { externalId: 'e1' }));
  await leave(running, scim, first);
  const second = await make(scim, '/Users', user('ann', { externalId: 'e2' }));
  await settled(running);
  const referring = await referrers(scim, 'ann@corp.example');
  await settled(running);
  const before = await kept(running, scim, referring);
  expect(before.managerId).toEqual(expect.any(String));
  const own = async () => (await events(running)).filter(({ data }) => data.id === before.managerId);
  const recorded = await own();
  const ann = (await scim.send('GET', `/Users/${second}`)).body;
  await erase(first);
  await settled(running);
  expect(await kept(running, scim, referring)).toEqual(before);
  expect((await scim.send('GET', `/Users/${second}`)).body).toEqual(ann);
  expect(await own()).toEqual(recorded);
  expect((await scim.send('GET', `/Users/${first}`)).status).toBe(404);
});

test('a manager who is referred to by a name that the erased person shared stays', async () => {
  const running = await serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const boss = await make(scim, '/Users', user('boss', { externalId: 'Ada' }));
  const referring = await referrers(scim, 'Ada');
  const other = await make(scim, '/Users', user('other', { externalId: 'ada' }));
  await settled(running);
  const before = await kept(running, scim, referring);
  expect(before.managerId).toEqual(expect.any(String));
  await leave(running, scim, other);
  await erase(other);
  await settled(running);
  expect((await scim.send('GET', `/Users/${boss}`)).status).toBe(200);
  const { manager, version, managerId } = await kept(running, scim, referring);
  expect({ manager, version, managerId }).toEqual({
    manager: before.manager,
    version: before.version,
    managerId: before.managerId,
  });
});

test.each([
  ['of another travel account', { account: 'another' }],
  ['of the same travel account', {}],
])('an externalId counts only in the connection of the person, not in one %s', async (_where, travelApi) => {
  const running = await serve({ default: {}, second: { travelApi, scimTokenEnv: 'OTHER_TOKEN' } });
  const scim = scimClient(running.url, SCIM_TOKEN);
  const other = scimClient(running.url, OTHER_TOKEN);
  const ann = await make(scim, '/Users', user('ann', { externalId: '1001' }));
  const own = await make(scim, '/Users', user('cyd', { [enterprise]: { manager: { value: '1001' } } }));
  await make(other, '/Users', user('boss', { externalId: '1001' }));
  const referring = await referrers(other, '1001');
  await settled(running);
  const before = await kept(running, other, referring);
  expect(before).toMatchObject({ members: [{ value: '1001' }], managerId: expect.any(String) });
  await leave(running, scim, ann);
  await erase(ann);
  await settled(running);
  expect(await kept(running, other, referring)).toEqual(before);
  expect((await scim.send('GET', `/Users/${own}`)).body[enterprise]).toBeUndefined();
});

test('credentials and groups of another travel account are not named in the plan', async () => {
  const second = { travelApi: { account: 'another' }, scimTokenEnv: 'OTHER_TOKEN' };
  const running = await serve({ default: {}, second });
  const scim = scimClient(running.url, SCIM_TOKEN);
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
  const named = { schemas, displayName: 'Reports of ann@corp.example' };
  const here = await make(scim, '/Groups', named);
  const there = await make(scimClient(running.url, OTHER_TOKEN), '/Groups', named);
  const ann = await make(scim, '/Users', user('ann'));
  await leave(running, scim, ann);
  const plan = await erase(ann);
  expect(plan).toContain(`group ${here} names the person`);
  expect(plan).not.toContain(there);
});

test('an address anywhere in an event of a trip with several travelers is removed with the name', async () => {
  const running = await serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const ann = await make(scim, '/Users', user('ann'));
  await make(scim, '/Users', user('ben'));
  await settled(running);
  const travelers = await travelAdmin(running.url, TRAVEL_API_KEY).travelers();
  const travelerIds = ['ann', 'ben'].map(
    (name) => travelers.find(({ email }) => email === `${name}@corp.example`)?.id ?? '',
  );
  const database = await openTestDatabase(running.data, false);
  const office = bookingTransactionsOf(database);
  const rental = { ...car(90).rental, renterName: 'ann Smith' };
  const name = 'Guests: ann@corp.example, ben@corp.example';
  const stay = { ...hotel(300).stay, place: { ...hotel(300).stay.place, name } };
  await office((desk) =>
    desk.searchTrip({
      travelerIds,
      search: { kind: 'roundTripWithCar' },
      quotes: [
        { ...hotel(300), stay },
        { ...car(90), rental },
      ],
    }),
  );
  await database.close();
  const trip = async () =>
    JSON.stringify((await events(running)).find(({ kind }) => kind === 'tripProject.created'));
  expect(await trip()).toContain('ann@corp.example');
  await leave(running, scim, ann);
  await erase(ann);
  const recorded = await trip();
  expect(recorded).toContain('"renterName":"Erased traveler"');
  expect(recorded).not.toContain('ann@corp.example');
  expect(recorded).not.toContain('ann Smith');
  expect(recorded).toContain(JSON.stringify(travelerIds));
});

test('the effect of a held change, which may name the person, is deleted', async () => {
  const running = await serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const ann = await make(scim, '/Users', user('ann'));
  await leave(running, scim, ann);
  const database = await openTestDatabase(running.data, false);
  const { holds } = provisioningStore(database);
  const held = { connection: 'default', generation: 1_000, people: 101, since: 0, recent: new Map() };
  await holds.saveHeldRules({ ...held, answer: undefined });
  const example = { id: ann, userName: 'ann@corp.example', changes: [] };
  const effect = {
    ...{ count: 'c', looked: 1, isComplete: true, people: 1, causes: [], fields: [], names: {} },
    examples: [example],
  };
  await holds.saveEffect('default', 1_000, effect, { isFirst: true });
  await erase(ann);
  expect(await holds.findHeldRules('default')).toMatchObject({ generation: 1_000, effect: undefined });
  await database.close();
});
