import type { Database } from '../../src/store/sql/database.ts';
import {
  bookTrip,
  createLeaver,
  ErasureFixture,
  getFromTravelApi,
  TRAVEL_API_KEY,
  travelExtension,
  waitUntilReconciled,
} from '../fixtures/erasure.ts';
import { eventually } from '../fixtures/eventually.ts';
import { patchOp } from '../fixtures/scim.ts';
import type { RunningService } from '../fixtures/service.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';
import { afterUpdate } from '../fixtures/triggers.ts';

let fixture: ErasureFixture;
beforeEach(async () => {
  fixture = await ErasureFixture.open();
});
afterEach(() => fixture.close());

const active = (value: boolean) => patchOp({ op: 'replace', path: 'active', value });

/** Creates a deactivated person with a trip, whose traveler becomes anonymous. */
async function traveled(running: RunningService) {
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
async function linked({ url }: RunningService, { scim, id }: Awaited<ReturnType<typeof traveled>>) {
  const { body } = await scim.send('GET', `/Users/${id}`);
  return getFromTravelApi(url, `/users/${body[travelExtension].travelUserId}`);
}

async function hashes({ db }: Database): Promise<number> {
  return (await db.selectFrom('erased_traveler').select('hash').execute()).length;
}

test("a person who is reactivated while the erasure waits for another person's lease keeps the traveler", async () => {
  const running = await fixture.serve();
  const person = await traveled(running);
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
  expect(await linked(running, person)).toMatchObject({ id: travelId, email: 'zqmark.new@corp.example' });
  expect(await linked(running, person)).not.toMatchObject({ archived: true });
  expect(await hashes(database)).toBe(0);
  await database.close();
});

test('a person who is reactivated after the traveler was erased gets a new traveler', async () => {
  const running = await fixture.serve();
  const person = await traveled(running);
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
    expect(await linked(running, person)).toMatchObject({
      email: 'zqmark.new@corp.example',
      firstName: 'Zqmarka',
    }),
  );
  expect((await linked(running, person)).id).not.toBe(travelId);
  expect(await getFromTravelApi(running.url, `/users/${travelId}`)).toMatchObject({ archived: true });
  // No identity is linked to the old, anonymous traveler.
  expect(await hashes(database)).toBe(1);
  await database.close();
});
