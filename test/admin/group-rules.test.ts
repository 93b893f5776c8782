import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const text = JSON.stringify({
  scimUserMapping: [
    { template: 'Gold', userAttribute: 'lastName', when: 'groups[display eq "Travel managers"]' },
    {
      scimAttribute: 'groups.display',
      transforms: [{ map: { 'Site Paris': 'Paris' } }],
      userAttribute: 'address.city',
    },
  ],
});
const path = '/mappings/default';

let fixture: AdminFixture;
let send: ScimClient['send'];
beforeAll(async () => {
  fixture = await startAdmin();
  const { url, scimToken } = fixture.service;
  ({ send } = scimClient(url, scimToken));
});
afterAll(() => fixture.close());

async function createUser(name: string): Promise<string> {
  const address = `${name}@corp.example`;
  const names = { givenName: name, familyName: 'Smith' };
  return (await send('POST', '/Users', { userName: address, name: names, emails: [{ value: address }] })).body
    .id;
}

async function createGroup(displayName: string, ...ids: string[]): Promise<string> {
  const members = ids.map((value) => ({ value }));
  return (await send('POST', '/Groups', { displayName, members })).body.id;
}

async function patchGroup(id: string, ...Operations: object[]): Promise<void> {
  const { status } = await send('PATCH', `/Groups/${id}`, { schemas: [PATCH_SCHEMA], Operations });
  expect([200, 204]).toContain(status);
}

/** Resolves when the traveler of a user has these values. */
async function expectTraveler(id: string, lastName: string, city?: string): Promise<void> {
  await eventually(async () => {
    const { body } = await fixture.viewer('GET', `/people/default/${id}`);
    const shown = Object.fromEntries(
      body.fields.map(({ field, observed }: { field: string; observed: unknown }) => [field, observed]),
    );
    expect([shown.lastName, shown['address.city'] ?? undefined]).toEqual([lastName, city]);
  }, 20_000);
}

test('the names of groups are found by their beginning, at most 100', async () => {
  for (let index = 0; index < 102; index += 1) await createGroup(`Team ${String(index).padStart(3, '0')}`);
  const find = async (beginning: string): Promise<string[]> =>
    (await fixture.viewer('GET', `${path}/group-names?beginning=${encodeURIComponent(beginning)}`)).body
      .names;
  expect(await find('TEAM 10')).toEqual(['Team 100', 'Team 101']);
  expect(await find('team')).toHaveLength(100);
  expect(await find('nobody')).toEqual([]);
});

test('a check warns of the groups that nobody has sent, and of none that was sent', async () => {
  await createGroup('SITE PARIS');
  const { body } = await fixture.viewer('POST', `${path}/check`, { body: { text } });
  expect(body).toMatchObject({
    faults: [],
    warnings: [
      {
        path: 'scimUserMapping[0].when',
        problem: 'no group with the name "Travel managers" has been received',
      },
    ],
  });
});

test('groups decide fields of their members, as Okta and Entra ID write them', async () => {
  const { version } = (await fixture.viewer('GET', path)).body;
  const applied = await fixture.admin('PUT', path, {
    body: { text, generation: version.generation },
  });
  expect(applied.status).toBe(200);
  const [ada, bob] = [await createUser('ada'), await createUser('bob')];
  const managers = await createGroup('Travel managers', ada);
  await expectTraveler(ada, 'Gold');

  // Okta: one operation with many members, and the removal of one by a filter.
  await patchGroup(managers, { op: 'add', path: 'members', value: [{ value: bob, display: 'Bob' }] });
  await expectTraveler(bob, 'Gold');
  await patchGroup(managers, { op: 'remove', path: `members[value eq "${ada}"]` });
  await expectTraveler(ada, 'Smith');

  // Entra ID: capitals, and the removal of members by a value.
  const paris = await createGroup('Paris');
  await patchGroup(paris, { op: 'Add', path: 'members', value: [{ value: ada }, { value: bob }] });
  await send('DELETE', `/Groups/${await groupNamed('SITE PARIS')}`);
  await patchGroup(paris, { op: 'Replace', value: { displayName: 'Site Paris' } });
  await expectTraveler(ada, 'Smith', 'Paris');
  await expectTraveler(bob, 'Gold', 'Paris');
  await patchGroup(paris, { op: 'Remove', path: 'members', value: [{ value: bob }] });
  await expectTraveler(bob, 'Gold');

  const before = await send('GET', `/Users/${ada}`);
  await send('DELETE', `/Groups/${paris}`);
  await eventually(async () => {
    const { body } = await fixture.viewer('GET', `/people/default/${ada}`);
    expect(body.findings).toEqual([
      expect.objectContaining({ code: 'groupUnresolved', value: 'Site Paris' }),
    ]);
  }, 20_000);
  await expectTraveler(ada, 'Smith', 'Paris');
  const after = await send('GET', `/Users/${ada}`);
  expect(after.body.meta).toEqual(before.body.meta);
});

async function groupNamed(displayName: string): Promise<string> {
  const filter = encodeURIComponent(`displayName eq "${displayName}"`);
  return (await send('GET', `/Groups?filter=${filter}`)).body.Resources[0].id;
}

test('a preview of a person follows the groups of the person', async () => {
  const id = await createUser('cid');
  await createGroup('Board', id);
  const next = JSON.stringify({
    scimUserMapping: [{ template: 'Board', userAttribute: 'lastName', when: 'groups[display eq "Board"]' }],
  });
  const { body } = await fixture.viewer('POST', `${path}/preview-person`, {
    body: { text: next, person: id },
  });
  expect(body.fields).toContainEqual(
    expect.objectContaining({ field: 'lastName', value: 'Board', isChanged: true, inForce: 'Smith' }),
  );
  expect(body.trace).toContainEqual(expect.objectContaining({ field: 'lastName', group: 'Board' }));
});
