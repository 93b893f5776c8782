import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';
import { type TravelAdmin, travelAdmin } from '../fixtures/travel-admin.ts';

let scim: ScimService;
let travel: TravelAdmin;
let sales: string;
let research: string;
beforeAll(async () => {
  scim = await scimService();
  travel = travelAdmin(scim.service.url, scim.service.travelApiKey);
  sales = await travel.make('/cost-centers', { name: 'Sales' });
  research = await travel.make('/cost-centers', { name: 'Research' });
});
afterAll(() => scim.close());

let count = 0;
async function createUser(extra: JsonObject): Promise<{ path: string; email: string; user: JsonObject }> {
  count += 1;
  const email = `p${count}@corp.example`;
  const name = { givenName: 'Kim', familyName: 'Doe' };
  const answer = await scim.send('POST', '/Users', {
    userName: email,
    name,
    emails: [{ value: email }],
    ...extra,
  });
  expect(answer.status).toBe(201);
  return { path: `/Users/${answer.body.id}`, email, user: answer.body };
}

async function costCenterOf(email: string): Promise<string | undefined> {
  return (await travel.travelers()).find((traveler) => traveler.email === email)?.costCenterId;
}

const travelAttributes = (values: JsonObject) => ({ [urns.travel]: values });
const at = (path: string, value: unknown) => ({ op: 'replace', path: `${urns.travel}:${path}`, value });

describe('of a cost center given as id and name, the part that a PATCH changes decides, and the other one is gone', () => {
  const cases: [string, (id: string) => unknown[], (id: string) => JsonObject][] = [
    ['the name', () => [at('costCenter.name', 'Research')], () => ({ costCenter: { name: 'Research' } })],
    ['the id', (id) => [at('costCenter.id', id)], (id) => ({ costCenter: { id } })],
    [
      'an object with the name',
      () => [at('costCenter', { name: 'Research' })],
      () => ({ costCenter: { name: 'Research' } }),
    ],
    ['the attribute of the id alone', (id) => [at('costCenterId', id)], (id) => ({ costCenterId: id })],
    [
      'both parts, one after the other',
      (id) => [at('costCenter.id', id), at('costCenter.name', 'Research')],
      (id) => ({ costCenter: { id, name: 'Research' } }),
    ],
  ];
  test.each(cases)('%s', async (_title, operations, expected) => {
    const { path, email } = await createUser(travelAttributes({ costCenter: { id: sales, name: 'Sales' } }));
    expect(await costCenterOf(email)).toBe(sales);
    const { status } = await scim.send('PATCH', path, patchOp(...operations(research)));
    expect([status, await costCenterOf(email)]).toEqual([200, research]);
    const { travelUserId: _, ...attributes } = (await scim.send('GET', path)).body[urns.travel];
    expect(attributes).toEqual(expected(research));
  });

  test('what a PATCH states again stays', async () => {
    const given = { costCenter: { id: sales, name: 'Sales' } };
    const { path } = await createUser(travelAttributes(given));
    await scim.send(
      'PATCH',
      path,
      patchOp(at('costCenter.name', 'Sales'), { op: 'add', path: 'title', value: 'Lead' }),
    );
    expect((await scim.send('GET', path)).body[urns.travel]).toMatchObject(given);
  });
});

test('of a cost center given as object and by the attribute of its id, the one that a PUT changes decides', async () => {
  const { path, email, user } = await createUser(
    travelAttributes({ costCenter: { id: sales }, costCenterId: sales }),
  );
  const put = (values: JsonObject) => scim.send('PUT', path, { ...user, ...travelAttributes(values) });
  await put({ costCenter: { id: sales }, costCenterId: research });
  expect(await costCenterOf(email)).toBe(research);
  await put({ costCenter: { id: sales }, costCenterId: research });
  expect(await costCenterOf(email)).toBe(research);
  await put({ costCenter: { id: sales, name: 'Sales' }, costCenterId: research });
  expect(await costCenterOf(email)).toBe(sales);
});

describe('a cost center that is given in another form is read', () => {
  const forms: [string, string, (id: string) => unknown][] = [
    ['enterprise', 'an object with `value`', () => ({ value: 'Research' })],
    ['enterprise', 'an object with `value` that is the id', (id) => ({ value: id })],
    ['enterprise', 'an object with `name`', () => ({ name: 'Research' })],
    ['enterprise', 'a list of such an object', () => [{ name: 'Research' }]],
    ['travel', 'an object with `value`', () => ({ value: 'Research' })],
    ['travel', 'a text', () => 'Research'],
    ['travel', 'the id as text', (id) => id],
  ];
  test.each(forms)('%s: %s', async (schema, _title, form) => {
    const urn = schema === 'travel' ? urns.travel : urns.enterprise;
    const { email, path } = await createUser({ [urn]: { costCenter: form(research) } } as JsonObject);
    expect(await costCenterOf(email)).toBe(research);
    const patch = patchOp({ op: 'replace', path: `${urn}:costCenter`, value: form(sales) });
    expect((await scim.send('PATCH', path, patch)).status).toBe(200);
  });

  test('but not an object without either', async () => {
    const body = { userName: 'x', [urns.enterprise]: { costCenter: { code: 'Research' } } };
    expect(await scim.send('POST', '/Users', body)).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    });
  });
});
