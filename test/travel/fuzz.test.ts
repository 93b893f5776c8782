import fc from 'fast-check';
import { catalog } from '../../src/travel/catalog.ts';
import { type House, type Method, openHouse } from './house.ts';
import { collectionOf, hasNull, sample } from './samples.ts';

/** The statuses that the specification and its decided gaps know of for a write. */
const documented = [200, 201, 400, 403, 404, 409, 422];

const writable = catalog.filter(({ operations }) => operations.includes('create'));

describe.each(writable.map((resource) => [resource.type, resource] as const))('%s', (_type, resource) => {
  let house: House;
  let path: string;
  beforeEach(async () => {
    house = await openHouse();
    path = await collectionOf(house, resource);
  });
  afterEach(() => house.close());

  const names = [
    ...Object.keys(resource.schema.shape),
    ...resource.unwritable,
    'constructor',
    'toString',
    'nothing',
  ];
  const [first, second] = [sample(resource, 0), sample(resource, 1)];

  /** Values that are nearly right: those of a sample, with some exchanged for any JSON. */
  const data = fc
    .tuple(
      fc.constantFrom({}, first, second),
      fc.dictionary(
        fc.constantFrom(...names),
        fc.oneof(
          fc.jsonValue({ maxDepth: 4 }),
          fc.constantFrom(...Object.values(first), 'x'.repeat(5000), -0, 1e308, '', null, [null], { '': {} }),
        ),
        { maxKeys: 3 },
      ),
    )
    .map(([base, changed]) => ({ ...base, ...changed }));
  const body = fc.oneof(
    { arbitrary: data.map((value) => ({ data: value })), weight: 8 },
    { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 1 },
    { arbitrary: fc.string({ unit: 'binary' }), weight: 1 },
  );

  test('any body to any endpoint is answered with a documented status, and what is answered is kept', async () => {
    const { id } = await house.make(path, sample(resource, 2));
    const call = fc.record({
      method: fc.constantFrom<Method>('post', 'patch', 'put', 'delete'),
      item: fc.boolean(),
      body,
    });
    await fc.assert(
      fc.asyncProperty(call, async ({ method, item, body: sent }) => {
        const url = item ? `${path}/${id}` : path;
        // The item stays for the next call.
        if (item && method === 'delete') return;
        const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
        const answer = await house.send(method, url).set('Content-Type', 'application/json').send(text);
        expect(documented).toContain(answer.status);
        expect(answer.status === 422).toBe(answer.body.invalid !== undefined);
        expect(hasNull(answer.body)).toBe(false);
        if (answer.status > 201) {
          expect(answer.body).toMatchObject({ code: expect.any(String), message: expect.any(String) });
          return;
        }
        const kept = await house.send('get', `${path}/${answer.body.data.id}`);
        expect(kept.body).toEqual(answer.body);
        if (answer.status === 201) await house.send('delete', `${path}/${answer.body.data.id}`);
      }),
      { numRuns: 120 },
    );
    expect(house.logged).toEqual([]);
  });

  test('any query is a page or 400 invalidParam', async () => {
    await house.make(path, sample(resource, 0));
    const parameter = fc.constantFrom(
      'limit',
      'offset',
      'order',
      'sortBy',
      'archived',
      'emails',
      'pageKind',
      'x',
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer().map(String),
      fc.constantFrom(
        'asc',
        'desc',
        'true',
        'false',
        'createdAt',
        'name',
        'email',
        'offset',
        'a@example.com',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(parameter, value), { maxLength: 4 }), async (parameters) => {
        const query = parameters.map(([name, given]) => `${name}=${encodeURIComponent(given)}`).join('&');
        const answer = await house.send('get', `${path}?${query}`);
        expect([200, 400]).toContain(answer.status);
        if (answer.status === 400) expect(answer.body.code).toBe('invalidParam');
        else expect(answer.body.data.length).toBeLessThanOrEqual(answer.body.meta.limit);
      }),
      { numRuns: 100 },
    );
    expect(house.logged).toEqual([]);
  });
});
