import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { sample } from '../samples.ts';
import { fillCollections } from './fill-collections.ts';
import { declarationOf } from './paths.ts';
import { sectionsOf } from './statements.ts';

/** A resource and the operations on its items. */
interface Item {
  statement: string;
  path: string;
  writable: boolean;
  type: string;
}

const items = sectionsOf<Partial<Item>>('items.test.ts')
  .flatMap(({ statements }) => statements)
  .filter((one): one is Item => one.path !== undefined);

let fixture: Fixture;
let at: (path: string) => string;
beforeAll(async () => {
  fixture = await openFixture();
  at = await fillCollections(fixture);
});
afterAll(() => fixture.close());

const refusal = (status: number, code: string) => [status, { code, message: expect.any(String) }];
const seen = ({ status, body }: { status: number; body: unknown }) => [status, body];
const unknown = 'abcdefabcdefabcdefabcdef';

test.each(items)('$statement', async ({ path, writable, type }) => {
  const collection = at(path);
  await isRetrieved(collection);
  for (const [method, url] of writable ? unsupported(collection) : written(collection)) {
    const answer = await fixture.send(method, url, { data: {} });
    expect([method, url, ...seen(answer)]).toEqual([method, url, ...refusal(403, 'forbidden')]);
  }
  if (writable) await isWritten(collection, type);
});

test('custom field options are nested under their custom field: `id` is the custom field, `optionId` the option', async () => {
  const options = at('custom-fields/{customField}/options');
  const created = await fixture.make(options, { data: 'green' });
  expect(created['customFieldId']).toBe(options.split('/')[2]);
  const item = `${options}/${created.id}`;
  expect((await fixture.send('get', item)).body).toEqual({ data: created });
  const nowhere = options.replace(/[0-9a-f]{24}/, unknown);
  const paths = [`/options/${created.id}`, nowhere, `${nowhere}/${created.id}`];
  const gets = paths.map((path) => ['get', path] as const);
  for (const [method, url] of [...gets, ...written(nowhere)]) {
    const answer = await fixture.send(method, url, { data: { data: 'x' } });
    expect([method, seen(answer)]).toEqual([method, refusal(404, 'notFound')]);
  }
  expect((await fixture.send('delete', item)).body).toEqual({ data: created });
});

async function isRetrieved(collection: string): Promise<void> {
  const { data } = (await fixture.send('get', collection)).body;
  for (const one of data.slice(0, 3)) {
    expect(seen(await fixture.send('get', `${collection}/${one.id}`))).toEqual([200, { data: one }]);
  }
  for (const id of [unknown, 'nobody', 'x'.repeat(51)]) {
    expect(seen(await fixture.send('get', `${collection}/${id}`))).toEqual(refusal(404, 'notFound'));
  }
}

function written(collection: string) {
  const item = `${collection}/${unknown}`;
  return [
    ['post', collection],
    ['patch', item],
    ['put', item],
    ['delete', item],
  ] as const;
}

function unsupported(collection: string) {
  return [
    ['patch', collection],
    ['put', collection],
    ['delete', collection],
    ['post', `${collection}/${unknown}`],
  ] as const;
}

async function isWritten(collection: string, type: string): Promise<void> {
  const resource = declarationOf(type);
  const required = Object.entries(resource.schema.shape).find(
    ([, field]) => !field.safeParse(undefined).success,
  );
  const created = await fixture.send('post', collection, { data: sample(resource, 5) });
  expect([created.status, created.body.data]).toMatchObject([201, { type }]);
  const item = `${collection}/${created.body.data.id}`;
  const invalid: JsonObject = { [required?.[0] ?? '']: 7 };
  for (const [method, url] of [
    ['post', collection],
    ['patch', item],
    ['put', item],
  ] as const) {
    const answer = await fixture.send(method, url, { data: invalid });
    expect([method, answer.status, answer.body.code]).toEqual([method, 422, 'validationFailed']);
  }
  const patched = await fixture.send('patch', item, { data: sample(resource, 6) });
  const replaced = await fixture.send('put', item, { data: sample(resource, 6) });
  expect([patched.status, replaced.status, replaced.body]).toEqual([200, 200, patched.body]);
  expect(seen(await fixture.send('get', item))).toEqual([200, replaced.body]);
  expect(seen(await fixture.send('delete', item))).toEqual([200, replaced.body]);
  for (const [method] of written(collection).slice(1)) {
    const answer = await fixture.send(method, item, { data: {} });
    expect([method, seen(answer)]).toEqual([method, refusal(404, 'notFound')]);
  }
}
