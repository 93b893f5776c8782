import type { Json, JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { collectionOf, sample } from '../samples.ts';
import { formOf } from './forms.ts';
import { declarationOf, leavesOf, patchOf, valuesAt, withValue } from './paths.ts';
import { type Row, rowsOf, type Section, sectionsOf } from './statements.ts';

/** A field table row with a fixture and an empty collection. */
interface Scene {
  row: Row;
  section: Section;
  path: string;
}

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

describe.each(sectionsOf('writable-fields.slow.test.ts'))('$section', (section) => {
  test.each(rowsOf(section))('$statement', async (row) => {
    const scene = { row, section, path: await collectionOf(fixture, declarationOf(section.type)) };
    const check = notWritten.get(row.form);
    if (check) return check(scene);
    const { taken, refused } = formOf(row) ?? (await referenceTo(row.to ?? ''));
    for (const value of taken) await isKept(scene, value);
    await areRefused(scene, refused);
    if (row.form === 'flag') await isFalseByDefault(scene);
    else if (row.required) await mustBeGiven(scene);
    else if (row.form !== 'choice') await mayBeLeftOut(scene, taken[0] ?? '');
  });

  test('nothing is answered that the table does not name', async () => {
    const path = await collectionOf(fixture, declarationOf(section.type));
    const named = section.statements.flatMap(({ field = [] }) => field);
    const full = { ...declarationOf(section.type).example, ...flagsOf(section) };
    const { id } = await fixture.make(path, full);
    const { data } = (await fixture.send('get', `${path}/${id}`)).body;
    expect(leavesOf(data).filter((leaf) => !named.some((field) => leaf.startsWith(field)))).toEqual([]);
    expect(leavesOf(data)).toEqual(expect.arrayContaining(['id', 'type', 'createdAt']));
  });
});

/** Read-only forms: how they are returned, and that writing them is refused. */
const notWritten = new Map<string, (scene: Scene) => Promise<void>>([
  [
    'id',
    (scene) =>
      isAnsweredOnly(scene, scene.section.idForm === 'A' ? /^[0-9a-f]{24}$/ : /^[A-Za-z0-9_@~.-]{1,50}$/),
  ],
  ['type', (scene) => isAnsweredOnly(scene, new RegExp(`^${scene.section.type}$`))],
  ['createdAt', (scene) => isAnsweredOnly(scene, /^2026-11-20T12:00:00Z$/)],
  ['parent', (scene) => isAnsweredOnly(scene, new RegExp(`^${scene.path.split('/')[2]}$`))],
  [
    'readOnly',
    async (scene) => {
      const { id } = await fixture.make(scene.path, scene.section.least);
      await isReadOnly(scene, id, 'x');
    },
  ],
]);

async function isAnsweredOnly(scene: Scene, shape: RegExp): Promise<void> {
  const { row, section, path } = scene;
  const created = await fixture.make(path, section.least);
  expect(String(created[row.field])).toMatch(shape);
  const item = `${path}/${created.id}`;
  const read = (await fixture.send('get', item)).body.data;
  const [listed] = (await fixture.send('get', `${path}?limit=100`)).body.data.filter(
    (one: { id: string }) => one.id === created.id,
  );
  expect([read, listed]).toEqual([expect.objectContaining(picked(created, row.field)), read]);
  await isReadOnly(scene, created.id, `${created[row.field]}x`);
}

async function isReadOnly({ row, section, path }: Scene, id: string, value: Json): Promise<void> {
  for (const answer of [
    await fixture.send('post', path, { data: { ...section.least, [row.field]: value } }),
    await fixture.send('patch', `${path}/${id}`, { data: { [row.field]: value } }),
    await fixture.send('put', `${path}/${id}`, { data: { ...section.least, [row.field]: value } }),
  ]) {
    const invalid = [expect.objectContaining({ field: row.field, code: 'readOnly' })];
    expect([answer.status, answer.body]).toMatchObject([422, { code: 'validationFailed', invalid }]);
  }
}

/** Checks that POST, PATCH and PUT store a value and return it unchanged. */
async function isKept({ row, section, path }: Scene, value: Json): Promise<void> {
  const body = withValue(section.least, row.field, value);
  const created = await fixture.send('post', path, { data: body });
  expect([value, created.status, created.text]).toEqual([value, 201, created.text]);
  const item = `${path}/${created.body.data.id}`;
  const kept = async () => valuesAt((await fixture.send('get', item)).body.data, row.field);
  expect(valuesAt(created.body.data, row.field)).toEqual([value]);
  expect(await kept()).toEqual([value]);
  if (row.form !== 'reference') await fixture.send('put', item, { data: section.least });
  const patched = await fixture.send('patch', item, { data: patchOf(row.field, value) });
  expect([patched.status, valuesAt(patched.body.data, row.field)]).toEqual([200, [value]]);
  const replaced = await fixture.send('put', item, { data: body });
  expect([replaced.status, valuesAt(replaced.body.data, row.field)]).toEqual([200, [value]]);
  expect(await kept()).toEqual([value]);
  expect((await fixture.send('delete', item)).status).toBe(200);
}

/** Checks that POST refuses the values with their codes, PATCH and PUT the first of each code, and that nothing is stored. */
async function areRefused({ row, section, path }: Scene, refused: [Json, string][]): Promise<void> {
  const { id } = await fixture.make(path, section.least);
  const item = `${path}/${id}`;
  const before = (await fixture.send('get', item)).body;
  for (const [position, [value, code]] of refused.entries()) {
    const body = withValue(section.least, row.field, value);
    const answers = [await fixture.send('post', path, { data: body })];
    if (refused.findIndex(([, other]) => other === code) === position) {
      answers.push(await fixture.send('patch', item, { data: patchOf(row.field, value) }));
      answers.push(await fixture.send('put', item, { data: body }));
    }
    for (const answer of answers) {
      expect([value, answer.status, answer.body.code]).toEqual([value, 422, 'validationFailed']);
      const faults = answer.body.invalid.map((one: { field: string; code: string }) => [one.field, one.code]);
      expect([value, faults]).toEqual([value, [[expect.stringMatching(`^${row.field}`), code]]]);
    }
  }
  expect((await fixture.send('get', item)).body).toEqual(before);
  await fixture.send('delete', item);
}

async function isFalseByDefault({ row, section, path }: Scene): Promise<void> {
  const created = await fixture.make(path, section.least);
  expect(valuesAt(created, row.field)).toEqual([false]);
  const item = `${path}/${created.id}`;
  await fixture.send('patch', item, { data: patchOf(row.field, true) });
  const removed = await fixture.send('patch', item, { data: patchOf(row.field, null) });
  expect([removed.status, valuesAt(removed.body.data, row.field)]).toEqual([200, [false]]);
  await fixture.send('patch', item, { data: patchOf(row.field, true) });
  const replaced = await fixture.send('put', item, { data: section.least });
  // Leaving `archived` out of a PUT restores no one.
  expect(valuesAt(replaced.body.data, row.field)).toEqual([row.field === 'archived']);
}

async function mustBeGiven({ row, section, path }: Scene): Promise<void> {
  const { id } = await fixture.make(path, section.least);
  const { [row.field]: _, ...lacking } = section.least;
  for (const answer of [
    await fixture.send('post', path, { data: lacking }),
    await fixture.send('post', path, { data: { ...lacking, [row.field]: null } }),
    await fixture.send('put', `${path}/${id}`, { data: lacking }),
    await fixture.send('patch', `${path}/${id}`, { data: { [row.field]: null } }),
  ]) {
    const invalid = [expect.objectContaining({ field: row.field, code: 'required' })];
    expect([answer.status, answer.body]).toMatchObject([422, { code: 'validationFailed', invalid }]);
  }
}

/** Checks that a field without a value is absent from responses, before it is set and after it is removed. */
async function mayBeLeftOut({ row, section, path }: Scene, value: Json): Promise<void> {
  const created = await fixture.make(path, section.least);
  expect(valuesAt(created, row.field)).toEqual([]);
  const item = `${path}/${created.id}`;
  for (const remove of [
    () => fixture.send('patch', item, { data: patchOf(row.field, null) }),
    () => fixture.send('put', item, { data: section.least }),
  ]) {
    const given = await fixture.send('patch', item, { data: patchOf(row.field, value) });
    expect(valuesAt(given.body.data, row.field)).toEqual([value]);
    const removed = await remove();
    expect([removed.status, valuesAt(removed.body.data, row.field)]).toEqual([200, []]);
    expect((await fixture.send('get', item)).body).toEqual(removed.body);
  }
}

async function referenceTo(type: string) {
  const target = declarationOf(type);
  const { id } = await fixture.make(await collectionOf(fixture, target), sample(target, 5));
  const refused: [Json, string][] = [
    ['abcdefabcdefabcdefabcdef', 'reference'],
    ['', 'reference'],
    [7, 'type'],
    [[id], 'type'],
  ];
  return { taken: [id], refused };
}

function flagsOf(section: Section): JsonObject {
  const flags = rowsOf(section).filter(({ form }) => form === 'flag');
  return Object.fromEntries(flags.map(({ field }) => [field, true]));
}

function picked(object: JsonObject, name: string): JsonObject {
  return { [name]: object[name] ?? null };
}
