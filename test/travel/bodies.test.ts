import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const open = (type: string) =>
  request(fixture.app)
    .post('/api/users')
    .set('Authorization', `Bearer ${fixture.key}`)
    .set('Content-Type', type);
const post = (type: string, body: string) => open(type).send(body);

const user = (email: string) => JSON.stringify({ data: { email } });
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

test.each([
  ['broken JSON', '{"data":'],
  ['an array', '[]'],
  ['a string', '"data"'],
  ['null', 'null'],
  ['nothing', ''],
  ['a NUL character', '{"data":{"email":"a\\u0000@example.com"}}'],
  ['a NUL character in a name', '{"data":{"a\\u0000":1}}'],
  ['half a surrogate pair', '{"data":{"firstName":"\\ud800","email":"a@example.com"}}'],
  ['a member called __proto__', '{"data":{"__proto__":{"archived":true},"email":"a@example.com"}}'],
  ['a deep __proto__', '{"data":{"email":"a@example.com","travelerPrefs":{"x":[{"__proto__":1}]}}}'],
  ['nesting of 40 levels', `{"data":{"email":"a@example.com","travelerPrefs":${nested(40)}}}`],
  ['nesting of 100,000 levels', `{"data":{"email":"a@example.com","travelerPrefs":${nested(100_000)}}}`],
])('%s as a body is 400', async (_name, body) => {
  const answer = await post('application/json', body);
  expect([answer.status, answer.body]).toEqual([400, { code: 'badRequest', message: expect.any(String) }]);
  expect((await fixture.send('get', '/users')).body.meta.total).toBe(1);
  expect(fixture.logged).toEqual([]);
});

test('a body above 1 MB is 413, plain or compressed', async () => {
  const large = JSON.stringify({ data: { email: 'a@example.com', firstName: 'x'.repeat(1_048_576) } });
  const plain = await post('application/json', large);
  const packed = open('application/json').set('Content-Encoding', 'gzip');
  // `send` would serialize the bytes as JSON.
  packed.write(gzipSync(large));
  for (const answer of [plain, await packed]) {
    expect([answer.status, answer.body]).toEqual([413, { code: 'badRequest', message: expect.any(String) }]);
  }
});

test('a body just below 1 MB is accepted', async () => {
  const firstName = 'x'.repeat(1_048_000);
  const answer = await fixture.send('post', '/users', { data: { email: 'a@example.com', firstName } });
  expect([answer.status, answer.body.data.firstName.length]).toEqual([201, firstName.length]);
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonp'])(
  'a body of %s is 415',
  async (type) => {
    const answer = await post(type, user('a@example.com'));
    expect([answer.status, answer.body]).toEqual([415, { code: 'badRequest', message: expect.any(String) }]);
  },
);

test('an unknown charset or encoding is 415', async () => {
  const charset = await post('application/json; charset=ebcdic', user('a@example.com'));
  const encoding = await post('application/json', user('a@example.com')).set('Content-Encoding', 'rot13');
  expect([charset.status, encoding.status]).toEqual([415, 415]);
});

test.each(['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json'])(
  'a body of %s is accepted',
  async (type) => {
    expect((await post(type, user('a@example.com'))).status).toBe(201);
  },
);

test('members beside `data` are ignored, and `data` is stored as sent', async () => {
  const answer = await post(
    'application/json',
    '{"meta":1,"data":{"email":"é@example.com","firstName":"Zoë 🛫"}}',
  );
  expect(answer.body.data).toMatchObject({ email: 'é@example.com', firstName: 'Zoë 🛫' });
});

test('a failure of the store is 500 without details', async () => {
  fixture.breakStore();
  for (const answer of [
    await fixture.send('get', '/users'),
    await post('application/json', user('b@x.fr')),
  ]) {
    expect([answer.status, answer.body]).toEqual([
      500,
      { code: 'internalError', message: 'The travel service failed.' },
    ]);
  }
  expect(fixture.logged).toEqual(['Error: disk on fire', 'Error: disk on fire']);
});
