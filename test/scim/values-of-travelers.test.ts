import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimClient, scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

// What IdPs send in public reports of trouble with provisioning, and what the traveler has afterwards.

let service: RunningService;
let send: ScimClient['send'];

beforeAll(async () => {
  service = await startService();
  send = scimClient(service.url, service.scimToken).send;
});

afterAll(() => service.close());

/** Creates a user, and returns the SCIM id and the travel user id. */
async function create(name: string, extra: JsonObject = {}): Promise<{ id: string; travelId: string }> {
  const email = `${name}@corp.example`;
  const { status, body } = await send('POST', '/Users', {
    schemas: [urns.user],
    ...{ userName: email, name: { givenName: 'Kim', familyName: 'Doe' }, active: true },
    emails: [{ value: email, type: 'work', primary: true }],
    ...extra,
  });
  expect({ status, extra }).toEqual({ status: 201, extra });
  return { id: body.id, travelId: body[urns.travel].travelUserId };
}

/** Calls the travel API with the key of an admin, and returns the resource in its answer. */
async function travel(method: string, path: string, data?: JsonObject): Promise<JsonObject> {
  const headers = {
    Authorization: `Bearer ${service.travelApiKey}`,
    ...(data
      ? { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
      : {}),
  };
  const body = data ? JSON.stringify({ data }) : null;
  const response = await fetch(`${service.url}/api${path}`, { method, headers, body });
  expect({ path, isOk: response.ok }).toEqual({ path, isOk: true });
  return JSON.parse(await response.text()).data;
}

function travelerOf(travelId: string): Promise<JsonObject> {
  return travel('GET', `/users/${travelId}`);
}

test('of several work addresses, mobile numbers and work postal addresses, the primary one is used', async () => {
  const { travelId } = await create('three.work', {
    emails: [
      { value: 'alias@old.example', type: 'work' },
      { value: 'three.work@corp.example', type: 'work', primary: true },
    ],
    phoneNumbers: [
      { type: 'mobile', value: '+33 612345671' },
      { type: 'mobile', value: '+33 612345672', primary: true },
    ],
    addresses: [
      { type: 'work', locality: 'Lyon', country: 'FR' },
      { type: 'work', locality: 'Paris', country: 'FR', primary: true },
    ],
  });
  expect(await travelerOf(travelId)).toMatchObject({
    email: 'three.work@corp.example',
    phoneNumber: '+33 612345672',
    address: { city: 'Paris', countryCode: 'FR' },
  });
});

test.each(['../Users/', 'https://idp.example/scim/v2/Users/'])(
  'a manager is found by a $ref alone that begins with %s, which is returned as sent',
  async (base) => {
    const boss = await create(`boss.${base.length}`);
    const manager = { $ref: `${base}${boss.id}` };
    const { id, travelId } = await create(`report.${base.length}`, { [urns.enterprise]: { manager } });
    expect(await travelerOf(travelId)).toMatchObject({ managerId: boss.travelId });
    expect((await send('GET', `/Users/${id}`)).body[urns.enterprise]).toMatchObject({ manager });
  },
);

test.each<[string, (uri: string) => object]>([
  ['its URI', (uri) => ({ op: 'replace', path: `${urns.enterprise}:manager.$ref`, value: uri })],
  [
    'an object with its URI',
    (uri) => ({ op: 'replace', path: `${urns.enterprise}:manager`, value: { $ref: uri } }),
  ],
  ['a key', (uri) => ({ op: 'add', value: { [`${urns.enterprise}:manager`]: { $ref: uri } } })],
])(
  'a manager who is changed by a PATCH of %s alone is followed, although the old value is still there',
  async (title, patchOf) => {
    const suffix = title.replaceAll(' ', '.');
    const [old, next] = [await create(`old.${suffix}`), await create(`next.${suffix}`)];
    const manager = { value: old.id };
    const { id, travelId } = await create(`managed.${suffix}`, { [urns.enterprise]: { manager } });
    const { status } = await send('PATCH', `/Users/${id}`, patchOp(patchOf(`../Users/${next.id}`)));
    expect(status).toBe(200);
    expect(await travelerOf(travelId)).toMatchObject({ managerId: next.travelId });
  },
);

test('values with invisible characters are used without them, and returned as sent', async () => {
  const sent = {
    name: { givenName: 'Kim\tLee', familyName: '\u200fDoe\u200b' },
    phoneNumbers: [{ type: 'mobile', value: '\u202a+33 ６12345678\u202c' }],
    addresses: [{ type: 'work', locality: 'Paris\u00a0', country: 'République française' }],
  };
  const { id, travelId } = await create('invisible', sent);
  expect(await travelerOf(travelId)).toMatchObject({
    ...{ firstName: 'Kim Lee', lastName: 'Doe', phoneNumber: '+33 612345678' },
    address: { city: 'Paris', countryCode: 'FR' },
  });
  expect((await send('GET', `/Users/${id}`)).body).toMatchObject(sent);
});

test('a role that was given in the travel service stays when the IdP grants it and takes it away', async () => {
  const { id, travelId } = await create('role.man');
  await travel('PATCH', `/users/${travelId}`, { roles: ['premium'] });
  const grant = { op: 'replace', path: 'roles', value: [{ value: 'premium' }] };
  expect((await send('PATCH', `/Users/${id}`, patchOp(grant))).status).toBe(200);
  expect((await send('PATCH', `/Users/${id}`, patchOp({ op: 'remove', path: 'roles' }))).status).toBe(200);
  expect(await travelerOf(travelId)).toMatchObject({ roles: ['premium'] });
});

test('a manager who is deactivated is taken from the reports, who get a finding', async () => {
  const boss = await create('boss.gone');
  const manager = { value: boss.id };
  const { id, travelId } = await create('rep.left', { [urns.enterprise]: { manager } });
  await send('PATCH', `/Users/${boss.id}`, patchOp({ op: 'replace', path: 'active', value: false }));
  expect(await travelerOf(boss.travelId)).toMatchObject({ archived: true });
  await eventually(async () => {
    const report = (await service.people('default')).find((person) => person.id === id);
    expect(report?.findings.map(({ code }) => code)).toEqual(['managerInactive']);
  });
  expect(await travelerOf(travelId)).not.toHaveProperty('managerId');
});

test('the name that Entra ID gives a deleted user does not become the address of the traveler', async () => {
  const { id, travelId } = await create('ada.deleted', { emails: [] });
  const userName = '0123456789abcdef0123456789abcdefada.deleted@corp.example';
  const { status } = await send(
    'PATCH',
    `/Users/${id}`,
    patchOp({ op: 'replace', path: 'userName', value: userName }),
  );
  expect(status).toBe(200);
  expect(await travelerOf(travelId)).toMatchObject({ email: 'ada.deleted@corp.example' });
  expect((await send('GET', `/Users/${id}`)).body).toMatchObject({ userName });
});

test('the new name of a cost center beside its old id counts, and the old id is gone', async () => {
  const made = await Promise.all(
    ['Sales', 'Research'].map((name) => travel('POST', '/cost-centers', { name })),
  );
  const [sales, research] = made.map(({ id }) => String(id));
  const costCenter = { id: String(sales), name: 'Sales' };
  const { id, travelId } = await create('cost.center', { [urns.travel]: { costCenter } });
  expect(await travelerOf(travelId)).toMatchObject({ costCenterId: sales });
  const path = `${urns.travel}:costCenter.name`;
  const { body } = await send('PATCH', `/Users/${id}`, patchOp({ op: 'replace', path, value: 'Research' }));
  expect(body[urns.travel].costCenter).toEqual({ name: 'Research' });
  expect(await travelerOf(travelId)).toMatchObject({ costCenterId: research });
});
