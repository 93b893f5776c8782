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
const done = { end: 0, err: '' };

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
  fixture.logDelayMs = undefined;
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
  fixture.logDelayMs = undefined;
  const erased = await fixture.erase(travelId);
  expect(erased).toMatchObject(done);
  expect(erased.out).toMatch(/1 trip, 3 billing operations and \d+ events; 2 travelers lose this manager/);
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

test('without --yes the plan counts what is removed and tells what is left to do, and changes nothing', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  await leave(running, scim, id);
  const { end, out } = await fixture.erase('ZQMARK.home@home.example', {});
  expect(end).toBe('unconfirmed');
  // The running service writes its log in batches, so that the number of entries is not determined.
  const plan = out
    .replace(/\d+ (entries|entry)/, 'N entries')
    .replace(/deleted \d{4}-\d\d-\d\d/, 'deleted DAY');
  expect(plan.replace(/\d+ events;/, 'N events;')).toBe(
    [
      'To be erased:',
      `  zqmark.user@corp.example, SCIM id ${id}, connection default, deleted DAY`,
      `  the traveler ${travelId}: deleted, or made anonymous and archived if trips or billing operations refer to it`,
      'Removed:',
      '  the person from 1 group, and as the manager of 2 other people',
      '  N entries of the log of exchanges',
      'Reduced in the embedded travel service:',
      '  0 trips, 0 billing operations and N events; 0 travelers lose this manager',
      'Kept:',
      '  invoices, refunds and disputes, unchanged',
      '  1 hash of the travel id, so that no import brings the person back',
      'Left to you:',
      '  names of groups, tokens, billing profiles and webhooks, and what others have of the person in attributes other than the manager',
      '  backups, log files, and what webhooks and other programs have received',
    ].join('\n'),
  );
  expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toMatchObject({ archived: true });
});

test('a person whom the identity provider wants active is not erased, and the message says what to do', async () => {
  const running = await fixture.serve();
  const { scim, id } = await createLeaver(fixture, running);
  expect(await fixture.erase(id)).toEqual({
    ...{ end: 1, out: '' },
    err: `The identity provider of the connection default still wants zqmark.user@corp.example active (SCIM id ${id}). Deactivate, unassign or delete the person there; once that has arrived here, erase them.`,
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
  const query = { pathPrefix: '/scim/v2/Users?', method: 'GET', limit: 100 };
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
    end: 1,
    err: 'Nobody has the userName, email address, SCIM id or travel id nobody@corp.example.',
  });
  expect(await fixture.erase('x', { connection: 'okta', yes: true })).toMatchObject({
    end: 1,
    err: expect.stringContaining('There is no connection okta'),
  });
  const shared = { emails: [{ value: 'shared@corp.example', type: 'work', primary: true }], active: false };
  for (const name of ['ann', 'ben']) await createResource(scim, '/Users', scimUser(name, shared));
  const { end, err } = await fixture.erase('shared@corp.example');
  expect(end).toBe(1);
  expect(err).toMatch(
    /^shared@corp\.example names several people: \S+ \(connection default\); \S+ \(connection default\)\. Give the SCIM id of one, or add --connection\.$/,
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

test("a person who is reactivated while the erasure waits for another person's lease stays", async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  await scim.send('PATCH', `/Users/${id}`, active(false));
  await waitUntilReconciled(running);
  const { db, close } = await openTestDatabase(running.data, false);
  // A reconciler holds the lease of a person whose manager the erased person is.
  const bob = db.updateTable('identity').where('user_name_key', '=', 'bob@corp.example');
  await bob.set({ lease_token: 'at work', lease_until: Date.now() + 600_000 }).execute();
  const erasing = fixture.erase(id);
  // The log is erased first.
  const logged = db.selectFrom('exchange').select('position').where('person', '=', id);
  await eventually(async () => expect(await logged.execute()).toEqual([]));
  expect((await scim.send('PATCH', `/Users/${id}`, active(true))).status).toBe(200);
  await bob.set({ lease_token: null, lease_until: null }).execute();
  expect(await erasing).toMatchObject({ end: 1, err: expect.stringContaining('still wants') });
  await waitUntilReconciled(running);
  expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toMatchObject({
    ...{ email: 'zqmark.new@corp.example', archived: false },
  });
  expect(await db.selectFrom('erased_traveler').select('hash').execute()).toEqual([]);
  await close();
});
