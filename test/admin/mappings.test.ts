import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { scimClient } from '../fixtures/scim-client.ts';

let fixture: AdminFixture;
let graceId: string;
beforeAll(async () => {
  fixture = await startAdmin();
  const { url, scimToken } = fixture.service;
  const created = await scimClient(url, scimToken).send('POST', '/Users', grace);
  graceId = created.body.id;
});
afterAll(() => fixture.close());

const grace = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'grace@corp.example',
  name: { givenName: 'Grace', familyName: 'Hopper' },
  nickName: 'Amazing Grace',
  emails: [{ value: 'grace@corp.example', type: 'work' }],
};

/** A mapping whose first name comes from another attribute. */
function mappingText(scimAttribute: string): string {
  return JSON.stringify({ scimUserMapping: [{ scimAttribute, userAttribute: 'firstName' }] });
}

const path = '/mappings/default';

async function generation(): Promise<number> {
  return (await fixture.viewer('GET', path)).body.version.generation;
}

test('the example person is one whom an identity provider has sent, not an imported one', async () => {
  const { viewer } = fixture;
  // The first import finds the admin of the travel service.
  await eventually(async () =>
    expect((await viewer('GET', '/overview')).body.connections[0].lastImport?.read).toBeGreaterThan(0),
  );
  expect((await viewer('GET', `${path}/example-person`)).body).toEqual({ id: graceId });
  expect((await viewer('GET', '/mappings/nosuch/example-person')).status).toBe(404);
});

test('the preview of a person says whether the scope leaves the person out', async () => {
  const body = { text: JSON.stringify({ scope: 'userType pr' }), person: graceId };
  const preview = await fixture.viewer('POST', `${path}/preview-person`, { body });
  expect(preview.body).toMatchObject({ scope: 'out', userName: 'grace@corp.example' });
});

test('a viewer reads the rules besides the mapping, as a mapping could have them', async () => {
  const { status, body } = await fixture.viewer('GET', `${path}/other-rules`);
  expect(status).toBe(200);
  expect(body.rules).toContainEqual({
    ...{ origin: 'default', field: 'lang', use: 'always', others: [], setting: 'language.default' },
    written: { sources: ['preferredLanguage', 'locale'], fallback: 'unusable', userAttribute: 'lang' },
  });
  expect(body.rules).toContainEqual({
    ...{ origin: 'default', field: 'archived', use: 'always', others: ['active'] },
  });
  expect((await fixture.viewer('GET', '/mappings/nosuch/other-rules')).status).toBe(404);
});

test('a viewer reads the mapping in force with its generation and origin', async () => {
  const { viewer } = fixture;
  const list = await viewer('GET', '/mappings');
  expect(list.body.mappings).toMatchObject([{ connection: 'default', version: { generation: 1 } }]);
  const { status, body } = await viewer('GET', path);
  expect(status).toBe(200);
  expect(body.version).toMatchObject({ generation: 1, rules: expect.any(Number) });
  expect(JSON.parse(body.text)).toHaveProperty('scimUserMapping');
  expect((await viewer('GET', '/mappings/nosuch')).status).toBe(404);
});

test('a check names every fault with its JSON path and remedy', async () => {
  const text = JSON.stringify({ scimUserMapping: [{ scimAttribut: 'title', userAttribute: 'firstNam' }] });
  const { status, body } = await fixture.viewer('POST', `${path}/check`, { body: { text } });
  expect(status).toBe(200);
  expect(body.faults).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: 'scimUserMapping[0].scimAttribut', problem: 'unknown key' }),
      expect.objectContaining({
        path: 'scimUserMapping[0].userAttribute',
        remedy: expect.stringContaining('firstName'),
      }),
    ]),
  );
});

test('a check of a text that is not JSON tells the line', async () => {
  const { body } = await fixture.viewer('POST', `${path}/check`, { body: { text: '{\n  "phone": {},\n}' } });
  expect(body.faults).toEqual([
    {
      path: '$',
      problem: 'has a comma after the last entry, line 2, column 14',
      remedy: 'Remove that comma.',
    },
  ]);
});

test('a check names what the travel service does not have', async () => {
  const text = JSON.stringify({ defaults: { costCenter: { name: 'CC-nosuch' } } });
  const { body } = await fixture.viewer('POST', `${path}/check`, { body: { text } });
  expect(body.faults).toMatchObject([
    { path: 'defaults.costCenter.name', problem: expect.stringContaining('"CC-nosuch"') },
  ]);
});

test('the preview of a stored person shows fields, trace and what the mapping changes', async () => {
  const { status, body } = await fixture.viewer('POST', `${path}/preview-person`, {
    body: { text: mappingText('nickName'), person: graceId },
  });
  expect(status).toBe(200);
  expect(body.userName).toBe('grace@corp.example');
  expect(body.fields).toContainEqual({
    field: 'firstName',
    outcome: 'value',
    value: 'Amazing Grace',
    isChanged: true,
    inForce: 'Grace',
  });
  expect(body.fields).toContainEqual(expect.objectContaining({ field: 'lastName', isChanged: false }));
  expect(body.trace).toContainEqual(
    expect.objectContaining({ field: 'firstName', origin: 'file', rule: 'nickName', outcome: 'set' }),
  );
});

test('the preview of a pasted user shows findings with their remedies', async () => {
  const user = { ...grace, phoneNumbers: [{ value: '12', type: 'mobile' }] };
  const { body } = await fixture.viewer('POST', `${path}/preview-person`, { body: { text: '{}', user } });
  expect(body.findings).toMatchObject([{ field: 'phoneNumber', value: '12', remedy: expect.any(String) }]);
});

test('the groups that a pasted user states count, as those of a stored user do', async () => {
  const rule = { template: 'Board', userAttribute: 'lastName', when: 'groups[display eq "Board"]' };
  const text = JSON.stringify({ scimUserMapping: [rule] });
  const user = { ...grace, groups: [{ value: 'g1', display: 'Board' }] };
  const { body } = await fixture.viewer('POST', `${path}/preview-person`, { body: { text, user } });
  expect(body.fields).toContainEqual(expect.objectContaining({ field: 'lastName', value: 'Board' }));
});

test('a preview of nobody, or of two people at once, or of what is no user is refused', async () => {
  const send = (body: object) => fixture.viewer('POST', `${path}/preview-person`, { body });
  expect((await send({ text: '{}' })).status).toBe(422);
  expect((await send({ text: '{}', person: graceId, user: grace })).status).toBe(422);
  expect((await send({ text: '{}', person: 'nobody' })).status).toBe(404);
  const faulty = await send({ text: '{}', user: { nickName: 'Grace' } });
  expect([faulty.status, faulty.body.faults[0].field]).toEqual([422, 'user']);
  const mapping = await send({ text: '{"scimUserMapping": 7}', person: graceId });
  expect([mapping.status, mapping.body.faults[0].field]).toEqual([422, 'scimUserMapping']);
});

test('a preview without a mapping tells what the mapping in force has still to send', async () => {
  const { status, body } = await fixture.viewer('POST', `${path}/preview`, { body: {} });
  expect([status, body.changed, body.fields]).toEqual([200, 0, []]);
});

test('the preview of everybody counts people and fields, and changes nothing', async () => {
  const before = await generation();
  const { status, body } = await fixture.viewer('POST', `${path}/preview`, {
    body: { text: mappingText('nickName') },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ people: 1, changed: 1, isCut: false, needsApproval: false });
  expect(body.fields).toEqual([{ field: 'firstName', set: 1, cleared: 0, again: 0, released: 0 }]);
  expect(body.examples).toMatchObject([
    { id: graceId, changes: [{ field: 'firstName', before: 'Grace', after: 'Amazing Grace' }] },
  ]);
  expect(await generation()).toBe(before);
});

test('an admin applies a mapping under the own name, and restores the one before', async () => {
  const { admin, viewer } = fixture;
  const first = await generation();
  const applied = await admin('PUT', path, { body: { text: mappingText('title'), generation: first } });
  expect([applied.status, applied.body.outcome]).toEqual([200, 'applied']);
  const { body } = await viewer('GET', path);
  expect(body.version).toMatchObject({ author: 'admin of tests', source: 'page', rules: 1 });
  await eventually(async () =>
    expect((await viewer('GET', `${path}/progress`)).body).toEqual({ state: 'done', left: 0 }),
  );
  const versions: { number: number; generation: number }[] = (await viewer('GET', `${path}/versions`)).body
    .versions;
  expect(versions.map(({ number }) => number)).toEqual(versions.map((_, index) => versions.length - index));
  expect(versions[1]?.generation).toBe(first);
  const newest = versions.length;
  expect(applied.body.version).toBe(newest);
  const read = await viewer('GET', `${path}/versions/${newest}`);
  expect(read.body.difference.addedRules).toEqual([{ scimAttribute: 'title', userAttribute: 'firstName' }]);
  const restored = await admin('POST', `${path}/restore`, {
    body: { version: newest - 1, generation: body.version.generation },
  });
  expect([restored.status, restored.body.outcome]).toEqual([200, 'applied']);
  expect((await viewer('GET', `${path}/versions/nosuch`)).status).toBe(404);
  const { entries } = (await viewer('GET', '/audit?action=restoreMappingVersion')).body;
  expect((await viewer('GET', path)).body.version.number).toBe(newest + 1);
  expect(entries[0].details).toMatchObject({ restored: newest - 1, version: newest + 1, before: newest });
});

test('of two admins who apply at once the second is told who was first and what changed', async () => {
  const { admin } = fixture;
  const began = await generation();
  await admin('PUT', path, { body: { text: mappingText('nickName'), generation: began } });
  const second = await admin('PUT', path, { body: { text: mappingText('title'), generation: began } });
  expect([second.status, second.body.code]).toEqual([409, 'conflict']);
  expect(second.body.message).toMatch(/^admin of tests has put another mapping in force at .* UTC/);
  expect(second.body.faults).toContainEqual({
    field: 'scimUserMapping',
    message: 'added {"scimAttribute":"nickName","userAttribute":"firstName"}',
  });
  expect(JSON.parse((await admin('GET', path)).body.text).scimUserMapping[0].scimAttribute).toBe('nickName');
});

test('a faulty mapping is not applied', async () => {
  const expected = await generation();
  const unknownName = JSON.stringify({ defaults: { costCenter: { name: 'CC-nosuch' } } });
  for (const text of ['{', '{"nosuch": 1}', unknownName]) {
    const { status, body } = await fixture.admin('PUT', path, { body: { text, generation: expected } });
    expect([status, body.code]).toEqual([422, 'invalid']);
  }
  expect(await generation()).toBe(expected);
});

test('the names for completion are those of the travel service', async () => {
  const { status, body } = await fixture.viewer('GET', `${path}/names`);
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual([
    'billingProfiles',
    'costCenters',
    'customFields',
    'scimAttributes',
    'travelPolicies',
  ]);
});

test('a viewer reads the values that people have in an attribute, the most frequent first', async () => {
  const { url, scimToken } = fixture.service;
  const { send } = scimClient(url, scimToken);
  for (const [name, title] of [
    ['ada', 'Engineer'],
    ['alan', 'Engineer'],
    ['edith', 'Singer'],
  ])
    await send('POST', '/Users', { schemas: grace.schemas, userName: `${name}@corp.example`, title });
  const read = async (attribute: string) =>
    (await fixture.viewer('GET', `${path}/attribute-values?path=${encodeURIComponent(attribute)}`)).body;
  expect(await read('title')).toEqual({
    values: [
      { value: 'Engineer', people: 2 },
      { value: 'Singer', people: 1 },
    ],
  });
  expect(await read('emails[type eq "work"].value')).toEqual({
    values: [{ value: 'grace@corp.example', people: 1 }],
  });
  for (const unknown of ['nosuch', 'title[']) expect(await read(unknown)).toEqual({ values: [] });
});
