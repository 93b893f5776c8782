import { openExchangeLog } from '../../src/log/open-log.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { textsInDatabase } from '../fixtures/database-texts.ts';
import {
  bookTrip,
  createLeaver,
  ErasureFixture,
  enterprise,
  getFromTravelApi,
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
import { failAt } from '../fixtures/triggers.ts';

let fixture: ErasureFixture;
beforeEach(async () => {
  fixture = await ErasureFixture.open();
});
afterEach(() => fixture.close());

test('nothing of an erased person is left in the files of the database, while the service runs', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
  await waitUntilReconciled(running);
  expect((await textsInDatabase(running.data, MARKED)).length).toBeGreaterThan(20);
  const { end, out, err } = await fixture.erase('zqmark.user@corp.example');
  expect({ end, err }).toEqual({ end: 0, err: '' });
  expect(out).toContain(`the traveler ${travelId} is deleted`);
  expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
  await waitUntilReconciled(running);
  await fixture.stop();
  expect(await textsInDatabase(fixture.environment.JETBRIDGE_DATA, MARKED)).toEqual([]);
});

test('a traveler with trips becomes anonymous, invoices are unchanged, and webhooks receive the reduced events', async () => {
  const running = await fixture.serve();
  const { url } = running;
  const { scim, id, travelId } = await createLeaver(fixture, running);
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
  await waitUntilReconciled(running);
  const { tripId, invoiceId } = await bookTrip(running.data, profile, [travelId]);
  const before = await getFromTravelApi(url, `/invoices/${invoiceId}`);
  const billed = await getFromTravelApi(url, `/invoices/${invoiceId}/billing-operations`);
  expect(JSON.stringify(billed)).toMatch(MARKED);
  await scim.send('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  await waitUntilReconciled(running);
  const { end, out, err } = await fixture.erase(travelId);
  expect({ end, err }).toEqual({ end: 0, err: '' });
  expect(out).toContain(
    `the traveler ${travelId} is made anonymous and stays archived, as 1 trip and 3 billing operations refer to it`,
  );
  expect(out).toContain('invoices, refunds and disputes, unchanged: 1 invoice of this traveler');
  expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
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
  const after = await getFromTravelApi(url, `/invoices/${invoiceId}/billing-operations`);
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
  expect(await getFromTravelApi(url, `/trip-projects/${tripId}`)).toMatchObject({
    travelerIds: [travelId],
    carRentals: [{ renterName: 'Erased traveler' }],
  });
  expect((await scim.send('GET', `/Users/${id}`)).status).toBe(404);
  fixture.receives = true;
  await eventually(async () => expect(fixture.received.map(({ kind }) => kind)).toContain('user.created'));
  const own = fixture.received.filter(({ data }) => 'id' in data && data.id === travelId);
  for (const { data } of own) expect(Object.keys(data)).toEqual(['id', 'type', 'createdAt']);
  expect(JSON.stringify(fixture.received)).not.toMatch(MARKED);
});

test('a person whom the identity provider wants active is not erased, and the message says what to do', async () => {
  const running = await fixture.serve();
  const { scim, id } = await createLeaver(fixture, running);
  const before = (await textsInDatabase(running.data, MARKED)).length;
  const { end, out, err } = await fixture.erase(id);
  expect({ end, out }).toEqual({ end: 1, out: '' });
  expect(err).toBe(
    `The identity provider of the connection default still wants zqmark.user@corp.example active (SCIM id ${id}). Deactivate, unassign or delete the person there; once that has arrived here, erase them.`,
  );
  expect((await scim.send('GET', `/Users/${id}`)).body.title).toBe('zqmark other title');
  expect((await textsInDatabase(running.data, MARKED)).length).toBeGreaterThanOrEqual(before);
});

test('the plan lists what is removed, what is kept and what remains to be done, and changes nothing without --yes', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  await scim.send('DELETE', `/Users/${id}`);
  await waitUntilReconciled(running);
  const { end, out } = await fixture.erase('ZQMARK.home@home.example', {});
  expect(end).toBe('unconfirmed');
  // The running service writes its logs in batches, so that the number of entries is not determined.
  const anyNumber = out.replace(/\d+ entr(y|ies) of/g, 'N entries of').replace(/\d+ events;/, 'N events;');
  expect(anyNumber.replace(/deleted \d{4}-\d\d-\d\d/, 'deleted DAY')).toBe(
    [
      'To be erased:',
      `  zqmark.user@corp.example, SCIM id ${id}, connection default, deleted DAY`,
      `  the traveler ${travelId}`,
      'Removed:',
      '  1 SCIM user with addresses, findings, traces and calls that were announced',
      '  the person from 1 group, and from what is kept of 2 other people: managers, findings, traces',
      '  N entries of the log of requests; of those about others, the bodies',
      'Reduced to what such records must have:',
      '  N events; webhooks that still wait are sent the reduced events',
      'In the embedded travel service:',
      `  the traveler ${travelId} is deleted, as no trip and no billing operation refers to it`,
      'Kept:',
      '  invoices, refunds and disputes, unchanged: 0 invoices of this traveler, as the books must be kept; none holds a name',
      '  1 hash of the travel id, so that no import brings the person back',
      'Left to you:',
      '  backups, log files, and what webhooks and other programs have received',
    ].join('\n'),
  );
  expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toMatchObject({ archived: true });
});

test('searches for the former address of an erased person leave the log', async () => {
  const running = await fixture.serve();
  const { scim, id } = await createLeaver(fixture, running);
  const searches = ['zqmark.work@corp.example', 'zqmark.new@corp.example', 'bob@corp.example'];
  for (const address of searches)
    await scim.send('GET', `/Users?filter=${encodeURIComponent(`emails.value eq "${address}"`)}`);
  await scim.send('DELETE', `/Users/${id}`);
  await waitUntilReconciled(running);
  const logged = async () => {
    const database = await openTestDatabase(running.data, false);
    const log = openExchangeLog(database, running.settings);
    const { exchanges } = await log.list({ pathPrefix: '/scim/v2/Users', method: 'GET', limit: 100 });
    await database.close();
    return exchanges.flatMap(({ path }) => /eq "(.*)"/.exec(decodeURIComponent(path))?.[1] ?? []);
  };
  await eventually(async () => expect((await logged()).reverse()).toEqual(searches));
  expect((await fixture.erase(id)).end).toBe(0);
  expect(await logged()).toEqual(['bob@corp.example']);
});

test('people lose an erased manager, and their ETags change', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
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
  expect(await getFromTravelApi(running.url, `/users/${bob}`)).toMatchObject({ managerId: travelId });
  await scim.send('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  await waitUntilReconciled(running);
  expect((await fixture.erase(id)).end).toBe(0);
  await waitUntilReconciled(running);
  const after = await people();
  expect(after.map((one: Record<string, object>) => one[enterprise])).toEqual([undefined, undefined]);
  expect(after[0].meta.version).not.toBe(before[0].meta.version);
  expect(await getFromTravelApi(running.url, `/users/${bob}`)).not.toHaveProperty('managerId');
});

test('an erasure works without a server, and a later POST with the address creates a new person', async () => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  await scim.send('DELETE', `/Users/${id}`);
  await waitUntilReconciled(running);
  await fixture.stop();
  expect(await fixture.erase('zqmark.new@corp.example')).toMatchObject({ end: 0, err: '' });
  expect(await textsInDatabase(fixture.environment.JETBRIDGE_DATA, MARKED)).toEqual([]);
  const again = await fixture.serve();
  const back = await scimClient(again.url, SCIM_TOKEN).send('POST', '/Users', markedUser());
  expect(back.status).toBe(201);
  await waitUntilReconciled(again);
  const made = await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users/${back.body.id}`);
  expect(made.body.id).not.toBe(id);
  expect(made.body[travelExtension].travelUserId).toEqual(expect.any(String));
  expect(made.body[travelExtension].travelUserId).not.toBe(travelId);
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
  for (const name of ['ann', 'ben'])
    expect((await scim.send('POST', '/Users', scimUser(name, shared))).status).toBe(201);
  const { end, err } = await fixture.erase('shared@corp.example');
  expect(end).toBe(1);
  expect(err).toMatch(
    /^shared@corp\.example names several people: \S+ \(connection default\); \S+ \(connection default\)\. Give the SCIM id of one, or add --connection\.$/,
  );
});

test('people with the same name, or with a role that equals the userName, are unchanged', async () => {
  const running = await fixture.serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const name = { givenName: 'John', familyName: 'Smith' };
  const leaving = {
    ...scimUser('john'),
    userName: 'manager',
    externalId: '42',
    name,
    displayName: 'John Smith',
  };
  const left = await scim.send('POST', '/Users', leaving);
  const roles = { [travelExtension]: { roles: [{ value: 'manager' }] }, roles: [{ value: 'manager' }] };
  const staying = { ...scimUser('johnny', roles), name, displayName: 'John Smith', title: '42' };
  const stays = await scim.send('POST', '/Users', staying);
  const boss = { manager: { value: stays.body.id, displayName: 'John Smith' } };
  const bob = await scim.send('POST', '/Users', scimUser('bob', { [enterprise]: boss }));
  const members = [stays, left].map(({ body }) => ({ value: body.id, display: 'John Smith' }));
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
  const team = await scim.send('POST', '/Groups', { schemas, displayName: 'Team', members });
  await waitUntilReconciled(running);
  const read = async (id: string) => (await scim.send('GET', `/Users/${id}`)).body;
  const before = [await read(stays.body.id), await read(bob.body.id)];
  await scim.send('DELETE', `/Users/${left.body.id}`);
  await waitUntilReconciled(running);
  expect(await fixture.erase(left.body.id)).toMatchObject({ end: 0, err: '' });
  await waitUntilReconciled(running);
  expect([await read(stays.body.id), await read(bob.body.id)]).toEqual(before);
  const { body } = await scim.send('GET', `/Groups/${team.body.id}`);
  expect(body.members.map(({ value }: { value: string }) => value)).toEqual([stays.body.id]);
});

test('of two people with one address in two connections, the one of the named connection is erased', async () => {
  // Both connections use one travel service. Its feed would bring the person of one to the other, where the POST is then refused.
  fixture.connect({
    default: { travelApi: { feed: false } },
    second: { travelApi: { account: 'another', feed: false }, scimTokenEnv: 'OTHER_TOKEN' },
  });
  const running = await fixture.serve();
  const gone = { ...scimUser('ann'), active: false };
  for (const token of [SCIM_TOKEN, 'the-token-of-the-other-provider']) {
    expect((await scimClient(running.url, token).send('POST', '/Users', gone)).status).toBe(201);
    // Until then the address is reserved for the first person, and a POST of the second would be refused.
    await waitUntilReconciled(running);
  }
  expect(await fixture.erase('ann@corp.example')).toMatchObject({
    end: 1,
    err: expect.stringContaining('add --connection'),
  });
  expect(await fixture.erase('ann@corp.example', { connection: 'second', yes: true })).toMatchObject({
    end: 0,
    err: '',
  });
  const found = async (token: string) =>
    (await scimClient(running.url, token).send('GET', '/Users?filter=userName%20eq%20%22ann@corp.example%22'))
      .body.totalResults;
  expect(await found(SCIM_TOKEN)).toBe(1);
  expect(await found('the-token-of-the-other-provider')).toBe(0);
});

test('the next erasure completes an interrupted one', async () => {
  const running = await fixture.serve();
  const { scim, id } = await createLeaver(fixture, running);
  await scim.send('DELETE', `/Users/${id}`);
  await waitUntilReconciled(running);
  // The last step fails, as if the process had died before it.
  const { mend } = await failAt(running.data, 'delete on identity');
  await expect(fixture.erase(id)).rejects.toThrow('stay');
  expect((await textsInDatabase(running.data, MARKED)).length).toBeGreaterThan(0);
  await mend();
  expect(await fixture.erase(id)).toMatchObject({ end: 0, err: '' });
  expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
});

test('the exit code is 0 for an erasure, 1 for a refusal, and 2 without --yes or without a user', async () => {
  const running = await fixture.serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const { body } = await scim.send('POST', '/Users', scimUser('eve'));
  await waitUntilReconciled(running);
  const codeOf = async (...args: string[]) =>
    (await runCommandLine(['erase', ...args], fixture.environment)).code;
  expect(await codeOf()).toBe(2);
  expect(await codeOf(body.id, '--yes')).toBe(1);
  await scim.send('DELETE', `/Users/${body.id}`);
  await waitUntilReconciled(running);
  expect(await codeOf(body.id)).toBe(2);
  expect(await codeOf(body.id, '--yes')).toBe(0);
  expect(await codeOf(body.id, '--yes')).toBe(1);
});
