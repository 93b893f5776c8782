import { catalog } from '../../../src/travel/catalog.ts';
import type { Json, JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { hasNull } from '../samples.ts';
import { fillCollections } from './fill-collections.ts';
import { formOf } from './forms.ts';
import { leavesOf, valuesAt } from './paths.ts';

const paths = [
  ...['billing-operations', 'billing-profiles', 'cost-centers', 'custom-fields', 'disputes', 'events'],
  ...['custom-fields/{customField}/options', 'invoices', 'project-codes', 'refunds', 'scim-user-mappings'],
  ...['travel-policies', 'trip-projects', 'users', 'webhooks'],
];

/** All tests share one account, which they do not change. */
let fixture: Fixture;
let all: (JsonObject & { type: string })[];
beforeAll(async () => {
  fixture = await openFixture();
  const at = await fillCollections(fixture);
  all = [];
  for (const path of paths) all.push(...(await fixture.send('get', `${at(path)}?limit=100`)).body.data);
});
afterAll(() => fixture.close());

const has = (form: string, value: Json | undefined) =>
  formOf({ statement: '', field: '', form })?.isAnswered(value);

test('common fields: every resource has `id`, `type` and `createdAt`', () => {
  expect(new Set(all.map(({ type }) => type))).toEqual(
    new Set(catalog.filter(({ parent }) => parent?.type !== 'webhook').map(({ type }) => type)),
  );
  for (const one of all) {
    expect(Object.keys(one)).toEqual(expect.arrayContaining(['id', 'type', 'createdAt']));
  }
});

test('createdAt: ISO 8601 date-time in UTC, seconds precision', () => {
  for (const { createdAt } of all) expect([createdAt, has('dateTime', createdAt)]).toEqual([createdAt, true]);
});

test('null and omitted values: an attribute without a value is omitted from responses, null is never sent', async () => {
  // A merge patch removes members by null (RFC 7396), and `previousAttributes` is a merge patch.
  const attributes = all.map(({ previousAttributes: _patch, ...one }) => one);
  expect(attributes.filter(hasNull)).toEqual([]);
  const { id } = await fixture.make('/users', { email: 'bare@example.com', firstName: null, roles: [] });
  const { data } = (await fixture.send('get', `/users/${id}`)).body;
  const always = ['id', 'type', 'createdAt', 'archived', 'email', 'separateIcsEmails'];
  expect(Object.keys(data).sort()).toEqual(always.sort());
  await fixture.send('delete', `/users/${id}`);
});

test.each([
  ['user', ['archived', 'separateIcsEmails']],
  ['billingProfile', ['archived']],
  ['costCenter', ['archived']],
  ['projectCode', ['archived', 'confidential']],
  ['customField', ['disabled', 'editableByApprover', 'mandatory']],
  ['customFieldOption', ['disabled']],
  ['travelPolicy', ['default']],
  ['webhook', ['disabled']],
])('boolean attributes whose default is false are always returned', (type, flags) => {
  const found = all.filter((one) => one.type === type);
  expect(found).not.toEqual([]);
  for (const one of found) {
    expect(flags.map((flag) => typeof one[flag])).toEqual(flags.map(() => 'boolean'));
  }
});

const isFormB = ({ type }: { type: string }) => type === 'tripProject' || type === 'user';

test('id form A: 24 lowercase hexadecimal characters, for all but trip projects and users', () => {
  const ids = all.filter((one) => !isFormB(one)).map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(20);
  expect(ids.filter((id) => !has('idA', id))).toEqual([]);
});

test('id form B: at most 50 letters, digits, underscore, @, ~, hyphen and dot, for trip projects, users and references to them', () => {
  const references = ['approverId', 'managerId', 'travelerIds', 'tripProjectId', 'bookings[].tripProjectId'];
  const ids = [
    ...all.filter(isFormB).map(({ id }) => id),
    ...all.flatMap((one) => references.flatMap((field) => valuesAt(one, field))).flat(),
  ];
  expect(ids.length).toBeGreaterThan(10);
  expect(ids.filter((id) => !has('idB', id))).toEqual([]);
});

test('path `id` parameters: labelled uuid for every resource, including those of id form A', async () => {
  for (const path of ['users', 'cost-centers', 'events', 'trip-projects']) {
    for (const id of ['3f0c2a1e-0000-4000-8000-000000000000', 'abcdefabcdefabcdefabcdef', 'x@y.z~_-']) {
      const { status, body } = await fixture.send('get', `/${path}/${id}`);
      expect([path, id, status, body.code]).toEqual([path, id, 404, 'notFound']);
    }
  }
});

test('amount object: `base`, `currency`, `tax`, `taxRate` (percentage), `total`; responses may carry only `currency` and `total`', () => {
  const amounts = all.flatMap((one) => ['amount', 'rates[].price'].flatMap((field) => valuesAt(one, field)));
  expect(amounts.filter((amount) => !has('amount', amount))).toEqual([]);
  const members = new Set(amounts.flatMap((amount) => leavesOf(amount)));
  expect([...members].sort()).toEqual(['base', 'currency', 'tax', 'taxRate', 'total']);
});

test('write-request objects: a create or replace shape, and a patch shape with the fields to change', async () => {
  const lacking = { data: { lang: 'fr', name: 'Headquarters' } };
  const whole = { data: { ...lacking.data, email: 'b@example.com' } };
  expect((await fixture.send('post', '/billing-profiles', lacking)).status).toBe(422);
  const created = await fixture.send('post', '/billing-profiles', whole);
  const item = `/billing-profiles/${created.body.data.id}`;
  expect((await fixture.send('put', item, lacking)).status).toBe(422);
  expect((await fixture.send('put', item, whole)).status).toBe(200);
  expect((await fixture.send('patch', item, lacking)).status).toBe(200);
  await fixture.send('delete', item);
});
