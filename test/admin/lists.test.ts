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
  ],
});

let fixture: AdminFixture;
let send: ScimClient['send'];
const ids: Record<string, string> = {};

async function create(body: object): Promise<string> {
  const { status, body: made } = await fixture.admin('POST', '/travel/resources', { body });
  expect(status).toBe(200);
  return made.id;
}

async function change(id: string, body: object): Promise<number> {
  return (await fixture.admin('PATCH', `/travel/resources/${id}`, { body })).status;
}

async function listed(query: string) {
  const { status, body } = await fixture.viewer('GET', `/lists/default/${query}`);
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
    ids[name] = await create({ list: 'costCenters', name });
  ids.Floor = await create({ list: 'customFields', name: 'Floor', dataType: 'option' });
  for (const name of ['7', '8'])
    ids[name] = await create({ list: 'customFieldOptions', field: ids.Floor, name });
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

test('a resource is renamed, archived and restored; the list shows it at once, and the audit log tells it', async () => {
  const id = ids.Old ?? '';
  const shown = async () => (await listed('resources?list=costCenters&search=old')).resources;
  expect(await change(id, { list: 'costCenters', name: 'Older', isArchived: true })).toBe(204);
  expect(await shown()).toMatchObject([{ id, name: 'Older', isArchived: true }]);
  expect(await change(id, { list: 'costCenters', isArchived: false })).toBe(204);
  expect(await shown()).toMatchObject([{ id, name: 'Older', isArchived: false }]);
  const option = { list: 'customFieldOptions', field: ids.Floor };
  expect(await change(ids['8'] ?? '', { ...option, name: '9', isArchived: true })).toBe(204);
  const { resources } = await listed(`resources?list=customFieldOptions&field=${ids.Floor}&search=9`);
  expect(resources).toMatchObject([{ id: ids['8'], name: '9', isArchived: true }]);
  const { body } = await fixture.viewer('GET', '/audit?action=updateNamedResource&limit=3');
  expect(body.entries[2].details).toEqual({ id, list: 'costCenters', name: 'Older', isArchived: true });
});

test('billing profiles and travel policies are created with what they need; what is missing is said', async () => {
  const refused = await fixture.admin('POST', '/travel/resources', {
    body: { list: 'billingProfiles', name: '', lang: 'de' },
  });
  expect(refused.status).toBe(422);
  expect(refused.body.faults.map(({ field }: { field: string }) => field).sort()).toEqual([
    ...['email', 'lang', 'name'],
  ]);
  await create({ list: 'billingProfiles', name: 'Paris', email: 'billing@corp.example', lang: 'fr' });
  const id = await create({ list: 'travelPolicies', name: 'Gold', control: 'none' });
  expect((await listed('resources?list=billingProfiles')).resources).toMatchObject([{ name: 'Paris' }]);
  expect((await listed('resources?list=travelPolicies')).resources).toMatchObject([{ id, name: 'Gold' }]);
  expect(await change(id, { list: 'travelPolicies', isArchived: true })).toBe(422);
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
    const { groups, ...page } = await listed('groups');
    expect(page).toEqual({ total: 4 });
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
      (await listed(`groups?${query}`)).groups.map(({ name }: { name: string }) => name);
    expect(await names('search=MANAGE')).toEqual(['Travel managers']);
    expect(await names('used=true')).toEqual(['Robots', 'Site Paris', 'Travel managers']);
    const { next } = await listed('groups?used=true&limit=2');
    expect(await names(`used=true&limit=2&after=${encodeURIComponent(next)}`)).toEqual(['Travel managers']);
  });

  test('the members of one are people, other groups, and ids that nothing has', async () => {
    const { group } = await listed(`groups/${ids.paris}`);
    expect(group).toMatchObject({ name: 'Site Paris', members: 3, rules: [{ fieldName: 'Floor' }] });
    const path = `groups/${ids.paris}/members`;
    const first = await listed(`${path}?limit=2`);
    expect(first.members).toEqual([
      { id: people[0], kind: 'person', name: 'ada', userName: 'ada@corp.example' },
      { id: ids.managers, kind: 'group', name: 'Travel managers' },
    ]);
    const last = await listed(`${path}?limit=2&after=${first.next}`);
    expect(last.members).toEqual([{ id: 'nobody', kind: 'unknown', name: 'nobody' }]);
    const found = await listed(`groups/${ids.managers}/members?search=GRACE`);
    expect(found.members).toMatchObject([{ id: people[1] }]);
    expect((await fixture.viewer('GET', '/lists/default/groups/nobody/members')).status).toBe(404);
  });
});
