import { urns } from '../../../src/schema/resource.ts';
import { patchOp } from '../../fixtures/scim.ts';
import { type ScimService, scimService } from '../../fixtures/scim-service.ts';

let scim: ScimService;
beforeEach(async () => {
  scim = await scimService();
});
afterEach(() => scim.close());

const kinds = [
  { endpoint: '/Users', named: 'userName', other: 'title', urn: urns.user },
  { endpoint: '/Groups', named: 'displayName', other: 'externalId', urn: urns.group },
] as const;

describe.each(kinds)('$endpoint', ({ endpoint, named, other, urn }) => {
  const body = (name: string, more: object = {}) => ({ schemas: [urn], [named]: name, ...more });
  const create = async (name: string, more?: object) =>
    (await scim.send('POST', endpoint, body(name, more))).body;

  test('31. POST is 201 with the full resource and its Location', async () => {
    const answer = await scim.send('POST', endpoint, body('first', { [other]: 'x' }));
    expect(answer).toMatchObject({ status: 201, body: { ...body('first'), [other]: 'x' } });
    expect(answer.headers.get('location')).toBe(`${scim.service.url}/scim/v2${endpoint}/${answer.body.id}`);
    expect((await scim.send('GET', `${endpoint}/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test('32. a conflict is 409 uniqueness', async () => {
    await create('first');
    const answer = await scim.send('POST', endpoint, body('FIRST'));
    expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    expect(await scim.found(endpoint, `${named} eq "first"`, 'id')).toHaveLength(1);
  });

  test('33. an invalid or missing required value is 400 invalidValue', async () => {
    const { id } = await create('first');
    for (const wrong of [
      { [other]: 'x' },
      body(''),
      body('second', { [other]: { a: 1 } }),
      body('second', { [named]: true }),
    ]) {
      for (const [method, path] of [
        ['POST', endpoint],
        ['PUT', `${endpoint}/${id}`],
      ] as const) {
        const answer = await scim.send(method, path, wrong);
        expect({ wrong, answer }).toMatchObject({
          answer: { status: 400, body: { scimType: 'invalidValue' } },
        });
      }
    }
    expect(await scim.found(endpoint, `${named} pr`, named)).toEqual(['first']);
  });

  test('34. GET by id is 200, or 404', async () => {
    const created = await create('first');
    expect(await scim.send('GET', `${endpoint}/${created.id}`)).toMatchObject({ status: 200, body: created });
    for (const id of ['nobody', created.id.toUpperCase(), `${created.id}x`, '%20'])
      expect((await scim.send('GET', `${endpoint}/${id}`)).status).toBe(404);
  });

  test('35. PUT clears absent attributes, demands required ones, and is 200 with the resource', async () => {
    const { id } = await create('first', { [other]: 'x' });
    const path = `${endpoint}/${id}`;
    const put = await scim.send('PUT', path, body('second'));
    expect(put).toMatchObject({ status: 200, body: { id, ...body('second') } });
    expect(put.body[other]).toBeUndefined();
    expect((await scim.send('GET', path)).body).toEqual(put.body);
    expect((await scim.send('PUT', path, { schemas: [urn], [other]: 'x' })).status).toBe(400);
    expect((await scim.send('GET', path)).body).toEqual(put.body);
  });

  test('36. PUT never creates', async () => {
    expect((await scim.send('PUT', `${endpoint}/new`, body('first'))).status).toBe(404);
    expect(await scim.found(endpoint, `${named} eq "first"`, 'id')).toEqual([]);
  });

  test('37. conflicts of PUT and PATCH are 409', async () => {
    await create('first');
    const { id } = await create('second');
    const put = await scim.send('PUT', `${endpoint}/${id}`, body('First'));
    const change = patchOp({ op: 'replace', path: named, value: 'FIRST' });
    const patch = await scim.send('PATCH', `${endpoint}/${id}`, change);
    for (const answer of [put, patch])
      expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    expect(await scim.found(endpoint, `id eq "${id}"`, named)).toEqual(['second']);
  });

  test('38. DELETE is 204, then every request is 404, no query finds the resource, and its name may be used again', async () => {
    const { id } = await create('first', { externalId: 'E' });
    const path = `${endpoint}/${id}`;
    const gone = await scim.send('DELETE', path);
    expect([gone.status, gone.body]).toEqual([204, undefined]);
    for (const [method, sent] of [
      ['GET', undefined],
      ['PUT', body('first')],
      ['PATCH', patchOp({ op: 'add', path: other, value: 'x' })],
      ['DELETE', undefined],
    ] as const)
      expect((await scim.send(method, path, sent)).status).toBe(404);
    for (const filter of [`id eq "${id}"`, `${named} eq "first"`, 'externalId eq "E"', `${named} sw "f"`])
      expect(await scim.found(endpoint, filter, 'id')).toEqual([]);
    expect((await scim.send('GET', `${endpoint}?count=0`)).body.totalResults).toBe(0);
    const again = await scim.send('POST', endpoint, body('first'));
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(id);
  });
});

test('35. PUT keeps active if the body lacks it (a deviation)', async () => {
  const { body } = await scim.send('POST', '/Users', { userName: 'ada', active: false });
  expect((await scim.send('PUT', `/Users/${body.id}`, { userName: 'ada' })).body.active).toBe(false);
});
