import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const unknown = 'abcdefabcdefabcdefabcdef';
const post = (path: string, data: JsonObject) => fixture.send('post', path, { data });

/** Causes a failure of every code that a client can cause. */
async function failures() {
  await fixture.make('/project-codes', { code: 'A' });
  return {
    badRequest: await fixture.send('post', '/users', {}),
    invalidParam: await fixture.send('get', '/users?limit=0'),
    forbidden: await fixture.send('post', '/invoices', { data: {} }),
    notFound: await fixture.send('get', `/users/${unknown}`),
    conflict: await post('/project-codes', { code: 'A' }),
    validationFailed: await post('/users', { email: 'nobody' }),
  };
}

test('failures return an HTTP status; the body may be a JSON object (content type JSON, UTF-8)', async () => {
  const answers = Object.values(await failures());
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 403, 404, 409, 422]);
  for (const { headers } of answers) expect(headers['content-type']).toBe('application/json; charset=utf-8');
});

test('code: `badRequest`, `conflict`, `forbidden`, `internalError`, `invalidParam`, `notFound`, `notImpl`, `validationFailed`', async () => {
  for (const [code, { body }] of Object.entries(await failures())) expect(body.code).toBe(code);
  fixture.breakStore();
  expect((await fixture.send('get', '/users')).body.code).toBe('internalError');
});

test('message: short human-readable summary, always present', async () => {
  for (const { body } of Object.values(await failures())) {
    expect(body.message).toMatch(/^[A-Z].{5,200}\.$/);
  }
});

test('invalid: present when `code` is `validationFailed` or `invalidParam`, and only then', async () => {
  for (const [code, { body }] of Object.entries(await failures())) {
    const members = ['code', 'message'];
    if (code === 'validationFailed' || code === 'invalidParam') members.push('invalid');
    expect(Object.keys(body)).toEqual(members);
  }
});

test('each `invalid` item has `field`, `value`, `code` and `message`; nested fields use dots', async () => {
  const data = { ...profile, address: { city: 'Paris', country: 'France' } };
  const { body } = await post('/billing-profiles', data);
  expect(body.invalid).toEqual([
    { field: 'address.country', value: 'France', code: 'country', message: expect.any(String) },
  ]);
});

const profile = { email: 'b@example.com', lang: 'en', name: 'HQ' };

test('`value` is the value received, either a string or a number', async () => {
  const echoOf = async (name: JsonObject[string]) =>
    (await post('/cost-centers', { name })).body.invalid[0].value;
  expect([await echoOf(7), await echoOf(true), await echoOf(['x'])]).toEqual([7, 'true', '["x"]']);
  expect((await fixture.send('get', '/users?limit=101')).body.invalid[0].value).toBe(101);
  expect((await fixture.send('get', '/users?order=up')).body.invalid[0].value).toBe('up');
});

test('validation codes seen: `email`, `lang`, `country`, `required`, `paramValue`', async () => {
  const data = { email: 'x', lang: 'de', address: { country: 'France' } };
  const { body } = await post('/billing-profiles', data);
  const codes = body.invalid.map(({ field, code }: { field: string; code: string }) => [field, code]);
  expect(Object.fromEntries(codes)).toEqual({
    'address.country': 'country',
    email: 'email',
    lang: 'lang',
    name: 'required',
  });
  expect((await fixture.send('get', '/users?limit=x')).body.invalid[0].code).toBe('paramValue');
});

test('resource validation failed on create, PATCH or PUT: 422 `validationFailed`', async () => {
  const { id } = await fixture.make('/users', { email: 'ada@example.com' });
  for (const [method, path] of [
    ['post', '/users'],
    ['patch', `/users/${id}`],
    ['put', `/users/${id}`],
  ] as const) {
    const { status, body } = await fixture.send(method, path, { data: { email: 'nobody' } });
    expect([status, body]).toMatchObject([422, { code: 'validationFailed', invalid: [{ field: 'email' }] }]);
  }
});

test('resource requested, updated or deleted does not exist: 404 `notFound`', async () => {
  for (const method of ['get', 'patch', 'put', 'delete'] as const) {
    const { status, body } = await fixture.send(method, `/cost-centers/${unknown}`, { data: { name: 'x' } });
    expect([status, body.code]).toEqual([404, 'notFound']);
  }
});

test('server error: 5xx', async () => {
  fixture.breakStore();
  const { status, body, text } = await fixture.send('get', '/users');
  expect([status, body]).toEqual([500, { code: 'internalError', message: expect.any(String) }]);
  expect(text).not.toContain('disk');
});

test('the status that goes with `conflict`: not specified', async () => {
  const { id } = await fixture.make('/cost-centers', { name: 'Research' });
  await fixture.make('/users', { email: 'ada@example.com', costCenterId: id });
  for (const answer of [
    await post('/users', { email: 'ADA@example.com' }),
    await fixture.send('delete', `/cost-centers/${id}`),
  ]) {
    expect([answer.status, answer.body]).toEqual([409, { code: 'conflict', message: expect.any(String) }]);
  }
});
