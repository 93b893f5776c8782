import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type EraseAsked, eraseUser } from '../../src/commands/erase.ts';
import { openEmbedded } from '../../src/store/database.ts';
import { travelResources } from '../../src/store/travel-resources.ts';
import { backOffice } from '../../src/travel/back-office/back-office.ts';
import { textsInFiles } from '../support/database-bytes.ts';
import { eventually } from '../support/eventually.ts';
import { folder, jetbridge } from '../support/jetbridge.ts';
import { type ScimClient, scimClient } from '../support/scim-client.ts';
import { patchOp } from '../support/scim-house.ts';
import { type RunningService, startService } from '../support/service.ts';
import { settingsFile } from '../support/settings-file.ts';
import { shellOf } from '../support/shell.ts';
import { travelAdmin } from '../support/travel-admin.ts';
import { car, flight, hotel } from '../travel/back-office/offers.ts';

const SCIM_TOKEN = 'the-token-of-the-identity-provider';
const TRAVEL_API_KEY = 'the-key-of-the-first-administrator';
const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const travelExtension = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

let place: ReturnType<typeof folder>;
let file: ReturnType<typeof settingsFile>;
let environment: Record<string, string>;
let service: RunningService | undefined;
let receiver: Server;
let received: { kind: string; data: object }[];
let receives: boolean;
beforeEach(async () => {
  received = [];
  receives = false;
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      if (receives) received.push(JSON.parse(body));
      response.writeHead(receives ? 204 : 503).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  place = folder();
  file = settingsFile({ travelService: { webhooks: { allowPrivate: true } } });
  environment = {
    ...{ TRAVEL_API_KEY, SCIM_TOKEN },
    JETBRIDGE_DATA: join(place.path, 'data'),
    JETBRIDGE_CONFIG: file.path,
  };
});
afterEach(async () => {
  await stopped();
  await new Promise((resolve) => receiver.close(resolve).closeAllConnections());
  file.remove();
  place.remove();
});

async function serve(): Promise<RunningService> {
  service = await startService(environment);
  return service;
}

async function stopped(): Promise<void> {
  // `close` of a running service removes the throw-away folder that it would have made itself.
  await service?.close();
  service = undefined;
}

/** The command, its exit code, and what it printed. */
async function erase(user: string, asked: Omit<EraseAsked, 'user'> = { yes: true }) {
  const shell = shellOf(environment);
  const end = await eraseUser(shell, { user, ...asked });
  return { end, out: shell.out.join('\n'), err: shell.err.join('\n') };
}

/** A person with marked values in every attribute that takes a text. */
function marked(extra: object = {}) {
  return {
    schemas: [core, enterprise, travelExtension],
    userName: 'zqmark.user@corp.example',
    externalId: 'zqmark-external',
    name: {
      givenName: 'Zqmarka',
      familyName: 'Zqmarkson',
      formatted: 'Zqmarka Q. Zqmarkson',
      middleName: 'Zqmarkmiddle',
    },
    displayName: 'Zqmark Display',
    nickName: 'zqmarknick',
    profileUrl: 'https://people.example/zqmark',
    title: 'Zqmark title',
    userType: 'zqmark type',
    preferredLanguage: 'en',
    emails: [
      { value: 'zqmark.work@corp.example', type: 'work', primary: true },
      { value: 'zqmark.home@home.example', type: 'home' },
    ],
    phoneNumbers: [{ value: '+33 612997731', type: 'work', primary: true }],
    addresses: [
      {
        type: 'work',
        primary: true,
        streetAddress: '1 zqmark street',
        locality: 'Zqmarkville',
        region: 'Zqmarkregion',
        postalCode: 'ZQMARK1',
        country: 'FR',
      },
    ],
    photos: [{ value: 'https://photos.example/zqmark' }],
    ims: [{ value: 'zqmark-im' }],
    [enterprise]: {
      employeeNumber: 'zqmark-77',
      department: 'Zqmark department',
      division: 'zqmark division',
      costCenter: 'zqmark cost center',
      manager: { value: 'zqmark.chief@corp.example', displayName: 'Zqmark Chief' },
    },
    [travelExtension]: { dateOfBirth: '1931-07-29', gender: 'female' },
    'urn:example:zqmark:2.0:User': { badge: 'zqmark badge' },
    ...extra,
  };
}

const MARKED = /zqmark|612997731|1931-07-29/;

const user = (name: string, extra: object = {}) => ({
  schemas: [core],
  userName: `${name}@corp.example`,
  name: { givenName: name, familyName: 'Smith' },
  emails: [{ value: `${name}@corp.example`, type: 'work', primary: true }],
  ...extra,
});

async function settled({ url }: RunningService): Promise<void> {
  await eventually(async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    expect([...text.matchAll(/state="dirty"} [1-9]/g)]).toEqual([]);
  });
}

/** Somebody with marked values wherever the two services keep any, who has left. */
async function leaver({ url }: RunningService): Promise<{ scim: ScimClient; id: string; travelId: string }> {
  const scim = scimClient(url, SCIM_TOKEN);
  const admin = travelAdmin(url, TRAVEL_API_KEY);
  const { port } = receiver.address() as AddressInfo; // It listens on a port.
  await admin.make('/webhooks', {
    url: `http://127.0.0.1:${port}/events`,
    events: ['user.created', 'user.updated', 'user.deleted'],
  });
  const customFieldId = await admin.make('/custom-fields', {
    dataType: 'text',
    name: 'Team',
    resourceType: 'user',
  });
  await admin.make('/scim-user-mappings', { scimAttribute: `${enterprise}:department`, customFieldId });
  const made = await scim.send('POST', '/Users', marked());
  expect(made.status).toBe(201);
  const { id } = made.body;
  const team = await scim.send('POST', '/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: 'Team',
    members: [{ value: id, display: 'Zqmark Display' }, { value: 'zqmark.user@corp.example' }],
  });
  expect(team.status).toBe(201);
  const named = {
    [enterprise]: { manager: { value: 'zqmark.user@corp.example', displayName: 'Zqmark Display' } },
  };
  expect((await scim.send('POST', '/Users', user('bob', named))).status).toBe(201);
  const wanting = user('cyd', {
    emails: [{ value: 'cyd@corp.example', type: 'work', primary: true }],
    [enterprise]: { manager: { value: id, $ref: `https://idp.example/${id}/zqmark` } },
  });
  expect((await scim.send('POST', '/Users', wanting)).status).toBe(201);
  await settled({ url } as RunningService);
  const change = patchOp(
    { op: 'replace', path: 'title', value: 'zqmark other title' },
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'zqmark.new@corp.example' },
  );
  expect((await scim.send('PATCH', `/Users/${id}`, change)).status).toBe(200);
  const travelId: string = (await scim.send('GET', `/Users/${id}`)).body[travelExtension].travelUserId;
  return { scim, id, travelId };
}

test('nothing of an erased person is left in the files of the database, while the service runs', async () => {
  const running = await serve();
  const { scim, id, travelId } = await leaver(running);
  expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
  await settled(running);
  expect(textsInFiles(running.data, MARKED).length).toBeGreaterThan(20);
  const { end, out, err } = await erase('zqmark.user@corp.example');
  expect({ end, err }).toEqual({ end: 0, err: '' });
  expect(out).toContain(`the traveler ${travelId} is deleted`);
  expect(textsInFiles(running.data, MARKED)).toEqual([]);
  await settled(running);
  await stopped();
  expect(textsInFiles(environment.JETBRIDGE_DATA ?? '', MARKED)).toEqual([]);
}, 60_000);

/** A trip with a flight, a hotel and a car for the traveler, booked by them, on an invoice. */
async function travel(data: string, billingProfileId: string, travelerIds: string[]) {
  const database = await openEmbedded(data, false);
  let last = 0;
  const newId = () => {
    last += 1;
    return `66b0c1d2e3f4a5b6c7d8${String(last).padStart(4, '0')}`;
  };
  const office = backOffice({ store: travelResources(database), now: Date.now, newId, onChange: () => {} });
  const rental = { ...car(90).rental, renterName: 'Zqmarka Zqmarkson' };
  const { id } = await office((desk) =>
    desk.searchTrip({
      travelerIds,
      search: { kind: 'roundTripWithCar' },
      offers: [flight(200), hotel(300), { ...car(90), rental }],
    }),
  );
  await office((desk) => desk.bookTrip({ tripProjectId: id, bookerId: travelerIds[0] ?? '' }));
  const [invoice] = await office((desk) => desk.invoiceProfile({ billingProfileId, kind: 'booking' }));
  await database.close();
  return { tripId: id, invoiceId: invoice?.id ?? '' };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
async function get(url: string, path: string): Promise<any> {
  const response = await fetch(`${url}/api${path}`, {
    headers: { authorization: `Bearer ${TRAVEL_API_KEY}` },
  });
  const { data } = JSON.parse(await response.text());
  return data;
}

test('a traveler with trips is made anonymous, invoices stay as they are, and webhooks get what is left of the events', async () => {
  const running = await serve();
  const { url } = running;
  const { scim, id, travelId } = await leaver(running);
  const admin = travelAdmin(url, TRAVEL_API_KEY);
  const profile = await admin.make('/billing-profiles', {
    email: 'bills@corp.example',
    lang: 'en',
    name: 'Headquarters',
  });
  await fetch(`${url}/api/users/${travelId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${TRAVEL_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      data: { billingProfileId: profile, travelerPrefs: { flightSeatPosition: 'zqmark seat' } },
    }),
  });
  await settled(running);
  const { tripId, invoiceId } = await travel(running.data, profile, [travelId]);
  const before = await get(url, `/invoices/${invoiceId}`);
  const billed = await get(url, `/invoices/${invoiceId}/billing-operations`);
  expect(JSON.stringify(billed)).toMatch(MARKED);
  await scim.send('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  await settled(running);
  const { end, out, err } = await erase(travelId);
  expect({ end, err }).toEqual({ end: 0, err: '' });
  expect(out).toContain(
    `the traveler ${travelId} is made anonymous and stays archived, as 1 trip and 3 billing operations refer to it`,
  );
  expect(out).toContain('invoices, refunds and disputes, unchanged: 1 invoice of this traveler');
  expect(textsInFiles(running.data, MARKED)).toEqual([]);
  expect(await get(url, `/invoices/${invoiceId}`)).toEqual(before);
  expect(await get(url, `/users/${travelId}`)).toEqual({
    ...{
      id: travelId,
      type: 'user',
      createdAt: expect.any(String),
      archived: true,
      separateIcsEmails: false,
    },
    email: expect.stringMatching(/^erased-[0-9a-f]{24}@jetbridge\.invalid$/),
  });
  const nobody = { id: travelId, email: 'erased@jetbridge.invalid', fullName: 'Erased traveler' };
  const after = await get(url, `/invoices/${invoiceId}/billing-operations`);
  expect(after).toEqual(
    billed.map(
      ({
        customFields: _texts,
        bookingSnapshot,
        ...operation
      }: {
        customFields: object;
        bookingSnapshot: object;
      }) => ({
        ...operation,
        bookingSnapshot: { ...bookingSnapshot, booker: nobody, traveler: nobody },
      }),
    ),
  );
  expect(await get(url, `/trip-projects/${tripId}`)).toMatchObject({
    travelerIds: [travelId],
    carRentals: [{ renterName: 'Erased traveler' }],
  });
  expect((await scim.send('GET', `/Users/${id}`)).status).toBe(404);
  receives = true;
  await eventually(async () => expect(received.map(({ kind }) => kind)).toContain('user.created'));
  const own = received.filter(({ data }) => 'id' in data && data.id === travelId);
  for (const { data } of own) expect(Object.keys(data)).toEqual(['id', 'type', 'createdAt']);
  expect(JSON.stringify(received)).not.toMatch(MARKED);
}, 90_000);

test('whoever the identity provider wants active is not erased, and the command says what to do', async () => {
  const running = await serve();
  const { scim, id } = await leaver(running);
  const before = textsInFiles(running.data, MARKED).length;
  const { end, out, err } = await erase(id);
  expect({ end, out }).toEqual({ end: 1, out: '' });
  expect(err).toBe(
    `The identity provider of the connection default still wants zqmark.user@corp.example active (SCIM id ${id}). Deactivate, unassign or delete the person there; once that has arrived here, erase them.`,
  );
  expect((await scim.send('GET', `/Users/${id}`)).body.title).toBe('zqmark other title');
  expect(textsInFiles(running.data, MARKED).length).toBeGreaterThanOrEqual(before);
});

test('the plan says what goes, what stays and what is left to do, and changes nothing without --yes', async () => {
  const running = await serve();
  const { scim, id, travelId } = await leaver(running);
  await scim.send('DELETE', `/Users/${id}`);
  await settled(running);
  const { end, out } = await erase('ZQMARK.home@home.example', {});
  expect(end).toBe('unconfirmed');
  expect(
    out.replace(/\d+ (entries of|events;)/g, 'N $1').replace(/deleted \d{4}-\d\d-\d\d/, 'deleted DAY'),
  ).toBe(
    [
      'To be erased:',
      `  zqmark.user@corp.example, SCIM id ${id}, connection default, deleted DAY`,
      `  the traveler ${travelId}`,
      'Removed:',
      '  1 SCIM user with addresses, findings, traces and calls that were announced',
      '  the person from 1 group, and from what is kept of 2 other people: managers, findings, traces',
      'Reduced to what such records must have:',
      '  N entries of the request log, N events; webhooks that still wait are sent the reduced events',
      'In the embedded travel service:',
      `  the traveler ${travelId} is deleted, as no trip and no billing operation refers to it`,
      'Kept:',
      '  invoices, refunds and disputes, unchanged: 0 invoices of this traveler, as the books must be kept; none holds a name',
      '  1 hash of the travel id, so that no import brings the person back',
      'Left to you:',
      '  backups, log files, and what webhooks and other programs have received',
    ].join('\n'),
  );
  expect(await get(running.url, `/users/${travelId}`)).toMatchObject({ archived: true });
});

test('an erased manager leaves the people they managed, who are shown with another version', async () => {
  const running = await serve();
  const { scim, id, travelId } = await leaver(running);
  const people = async () => {
    const { body } = await scim.send(
      'GET',
      '/Users?filter=userName%20sw%20%22bob%22%20or%20userName%20sw%20%22cyd%22',
    );
    return body.Resources;
  };
  const before = await people();
  expect(before.map((one: Record<string, object>) => one[enterprise])).toEqual([
    { manager: { value: 'zqmark.user@corp.example', displayName: 'Zqmark Display' } },
    { manager: expect.objectContaining({ value: id }) },
  ]);
  const bob = before[0][travelExtension].travelUserId;
  expect(await get(running.url, `/users/${bob}`)).toMatchObject({ managerId: travelId });
  await scim.send('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  await settled(running);
  expect((await erase(id)).end).toBe(0);
  await settled(running);
  const after = await people();
  expect(after.map((one: Record<string, object>) => one[enterprise])).toEqual([undefined, undefined]);
  expect(after[0].meta.version).not.toBe(before[0].meta.version);
  expect(await get(running.url, `/users/${bob}`)).not.toHaveProperty('managerId');
});

test('a server that is stopped is not needed, and a later POST of the address is a new person', async () => {
  const { scim, id, travelId } = await leaver(await serve());
  await scim.send('DELETE', `/Users/${id}`);
  await settled(service ?? (await serve()));
  await stopped();
  expect(await erase('zqmark.new@corp.example')).toMatchObject({ end: 0, err: '' });
  expect(textsInFiles(environment.JETBRIDGE_DATA ?? '', MARKED)).toEqual([]);
  const again = await serve();
  const back = await scimClient(again.url, SCIM_TOKEN).send('POST', '/Users', marked());
  expect(back.status).toBe(201);
  await settled(again);
  const made = await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users/${back.body.id}`);
  expect(made.body.id).not.toBe(id);
  expect(made.body[travelExtension].travelUserId).toEqual(expect.any(String));
  expect(made.body[travelExtension].travelUserId).not.toBe(travelId);
});

test('nobody of that name, an unknown connection and several people of one name end with 1', async () => {
  const running = await serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  expect(await erase('nobody@corp.example')).toMatchObject({
    end: 1,
    err: 'Nobody has the userName, email address, SCIM id or travel id nobody@corp.example.',
  });
  expect(await erase('x', { connection: 'okta', yes: true })).toMatchObject({
    end: 1,
    err: expect.stringContaining('There is no connection okta'),
  });
  const shared = { emails: [{ value: 'shared@corp.example', type: 'work', primary: true }], active: false };
  for (const name of ['ann', 'ben'])
    expect((await scim.send('POST', '/Users', user(name, shared))).status).toBe(201);
  const { end, err } = await erase('shared@corp.example');
  expect(end).toBe(1);
  expect(err).toMatch(
    /^shared@corp\.example names several people: \S+ \(connection default\); \S+ \(connection default\)\. Give the SCIM id of one, or add --connection\.$/,
  );
});

test('others who have the same name, or a role that is spelled like the userName, stay as they are', async () => {
  const running = await serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const name = { givenName: 'John', familyName: 'Smith' };
  const leaving = { ...user('john'), userName: 'manager', externalId: '42', name, displayName: 'John Smith' };
  const left = await scim.send('POST', '/Users', leaving);
  const roles = { [travelExtension]: { roles: [{ value: 'manager' }] }, roles: [{ value: 'manager' }] };
  const staying = { ...user('johnny', roles), name, displayName: 'John Smith', title: '42' };
  const stays = await scim.send('POST', '/Users', staying);
  const boss = { manager: { value: stays.body.id, displayName: 'John Smith' } };
  const bob = await scim.send('POST', '/Users', user('bob', { [enterprise]: boss }));
  const members = [stays, left].map(({ body }) => ({ value: body.id, display: 'John Smith' }));
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
  const team = await scim.send('POST', '/Groups', { schemas, displayName: 'Team', members });
  await settled(running);
  const read = async (id: string) => (await scim.send('GET', `/Users/${id}`)).body;
  const before = [await read(stays.body.id), await read(bob.body.id)];
  await scim.send('DELETE', `/Users/${left.body.id}`);
  await settled(running);
  expect(await erase(left.body.id)).toMatchObject({ end: 0, err: '' });
  await settled(running);
  expect([await read(stays.body.id), await read(bob.body.id)]).toEqual(before);
  const { body } = await scim.send('GET', `/Groups/${team.body.id}`);
  expect(body.members.map(({ value }: { value: string }) => value)).toEqual([stays.body.id]);
});

test('of two people with one address, each of a connection, the one of the named connection is erased', async () => {
  file.remove();
  file = settingsFile(
    {},
    { default: {}, second: { travelApi: { account: 'another' }, scimTokenEnv: 'OTHER_TOKEN' } },
  );
  environment = {
    ...environment,
    JETBRIDGE_CONFIG: file.path,
    OTHER_TOKEN: 'the-token-of-the-other-provider',
  };
  const running = await serve();
  const gone = { ...user('ann'), active: false };
  for (const token of [SCIM_TOKEN, 'the-token-of-the-other-provider'])
    expect((await scimClient(running.url, token).send('POST', '/Users', gone)).status).toBe(201);
  await settled(running);
  expect(await erase('ann@corp.example')).toMatchObject({
    end: 1,
    err: expect.stringContaining('add --connection'),
  });
  expect(await erase('ann@corp.example', { connection: 'second', yes: true })).toMatchObject({
    end: 0,
    err: '',
  });
  const found = async (token: string) =>
    (await scimClient(running.url, token).send('GET', '/Users?filter=userName%20eq%20%22ann@corp.example%22'))
      .body.totalResults;
  expect(await found(SCIM_TOKEN)).toBe(1);
  expect(await found('the-token-of-the-other-provider')).toBe(0);
});

test('an erasure that was interrupted is finished by the next one', async () => {
  const running = await serve();
  const { scim, id } = await leaver(running);
  await scim.send('DELETE', `/Users/${id}`);
  await settled(running);
  const database = await openEmbedded(running.data, false);
  // The last step fails, as if the process ended before it.
  await sql`create trigger stay before delete on identity begin select raise(abort, 'stay'); end`.execute(
    database.db,
  );
  await expect(erase(id)).rejects.toThrow('stay');
  expect(textsInFiles(running.data, MARKED).length).toBeGreaterThan(0);
  await sql`drop trigger stay`.execute(database.db);
  await database.close();
  expect(await erase(id)).toMatchObject({ end: 0, err: '' });
  expect(textsInFiles(running.data, MARKED)).toEqual([]);
});

test('on the command line the exit code is 0 when erased, 1 when refused, and 2 without --yes or a user', async () => {
  const running = await serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const { body } = await scim.send('POST', '/Users', user('eve'));
  await settled(running);
  const codeOf = async (...args: string[]) => (await jetbridge(['erase', ...args], environment)).code;
  expect(await codeOf()).toBe(2);
  expect(await codeOf(body.id, '--yes')).toBe(1);
  await scim.send('DELETE', `/Users/${body.id}`);
  await settled(running);
  expect(await codeOf(body.id)).toBe(2);
  expect(await codeOf(body.id, '--yes')).toBe(0);
  expect(await codeOf(body.id, '--yes')).toBe(1);
}, 60_000);
