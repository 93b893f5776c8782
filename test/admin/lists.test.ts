import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';

const mapping = JSON.stringify({
  defaults: { costCenter: { name: 'Research' } },
  scope: 'not (groups[display eq "Robots"])',
  scimUserMapping: [
    {
      scimAttribute: 'department',
      transforms: [{ map: { RnD: 'Research', Ads: 'Marketing' } }],
      userAttribute: 'costCenterId',
    },
    { scimAttribute: 'title', customField: 'Floor', when: 'groups.display sw "Site "' },
    { template: '7', customField: 'Floor', when: 'groups[display eq "Travel managers"]' },
    { template: 'Gold', userAttribute: 'lastName', when: 'groups[display eq "Travel managers"]' },
    { template: 'Sky', userAttribute: 'firstName', when: 'groups[display eq "Pilots"]' },
  ],
});

let fixture: AdminFixture;
let send: ScimClient['send'];
const ids: Record<string, string> = {};

async function create(path: string, data: object): Promise<string> {
  const { status, body } = await fixture.admin('POST', `/travel-api${path}`, { body: { data } });
  expect(status).toBe(201);
  return body.data.id;
}

async function change(path: string, data: object): Promise<number> {
  return (await fixture.admin('PATCH', `/travel-api${path}`, { body: { data } })).status;
}

async function listed(query: string) {
  return read(`/lists/default/${query}`);
}

async function grouped(path = '') {
  return read(`/groups/default${path}`);
}

async function read(path: string) {
  const { status, body } = await fixture.viewer('GET', path);
  expect(status).toBe(200);
  return body;
}

async function createUser(name: string): Promise<string> {
  return (await send('POST', '/Users', { userName: `${name}@corp.example`, displayName: name })).body.id;
}

async function createGroup(displayName: string, ...members: string[]): Promise<string> {
  const { body } = await send('POST', '/Groups', {
    displayName,
    members: members.map((value) => ({ value })),
  });
  return body.id;
}

beforeAll(async () => {
  fixture = await startAdmin();
  ({ send } = scimClient(fixture.service.url, fixture.service.scimToken));
  for (const name of ['Research', 'Marketing', 'sales', 'Old'])
    ids[name] = await create('/cost-centers', { name });
  ids.Floor = await create('/custom-fields', { name: 'Floor', dataType: 'option', resourceType: 'user' });
  for (const data of ['7', '8']) ids[data] = await create(`/custom-fields/${ids.Floor}/options`, { data });
  const applied = await fixture.admin('PUT', '/mappings/default', { body: { text: mapping, generation: 1 } });
  expect(applied.status).toBe(200);
});
afterAll(() => fixture.close());

test('cost centers are listed by name, each with the places of the mapping that name it', async () => {
  const { resources, ...page } = await listed('resources?list=costCenters');
  expect(page).toEqual({ total: 4, isStale: false, readAt: expect.stringMatching(/^20/) });
  expect(resources).toEqual([
    {
      ...{ id: ids.Marketing, name: 'Marketing', isArchived: false, placeCount: 1 },
      places: ['scimUserMapping[0].transforms[0].map.Ads'],
    },
    { id: ids.Old, name: 'Old', isArchived: false, places: [], placeCount: 0 },
    {
      ...{ id: ids.Research, name: 'Research', isArchived: false, placeCount: 2 },
      places: ['defaults.costCenter.name', 'scimUserMapping[0].transforms[0].map.RnD'],
    },
    { id: ids.sales, name: 'sales', isArchived: false, places: [], placeCount: 0 },
  ]);
});

test('a list is searched by any part of a name, and read page by page', async () => {
  const found = await listed('resources?list=costCenters&search=AR&limit=1');
  expect(found).toMatchObject({ resources: [{ name: 'Marketing' }], total: 2, next: 1 });
  const last = await listed('resources?list=costCenters&search=AR&limit=1&after=1');
  expect(last).toMatchObject({ resources: [{ name: 'Research' }], total: 2 });
  expect(last.next).toBeUndefined();
});

test('a custom field is listed with its options, and each with the rules that name it', async () => {
  const { resources } = await listed('resources?list=customFields');
  expect(resources).toEqual([
    {
      ...{ id: ids.Floor, name: 'Floor', isArchived: false, dataType: 'option', options: 2, placeCount: 2 },
      places: ['scimUserMapping[1].customField', 'scimUserMapping[2].customField'],
    },
  ]);
  const options = await listed(`resources?list=customFieldOptions&field=${ids.Floor}`);
  expect(options.resources).toMatchObject([
    { name: '7', places: ['scimUserMapping[2].template'] },
    { name: '8', places: [] },
  ]);
  const unknown = await fixture.viewer('GET', '/lists/default/resources?list=customFieldOptions&field=1');
  expect(unknown.status).toBe(404);
});

test('a resource that is renamed, archived and restored is listed so at once', async () => {
  const id = ids.Old ?? '';
  const shown = async () => (await listed('resources?list=costCenters&search=old')).resources;
  expect(await change(`/cost-centers/${id}`, { name: 'Older', archived: true })).toBe(200);
  expect(await shown()).toMatchObject([{ id, name: 'Older', isArchived: true }]);
  expect(await change(`/cost-centers/${id}`, { archived: false })).toBe(200);
  expect(await shown()).toMatchObject([{ id, name: 'Older', isArchived: false }]);
  const option = `/custom-fields/${ids.Floor}/options/${ids['8']}`;
  expect(await change(option, { data: '9', disabled: true })).toBe(200);
  const { resources } = await listed(`resources?list=customFieldOptions&field=${ids.Floor}&search=9`);
  expect(resources).toMatchObject([{ id: ids['8'], name: '9', isArchived: true }]);
});

test('billing profiles and travel policies are listed', async () => {
  await create('/billing-profiles', { name: 'Paris', email: 'billing@corp.example', lang: 'fr' });
  const policy = { name: 'Gold', control: 'none', hotelBudget: {}, transportBudget: {} };
  const id = await create('/travel-policies', policy);
  expect((await listed('resources?list=billingProfiles')).resources).toMatchObject([{ name: 'Paris' }]);
  expect((await listed('resources?list=travelPolicies')).resources).toMatchObject([{ id, name: 'Gold' }]);
});

describe('groups: ', () => {
  let people: string[];
  beforeAll(async () => {
    people = [await createUser('ada'), await createUser('grace'), await createUser('linus')];
    await createGroup('Robots');
    await createGroup('Everybody', ...people);
    ids.managers = await createGroup('Travel managers', ...people.slice(0, 2));
    ids.paris = await createGroup('Site Paris', people[0] ?? '', ids.managers, 'nobody');
  });

  const managersRules = [
    {
      ...{ field: `customFields.${'Floor'}`, fieldName: 'Floor', origin: 'file', rule: '"7"' },
      when: 'groups[display eq "Travel managers"]',
    },
    {
      ...{ field: 'lastName', origin: 'file', rule: '"Gold"' },
      when: 'groups[display eq "Travel managers"]',
    },
  ];

  test('they are listed by name with the number of their members and the rules that read them', async () => {
    const { groups, ...page } = await grouped();
    expect(page).toEqual({ total: 4, missing: ['Pilots'] });
    expect(groups.map(({ name, members }: { name: string; members: number }) => [name, members])).toEqual([
      ['Everybody', 3],
      ['Robots', 0],
      ['Site Paris', 3],
      ['Travel managers', 2],
    ]);
    expect(groups[1].rules).toEqual([{ origin: 'file', rule: 'not (groups[display eq "Robots"])' }]);
    expect(groups[2].rules).toMatchObject([{ fieldName: 'Floor', when: 'groups.display sw "Site "' }]);
    const [floor, lastName] = managersRules;
    expect(groups[3].rules).toEqual([{ ...floor, field: `customFields.${ids.Floor}` }, lastName]);
  });

  test('they are searched by any part of the name, and by whether a rule reads them', async () => {
    const names = async (query: string) =>
      (await grouped(`?${query}`)).groups.map(({ name }: { name: string }) => name);
    expect(await names('search=MANAGE')).toEqual(['Travel managers']);
    expect(await names('used=true')).toEqual(['Robots', 'Site Paris', 'Travel managers']);
    const { next } = await grouped('?used=true&limit=2');
    expect(await names(`used=true&limit=2&after=${encodeURIComponent(next)}`)).toEqual(['Travel managers']);
  });

  test('the members of one are people, other groups, and ids that nothing has', async () => {
    const { group } = await grouped(`/${ids.paris}`);
    expect(group).toMatchObject({ name: 'Site Paris', members: 3, rules: [{ fieldName: 'Floor' }] });
    const path = `/${ids.paris}/members`;
    const first = await grouped(`${path}?limit=2`);
    expect(first.members).toEqual([
      { id: people[0], kind: 'person', name: 'ada', userName: 'ada@corp.example' },
      { id: ids.managers, kind: 'group', name: 'Travel managers' },
    ]);
    const last = await grouped(`${path}?limit=2&after=${first.next}`);
    expect(last.members).toEqual([{ id: 'nobody', kind: 'unknown', name: 'nobody' }]);
    const found = await grouped(`/${ids.managers}/members?search=GRACE`);
    expect(found.members).toMatchObject([{ id: people[1] }]);
    expect((await fixture.viewer('GET', '/groups/default/nobody/members')).status).toBe(404);
  });
});
