import { exchangeReader } from '../../src/log/search.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { bookingTransactionsOf, searchFor } from '../fixtures/bookings.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { textsInDatabase } from '../fixtures/database-texts.ts';
import {
  bookTrip,
  createLeaver,
  createReferrers,
  createResource,
  ErasureFixture,
  enterprise,
  getFromTravelApi,
  leave,
  MARKED,
  markedUser,
  OTHER_TOKEN,
  readReferrers,
  SCIM_TOKEN,
  scimUser,
  TRAVEL_API_KEY,
  travelExtension,
  waitUntilReconciled,
} from '../fixtures/erasure.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type OtherTravelApi, otherTravelApi } from '../fixtures/other-travel-api.ts';
import { car, hotel } from '../fixtures/quotes.ts';
import { patchOp } from '../fixtures/scim.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import type { RunningService } from '../fixtures/service.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';
import { afterUpdate, failAt } from '../fixtures/triggers.ts';

let fixture: ErasureFixture;
beforeEach(async () => {
  fixture = await ErasureFixture.open();
});
afterEach(() => fixture.close());

const active = (value: boolean) => patchOp({ op: 'replace', path: 'active', value });

/** Erases a person and returns the output of the plan and of the erasure. */
async function eraseFully(user: string): Promise<string> {
  const { end, out, err } = await fixture.erase(user);
  expect({ end, err }).toEqual({ end: 0, err: '' });
  return out;
}

// biome-ignore lint/suspicious/noExplicitAny: events have data of every shape
function readEvents({ url }: RunningService): Promise<any[]> {
  return getFromTravelApi(url, '/events?limit=100');
}

/** Expects that the events about a traveler hold nothing but its id and its time. */
async function expectReduced(running: RunningService, travelId: string): Promise<void> {
  const own = (await readEvents(running)).filter(({ data }) => data.id === travelId);
  expect(own.length).toBeGreaterThan(1);
  for (const { data } of own) expect(Object.keys(data)).toEqual(['id', 'type', 'createdAt']);
}

async function hashes(data: string): Promise<number> {
  const database = await openTestDatabase(data, false);
  const rows = await database.db.selectFrom('erased_traveler').select('hash').execute();
  await database.close();
  return rows.length;
}

/** Waits until the log has the deletion of a user. The server writes the log some time after its answers. */
async function waitUntilLogged(data: string, id: string): Promise<void> {
  const database = await openTestDatabase(data, false);
  await eventually(async () => {
    const rows = await database.db.selectFrom('exchange').select('method').where('person', '=', id).execute();
    expect(rows.map(({ method }) => method)).toContain('DELETE');
  });
  await database.close();
}

/** Creates a deactivated person with a trip, whose traveler becomes anonymous. */
async function createTraveled(running: RunningService) {
  const { url } = running;
  const { scim, id, travelId } = await createLeaver(fixture, running);
  const billing = { email: 'bills@corp.example', lang: 'en', name: 'Headquarters' };
  const billingProfileId = await travelAdmin(url, TRAVEL_API_KEY).make('/billing-profiles', billing);
  await fetch(`${url}/api/users/${travelId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${TRAVEL_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ data: { billingProfileId } }),
  });
  await waitUntilReconciled(running);
  await bookTrip(running.data, billingProfileId, [travelId]);
  await scim.send('PATCH', `/Users/${id}`, active(false));
  await waitUntilReconciled(running);
  return { scim, id, travelId };
}

/** Returns the traveler of a SCIM user. */
async function readLinked({ url }: RunningService, { scim, id }: Awaited<ReturnType<typeof createTraveled>>) {
  const { body } = await scim.send('GET', `/Users/${id}`);
  return getFromTravelApi(url, `/users/${body[travelExtension].travelUserId}`);
}

describe('a person who has left', () => {
  test('nothing of an erased person is left in the files of the database, while the service runs', async () => {
    const running = await fixture.serve();
    const { scim, id, travelId } = await createLeaver(fixture, running);
    await leave(running, scim, id);
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
    await leave(running, scim, id);
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
    await leave(running, scim, id);
    const logged = async () => {
      const database = await openTestDatabase(running.data, false);
      const log = exchangeReader(database);
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
    await leave(running, scim, id);
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
    await leave(running, scim, left.body.id);
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
      (
        await scimClient(running.url, token).send(
          'GET',
          '/Users?filter=userName%20eq%20%22ann@corp.example%22',
        )
      ).body.totalResults;
    expect(await found(SCIM_TOKEN)).toBe(1);
    expect(await found('the-token-of-the-other-provider')).toBe(0);
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
    await leave(running, scim, body.id);
    expect(await codeOf(body.id)).toBe(2);
    expect(await codeOf(body.id, '--yes')).toBe(0);
    expect(await codeOf(body.id, '--yes')).toBe(1);
  });
});

describe('records of others', () => {
  test.each([
    ['the address', 'assistant@corp.example'],
    ['a second address', 'assistant@home.example'],
  ])(
    '%s that the erased person had beside its owner stays with the owner everywhere',
    async (_which, shared) => {
      const running = await fixture.serve();
      const scim = scimClient(running.url, SCIM_TOKEN);
      const second = { value: shared, type: 'other' };
      const emails = [
        ...scimUser('assistant').emails,
        ...(shared === 'assistant@home.example' ? [second] : []),
      ];
      await createResource(scim, '/Users', scimUser('assistant', { emails }));
      const referring = await createReferrers(scim, shared);
      const chief = await createResource(
        scim,
        '/Users',
        scimUser('chief', { emails: [...scimUser('chief').emails, second] }),
      );
      await waitUntilReconciled(running);
      const before = await readReferrers(running, scim, referring);
      expect(before).toMatchObject({
        manager: { value: shared },
        members: [{ value: shared }],
        managerId: expect.any(String),
      });
      const recorded = (await readEvents(running)).filter(
        ({ data }) => data.email === 'assistant@corp.example',
      );
      expect(recorded).not.toEqual([]);
      await leave(running, scim, chief);
      expect(await eraseFully(chief)).toContain(
        'the person from 0 groups, and from what is kept of 0 other people: managers, findings, traces',
      );
      await waitUntilReconciled(running);
      expect(await readReferrers(running, scim, referring)).toEqual(before);
      expect(await readEvents(running)).toEqual(expect.arrayContaining(recorded));
    },
  );

  test('the address of a traveler of no identity provider stays in events and in the request log', async () => {
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const desk = { email: 'desk@corp.example', firstName: 'Front', lastName: 'Desk' };
    const id = await travelAdmin(running.url, TRAVEL_API_KEY).make('/users', desk);
    const second = { value: desk.email, type: 'other' };
    const chief = await createResource(
      scim,
      '/Users',
      scimUser('chief', { emails: [...scimUser('chief').emails, second] }),
    );
    await leave(running, scim, chief);
    const own = async () => (await readEvents(running)).filter(({ data }) => data.id === id);
    const recorded = await own();
    expect(recorded).toMatchObject([{ data: desk }]);
    const logged = async () => {
      const database = await openTestDatabase(running.data, false);
      const log = exchangeReader(database);
      const { exchanges } = await log.list({ direction: 'api', method: 'POST', limit: 500 });
      await database.close();
      return exchanges.filter(({ requestBody }) => requestBody?.text.includes(desk.email)).length;
    };
    await eventually(async () => expect(await logged()).toBe(1));
    await eraseFully(chief);
    expect(await own()).toEqual(recorded);
    expect(await logged()).toBe(1);
  });

  test('events about a deleted traveler keep the travel id, even if the erasure is repeated', async () => {
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const ann = await createResource(scim, '/Users', scimUser('ann'));
    await leave(running, scim, ann);
    const travelers = await travelAdmin(running.url, TRAVEL_API_KEY).travelers();
    const { id = '' } = travelers.find(({ email }) => email === 'ann@corp.example') ?? {};
    const before = (await readEvents(running)).filter(({ data }) => data.id === id);
    expect(before.map(({ kind }) => kind)).toContain('user.created');
    await eraseFully(ann);
    const after = (await readEvents(running)).filter(({ data }) => data.id === id);
    expect(after.map(({ kind }) => kind)).toEqual([...before.map(({ kind }) => kind), 'user.deleted']);
    for (const { data } of after) expect(Object.keys(data)).toEqual(['id', 'type', 'createdAt']);
  });

  test('a userName and an address that another person has now stay with that person', async () => {
    fixture.connect({ default: { policies: { onReturn: 'separate' } } });
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const first = await createResource(scim, '/Users', scimUser('ann', { externalId: 'e1' }));
    await leave(running, scim, first);
    const second = await createResource(scim, '/Users', scimUser('ann', { externalId: 'e2' }));
    await waitUntilReconciled(running);
    const referring = await createReferrers(scim, 'ann@corp.example');
    await waitUntilReconciled(running);
    const before = await readReferrers(running, scim, referring);
    expect(before.managerId).toEqual(expect.any(String));
    const own = async () => (await readEvents(running)).filter(({ data }) => data.id === before.managerId);
    const recorded = await own();
    const ann = (await scim.send('GET', `/Users/${second}`)).body;
    await eraseFully(first);
    await waitUntilReconciled(running);
    expect(await readReferrers(running, scim, referring)).toEqual(before);
    expect((await scim.send('GET', `/Users/${second}`)).body).toEqual(ann);
    expect(await own()).toEqual(recorded);
    expect((await scim.send('GET', `/Users/${first}`)).status).toBe(404);
  });

  test('a manager who is referred to by a name that the erased person shared stays', async () => {
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const boss = await createResource(scim, '/Users', scimUser('boss', { externalId: 'Ada' }));
    const referring = await createReferrers(scim, 'Ada');
    const other = await createResource(scim, '/Users', scimUser('other', { externalId: 'ada' }));
    await waitUntilReconciled(running);
    const before = await readReferrers(running, scim, referring);
    expect(before.managerId).toEqual(expect.any(String));
    await leave(running, scim, other);
    await eraseFully(other);
    await waitUntilReconciled(running);
    expect((await scim.send('GET', `/Users/${boss}`)).status).toBe(200);
    const { manager, version, managerId } = await readReferrers(running, scim, referring);
    expect({ manager, version, managerId }).toEqual({
      manager: before.manager,
      version: before.version,
      managerId: before.managerId,
    });
  });

  test.each([
    ['of another travel account', { account: 'another' }],
    ['of the same travel account', {}],
  ])(
    'an externalId counts only in the connection of the person, not in one %s',
    async (_where, travelApi) => {
      fixture.connect({ default: {}, second: { travelApi, scimTokenEnv: 'OTHER_TOKEN' } });
      const running = await fixture.serve();
      const scim = scimClient(running.url, SCIM_TOKEN);
      const other = scimClient(running.url, OTHER_TOKEN);
      const ann = await createResource(scim, '/Users', scimUser('ann', { externalId: '1001' }));
      const own = await createResource(
        scim,
        '/Users',
        scimUser('cyd', { [enterprise]: { manager: { value: '1001' } } }),
      );
      await createResource(other, '/Users', scimUser('boss', { externalId: '1001' }));
      const referring = await createReferrers(other, '1001');
      await waitUntilReconciled(running);
      const before = await readReferrers(running, other, referring);
      expect(before).toMatchObject({ members: [{ value: '1001' }], managerId: expect.any(String) });
      await leave(running, scim, ann);
      await eraseFully(ann);
      await waitUntilReconciled(running);
      expect(await readReferrers(running, other, referring)).toEqual(before);
      expect((await scim.send('GET', `/Users/${own}`)).body[enterprise]).toBeUndefined();
    },
  );

  test('credentials and groups of another travel account are not named in the plan', async () => {
    const second = { travelApi: { account: 'another' }, scimTokenEnv: 'OTHER_TOKEN' };
    fixture.connect({ default: {}, second });
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
    const named = { schemas, displayName: 'Reports of ann@corp.example' };
    const here = await createResource(scim, '/Groups', named);
    const there = await createResource(scimClient(running.url, OTHER_TOKEN), '/Groups', named);
    const ann = await createResource(scim, '/Users', scimUser('ann'));
    await leave(running, scim, ann);
    const plan = await eraseFully(ann);
    expect(plan).toContain(`group ${here} names the person`);
    expect(plan).not.toContain(there);
  });

  test('an address anywhere in an event of a trip with several travelers is removed with the name', async () => {
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const ann = await createResource(scim, '/Users', scimUser('ann'));
    await createResource(scim, '/Users', scimUser('ben'));
    await waitUntilReconciled(running);
    const travelers = await travelAdmin(running.url, TRAVEL_API_KEY).travelers();
    const travelerIds = ['ann', 'ben'].map(
      (name) => travelers.find(({ email }) => email === `${name}@corp.example`)?.id ?? '',
    );
    const database = await openTestDatabase(running.data, false);
    const quotes = [hotel(300, 'Guests: ann@corp.example, ben@corp.example'), car(90, 'ann Smith')];
    await bookingTransactionsOf(database)((desk) => searchFor(desk, travelerIds, quotes));
    await database.close();
    const trip = async () =>
      JSON.stringify((await readEvents(running)).find(({ kind }) => kind === 'tripProject.created'));
    expect(await trip()).toContain('ann@corp.example');
    await leave(running, scim, ann);
    await eraseFully(ann);
    const recorded = await trip();
    expect(recorded).toContain('"renterName":"Erased traveler"');
    expect(recorded).not.toContain('ann@corp.example');
    expect(recorded).not.toContain('ann Smith');
    expect(recorded).toContain(JSON.stringify(travelerIds));
  });

  test('the effect of a held change, which may name the person, is deleted', async () => {
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const ann = await createResource(scim, '/Users', scimUser('ann'));
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
    await eraseFully(ann);
    expect(await holds.findHeldRules('default')).toMatchObject({ generation: 1_000, effect: undefined });
    await database.close();
  });
});

describe('deleted travelers, and interrupted erasures', () => {
  test('if leavers are deleted, the events and webhook deliveries of the deleted traveler are reduced, and its hash is stored', async () => {
    fixture.connect({ default: { policies: { deprovision: 'delete' } } });
    const running = await fixture.serve();
    const { scim, id, travelId } = await createLeaver(fixture, running);
    await leave(running, scim, id);
    expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toBeUndefined();
    const { end, out, err } = await fixture.erase(id);
    expect({ end, err }).toEqual({ end: 0, err: '' });
    expect(out).toMatch(/[1-9]\d* events;/);
    expect(out).toContain('1 hash of the travel id');
    expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
    expect(await hashes(running.data)).toBe(1);
    await expectReduced(running, travelId);
    fixture.receives = true;
    await eventually(async () => expect(fixture.received.map(({ kind }) => kind)).toContain('user.deleted'));
    expect(JSON.stringify(fixture.received)).not.toMatch(MARKED);
  });

  test("events about a traveler who now has the erased person's address are not reduced", async () => {
    fixture.connect({ default: { policies: { deprovision: 'delete' } } });
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const first = await scim.send('POST', '/Users', { ...scimUser('ann'), externalId: 'e1' });
    await leave(running, scim, first.body.id);
    expect((await scim.send('POST', '/Users', { ...scimUser('ann'), externalId: 'e2' })).status).toBe(201);
    await waitUntilReconciled(running);
    const people = await travelAdmin(running.url, TRAVEL_API_KEY).travelers();
    const { id: second = '' } = people.find(({ email }) => email === 'ann@corp.example') ?? {};
    await fixture.erase(first.body.id);
    expect(await getFromTravelApi(running.url, `/users/${second}`)).toMatchObject({
      email: 'ann@corp.example',
    });
    expect(await hashes(running.data)).toBe(1);
  });

  test('the events of a traveler that an admin deleted are reduced', async () => {
    const running = await fixture.serve();
    const { scim, id, travelId } = await createLeaver(fixture, running);
    await leave(running, scim, id);
    const headers = { authorization: `Bearer ${TRAVEL_API_KEY}` };
    const { status } = await fetch(`${running.url}/api/users/${travelId}`, { method: 'DELETE', headers });
    expect(status).toBe(200);
    await waitUntilReconciled(running);
    expect(await fixture.erase(id)).toMatchObject({ end: 0, err: '' });
    expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
    await expectReduced(running, travelId);
  });

  test.each(['update of desired on identity', 'delete on exchange', 'delete on identity'])(
    'an erasure that ended at an %s is finished by the next one',
    async (change) => {
      const running = await fixture.serve();
      const { scim, id, travelId } = await createLeaver(fixture, running);
      await leave(running, scim, id);
      await waitUntilLogged(running.data, id);
      const { mend } = await failAt(running.data, change);
      await expect(fixture.erase(id)).rejects.toThrow('stay');
      expect((await textsInDatabase(running.data, MARKED)).length).toBeGreaterThan(0);
      await mend();
      expect(await fixture.erase(id)).toMatchObject({ end: 0, err: '' });
      expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
      expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toBeUndefined();
      await expectReduced(running, travelId);
    },
    60_000,
  );

  test('a traveler of no connection is found again after an interrupted erasure', async () => {
    const running = await fixture.serve();
    const headers = { authorization: `Bearer ${TRAVEL_API_KEY}`, 'content-type': 'application/json' };
    const data = { email: 'zqmark.alone@corp.example', firstName: 'Zqmarka', lastName: 'Alone' };
    const made = await fetch(`${running.url}/api/users`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ data }),
    });
    expect(made.status).toBe(201);
    await waitUntilReconciled(running);
    await fixture.stop();
    const { JETBRIDGE_DATA } = fixture.environment;
    const database = await openTestDatabase(JETBRIDGE_DATA, false);
    // Remove the identity that an import has created for the traveler.
    for (const table of ['identity_email', 'identity'] as const)
      await database.db.deleteFrom(table).execute();
    await database.close();
    const { mend } = await failAt(JETBRIDGE_DATA, 'update on travel_resource');
    await expect(fixture.erase(data.email)).rejects.toThrow('stay');
    await mend();
    expect(await fixture.erase(data.email)).toMatchObject({ end: 0, err: '' });
    expect(await textsInDatabase(JETBRIDGE_DATA, MARKED)).toEqual([]);
  });
});

describe('a person who returns meanwhile', () => {
  test("a person who is reactivated while the erasure waits for another person's lease keeps the traveler", async () => {
    const running = await fixture.serve();
    const person = await createTraveled(running);
    const { scim, id, travelId } = person;
    const database = await openTestDatabase(running.data, false);
    // A reconciler holds the lease of a person whose manager the erased person is.
    const bob = database.db.updateTable('identity').where('user_name_key', '=', 'bob@corp.example');
    await bob.set({ lease_token: 'at work', lease_until: Date.now() + 600_000 }).execute();
    const erasing = fixture.erase(id);
    // The erasure has begun once another person no longer refers to this one.
    await eventually(async () => {
      const { body } = await scim.send('GET', '/Users?filter=userName%20sw%20%22cyd%22');
      expect(JSON.stringify(body)).not.toContain(id);
    });
    expect((await scim.send('PATCH', `/Users/${id}`, active(true))).status).toBe(200);
    await bob.set({ lease_token: null, lease_until: null }).execute();
    expect(await erasing).toMatchObject({ end: 1, err: expect.stringContaining('has changed') });
    await waitUntilReconciled(running);
    expect(await readLinked(running, person)).toMatchObject({
      id: travelId,
      email: 'zqmark.new@corp.example',
    });
    expect(await readLinked(running, person)).not.toMatchObject({ archived: true });
    expect(await hashes(running.data)).toBe(0);
    await database.close();
  });

  test('a person who is reactivated after the traveler was erased gets a new traveler', async () => {
    const running = await fixture.serve();
    const person = await createTraveled(running);
    const { scim, id, travelId } = person;
    const database = await openTestDatabase(running.data, false);
    // The IdP can still win until the traveler becomes anonymous, so reactivate the person at that moment.
    const { mend } = await afterUpdate(running.data, {
      table: 'travel_resource',
      when: `new.id = '${travelId}' and new.doc like '%"erased-%'`,
      statement: `update identity set version = version + 1,
        desired = replace(desired, '"active":false', '"active":true'), active = 1, state = 'dirty'
        where id = '${id}'`,
    });
    const { end, err } = await fixture.erase(id);
    await mend();
    expect({ end, err }).toEqual({ end: 1, err: expect.stringContaining('gets a new traveler') });
    // The database trigger wakes no reconciler, so do what the next request for the person does.
    expect((await scim.send('PATCH', `/Users/${id}`, active(true))).status).toBe(200);
    await eventually(async () =>
      expect(await readLinked(running, person)).toMatchObject({
        email: 'zqmark.new@corp.example',
        firstName: 'Zqmarka',
      }),
    );
    expect((await readLinked(running, person)).id).not.toBe(travelId);
    expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toMatchObject({ archived: true });
    // No identity is linked to the old, anonymous traveler.
    expect(await hashes(running.data)).toBe(1);
    await database.close();
  });
});

describe('in another travel service', () => {
  let api: OtherTravelApi;
  beforeEach(async () => {
    api = await otherTravelApi();
    fixture.travelApiKey = api.key;
    fixture.connect({ default: { travelApi: { url: api.url, lateMs: 0 } } });
  });
  afterEach(async () => {
    await fixture.stop();
    await api.close();
  });

  const zoe = scimUser('zqzoe');

  async function states({ url }: RunningService): Promise<string[]> {
    const text = await (await fetch(`${url}/metrics`)).text();
    const lines = [...text.matchAll(/^jetbridge_identities\{.*state="(\w+)"\} (\d+)$/gm)];
    return lines.flatMap(([, state = '', count]) => (count === '0' ? [] : [state]));
  }

  /** Creates a deleted person whose traveler is archived. */
  async function leaver(): Promise<{ running: RunningService; travelId: string; id: string }> {
    const running = await fixture.serve();
    const { send } = scimClient(running.url, SCIM_TOKEN);
    const { body } = await send('POST', '/Users', zoe);
    await eventually(async () => expect(api.traveler(zoe.userName)).toBeDefined());
    expect((await send('DELETE', `/Users/${body.id}`)).status).toBe(204);
    await eventually(async () => expect(api.traveler(zoe.userName)).toMatchObject({ archived: true }));
    await eventually(async () => expect(await states(running)).not.toContain('dirty'));
    return { running, travelId: api.traveler(zoe.userName)?.id ?? '', id: body.id };
  }

  test('the remaining work in another travel service is named, and nothing is changed there', async () => {
    const { running, travelId } = await leaver();
    const writes = api.writes().length;
    const { end, out, err } = await fixture.erase(zoe.userName);
    expect({ end, err }).toEqual({ end: 0, err: '' });
    expect(out).toContain(
      `  delete or anonymize the traveler ${travelId} in ${api.url}, where Jetbridge changes nothing. As long as it has its address, nobody else gets that address by Jetbridge`,
    );
    expect(api.writes()).toHaveLength(writes);
    expect(await textsInDatabase(running.data, /zqzoe/)).toEqual([]);
  });

  test('an import at the next start does not bring an erased person back', async () => {
    await leaver();
    api.addTraveler({ email: 'other@corp.example', firstName: 'Other', lastName: 'Smith' });
    expect((await fixture.erase(zoe.userName)).end).toBe(0);
    await fixture.stop();
    const again = await fixture.serve();
    const found = async (name: string) => {
      const query = encodeURIComponent(`userName eq "${name}"`);
      return (await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users?filter=${query}`)).body
        .totalResults;
    };
    await eventually(async () => expect(await found('other@corp.example')).toBe(1));
    expect(await found(zoe.userName)).toBe(0);
    api.editTraveler(api.traveler(zoe.userName)?.id ?? '', { lang: 'fr' });
    await fixture.stop();
    expect(await textsInDatabase(fixture.environment.JETBRIDGE_DATA, /zqzoe/)).toEqual([]);
  });

  test('a later POST with the address waits until the erased traveler has lost it, and then creates a new person', async () => {
    const { running, travelId, id } = await leaver();
    expect((await fixture.erase(id)).end).toBe(0);
    const { send } = scimClient(running.url, SCIM_TOKEN);
    const back = await send('POST', '/Users', zoe);
    expect(back.status).toBe(201);
    await eventually(async () => expect(await states(running)).toContain('pending'));
    const [person] = (await running.people('default')).filter((one) => one.id === back.body.id);
    expect(person?.findings.map(({ field, code }) => `${field}: ${code}`)).toEqual(['email: erasedTraveler']);
    expect(api.traveler(zoe.userName)).toMatchObject({ id: travelId, archived: true });
    api.deleteTraveler(travelId);
    await fixture.stop();
    const again = await fixture.serve();
    await eventually(async () => expect(api.traveler(zoe.userName)).toBeDefined());
    expect(api.traveler(zoe.userName)).toMatchObject({ archived: false });
    const now = await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users/${back.body.id}`);
    await eventually(async () =>
      expect(
        (await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users/${back.body.id}`)).body[travelExtension]
          .travelUserId,
      ).toBe(api.traveler(zoe.userName)?.id),
    );
    expect(now.body.id).not.toBe(id);
  });

  test('a person whose traveler elsewhere is not archived yet is not erased', async () => {
    const running = await fixture.serve();
    const { send } = scimClient(running.url, SCIM_TOKEN);
    const { body } = await send('POST', '/Users', zoe);
    await eventually(async () => expect(api.traveler(zoe.userName)).toBeDefined());
    await eventually(async () => expect(await states(running)).not.toContain('dirty'));
    api.failCall = ({ method }) =>
      method === 'PATCH' ? { answer: 429, headers: { 'retry-after': '1' } } : undefined;
    expect((await send('DELETE', `/Users/${body.id}`)).status).toBe(204);
    await eventually(async () =>
      expect((await fixture.erase(zoe.userName)).err).toContain(
        'not taken out of use in the travel service yet',
      ),
    );
    expect((await textsInDatabase(running.data, /zqzoe/)).length).toBeGreaterThan(0);
    api.failCall = () => undefined;
    await eventually(async () => expect((await fixture.erase(zoe.userName)).end).toBe(0));
    expect(api.traveler(zoe.userName)).toMatchObject({ archived: true });
  });

  test("the erasure waits for a reconciler that holds the person's lease", async () => {
    const { running, id } = await leaver();
    const database = await openTestDatabase(running.data, false);
    const lease = (token: string | null, until: number | null) =>
      database.db
        .updateTable('identity')
        .set({ lease_token: token, lease_until: until })
        .where('id', '=', id)
        .execute();
    await lease('somebody', Date.now() + 60_000);
    let isErased = false;
    const erasing = fixture.erase(zoe.userName).then(({ end }) => {
      isErased = end === 0;
    });
    // The erasure checks the lease many times within this wait; if it ignored the lease, the person would be gone.
    for (let look = 0; look < 50; look += 1) {
      expect(
        await database.db.selectFrom('identity').select('id').where('id', '=', id).execute(),
      ).toHaveLength(1);
      await new Promise(setImmediate);
    }
    expect(isErased).toBe(false);
    await lease(null, null);
    await database.close();
    await erasing;
    expect(isErased).toBe(true);
  });
});
