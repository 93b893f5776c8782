import { nameMatcher, redactNames } from '../../src/store/erasure/names.ts';
import { catalog } from '../../src/travel/catalog.ts';
import type { Resource } from '../../src/travel/declaration/resource.ts';
import { eraseTravelers } from '../../src/travel/deletion/erasure.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';
import { collectionOf, sample } from './samples.ts';
import { webhookFixture } from './webhooks/fixture.ts';

const DAY = 24 * 60 * 60_000;

describe('a POST with an Idempotency-Key, of every type', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture();
  });
  afterAll(() => fixture.close());
  const total = async (path: string) => (await fixture.send('get', path)).body.meta.total;

  const creatable = catalog.filter(({ operations }) => operations.includes('create'));
  test.each(creatable.map((resource): [string, Resource] => [resource.type, resource]))(
    'is carried out once: a repeated one gets the answer of the first, and makes no second %s and no event',
    async (type, resource) => {
      const path = await collectionOf(fixture, resource);
      const known = await total(path);
      const post = (key: string) =>
        fixture.send('post', path, { data: sample(resource, 1) }).set('Idempotency-Key', key);
      const first = await post(type);
      const before = await total('/events');
      const again = await post(`"${type}"`);
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect([first, again].map((one) => one.get('Idempotent-Replayed'))).toEqual([undefined, 'true']);
      expect([await total(path), await total('/events')]).toEqual([known + 1, before]);
    },
  );
});

describe('a POST with an Idempotency-Key', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await openFixture();
  });
  afterEach(() => fixture.close());

  const post = (path: string, key: string, data: JsonObject) =>
    fixture.send('post', path, { data }).set('Idempotency-Key', key);
  const center = (key: string, name = 'Research') => post('/cost-centers', key, { name });
  const total = async (path: string) => (await fixture.send('get', path)).body.meta.total;

  test('gets the answer of the first for 24 hours, whatever has become of the resource, and then is carried out again', async () => {
    const first = await center('key-1');
    await fixture.send('patch', `/cost-centers/${first.body.data.id}`, { data: { name: 'Development' } });
    fixture.advanceClock(DAY - 1);
    expect((await center('key-1')).text).toBe(first.text);
    fixture.advanceClock(1);
    const later = await center('key-1');
    expect([later.status, later.body.data.id === first.body.data.id]).toEqual([201, false]);
    expect((await center('key-1')).text).toBe(later.text);
  });

  test('is the same whatever the order of the members of its body', async () => {
    const first = await post('/project-codes', 'k', { code: 'A', name: 'a' });
    expect((await post('/project-codes', 'k', { name: 'a', code: 'A' })).text).toBe(first.text);
  });

  test('is 422 validationFailed with another body, or on another path', async () => {
    await center('key-1');
    for (const sent of [center('key-1', 'Sales'), post('/project-codes', 'key-1', { code: 'A' })]) {
      const { status, body } = await sent;
      const item = { field: 'Idempotency-Key', value: 'key-1', code: 'reused' };
      expect([status, body.code, body.invalid]).toEqual([
        422,
        'validationFailed',
        [expect.objectContaining(item)],
      ]);
    }
    expect(await total('/cost-centers')).toBe(1);
  });

  test('is 409 conflict while the first is under way', async () => {
    const { store } = fixture.runtime;
    const { write } = store;
    let [begin, open] = [() => {}, () => {}];
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    store.write = async (types, work) => {
      begin();
      await gate;
      return write(types, work);
    };
    const first = center('key-1').then((answer) => answer);
    await begun;
    const second = await center('key-1');
    expect([second.status, second.body.code]).toEqual([409, 'conflict']);
    open();
    expect((await first).status).toBe(201);
    expect((await center('key-1')).text).toBe((await first).text);
  });

  test('that failed had no effect, and its key can be used for the corrected request', async () => {
    expect((await center('key-1', '')).status).toBe(422);
    expect((await center('key-1')).status).toBe(201);
  });

  test('shares no key with those of another user', async () => {
    const other = await fixture.make('/users', { email: 'two@example.com', roles: ['admin'] });
    const key = await fixture.keyFor(other.id);
    const first = await center('key-1');
    const second = await center('key-1', 'Sales').set('Authorization', `Bearer ${key}`);
    expect([first.status, second.status, second.body.data.name]).toEqual([201, 201, 'Sales']);
  });

  test.each(['""', ' ', 'a b', '"a"b"', 'é', 'x'.repeat(256)])('is 400 with the key %j', async (key) => {
    // A header of bytes beyond ASCII arrives in Latin-1.
    const { status, body } = await center(key);
    expect([status, body.code]).toEqual([400, 'badRequest']);
  });

  test('keeps its answer encrypted if that has the secret of a webhook', async () => {
    const first = await post('/webhooks', 'key-1', { url: 'https://example.com' });
    expect((await post('/webhooks', 'key-1', { url: 'https://example.com' })).text).toBe(first.text);
    expect(await fixture.dump()).not.toContain(first.body.data.secret);
  });

  test('about a person leaves nothing once the person is erased', async () => {
    const { body } = await post('/users', 'key-1', { email: 'ada@example.com', firstName: 'Ada' });
    await center('key-2');
    await fixture.send('delete', `/users/${body.data.id}`);
    const named = nameMatcher({ unique: ['ada@example.com'], whole: [] }).matchesValue;
    const redact = (doc: JsonObject) => redactNames(doc, named) as JsonObject;
    const deps = { ...fixture.runtime, domain: 'jetbridge.invalid' };
    await eraseTravelers(deps, { ids: ['gone'], isName: named, redact }, []);
    const kept = await fixture.database.db.selectFrom('travel_answer').select('key').execute();
    expect(kept).toEqual([{ key: 'key-2' }]);
  });
});

describe('the operations of a webhook', () => {
  const hooks = webhookFixture();

  test('are carried out once for each Idempotency-Key', async () => {
    const receiver = await hooks.openReceiver();
    const { id } = await hooks.createWebhook({ url: receiver.url });
    await hooks.createEvent('one');
    await hooks.deliverAll();
    const { send } = hooks.fixture;
    const [delivery] = (await send('get', `/webhooks/${id}/deliveries`)).body.data;
    for (const path of ['/secret', '/test', `/deliveries/${delivery.id}/redeliver`]) {
      const sent = () => send('post', `/webhooks/${id}${path}`).set('Idempotency-Key', `key-${path.length}`);
      const first = await sent();
      const received = receiver.received.length;
      const again = await sent();
      expect([again.status, again.text, receiver.received.length]).toEqual([
        first.status,
        first.text,
        received,
      ]);
    }
  });
});
