import { urns } from '../../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../../fixtures/scim.ts';

const work = { value: 'work@corp.example', type: 'work', primary: true };
const home = { value: 'home@corp.example', type: 'home' };
const ada = {
  userName: 'ada',
  title: 'Countess',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [work, home],
  [urns.enterprise]: { department: 'R&D', employeeNumber: '7' },
};

let scim: ScimFixture;
let path: string;
beforeEach(async () => {
  scim = await scimFixture();
  path = `/Users/${(await scim.send('POST', '/Users', ada)).body.id}`;
});
afterEach(() => scim.close());

const send = (...operations: unknown[]) => scim.send('PATCH', path, patchOp(...operations));
const read = async () => (await scim.send('GET', path)).body;

/** Returns the user after operations that must succeed. */
async function after(...operations: unknown[]) {
  const { status, body } = await send(...operations);
  expect({ operations, status, body }).toMatchObject({ status: 200 });
  expect(await read()).toEqual(body);
  return body;
}

/** Expects operations to be refused, and to change nothing. */
async function refused(scimType: string, ...operations: unknown[]): Promise<void> {
  const before = await read();
  const answer = await send(...operations);
  expect({ operations, answer }).toMatchObject({
    answer: { status: 400, body: { status: '400', scimType } },
  });
  expect(await read()).toEqual(before);
}

test('39. the PatchOp schema URN and Operations are required (a deviation: schemas may be missing)', async () => {
  const Operations = [{ op: 'add', path: 'title', value: 'x' }];
  const before = await read();
  for (const [body, scimType] of [
    [{ schemas: [urns.user], Operations }, 'invalidSyntax'],
    [{ schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'], Operations }, 'invalidSyntax'],
    [{ schemas: patchOp()['schemas'] }, 'invalidSyntax'],
    [{ schemas: patchOp()['schemas'], Operations: {} }, 'invalidSyntax'],
    [{ schemas: patchOp()['schemas'], Operations: ['x'] }, 'invalidSyntax'],
    [{ schemas: patchOp()['schemas'], Operations: [{ path: 'title', value: 'x' }] }, 'invalidSyntax'],
  ] as const)
    expect(await scim.send('PATCH', path, body)).toMatchObject({ status: 400, body: { scimType } });
  expect(await read()).toEqual(before);
  expect((await scim.send('PATCH', path, patchOp())).body).toEqual(before);
  expect((await scim.send('PATCH', path, { Operations })).body.title).toBe('x');
});

test('40. op is compared without case', async () => {
  expect((await after({ op: 'ADD', path: 'title', value: 'a' })).title).toBe('a');
  expect((await after({ op: 'Replace', path: 'title', value: 'b' })).title).toBe('b');
  expect((await after({ op: 'Remove', path: 'title' })).title).toBeUndefined();
  await refused('invalidSyntax', { op: 'move', path: 'title', value: 'x' });
});

test('41. any operation that fails leaves the resource unchanged', async () => {
  const good = { op: 'replace', path: 'title', value: 'x' };
  await refused('mutability', good, { op: 'remove', path: 'userName' });
  await refused('noTarget', good, { op: 'remove' });
  await refused('invalidPath', good, good, { op: 'add', path: 'name.nope', value: 'x' });
  await refused(
    'invalidValue',
    { op: 'replace', path: 'active', value: false },
    { op: 'add', path: 'active', value: 'maybe' },
  );
});

test('42. operations are applied in order', async () => {
  const { title, emails } = await after(
    { op: 'remove', path: 'emails' },
    { op: 'replace', path: 'title', value: 'first' },
    { op: 'add', path: 'emails', value: [home] },
    { op: 'replace', path: 'emails[type eq "home"].value', value: 'new@corp.example' },
    { op: 'replace', path: 'title', value: 'last' },
  );
  expect([title, emails]).toEqual(['last', [{ ...home, value: 'new@corp.example' }]]);
});

test('43. add replaces a single value, and appends to a multi-valued attribute without duplicates', async () => {
  expect((await after({ op: 'add', path: 'title', value: 'x' })).title).toBe('x');
  const other = { value: 'other@corp.example', type: 'other' };
  expect((await after({ op: 'add', path: 'emails', value: [other] })).emails).toEqual([work, home, other]);
  expect((await after({ op: 'add', path: 'emails', value: [other, home] })).emails).toEqual([
    work,
    home,
    other,
  ]);
});

test('44. add and replace without a path merge the attributes of the value', async () => {
  const added = await after({
    op: 'add',
    value: { nickName: 'A', emails: [{ value: 'x@corp.example' }], name: { middleName: 'K' } },
  });
  const emails = [work, home, { value: 'x@corp.example' }];
  expect(added).toMatchObject({ ...ada, emails, nickName: 'A', name: { ...ada.name, middleName: 'K' } });
  const replaced = await after({
    op: 'replace',
    value: { title: 'T', emails: [home], name: { givenName: 'B' } },
  });
  expect(replaced).toMatchObject({
    title: 'T',
    nickName: 'A',
    name: { givenName: 'B', familyName: 'Lovelace' },
  });
  expect(replaced.emails).toEqual([home]);
});

test('45. replace merges into a complex value, and replaces all values without a filter', async () => {
  expect((await after({ op: 'replace', path: 'name', value: { givenName: 'B' } })).name).toEqual({
    givenName: 'B',
    familyName: 'Lovelace',
  });
  expect((await after({ op: 'replace', path: 'emails', value: [home] })).emails).toEqual([home]);
});

test('46. value filters select: attr[filter].sub', async () => {
  const changed = await after({
    op: 'replace',
    path: 'emails[type eq "home" and value co "@corp"].value',
    value: 'n@corp.example',
  });
  expect(changed.emails).toEqual([work, { ...home, value: 'n@corp.example' }]);
  const removed = await after({
    op: 'remove',
    path: 'emails[value ew "@corp.example" and not (type eq "work")]',
  });
  expect(removed.emails).toEqual([work]);
  const { emails } = await after({ op: 'remove', path: 'emails[type eq "work"].primary' });
  expect(emails).toEqual([{ value: work.value, type: 'work' }]);
});

test('47. remove without a path is 400 noTarget', async () => {
  await refused('noTarget', { op: 'remove' });
  await refused('noTarget', { op: 'remove', value: { title: 'Countess' } });
});

test('48. removing a required or read-only attribute is 400 mutability (a deviation: of read-only attributes, only id)', async () => {
  await refused('mutability', { op: 'remove', path: 'userName' });
  await refused('mutability', { op: 'remove', path: 'id' });
  await refused('mutability', { op: 'replace', path: 'id', value: 'x' });
  const before = await read();
  for (const ignored of ['meta', 'meta.created', 'groups', `${urns.travel}:travelUserId`])
    expect(await after({ op: 'remove', path: ignored })).toEqual(before);
});

test('49. setting primary:true makes the others false', async () => {
  const { emails } = await after({ op: 'replace', path: 'emails[type eq "home"].primary', value: true });
  expect(emails).toEqual([
    { ...work, primary: false },
    { ...home, primary: true },
  ]);
});

test('50. an invalid path is invalidPath; a value filter without a match is noTarget (a deviation: on type and primary it creates the element)', async () => {
  for (const wrong of [
    'name[',
    'name.nope',
    'emails[type eq].value',
    '1abc',
    'emails[type eq "work"',
    'emails.value.x',
    '',
  ])
    await refused('invalidPath', { op: 'replace', path: wrong, value: 'x' });
  await refused('noTarget', { op: 'replace', path: 'emails[value eq "nobody"].display', value: 'x' });
  await refused('noTarget', {
    op: 'replace',
    path: 'emails[type ne "work" and value sw "z"]',
    value: { display: 'x' },
  });
  const { emails } = await after({
    op: 'replace',
    path: 'emails[type eq "other"].value',
    value: 'o@corp.example',
  });
  expect(emails).toEqual([work, home, { type: 'other', value: 'o@corp.example' }]);
});

test('51. the response is 200 with the resource or 204, and 200 with attributes', async () => {
  const user = await send({ op: 'add', path: 'title', value: 'x' });
  expect(user).toMatchObject({ status: 200, body: { userName: 'ada', title: 'x' } });
  const group = (await scim.send('POST', '/Groups', { displayName: 'Crew' })).body;
  const rename = (displayName: string) => patchOp({ op: 'replace', value: { displayName } });
  const bare = await scim.send('PATCH', `/Groups/${group.id}`, rename('Desk'));
  expect(bare).toMatchObject({ status: 200, body: { displayName: 'Desk', members: [] } });
  for (const target of [path, `/Groups/${group.id}`]) {
    const change =
      target === path ? patchOp({ op: 'add', path: 'displayName', value: 'Ops' }) : rename('Ops');
    const asked = await scim.send('PATCH', `${target}?attributes=displayName`, change);
    expect(asked.status).toBe(200);
    expect(Object.keys(asked.body).sort()).toEqual(['displayName', 'id', 'schemas']);
    expect(asked.body.displayName).toBe('Ops');
  }
});

test('52. extension attributes are addressed as URN:attr[.sub], and the URN itself is a path', async () => {
  const urn = urns.enterprise;
  const changed = await after(
    { op: 'replace', path: `${urn}:department`, value: 'Ops' },
    { op: 'add', path: `${urn}:manager.value`, value: '26118915' },
  );
  expect(changed[urn]).toEqual({ department: 'Ops', employeeNumber: '7', manager: { value: '26118915' } });
  const merged = await after({ op: 'replace', path: urn, value: { department: 'HR' } });
  expect(merged[urn]).toMatchObject({ department: 'HR', employeeNumber: '7' });
  const removed = await after({ op: 'remove', path: urn });
  expect(removed[urn]).toBeUndefined();
  expect(removed.schemas).not.toContain(urn);
});

test('53. a PATCH without effect keeps lastModified and the version', async () => {
  const { meta } = await read();
  for (const operation of [
    { op: 'replace', path: 'title', value: 'Countess' },
    { op: 'add', path: 'emails', value: [work] },
    { op: 'remove', path: 'nickName' },
    { op: 'replace', value: { active: 'True', name: { givenName: 'Ada' } } },
    { op: 'remove', path: 'emails[type eq "other"]' },
  ])
    expect((await after(operation)).meta).toEqual(meta);
});
