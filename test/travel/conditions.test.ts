import request from 'supertest';
import { catalog } from '../../src/travel/catalog.ts';
import type { Resource } from '../../src/travel/declaration/resource.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';
import { storeExample } from './examples.ts';
import { collectionOf, sample } from './samples.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

/** A number that no other test has used for a sample. */
let last = 0;
const nextNumber = () => {
  last += 1;
  return last;
};

const named = (resources: Resource[]) => resources.map((one): [string, Resource] => [one.type, one]);
const creatable = named(catalog.filter(({ operations }) => operations.includes('create')));
const readable = named(catalog.filter(({ operations }) => !operations.includes('create')));
const etagOf = async (path: string) => String((await fixture.send('get', path)).get('ETag'));

describe.each(creatable)('a %s', (_type, resource) => {
  let path: string;
  let item: string;
  beforeEach(async () => {
    path = await collectionOf(fixture, resource);
    const made = await fixture.send('post', path, { data: sample(resource, nextNumber()) });
    item = `${path}/${made.body.data.id}`;
    expect(made.get('Location')).toBe(`/api${item}`);
    const { headers } = await fixture.send('get', item);
    expect(made.get('ETag')).toBe(resource.secret ? undefined : headers['etag']);
    expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Authorization' });
  });

  test('can be sent back as a GET answered it, by PUT and PATCH, which changes nothing', async () => {
    const { body } = await fixture.send('get', item);
    const events = (await fixture.send('get', '/events')).body.meta.total;
    for (const method of ['put', 'patch'] as const) {
      const { status, body: answered } = await fixture.send(method, item, body);
      expect([status, answered]).toEqual([200, body]);
    }
    expect((await fixture.send('get', '/events')).body.meta.total).toBe(events);
  });

  test('refuses another value of each read-only field', async () => {
    const { body } = await fixture.send('get', item);
    for (const field of resource.unwritable)
      for (const method of ['put', 'patch'] as const) {
        const data = { ...body.data, [field]: field in body.data ? `${body.data[field]}x` : 'x' };
        const answer = await fixture.send(method, item, { data });
        expect([answer.status, answer.body.invalid]).toEqual([
          422,
          [expect.objectContaining({ field, code: 'readOnly' })],
        ]);
      }
  });

  test('is changed and deleted only in the state that If-Match names', async () => {
    const tag = await etagOf(item);
    const data = { ...sample(resource, nextNumber()), ...(resource.secret && { description: 'Changed' }) };
    const before = await fixture.dump();
    for (const condition of ['"other"', `W/${tag}`, 'nonsense'])
      for (const method of ['patch', 'put', 'delete'] as const) {
        const body = method === 'delete' ? undefined : { data };
        const answer = await fixture.send(method, item, body).set('If-Match', condition);
        expect([answer.status, answer.body.code]).toEqual([412, 'conflict']);
      }
    expect(await fixture.dump()).toBe(before);
    const changed = await fixture.send('patch', item, { data }).set('If-Match', `"other", ${tag}`);
    expect([changed.status, changed.get('ETag')]).toEqual([200, await etagOf(item)]);
    expect(changed.get('ETag')).not.toBe(tag);
    // RFC 9110 §9.3.4: what was sent is not what is stored, byte by byte.
    const replaced = await fixture.send('put', item, { data }).set('If-Match', await etagOf(item));
    expect([replaced.status, replaced.get('ETag')]).toEqual([200, undefined]);
    expect((await fixture.send('delete', item).set('If-Match', '*')).status).toBe(200);
  });

  test('that exists is not changed with If-None-Match: *', async () => {
    expect(
      (await fixture.send('put', item, { data: sample(resource, nextNumber()) }).set('If-None-Match', '*'))
        .status,
    ).toBe(412);
  });
});

test.each(readable)('a %s has an ETag, and is 304 to who has it already', async (_type, resource) => {
  const { path, id } = await storeExample(fixture, resource);
  for (const target of [path, `${path}/${id}`]) {
    const tag = await etagOf(target);
    for (const condition of [tag, `W/${tag}`, '*', `"other", ${tag}`]) {
      const answer = await fixture.send('get', target).set('If-None-Match', condition);
      expect([answer.status, answer.get('ETag')]).toEqual([304, tag]);
    }
    expect((await fixture.send('get', target).set('If-None-Match', '"other"')).status).toBe(200);
    expect((await fixture.send('get', target).set('If-Match', '"other"')).status).toBe(412);
  }
});

test('the ETag changes with the resources that an answer is derived from', async () => {
  const field = await fixture.make('/custom-fields', {
    dataType: 'text',
    name: 'Team',
    resourceType: 'user',
  });
  const customFields = [{ customFieldId: field.id, values: [{ data: 'A' }] }];
  const { id } = await fixture.make('/users', { email: 'ada@example.com', customFields });
  const tags = [await etagOf(`/users/${id}`), await etagOf('/users')];
  await fixture.send('patch', `/custom-fields/${field.id}`, { data: { name: 'Crew' } });
  expect(await etagOf(`/users/${id}`)).not.toBe(tags[0]);
  expect(await etagOf('/users')).not.toBe(tags[1]);
  expect(await etagOf('/whoami')).toBe(await etagOf(`/users/${fixture.admin}`));
});

test('a method that a path does not have is 403, and Allow names those that it has', async () => {
  const { id } = await fixture.make('/webhooks', { url: 'https://example.com' });
  for (const [path, allowed] of [
    ['/users', 'GET, HEAD, POST'],
    [`/users/${fixture.admin}`, 'GET, HEAD, PATCH, PUT, DELETE'],
    ['/events', 'GET, HEAD'],
    [`/trip-projects/${id}/users`, 'GET, HEAD'],
    ['/whoami', 'GET, HEAD'],
    [`/webhooks/${id}/test`, 'POST'],
  ] as const) {
    const answer = await request(fixture.app)
      .options(`/api${path}`)
      .set('Authorization', `Bearer ${fixture.key}`);
    expect([path, answer.status, answer.body.code, answer.get('Allow')]).toEqual([
      path,
      403,
      'forbidden',
      allowed,
    ]);
  }
});

describe('a long answer', () => {
  beforeEach(async () => {
    for (const number of Array(8).keys()) await fixture.make('/cost-centers', { name: `Center ${number}` });
  });
  const list = (encodings: string) => fixture.send('get', '/cost-centers').set('Accept-Encoding', encodings);

  test('is compressed if the client takes gzip, under an ETag of its own that names the same state', async () => {
    const [plain, zipped] = [await list('identity'), await list('gzip')];
    expect([plain.get('Content-Encoding'), zipped.get('Content-Encoding')]).toEqual([undefined, 'gzip']);
    expect(zipped.body).toEqual(plain.body);
    expect(Number(zipped.get('Content-Length'))).toBeLessThan(Number(plain.get('Content-Length')) / 2);
    expect(zipped.get('ETag')).toBe(plain.get('ETag')?.replace(/"$/, '-gzip"'));
    expect(zipped.get('Vary')).toBe('Accept-Encoding, Authorization');
    expect((await list('gzip').set('If-None-Match', String(zipped.get('ETag')))).status).toBe(304);
  });

  test.each(['gzip;q=0', 'br', 'identity;q=1, gzip;q=0.5', ''])(
    'is not compressed with Accept-Encoding %j',
    async (encodings) => {
      expect((await list(encodings)).get('Content-Encoding')).toBeUndefined();
    },
  );
});
