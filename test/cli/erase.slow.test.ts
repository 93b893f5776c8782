import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../../src/sample-data/ledger.ts';
import { bookingTransactionsOf, searchFor } from '../fixtures/bookings.ts';
import { textsInDatabase } from '../fixtures/database-texts.ts';
import {
  createLeaver,
  createReferrers,
  createResource,
  ErasureFixture,
  enterprise,
  getFromTravelApi,
  leave,
  MARKED,
  OTHER_TOKEN,
  readReferrers,
  SCIM_TOKEN,
  scimUser,
  TRAVEL_API_KEY,
  travelExtension,
  waitUntilReconciled,
} from '../fixtures/erasure.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { type OtherTravelApi, otherTravelApi } from '../fixtures/other-travel-api.ts';
import { car, hotel } from '../fixtures/quotes.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import type { RunningService } from '../fixtures/service.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';
import { failAt } from '../fixtures/triggers.ts';

let fixture: ErasureFixture;
beforeEach(async () => {
  fixture = await ErasureFixture.open();
});
afterEach(() => fixture.close());

const done = { code: 0, err: '' };

// biome-ignore lint/suspicious/noExplicitAny: events have data of every shape
async function eventsAbout({ url }: RunningService, travelId: string | undefined): Promise<any[]> {
  // biome-ignore lint/suspicious/noExplicitAny: events have data of every shape
  const events: any[] = await getFromTravelApi(url, '/events?limit=100');
  return events.filter(({ data }) => data.id === travelId);
}

/** Expects that the events about a traveler hold nothing but its id and its time. */
async function expectReduced(running: RunningService, travelId: string): Promise<void> {
  const own = await eventsAbout(running, travelId);
  expect(own.length).toBeGreaterThan(1);
  for (const { data } of own) expect(Object.keys(data)).toEqual(['id', 'type', 'createdAt']);
}

/** Creates a leaver with a second address. */
async function createChief(running: RunningService, address: string): Promise<string> {
  const scim = scimClient(running.url, SCIM_TOKEN);
  const emails = [...scimUser('chief').emails, { value: address, type: 'other' }];
  const chief = await createResource(scim, '/Users', scimUser('chief', { emails }));
  await leave(running, scim, chief);
  return chief;
}

describe('what somebody else has, too, stays:', () => {
  test('names, and a role or a title that equals the userName or the externalId', async () => {
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const john = { name: { givenName: 'John', familyName: 'Smith' }, displayName: 'John Smith' };
    const left = await createResource(scim, '/Users', {
      ...scimUser('john', john),
      ...{ userName: 'manager', externalId: '42' },
    });
    const roles = { [travelExtension]: { roles: [{ value: 'manager' }] }, roles: [{ value: 'manager' }] };
    const stays = await createResource(
      scim,
      '/Users',
      scimUser('johnny', { ...roles, ...john, title: '42' }),
    );
    const boss = { manager: { value: stays, displayName: 'John Smith' } };
    const bob = await createResource(scim, '/Users', scimUser('bob', { [enterprise]: boss }));
    await waitUntilReconciled(running);
    const read = async (id: string) => (await scim.send('GET', `/Users/${id}`)).body;
    const before = [await read(stays), await read(bob)];
    await leave(running, scim, left);
    expect(await fixture.erase(left)).toMatchObject(done);
    await waitUntilReconciled(running);
    expect([await read(stays), await read(bob)]).toEqual(before);
  });

  test.each([
    ['the address', 'assistant@corp.example'],
    ['a second address', 'assistant@home.example'],
  ])('%s, as a reference to its owner and in events', async (_which, shared) => {
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const second = shared === 'assistant@home.example' ? [{ value: shared, type: 'other' }] : [];
    const emails = [...scimUser('assistant').emails, ...second];
    await createResource(scim, '/Users', scimUser('assistant', { emails }));
    const referring = await createReferrers(scim, shared);
    await waitUntilReconciled(running);
    const before = await readReferrers(running, scim, referring);
    expect(before).toMatchObject({
      ...{ manager: { value: shared }, members: [{ value: shared }], managerId: expect.any(String) },
    });
    const recorded = await eventsAbout(running, before.managerId);
    expect(recorded).not.toEqual([]);
    expect(await fixture.erase(await createChief(running, shared))).toMatchObject(done);
    await waitUntilReconciled(running);
    expect(await readReferrers(running, scim, referring)).toEqual(before);
    expect(await eventsAbout(running, before.managerId)).toEqual(recorded);
  });

  test('the address of a traveler whom no identity provider has sent, in events and in the log', async () => {
    const running = await fixture.serve();
    const desk = { email: 'desk@corp.example', firstName: 'Front', lastName: 'Desk' };
    const id = await travelAdmin(running.url, TRAVEL_API_KEY).make('/users', desk);
    const chief = await createChief(running, desk.email);
    const recorded = await eventsAbout(running, id);
    expect(recorded).toMatchObject([{ data: desk }]);
    await fixture.stop();
    expect(await fixture.erase(chief)).toMatchObject(done);
    const again = await fixture.serve();
    expect(await eventsAbout(again, id)).toEqual(recorded);
    const { db, close } = await openTestDatabase(running.data, false);
    const made = db.selectFrom('exchange').select('path').where('request', 'like', '%desk@corp.example%');
    expect(await made.where('direction', '=', 'api').execute()).toEqual([{ path: '/api/users' }]);
    await close();
  });

  test('the userName and the address of a successor', async () => {
    fixture.connect({ default: { policies: { deprovision: 'delete' } } });
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const first = await createResource(scim, '/Users', scimUser('ann', { externalId: 'e1' }));
    await leave(running, scim, first);
    const second = await createResource(scim, '/Users', scimUser('ann', { externalId: 'e2' }));
    await waitUntilReconciled(running);
    const referring = await createReferrers(scim, 'ann@corp.example');
    await waitUntilReconciled(running);
    const before = await readReferrers(running, scim, referring);
    const recorded = await eventsAbout(running, before.managerId);
    const ann = (await scim.send('GET', `/Users/${second}`)).body;
    expect(await fixture.erase(first)).toMatchObject(done);
    await waitUntilReconciled(running);
    expect(await readReferrers(running, scim, referring)).toEqual(before);
    expect((await scim.send('GET', `/Users/${second}`)).body).toEqual(ann);
    expect(await eventsAbout(running, before.managerId)).toEqual(recorded);
    expect((await scim.send('GET', `/Users/${first}`)).status).toBe(404);
  });

  test.each([
    ['of another travel account', { account: 'another' }],
    ['of the same travel account', {}],
  ])('an externalId in a connection %s that has not had the person', async (_where, travelApi) => {
    fixture.connect({ default: {}, second: { travelApi, scimTokenEnv: 'OTHER_TOKEN' } });
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const other = scimClient(running.url, OTHER_TOKEN);
    const ann = await createResource(scim, '/Users', scimUser('ann', { externalId: '1001' }));
    const managed = scimUser('cyd', { [enterprise]: { manager: { value: '1001' } } });
    const cyd = await createResource(scim, '/Users', managed);
    await createResource(other, '/Users', scimUser('boss', { externalId: '1001' }));
    const referring = await createReferrers(other, '1001');
    await waitUntilReconciled(running);
    const before = await readReferrers(running, other, referring);
    expect(before).toMatchObject({ members: [{ value: '1001' }], managerId: expect.any(String) });
    await leave(running, scim, ann);
    expect(await fixture.erase(ann)).toMatchObject(done);
    await waitUntilReconciled(running);
    expect(await readReferrers(running, other, referring)).toEqual(before);
    expect((await scim.send('GET', `/Users/${cyd}`)).body[enterprise]).toBeUndefined();
  });
});

test('of two people with one address in two connections, the one of the named connection is erased', async () => {
  // Both connections use one travel service. Its feed would bring the person of one to the other, where the POST is then refused.
  fixture.connect({
    default: { travelApi: { feed: false } },
    second: { travelApi: { account: 'another', feed: false }, scimTokenEnv: 'OTHER_TOKEN' },
  });
  const running = await fixture.serve();
  for (const token of [SCIM_TOKEN, OTHER_TOKEN]) {
    await createResource(scimClient(running.url, token), '/Users', scimUser('ann', { active: false }));
    // Until then the address is reserved for the first person, and a POST of the second would be refused.
    await waitUntilReconciled(running);
  }
  const ambiguous = { code: 1, err: expect.stringContaining('add --connection') };
  expect(await fixture.erase('ann@corp.example')).toMatchObject(ambiguous);
  expect(await fixture.erase('ann@corp.example', '--connection', 'second')).toMatchObject(done);
  const countPeople = async (id: string) =>
    (await running.people(id)).filter(({ claimed }) => claimed).length;
  expect([await countPeople('default'), await countPeople('second')]).toEqual([1, 0]);
});

test('a manager who is named by the employee number is named by nobody after an erasure', async () => {
  const [by, value] = ['employeeNumber', 'ZQ-4711'];
  const folder = temporaryFolder();
  const mapping = join(folder.path, 'mapping.json');
  writeFileSync(mapping, JSON.stringify({ manager: { by } }));
  fixture.connect({ default: { mapping } });
  const running = await fixture.serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const own = { employeeNumber: value };
  const boss = await createResource(scim, '/Users', scimUser('zqboss', { [enterprise]: own }));
  const bob = await createResource(scim, '/Users', scimUser('bob', { [enterprise]: { manager: { value } } }));
  await leave(running, scim, boss);
  await fixture.stop();
  expect(await fixture.erase(boss)).toMatchObject(done);
  // The audit log has the SCIM id, as the id of the person whom the operation has erased.
  const left = new RegExp(`zqboss|zq-4711|(?<!"id\\W{1,8})${boss}`);
  expect(await textsInDatabase(running.data, left)).toEqual([]);
  const again = await fixture.serve();
  const { body } = await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users/${bob}`);
  expect(body[enterprise]).toBeUndefined();
  folder.remove();
});

test('a former SCIM id of a manager who has returned under another one is named by nobody after its erasure', async () => {
  const running = await fixture.serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const boss = scimUser('zqboss', { externalId: 'E-1' });
  const value = await createResource(scim, '/Users', boss);
  const bob = await createResource(scim, '/Users', scimUser('bob', { [enterprise]: { manager: { value } } }));
  await scim.send('DELETE', `/Users/${value}`);
  await waitUntilReconciled(running);
  expect(await createResource(scim, '/Users', boss)).not.toBe(value);
  await waitUntilReconciled(running);
  await fixture.stop();
  expect(await fixture.erase(value)).toMatchObject(done);
  const again = await fixture.serve();
  const { body } = await scimClient(again.url, SCIM_TOKEN).send('GET', `/Users/${bob}`);
  expect(body[enterprise]).toBeUndefined();
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
  const search = (ledger: Ledger) => searchFor(ledger, travelerIds, quotes);
  const { id } = (await bookingTransactionsOf(database)(search)).stored;
  await database.close();
  const trip = async () => JSON.stringify((await eventsAbout(running, id))[0]);
  expect(await trip()).toContain('ann@corp.example');
  await leave(running, scim, ann);
  expect(await fixture.erase(ann)).toMatchObject(done);
  const recorded = await trip();
  expect(recorded).toContain('"renterName":"Erased traveler"');
  expect(recorded).not.toMatch(/ann@corp\.example|ann Smith/);
  expect(recorded).toContain(JSON.stringify(travelerIds));
});

test('if leavers are deleted, the events and webhook deliveries of the deleted traveler are reduced', async () => {
  // The feed would list the traveler until it reads of the deletion.
  fixture.connect({ default: { policies: { deprovision: 'delete' }, travelApi: { feed: false } } });
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  await leave(running, scim, id);
  expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toBeUndefined();
  expect(await fixture.erase(id)).toMatchObject(done);
  expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
  await expectReduced(running, travelId);
  fixture.receives = true;
  await eventually(async () => expect(fixture.received.map(({ kind }) => kind)).toContain('user.deleted'));
  expect(JSON.stringify(fixture.received)).not.toMatch(MARKED);
});

test.each([
  'update of desired on identity',
  'delete on exchange',
  'delete on identity',
  'update of doc on travel_resource',
])('an erasure that fails at an %s changes nothing, and the next one erases the person', async (change) => {
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  await leave(running, scim, id);
  await fixture.stop();
  const { mend } = await failAt(running.data, change);
  const before = (await textsInDatabase(running.data, MARKED)).length;
  await expect(fixture.erase(id)).rejects.toThrow('stay');
  expect((await textsInDatabase(running.data, MARKED)).length).toBe(before);
  await mend();
  expect(await fixture.erase(id)).toMatchObject(done);
  expect(await textsInDatabase(running.data, MARKED)).toEqual([]);
  const again = await fixture.serve();
  expect(await getFromTravelApi(again.url, `/users/${travelId}`)).toMatchObject({
    ...{ archived: true, email: expect.stringMatching(/^erased-/) },
  });
  await expectReduced(again, travelId);
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

  const states = async (running: RunningService) =>
    (await running.people('default')).map(({ state }) => state);

  /** Creates a deleted person whose traveler is archived. */
  async function leaver(): Promise<{ running: RunningService; travelId: string; id: string }> {
    const running = await fixture.serve();
    const scim = scimClient(running.url, SCIM_TOKEN);
    const id = await createResource(scim, '/Users', zoe);
    await leave(running, scim, id);
    expect(api.traveler(zoe.userName)).toMatchObject({ archived: true });
    return { running, travelId: api.traveler(zoe.userName)?.id ?? '', id };
  }

  test('the traveler stays as it is, and no import brings the person back', async () => {
    const { running, travelId } = await leaver();
    api.addTraveler({ email: 'other@corp.example', firstName: 'Other', lastName: 'Smith' });
    await fixture.stop();
    const writes = api.writes().length;
    const erased = await fixture.erase(zoe.userName);
    expect(erased).toMatchObject(done);
    expect(erased.out).toContain(`  delete or anonymize the traveler ${travelId} in ${api.url}`);
    expect(api.writes()).toHaveLength(writes);
    const again = await fixture.serve();
    await eventually(async () => expect(await states(again)).toHaveLength(1));
    api.editTraveler(travelId, { lang: 'fr' });
    await fixture.stop();
    expect(await textsInDatabase(running.data, /zqzoe/)).toEqual([]);
  });

  test('a later POST with the address waits until the erased traveler has lost it, and then creates a new person', async () => {
    const { running, travelId, id } = await leaver();
    expect(await fixture.erase(id)).toMatchObject(done);
    const back = await createResource(scimClient(running.url, SCIM_TOKEN), '/Users', zoe);
    await eventually(async () => expect(await states(running)).toContain('pending'));
    const person = (await running.people('default')).find((one) => one.id === back);
    expect(person?.findings.map(({ field, code }) => `${field}: ${code}`)).toEqual(['email: erasedTraveler']);
    expect(api.traveler(zoe.userName)).toMatchObject({ id: travelId, archived: true });
    api.deleteTraveler(travelId);
    await fixture.stop();
    const again = await fixture.serve();
    await eventually(async () => expect(api.traveler(zoe.userName)).toMatchObject({ archived: false }));
    const { send } = scimClient(again.url, SCIM_TOKEN);
    const linked = async () => (await send('GET', `/Users/${back}`)).body[travelExtension].travelUserId;
    await eventually(async () => expect(await linked()).toBe(api.traveler(zoe.userName)?.id));
    expect(back).not.toBe(id);
  });

  test('a person whose traveler is not archived yet is not erased', async () => {
    const running = await fixture.serve();
    const { send } = scimClient(running.url, SCIM_TOKEN);
    const id = await createResource({ send }, '/Users', zoe);
    await waitUntilReconciled(running);
    api.failCall = ({ method }) =>
      method === 'PATCH' ? { answer: 429, headers: { 'retry-after': '1' } } : undefined;
    expect((await send('DELETE', `/Users/${id}`)).status).toBe(204);
    const refused = async () => (await fixture.erase(zoe.userName)).err;
    await eventually(async () => expect(await refused()).toContain('not taken out of use'));
    api.failCall = () => undefined;
    await eventually(async () => expect((await fixture.erase(zoe.userName)).code).toBe(0));
    expect(api.traveler(zoe.userName)).toMatchObject({ archived: true });
  });
});
