import { textsInDatabase } from '../fixtures/database-texts.ts';
import {
  createLeaver,
  ErasureFixture,
  getFromTravelApi,
  MARKED,
  SCIM_TOKEN,
  scimUser,
  TRAVEL_API_KEY,
  waitUntilReconciled,
} from '../fixtures/erasure.ts';
import { eventually } from '../fixtures/eventually.ts';
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

/** Returns the reduced events about a traveler. */
async function expectReduced({ url }: RunningService, travelId: string): Promise<void> {
  const events: { data: { id: string } }[] = await getFromTravelApi(url, '/events?limit=100');
  const own = events.filter(({ data }) => data.id === travelId);
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

test('if leavers are deleted, the events and webhook deliveries of the deleted traveler are reduced, and its hash is stored', async () => {
  fixture.connect({ default: { policies: { deprovision: 'delete' } } });
  const running = await fixture.serve();
  const { scim, id, travelId } = await createLeaver(fixture, running);
  expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
  await waitUntilReconciled(running);
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
  await waitUntilReconciled(running);
  await scim.send('DELETE', `/Users/${first.body.id}`);
  await waitUntilReconciled(running);
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
  await scim.send('DELETE', `/Users/${id}`);
  await waitUntilReconciled(running);
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
    await scim.send('DELETE', `/Users/${id}`);
    await waitUntilReconciled(running);
    await waitUntilLogged(running.data, id);
    const { mend } = await failAt(running.data, change);
    await expect(fixture.erase(id)).rejects.toThrow('stay');
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
  for (const table of ['identity_email', 'identity'] as const) await database.db.deleteFrom(table).execute();
  await database.close();
  const { mend } = await failAt(JETBRIDGE_DATA, 'update on travel_resource');
  await expect(fixture.erase(data.email)).rejects.toThrow('stay');
  await mend();
  expect(await fixture.erase(data.email)).toMatchObject({ end: 0, err: '' });
  expect(await textsInDatabase(JETBRIDGE_DATA, MARKED)).toEqual([]);
});
