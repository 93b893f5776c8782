import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { type TravelAdmin, travelAdmin } from '../fixtures/travel-admin.ts';

let fixture: AdminFixture;
let travel: TravelAdmin;
beforeAll(async () => {
  fixture = await startAdmin();
  travel = travelAdmin(fixture.service.url, fixture.service.travelApiKey);
});
afterAll(() => fixture.close());

function create() {
  return fixture.admin('POST', '/travel/sample-data');
}

async function isPresent(): Promise<boolean> {
  return (await fixture.viewer('GET', '/travel/sample-data')).body.isPresent;
}

/** The first page of a collection of the travel API, with one resource. */
async function readPage(path: string) {
  const { url, travelApiKey } = fixture.service;
  const headers = { authorization: `Bearer ${travelApiKey}` };
  const response = await fetch(`${url}/api/${path}?limit=1`, { headers });
  return JSON.parse(await response.text());
}

/** The numbers of resources of the travel service, by collection. */
async function totals(): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const path of [
    ...['users', 'trip-projects', 'invoices', 'billing-operations', 'refunds', 'disputes', 'cost-centers'],
    ...['project-codes', 'billing-profiles', 'travel-policies', 'custom-fields'],
  ])
    counted[path] = (await readPage(path)).meta.total;
  return counted;
}

test('the sample company is created once and removed again, and nothing of anybody else with it', async () => {
  const before = { ...(await totals()), users: 2, 'cost-centers': 1 };
  const costCenterId = await travel.make('/cost-centers', { name: 'Research' });
  await travel.make('/users', { email: 'grace@corp.example', costCenterId });

  // Either of two requests can come first; the other is refused.
  const both = await Promise.all([create(), create()]);
  const [created, refused] = both.toSorted((one, other) => one.status - other.status);
  expect(created?.body).toMatchObject({ company: 'Corvanne', created: { user: 200, tripProject: 500 } });
  expect([refused?.status, refused?.body.code]).toEqual([409, 'conflict']);
  expect(await isPresent()).toBe(true);
  expect((await create()).body.message).toBe('Corvanne is in the travel service already.');

  const removal = await fixture.admin('DELETE', '/travel/sample-data');
  expect(removal.body).toMatchObject({ removed: { user: 200, tripProject: 500 }, kept: {} });
  expect(await isPresent()).toBe(false);
  expect(await totals()).toEqual(before);
  const audit = await fixture.viewer('GET', '/audit?action=removeSampleData');
  expect(audit.body.entries[0].details).toMatchObject({ company: 'Corvanne', removed: { user: 200 } });

  // A resource that others refer to stays, and can be removed when they no longer do.
  await create();
  const [{ id: travelPolicyId }] = (await readPage('travel-policies')).data;
  await travel.make('/users', { email: 'eve@corp.example', travelPolicyId });
  const second = await fixture.admin('DELETE', '/travel/sample-data');
  expect(second.body).toMatchObject({ removed: { user: 200 }, kept: { travelPolicy: 1 } });
}, 300_000);
