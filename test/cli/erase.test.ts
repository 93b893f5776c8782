import { exchangeReader } from '../../src/log/search.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { textsInDatabase } from '../fixtures/database-texts.ts';
import {
  bookTrip,
  createLeaver,
  createResource,
  ErasureFixture,
  enterprise,
  getFromTravelApi,
  leave,
  MARKED,
  markedUser,
  SCIM_TOKEN,
  scimUser,
  TRAVEL_API_KEY,
  travelExtension,
  waitUntilReconciled,
} from '../fixtures/erasure.ts';
import { eventually } from '../fixtures/eventually.ts';
import { patchOp } from '../fixtures/scim.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

let fixture: ErasureFixture;
beforeEach(async () => {
  fixture = await ErasureFixture.open();
});
afterEach(() => fixture.close());

const active = (value: boolean) => patchOp({ op: 'replace', path: 'active', value });
const done = { code: 0, err: '' };

test('nothing of an erased person is left in the files of the database, others lose the manager, and their ETags change', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  const people = async () => {
    const filter = encodeURIComponent('userName sw "bob" or userName sw "cyd"');
    return (await scim.send('GET', `/Users?filter=${filter}`)).body.Resources;
  };
  const before = await people();
  expect(before.map((one: Record<string, object>) => one[enterprise])).toEqual([
    { manager: { value: 'zqmark.user@corp.example', displayName: 'Zqmark Display' } },
    { manager: expect.objectContaining({ value: id }) },
  ]);
  const bob = before[0][travelExtension].travelUserId;
  expect(await getFromTravelApi(running.url, `/users/${bob}`)).toMatchObject({ managerId: travelId });
  await scim.send('PATCH', `/Users/${id}`, active(false));
  await waitUntilReconciled(running);
  expect((await textsInDatabase(running.data, MARKED)).length).toBeGreaterThan(20);
  expect(await fixture.erase('zqmark.user@corp.example')).toMatchObject(done);
  expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
  await waitUntilReconciled(running);
  const after = await people();
  expect(after.map((one: Record<string, object>) => one[enterprise])).toEqual([undefined, undefined]);
  expect(after[0].meta.version).not.toBe(before[0].meta.version);
  expect(await getFromTravelApi(running.url, `/users/${bob}`)).not.toHaveProperty('managerId');
  await fixture.stop();
  expect(await textsInDatabase(fixture.environment.JETBRIDGE_DATA, MARKED)).toEqual([]);
});

test('a traveler with trips becomes anonymous, invoices are unchanged, and webhooks receive the reduced events', async () => {
  const running = await fixture.serve();
  const { url, data } = running;
  const { scim, id, travelId } = await createLeaver(fixture, running);
  const billing = { email: 'bills@corp.example', lang: 'en', name: 'Headquarters' };
  const billingProfileId = await travelAdmin(url, TRAVEL_API_KEY).make('/billing-profiles', billing);
  await fetch(`${url}/api/users/${travelId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${TRAVEL_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      data: { billingProfileId, travelerPrefs: { flightSeatPosition: 'zqmark seat' } },
    }),
  });
  await waitUntilReconciled(running);
  const { tripId, invoiceId } = await bookTrip(data, billingProfileId, [travelId]);
  const operations = () => getFromTravelApi(url, `/invoices/${invoiceId}/billing-operations`);
  const [before, billed] = [await getFromTravelApi(url, `/invoices/${invoiceId}`), await operations()];
  expect(JSON.stringify(billed)).toMatch(MARKED);
  await scim.send('PATCH', `/Users/${id}`, active(false));
  await waitUntilReconciled(running);
  const erased = await fixture.erase(travelId);
  expect(erased).toMatchObject(done);
  expect(erased.out).toMatch(/trips +1\n +billing operations +3\n/);
  expect(await textsInDatabase(data, MARKED)).toEqual([]);
  expect(await getFromTravelApi(url, `/invoices/${invoiceId}`)).toEqual(before);
  expect(await getFromTravelApi(url, `/users/${travelId}`)).toEqual({
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
  const anonymous = (operation: { customFields?: object; bookingSnapshot: object }) => {
    const { customFields: _texts, bookingSnapshot, ...others } = operation;
    return { ...others, bookingSnapshot: { ...bookingSnapshot, booker: nobody, traveler: nobody } };
  };
  expect(await operations()).toEqual(billed.map(anonymous));
  expect(await getFromTravelApi(url, `/trip-projects/${tripId}`)).toMatchObject({
    travelerIds: [travelId],
    carRentals: [{ renterName: 'Erased traveler' }],
  });
  expect((await scim.send('GET', `/Users/${id}`)).status).toBe(404);
  fixture.receives = true;
  await eventually(async () => expect(fixture.received.map(({ kind }) => kind)).toContain('user.created'));
  const own = fixture.received.filter((one) => 'id' in one.data && one.data.id === travelId);
  for (const { data: told } of own) expect(Object.keys(told)).toEqual(['id', 'type', 'createdAt']);
  expect(JSON.stringify(fixture.received)).not.toMatch(MARKED);
});

test('without --yes the command counts what is removed and tells what is left to do, and changes nothing', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  await leave(running, scim, id);
  const erase = ['erase', 'ZQMARK.home@home.example'];
  const { code, out, err } = await runCommandLine(erase, fixture.environment);
  expect([code, err]).toEqual([2, expect.stringContaining('give --yes')]);
  // The running service writes its log in batches, so that the number of entries is not determined.
  expect(out.replace(/ {2,}\d+\n/g, '  N\n')).toBe(
    [
      'To be erased:',
      `  zqmark.user@corp.example, SCIM id ${id}, connection default`,
      `  the traveler ${travelId}`,
      'Deleted or changed:',
      '  groups with the person as a member  N',
      '  other people whose manager the person is  N',
      '  entries of the log of exchanges  N',
      '  events of the travel service  N',
      'Left to you:',
      '  what docs/operations/erase-a-person.md lists as not changed, such as names of groups, backups and log files',
      '',
    ].join('\n'),
  );
  const { out: json } = await runCommandLine([...erase, '--json'], fixture.environment);
  expect(JSON.parse(json)).toEqual({
    ...{ erased: false, travelUserIds: [travelId], place: 'embedded' },
    identities: [{ connection: 'default', id, userName: 'zqmark.user@corp.example' }],
    counts: { groups: 1, otherPeople: 2, requests: expect.any(Number), event: expect.any(Number) },
  });
  expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toMatchObject({
    ...{ archived: true, email: 'zqmark.new@corp.example' },
  });
});

test('a person whom the identity provider wants active is not erased, and the message says what to do', async () => {
  const running = await fixture.serve();
  const { scim, id } = await createLeaver(fixture, running);
  expect(await fixture.erase(id)).toEqual({
    ...{ code: 1, out: '' },
    err: `zqmark.user@corp.example is active in the connection default (SCIM id ${id}). Deactivate or delete the person in the identity provider, or archive the traveler if none has sent it; once that has arrived here, erase the person.\n`,
  });
  expect((await scim.send('GET', `/Users/${id}`)).body.title).toBe('zqmark other title');
});

test('an erasure works without a server, searches for a former address leave the log, and a later POST with the address creates a new person', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  for (const address of ['zqmark.work@corp.example', 'zqmark.new@corp.example', 'bob@corp.example'])
    await scim.send('GET', `/Users?filter=${encodeURIComponent(`emails.value eq "${address}"`)}`);
  await leave(running, scim, id);
  await fixture.stop();
  expect(await fixture.erase('zqmark.new@corp.example')).toMatchObject(done);
  expect(await textsInDatabase(fixture.environment.JETBRIDGE_DATA, MARKED)).toEqual([]);
  const database = await openTestDatabase(fixture.environment.JETBRIDGE_DATA, false);
  const query = { path: '/scim/v2/Users?', method: 'GET', limit: 100 };
  const { exchanges } = await exchangeReader(database).list(query);
  await database.close();
  expect(exchanges.map(({ path }) => decodeURIComponent(path))).toEqual([
    '/scim/v2/Users?filter=emails.value eq "bob@corp.example"',
  ]);
  const again = await fixture.serve();
  const { send } = scimClient(again.url, SCIM_TOKEN);
  const back = await createResource({ send }, '/Users', markedUser());
  await waitUntilReconciled(again);
  const { body } = await send('GET', `/Users/${back}`);
  expect(body.id).not.toBe(id);
  expect(body[travelExtension].travelUserId).toEqual(expect.any(String));
  expect(body[travelExtension].travelUserId).not.toBe(travelId);
});

test('an unknown name, an unknown connection and an ambiguous name exit with 1', async () => {
  const running = await fixture.serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  expect(await fixture.erase('nobody@corp.example')).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'Nobody has the userName, email address, SCIM id or travel user id nobody@corp.example.',
    ),
  });
  expect(await fixture.erase('x', '--connection', 'okta')).toMatchObject({
    code: 1,
    err: 'There is no connection okta in the database; it has default.\n',
  });
  const shared = { emails: [{ value: 'shared@corp.example', type: 'work', primary: true }], active: false };
  for (const name of ['ann', 'ben']) await createResource(scim, '/Users', scimUser(name, shared));
  const { code, err } = await fixture.erase('shared@corp.example');
  expect(code).toBe(1);
  expect(err).toMatch(
    /^shared@corp\.example names several people\. Give the SCIM id of one, or add --connection:\n(?: {2}\S+ \(\w+@corp\.example, connection default, \w+\)\n){2}$/,
  );
});

test('the exit code is 0 for an erasure, 1 for a refusal, and 2 without --yes or without a user', async () => {
  const running = await fixture.serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const [eve, ann] = [
    await createResource(scim, '/Users', scimUser('eve')),
    await createResource(scim, '/Users', scimUser('ann')),
  ];
  await leave(running, scim, eve);
  await fixture.stop();
  const codeOf = async (...args: string[]) =>
    (await runCommandLine(['erase', ...args], fixture.environment)).code;
  expect(await codeOf()).toBe(2);
  expect(await codeOf(ann, '--yes')).toBe(1);
  expect(await codeOf(eve)).toBe(2);
  expect(await codeOf(eve, '--yes')).toBe(0);
  expect(await codeOf(eve, '--yes')).toBe(1);
});

test('a person on whom a reconciler is at work is not erased, and nothing is changed', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  await leave(running, scim, id);
  await fixture.stop();
  const { db, close } = await openTestDatabase(running.data, false);
  const own = db.updateTable('identity').where('id', '=', id);
  await own.set({ lease_token: 'at work', lease_until: Date.now() + 600_000 }).execute();
  const before = (await textsInDatabase(running.data, MARKED)).length;
  expect(await fixture.erase(id)).toMatchObject({ code: 1, err: expect.stringContaining('is at work') });
  expect((await textsInDatabase(running.data, MARKED)).length).toBe(before);
  expect(await db.selectFrom('erased_traveler').select('hash').execute()).toEqual([]);
  await own.set({ lease_token: null, lease_until: null }).execute();
  await close();
  expect(await fixture.erase(travelId)).toMatchObject(done);
});
