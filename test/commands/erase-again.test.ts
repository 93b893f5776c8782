import { sql } from 'kysely';
import { openEmbedded } from '../../src/store/database.ts';
import { textsInFiles } from '../support/database-bytes.ts';
import {
  ErasureHouse,
  get,
  leaver,
  MARKED,
  SCIM_TOKEN,
  settled,
  TRAVEL_API_KEY,
  user,
} from '../support/erasure-house.ts';
import { eventually } from '../support/eventually.ts';
import { scimClient } from '../support/scim-client.ts';
import type { RunningService } from '../support/service.ts';
import { travelAdmin } from '../support/travel-admin.ts';

let house: ErasureHouse;
beforeEach(async () => {
  house = await ErasureHouse.open();
});
afterEach(() => house.close());

/** The reduced events about a traveler. */
async function expectReduced({ url }: RunningService, travelId: string): Promise<void> {
  const events: { data: { id: string } }[] = await get(url, '/events?limit=100');
  const own = events.filter(({ data }) => data.id === travelId);
  expect(own.length).toBeGreaterThan(1);
  for (const { data } of own) expect(Object.keys(data)).toEqual(['id', 'type', 'createdAt']);
}

async function hashes(data: string): Promise<number> {
  const database = await openEmbedded(data, false);
  const rows = await database.db.selectFrom('erased_traveler').select('hash').execute();
  await database.close();
  return rows.length;
}

/** Every run of the command ends at this change of a table, until `mend` is called. */
async function breakAt(data: string, change: string): Promise<{ mend(): Promise<void> }> {
  const database = await openEmbedded(data, false);
  await sql`create trigger stay before ${sql.raw(change)} begin select raise(abort, 'stay'); end`.execute(
    database.db,
  );
  return {
    mend: async () => {
      await sql`drop trigger stay`.execute(database.db);
      await database.close();
    },
  };
}

test('where leavers are deleted, the events and webhooks of the deleted traveler are reduced, and its hash is kept', async () => {
  house.connect({ default: { policies: { deprovision: 'delete' } } });
  const running = await house.serve();
  const { scim, id, travelId } = await leaver(house, running);
  expect((await scim.send('DELETE', `/Users/${id}`)).status).toBe(204);
  await settled(running);
  expect(await get(running.url, `/users/${travelId}`)).toBeUndefined();
  const { end, out, err } = await house.erase(id);
  expect({ end, err }).toEqual({ end: 0, err: '' });
  expect(out).toMatch(/[1-9]\d* events;/);
  expect(out).toContain('1 hash of the travel id');
  expect(textsInFiles(running.data, MARKED)).toEqual([]);
  expect(await hashes(running.data)).toBe(1);
  await expectReduced(running, travelId);
  house.receives = true;
  await eventually(async () => expect(house.received.map(({ kind }) => kind)).toContain('user.deleted'));
  expect(JSON.stringify(house.received)).not.toMatch(MARKED);
}, 60_000);

test('an address that somebody else has now does not make their events those of the erased person', async () => {
  house.connect({ default: { policies: { deprovision: 'delete' } } });
  const running = await house.serve();
  const scim = scimClient(running.url, SCIM_TOKEN);
  const first = await scim.send('POST', '/Users', { ...user('ann'), externalId: 'e1' });
  await settled(running);
  await scim.send('DELETE', `/Users/${first.body.id}`);
  await settled(running);
  expect((await scim.send('POST', '/Users', { ...user('ann'), externalId: 'e2' })).status).toBe(201);
  await settled(running);
  const people = await travelAdmin(running.url, TRAVEL_API_KEY).travelers();
  const { id: second = '' } = people.find(({ email }) => email === 'ann@corp.example') ?? {};
  await house.erase(first.body.id);
  expect(await get(running.url, `/users/${second}`)).toMatchObject({ email: 'ann@corp.example' });
  expect(await hashes(running.data)).toBe(1);
});

test('the events of a traveler whom an admin deleted are reduced', async () => {
  const running = await house.serve();
  const { scim, id, travelId } = await leaver(house, running);
  await scim.send('DELETE', `/Users/${id}`);
  await settled(running);
  const headers = { authorization: `Bearer ${TRAVEL_API_KEY}` };
  const { status } = await fetch(`${running.url}/api/users/${travelId}`, { method: 'DELETE', headers });
  expect(status).toBe(200);
  await settled(running);
  expect(await house.erase(id)).toMatchObject({ end: 0, err: '' });
  expect(textsInFiles(running.data, MARKED)).toEqual([]);
  await expectReduced(running, travelId);
}, 60_000);

test.each(['update of desired on identity', 'update on request_log', 'delete on identity'])(
  'an erasure that ended at an %s is finished by the next one',
  async (change) => {
    const running = await house.serve();
    const { scim, id, travelId } = await leaver(house, running);
    await scim.send('DELETE', `/Users/${id}`);
    await settled(running);
    const { mend } = await breakAt(running.data, change);
    await expect(house.erase(id)).rejects.toThrow('stay');
    await mend();
    expect(await house.erase(id)).toMatchObject({ end: 0, err: '' });
    expect(textsInFiles(running.data, MARKED)).toEqual([]);
    expect(await get(running.url, `/users/${travelId}`)).toBeUndefined();
    await expectReduced(running, travelId);
  },
  60_000,
);

test('a traveler whom no connection has is found again after an erasure that was interrupted', async () => {
  const running = await house.serve();
  const headers = { authorization: `Bearer ${TRAVEL_API_KEY}`, 'content-type': 'application/json' };
  const data = { email: 'zqmark.alone@corp.example', firstName: 'Zqmarka', lastName: 'Alone' };
  const made = await fetch(`${running.url}/api/users`, {
    ...{ method: 'POST', headers },
    body: JSON.stringify({ data }),
  });
  expect(made.status).toBe(201);
  await settled(running);
  await house.stop();
  const { JETBRIDGE_DATA } = house.environment;
  const database = await openEmbedded(JETBRIDGE_DATA, false);
  // What an import has made of the traveler, as if there had been none yet.
  for (const table of ['identity_email', 'identity'] as const) await database.db.deleteFrom(table).execute();
  await database.close();
  const { mend } = await breakAt(JETBRIDGE_DATA, 'update on travel_resource');
  await expect(house.erase(data.email)).rejects.toThrow('stay');
  await mend();
  expect(await house.erase(data.email)).toMatchObject({ end: 0, err: '' });
  expect(textsInFiles(JETBRIDGE_DATA, MARKED)).toEqual([]);
}, 60_000);
