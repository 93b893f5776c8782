import type { Resource } from '../../../src/travel/declaration/resource.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { type Method, NOON } from '../../fixtures/travel.ts';
import { booleanDefaults, hasNull, requiredFields, sample, without } from '../samples.ts';
import { matchError, matchFault, restoredFixture } from './resource-fixture.ts';

/** Tests creating, reading, changing, replacing and deleting one item, and the requests that are refused. */
export function describeItems(resource: Resource): void {
  const view = restoredFixture(resource);
  const { post, make } = view;

  test('is created from its example and returned as it was sent', async () => {
    const answer = await post(resource.example);
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual(['data']);
    const { id, type, createdAt, ...doc } = answer.body.data;
    expect(id).toMatch(resource.idForm === 'A' ? /^[0-9a-f]{24}$/ : /^[\w@~.-]{1,50}$/);
    expect(type).toBe(resource.type);
    expect(createdAt).toBe('2026-11-20T12:00:00Z');
    expect(doc).toMatchObject(resource.example);
    expect(hasNull(answer.body)).toBe(false);
    expect(view.fixture.changes).toEqual([`${resource.type} ${id}`]);
  });

  test('returns every boolean that defaults to false', async () => {
    const bare = Object.fromEntries(
      Object.entries(resource.example).filter(([name]) => !booleanDefaults(resource).includes(name)),
    );
    const { data } = (await post(bare)).body;
    for (const flag of booleanDefaults(resource)) expect(data).toHaveProperty(flag, false);
  });

  test('is retrieved as it was returned when created', async () => {
    const created = await make();
    const answer = await view.fixture.send('get', `${view.path}/${created.id}`);
    expect([answer.status, answer.body]).toEqual([200, { data: created }]);
  });

  test.each(['get', 'patch', 'put', 'delete'] as const)('%s of an unknown id is 404', async (method) => {
    const unknown =
      resource.idForm === 'A' ? 'abcdefabcdefabcdefabcdef' : '3f0c2a1e-0000-4000-8000-000000000000';
    for (const id of [unknown, 'nobody', '%00', `${'x'.repeat(51)}`, '__proto__']) {
      const answer = await view.fixture.send(
        method,
        `${view.path}/${id}`,
        method === 'get' ? undefined : { data: {} },
      );
      expect([answer.status, answer.body]).toEqual([404, matchError('notFound')]);
    }
  });

  test.each(requiredFields(resource))('must have %s', async (field) => {
    const { id } = await make();
    const item = `${view.path}/${id}`;
    const lacking = without(sample(resource, 1), field);
    const faults = matchError('validationFailed', [matchFault(field, 'required')]);
    for (const answer of [
      await post(lacking),
      await post({ ...lacking, [field]: null }),
      await view.fixture.send('put', item, { data: lacking }),
      await view.fixture.send('patch', item, { data: { [field]: null } }),
    ]) {
      expect([answer.status, answer.body]).toEqual([422, faults]);
    }
  });

  test.each(Object.keys(resource.schema.shape))('refuses a value of another type in %s', async (field) => {
    const answer = await post({ ...resource.example, [field]: [[]] });
    expect(answer.status).toBe(422);
    const [first] = answer.body.invalid;
    expect(first.code).toBe('type');
    expect(first.field.split('.')[0]).toBe(field);
    expect(['string', 'number']).toContain(typeof first.value);
  });

  test('refuses unknown fields, including nested ones', async () => {
    const deep = Object.entries(resource.example).find(
      ([, value]) => typeof value === 'object' && !Array.isArray(value),
    );
    const { id } = await make();
    const unknown = matchError('validationFailed', [matchFault('surprise', 'unknown')]);
    expect((await post({ ...sample(resource, 1), surprise: 'x' })).body).toEqual(unknown);
    expect(
      (await view.fixture.send('patch', `${view.path}/${id}`, { data: { surprise: null } })).body,
    ).toEqual(unknown);
    if (!deep) return;
    const [name, value] = deep;
    const answer = await post({
      ...sample(resource, 1),
      [name]: { ...(value as JsonObject), surprise: 'x' },
    });
    if (name !== 'travelerPrefs') {
      expect(answer.body).toEqual(
        matchError('validationFailed', [matchFault(`${name}.surprise`, 'unknown')]),
      );
    }
  });

  test.each(resource.unwritable)('refuses to write %s, but for its present value', async (field) => {
    const created = await make();
    const faults = matchError('validationFailed', [matchFault(field, 'readOnly')]);
    const value = `${created[field]}x`;
    for (const answer of [
      await post({ ...sample(resource, 1), [field]: value }),
      await view.fixture.send('patch', `${view.path}/${created.id}`, { data: { [field]: value } }),
      await view.fixture.send('put', `${view.path}/${created.id}`, {
        data: { ...sample(resource, 0), [field]: value },
      }),
    ]) {
      expect([answer.status, answer.body]).toEqual([422, faults]);
    }
    const present = { [field]: created[field] ?? 'x' };
    const again = await post({ ...sample(resource, 1), ...present });
    expect([again.status, again.body]).toEqual([422, faults]);
    const patched = await view.fixture.send('patch', `${view.path}/${created.id}`, { data: present });
    expect(patched.status).toBe(
      Object.hasOwn(created, field) && field !== resource.secret?.field ? 200 : 422,
    );
  });

  test('PATCH changes the given fields, removes those that are null, and leaves the rest unchanged (RFC 7396)', async () => {
    const created = await make();
    const item = `${view.path}/${created.id}`;
    let expected: JsonObject = created;
    const optional = Object.keys(resource.example).filter((name) => !requiredFields(resource).includes(name));
    for (const name of optional.filter((field) => field !== 'userAttribute')) {
      const answer = await view.fixture.send('patch', item, { data: { [name]: null } });
      expected = booleanDefaults(resource).includes(name)
        ? { ...expected, [name]: false }
        : without(expected, name);
      expect([answer.status, answer.body]).toEqual([200, { data: expected }]);
    }
    const back = await view.fixture.send('patch', item, { data: sample(resource, 1) });
    expect(back.body.data).toMatchObject(sample(resource, 1));
    expect((await view.fixture.send('get', item)).body).toEqual(back.body);
  });

  test('PATCH and PUT without a change answer 200 and report no change', async () => {
    const created = await make();
    const item = `${view.path}/${created.id}`;
    view.fixture.changes.length = 0;
    for (const [method, data] of [
      ['patch', {}],
      ['patch', sample(resource, 0)],
      ['put', sample(resource, 0)],
    ] as const) {
      const answer = await view.fixture.send(method, item, { data });
      expect([answer.status, answer.body]).toEqual([200, { data: created }]);
    }
    expect(view.fixture.changes).toEqual([]);
  });

  test('PUT removes the fields that are missing, except `archived`', async () => {
    const created = await make();
    const item = `${view.path}/${created.id}`;
    const archives = 'archived' in resource.schema.shape;
    if (archives) await view.fixture.send('patch', item, { data: { archived: true } });
    const needed = [...requiredFields(resource), 'userAttribute'];
    const least = Object.fromEntries(
      Object.entries(sample(resource, 1)).filter(([name]) => needed.includes(name)),
    );
    const answer = await view.fixture.send('put', item, { data: least });
    const { id, type, createdAt } = created;
    const falses = Object.fromEntries(booleanDefaults(resource).map((flag) => [flag, false]));
    const expected = { id, type, createdAt, ...falses, ...least, ...(archives ? { archived: true } : {}) };
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual(
      resource.parent ? { ...expected, customFieldId: created['customFieldId'] } : expected,
    );
  });

  test('DELETE returns the resource as it was, and it no longer exists', async () => {
    const created = await make();
    const item = `${view.path}/${created.id}`;
    const before = (await view.fixture.send('get', view.path)).body.meta.total;
    view.fixture.changes.length = 0;
    const answer = await view.fixture.send('delete', item);
    expect([answer.status, answer.body]).toEqual([200, { data: created }]);
    expect(view.fixture.changes).toEqual([`${resource.type} ${created.id}`]);
    for (const method of ['get', 'patch', 'put', 'delete'] as const) {
      expect(
        (await view.fixture.send(method, item, method === 'get' ? undefined : { data: {} })).status,
      ).toBe(404);
    }
    expect((await view.fixture.send('get', view.path)).body.meta.total).toBe(before - 1);
  });

  test('answers 403 to unsupported methods', async () => {
    const { id } = await make();
    const cases: [Method, string][] = [
      ['put', view.path],
      ['patch', view.path],
      ['delete', view.path],
      ['post', `${view.path}/${id}`],
    ];
    for (const [method, url] of cases) {
      const answer = await view.fixture.send(method, url, { data: {} });
      expect([answer.status, answer.body]).toEqual([403, matchError('forbidden')]);
    }
  });

  test('a body that has no "data" object is 400', async () => {
    const { id } = await make();
    for (const body of [
      {},
      { data: [] },
      { data: null },
      { data: 'x' },
      [{ data: {} }],
      sample(resource, 1),
    ]) {
      for (const [method, url] of [
        ['post', view.path],
        ['patch', `${view.path}/${id}`],
        ['put', `${view.path}/${id}`],
      ] as const) {
        const answer = await view.fixture.send(method, url, body);
        expect([answer.status, answer.body]).toEqual([400, matchError('badRequest')]);
      }
    }
  });

  test('every call requires a credential', async () => {
    const { id } = await make();
    for (const [method, url] of [
      ['get', view.path],
      ['post', view.path],
      ['get', `${view.path}/${id}`],
      ['patch', `${view.path}/${id}`],
      ['put', `${view.path}/${id}`],
      ['delete', `${view.path}/${id}`],
    ] as const) {
      const answer = await view.fixture.send(method, url).set('Authorization', 'Bearer nobody');
      expect([answer.status, answer.text]).toEqual([401, '']);
    }
    expect((await view.fixture.send('get', `${view.path}/${id}`)).status).toBe(200);
  });

  test('has a creation time with a precision of one second', async () => {
    view.fixture.advanceClock(86_400_000);
    const { createdAt } = await make();
    view.fixture.advanceClock(-86_400_000);
    expect(Date.parse(String(createdAt))).toBe(NOON - 789 + 86_400_000);
  });
}
