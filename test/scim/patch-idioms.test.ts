import { SchemaFault } from '../../src/schema/fault.ts';
import { type JsonObject, type ScimResource, urns } from '../../src/schema/resource.ts';
import { userType } from '../../src/schema/resource-type.ts';
import { applyPatch } from '../../src/scim/patch.ts';
import { parsePatch } from '../../src/scim/patch-message.ts';
import { ScimError } from '../../src/scim/scim-error.ts';
import { patchOp } from '../support/scim-house.ts';

const ENT = urns.enterprise;
const CORE = urns.user;
const OTHER = 'urn:ietf:params:scim:schemas:extension:Custom:2.0:User';

const bare: ScimResource = { userName: 'bare', active: true };

const work = { value: 'ada@corp.example', type: 'work', primary: true };
const address = { type: 'work', formatted: 'Tower B', locality: 'Paris', country: 'FR' };
const phone = { value: '+33 1', type: 'work' };

const full: ScimResource = {
  userName: 'ada@corp.example',
  externalId: 'e1',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  displayName: 'Ada L',
  title: 'Engineer',
  active: true,
  emails: [work],
  phoneNumbers: [phone],
  addresses: [address],
  roles: [{ value: 'r1', primary: true }],
  [ENT]: { employeeNumber: '7', department: 'Ops', manager: { value: 'm0', displayName: 'Max' } },
};

/** What the message makes of the seed: the attributes that differ (null: gone), or the error. */
type Outcome = JsonObject | { error: string };
type Idiom = [number, string, ScimResource, JsonObject, Outcome];

const set = (path: string, value: unknown, op = 'replace') => patchOp({ op, path, value });
const add = (path: string, value: unknown) => set(path, value, 'add');
const remove = (path: string) => patchOp({ op: 'remove', path });
const all = (value: unknown, op = 'replace') => patchOp({ op, value });
const ent = (changed: JsonObject): JsonObject => ({ [ENT]: { ...(full[ENT] as JsonObject), ...changed } });
const named = (changed: JsonObject): JsonObject => ({
  name: { ...(full['name'] as JsonObject), ...changed },
});
const managedBy = (value: string) => ent({ manager: { value } });
const bareManagedBy = (value: string): JsonObject => ({ [ENT]: { manager: { value } } });
const nothing: JsonObject = {};

const idioms: Idiom[] = [
  [1, "op 'Replace'", full, set('title', 'Lead', 'Replace'), { title: 'Lead' }],
  [2, "op 'Add'", full, set('title', 'Lead', 'Add'), { title: 'Lead' }],
  [3, "op 'Remove'", full, patchOp({ op: 'Remove', path: 'title' }), { title: null }],
  [4, "active 'False' with a path", full, set('active', 'False'), { active: false }],
  [5, "active 'True' with a path", { ...full, active: false }, set('active', 'True'), { active: true }],
  [6, "active 'false' with a path", full, set('active', 'false'), { active: false }],
  [7, "active 'False' without a path", full, all({ active: 'False' }), { active: false }],
  [8, "active [{ value: 'False' }]", full, set('active', [{ value: 'False' }]), { active: false }],
  [9, 'Okta { active: false }', full, all({ active: false }), { active: false }],
  [10, 'a path-less object', full, all({ title: 'Lead', nickName: 'A' }), { title: 'Lead', nickName: 'A' }],
  [11, 'a path-less nested name', full, all({ name: { givenName: 'G' } }), named({ givenName: 'G' })],
  [12, 'it keeps familyName', full, all({ name: { givenName: 'G' } }), named({ givenName: 'G' })],
  [
    13,
    'replace of name keeps what is not named',
    full,
    set('name', { givenName: 'G' }),
    named({ givenName: 'G' }),
  ],
  [
    14,
    'a path-less array replaces',
    full,
    all({ emails: [{ value: 'n@x' }] }),
    { emails: [{ value: 'n@x' }] },
  ],
  [
    15,
    'an array at a path replaces',
    full,
    set('emails', [{ value: 'n@x' }]),
    { emails: [{ value: 'n@x' }] },
  ],
  [16, 'a dotted key', full, all({ 'name.givenName': 'G' }), named({ givenName: 'G' })],
  [
    17,
    'a dotted key on a bare user',
    bare,
    all({ 'name.givenName': 'G' }, 'add'),
    { name: { givenName: 'G' } },
  ],
  [18, 'a URN key', full, all({ [`${ENT}:department`]: 'D' }), ent({ department: 'D' })],
  [
    19,
    'a URN key on a bare user',
    bare,
    all({ [`${ENT}:department`]: 'D' }, 'add'),
    { [ENT]: { department: 'D' } },
  ],
  [20, 'an extension object', full, all({ [ENT]: { department: 'D' } }), ent({ department: 'D' })],
  [21, 'it keeps employeeNumber', full, all({ [ENT]: { department: 'D' } }), ent({ department: 'D' })],
  [
    22,
    'a filtered key',
    full,
    all({ 'emails[type eq "work"].value': 'n@x' }),
    { emails: [{ ...work, value: 'n@x' }] },
  ],
  [
    23,
    'a filtered key on a bare user',
    bare,
    all({ 'emails[type eq "work"].value': 'n@x' }, 'add'),
    { emails: [{ type: 'work', value: 'n@x' }] },
  ],
  [
    24,
    'replace of a filtered value',
    full,
    set('emails[type eq "work"].value', 'n@x'),
    { emails: [{ ...work, value: 'n@x' }] },
  ],
  [
    25,
    'replace of one that is not there',
    bare,
    set('emails[type eq "work"].value', 'n@x'),
    { emails: [{ type: 'work', value: 'n@x' }] },
  ],
  [
    26,
    'add of one that is not there',
    bare,
    add('emails[type eq "work"].value', 'n@x'),
    { emails: [{ type: 'work', value: 'n@x' }] },
  ],
  [
    27,
    'add of another type',
    full,
    add('emails[type eq "home"].value', 'n@x'),
    { emails: [work, { type: 'home', value: 'n@x' }] },
  ],
  [
    28,
    'a filter of two',
    full,
    set('emails[type eq "work" and primary eq true].value', 'n@x'),
    { emails: [{ ...work, value: 'n@x' }] },
  ],
  [
    29,
    'a filter in another case',
    full,
    set('emails[type eq "Work"].value', 'n@x'),
    { emails: [{ ...work, value: 'n@x' }] },
  ],
  [
    30,
    'an address that is not there',
    bare,
    add('addresses[type eq "work"].formatted', 'T'),
    { addresses: [{ type: 'work', formatted: 'T' }] },
  ],
  [
    31,
    'an address that is there',
    full,
    set('addresses[type eq "work"].formatted', 'T'),
    { addresses: [{ ...address, formatted: 'T' }] },
  ],
  [
    32,
    'add of a mobile phone',
    full,
    add('phoneNumbers[type eq "mobile"].value', '+1'),
    { phoneNumbers: [phone, { type: 'mobile', value: '+1' }] },
  ],
  [
    33,
    'replace of a mobile phone',
    full,
    set('phoneNumbers[type eq "mobile"].value', '+1'),
    { phoneNumbers: [phone, { type: 'mobile', value: '+1' }] },
  ],
  [
    34,
    'remove of a filtered value',
    full,
    remove('phoneNumbers[type eq "work"].value'),
    { phoneNumbers: null },
  ],
  [
    35,
    'roles[primary eq "True"] that is not there',
    bare,
    add('roles[primary eq "True"].value', 'r'),
    { roles: [{ primary: true, value: 'r' }] },
  ],
  [
    36,
    'roles[primary eq "True"] that is there',
    full,
    set('roles[primary eq "True"].value', 'r'),
    { roles: [{ primary: true, value: 'r' }] },
  ],
  [
    37,
    'roles[primary eq true]',
    full,
    set('roles[primary eq true].value', 'r'),
    { roles: [{ primary: true, value: 'r' }] },
  ],
  [
    38,
    'roles with a type',
    bare,
    add('roles', [{ primary: false, type: 'WindowsAzureActiveDirectoryRole', display: 'R', value: 'r' }]),
    { roles: [{ primary: false, type: 'WindowsAzureActiveDirectoryRole', display: 'R', value: 'r' }] },
  ],
  [
    39,
    'roles as JSON text',
    bare,
    add('roles', [{ value: '{"id":"1","value":"25"}' }]),
    { roles: [{ value: '{"id":"1","value":"25"}' }] },
  ],
  [40, 'replace ENT:department', full, set(`${ENT}:department`, 'D'), ent({ department: 'D' })],
  [
    41,
    'add ENT:department on a bare user',
    bare,
    add(`${ENT}:department`, 'D'),
    { [ENT]: { department: 'D' } },
  ],
  [
    42,
    'remove ENT:department',
    { ...bare, [ENT]: { department: 'D' } },
    remove(`${ENT}:department`),
    { [ENT]: null },
  ],
  [43, 'manager as text', full, set(`${ENT}:manager`, 'm1'), managedBy('m1')],
  [44, 'manager as text on a bare user', bare, add(`${ENT}:manager`, 'm1'), bareManagedBy('m1')],
  [45, 'manager as an object', full, set(`${ENT}:manager`, { value: 'm1' }), managedBy('m1')],
  [
    46,
    'manager as an object on a bare user',
    bare,
    add(`${ENT}:manager`, { value: 'm1' }),
    bareManagedBy('m1'),
  ],
  [
    47,
    'manager as an array',
    full,
    set(`${ENT}:manager`, [{ $ref: '../Users/m1', value: 'm1' }]),
    ent({ manager: { $ref: '../Users/m1', value: 'm1' } }),
  ],
  [
    48,
    'manager as an array with a null',
    full,
    set(`${ENT}:manager`, [{ $ref: null, value: 'm1' }]),
    managedBy('m1'),
  ],
  [
    49,
    'manager.value',
    full,
    set(`${ENT}:manager.value`, 'm1'),
    ent({ manager: { value: 'm1', displayName: 'Max' } }),
  ],
  [50, 'manager.value on a bare user', bare, add(`${ENT}:manager.value`, 'm1'), bareManagedBy('m1')],
  [51, 'remove manager', { ...bare, ...bareManagedBy('m1') }, remove(`${ENT}:manager`), { [ENT]: null }],
  [52, 'manager ""', { ...bare, ...bareManagedBy('m1') }, set(`${ENT}:manager`, ''), { [ENT]: null }],
  [53, 'manager null', { ...bare, ...bareManagedBy('m1') }, set(`${ENT}:manager`, null), { [ENT]: null }],
  [54, 'the whole extension', full, set(ENT, { department: 'D' }), ent({ department: 'D' })],
  [55, 'remove the whole extension', full, remove(ENT), { [ENT]: null }],
  [56, 'title null', full, set('title', null), { title: null }],
  [57, 'title ""', full, set('title', ''), { title: '' }],
  [58, 'replace without a value', full, patchOp({ op: 'replace', path: 'title' }), { title: null }],
  [59, 'replace name.givenName', full, set('name.givenName', 'G'), named({ givenName: 'G' })],
  [60, 'add name.givenName on a bare user', bare, add('name.givenName', 'G'), { name: { givenName: 'G' } }],
  [
    61,
    'replace name.givenName on a bare user',
    bare,
    set('name.givenName', 'G'),
    { name: { givenName: 'G' } },
  ],
  [62, 'remove name.givenName where there is none', bare, remove('name.givenName'), nothing],
  [63, 'remove a title where there is none', bare, remove('title'), nothing],
  [64, 'an unknown attribute at a path', full, set('favColor', 'x'), nothing],
  [65, 'an unknown attribute without a path', full, all({ favColor: 'x' }), nothing],
  [66, 'an unknown sub-attribute', full, set('name.foo', 'x'), { error: 'invalidPath' }],
  [67, 'an unknown extension', bare, add(`${OTHER}:costcode`, '4711'), { [OTHER]: { costcode: '4711' } }],
  [68, 'replace id', full, set('id', 'x'), { error: 'mutability' }],
  [69, 'a path-less id', full, all({ id: 'same', title: 'T' }), { title: 'T' }],
  [
    70,
    'path-less schemas and meta',
    full,
    all({ schemas: [CORE], meta: { version: 'x' }, title: 'T' }),
    { title: 'T' },
  ],
  [71, 'replace meta.created', full, set('meta.created', '2001-01-01T00:00:00Z'), nothing],
  [72, 'replace groups', full, set('groups', [{ value: 'g' }]), nothing],
  [73, 'replace password', full, set('password', 'secret'), nothing],
  [74, 'replace externalId', full, set('externalId', 'e2'), { externalId: 'e2' }],
  [75, 'replace userName', full, set('userName', 'u2'), { userName: 'u2' }],
  [76, 'remove userName', full, remove('userName'), { error: 'mutability' }],
  [
    77,
    'several operations on one path',
    full,
    patchOp(
      { op: 'remove', path: 'title' },
      { op: 'add', path: 'title', value: 'a' },
      { op: 'replace', path: 'title', value: 'b' },
    ),
    { title: 'b' },
  ],
  [
    78,
    'the same operation twice',
    full,
    patchOp({ op: 'replace', path: 'title', value: 'b' }, { op: 'replace', path: 'title', value: 'b' }),
    { title: 'b' },
  ],
  [
    79,
    'type, then value',
    bare,
    patchOp(
      { op: 'add', path: 'emails[type eq "work"].type', value: 'work' },
      { op: 'add', path: 'emails[type eq "work"].value', value: 'n@x' },
    ),
    { emails: [{ type: 'work', value: 'n@x' }] },
  ],
  [80, 'a foreign schema', full, { ...set('title', 'T'), schemas: [CORE] }, { error: 'invalidSyntax' }],
  [81, 'no schemas', full, { Operations: [{ op: 'replace', path: 'title', value: 'T' }] }, { title: 'T' }],
  [
    82,
    'schemas in lower case',
    full,
    { ...set('title', 'T'), schemas: ['urn:ietf:params:scim:api:messages:2.0:patchop'] },
    { title: 'T' },
  ],
  [
    83,
    'operations in lower case',
    full,
    { operations: [{ OP: 'replace', Path: 'title', Value: 'T' }] },
    { title: 'T' },
  ],
  [84, 'no operations', full, patchOp(), { error: 'invalidValue' }],
  [
    85,
    'Title, UserName, EMAILS',
    full,
    patchOp(
      { op: 'replace', path: 'Title', value: 'T' },
      { op: 'replace', path: 'UserName', value: 'u' },
      { op: 'remove', path: 'EMAILS' },
    ),
    { title: 'T', userName: 'u', emails: null },
  ],
  [86, 'username', full, set('username', 'u'), { userName: 'u' }],
  [87, 'NAME.GIVENNAME', full, set('NAME.GIVENNAME', 'G'), named({ givenName: 'G' })],
  [88, 'userNAME', full, set('userNAME', 'u'), { userName: 'u' }],
  [
    89,
    'Emails[Type eq "work"].Value',
    full,
    set('Emails[Type eq "work"].Value', 'n@x'),
    { emails: [{ ...work, value: 'n@x' }] },
  ],
  [90, 'the URN in lower case', full, set(`${ENT.toLowerCase()}:department`, 'D'), ent({ department: 'D' })],
  [91, 'ENT:Department', full, set(`${ENT}:Department`, 'D'), ent({ department: 'D' })],
  [92, 'CORE:title', full, set(`${CORE}:title`, 'T'), { title: 'T' }],
  [93, 'CORE:name.givenName', full, set(`${CORE}:name.givenName`, 'G'), named({ givenName: 'G' })],
  [94, 'a CORE:title key', full, all({ [`${CORE}:title`]: 'T' }), { title: 'T' }],
  [
    95,
    'add of an email that is there',
    full,
    add('emails', [{ value: 'ADA@corp.example', type: 'work' }]),
    { emails: [{ ...work, value: 'ADA@corp.example' }] },
  ],
  [
    96,
    'add of an object where many belong',
    full,
    add('emails', { value: 'n@x', type: 'home' }),
    { emails: [work, { value: 'n@x', type: 'home' }] },
  ],
  [
    97,
    'a new primary takes the place of the old',
    full,
    add('emails', [{ value: 'n@x', type: 'home', primary: true }]),
    {
      emails: [
        { ...work, primary: false },
        { value: 'n@x', type: 'home', primary: true },
      ],
    },
  ],
  [
    98,
    "primary 'True'",
    bare,
    add('emails', [{ value: 'n@x', primary: 'True' }]),
    { emails: [{ value: 'n@x', primary: true }] },
  ],
  [99, 'emails as text', full, set('emails', 'n@x'), { emails: [{ value: 'n@x' }] }],
  [
    100,
    "type 'personal'",
    bare,
    add('emails', [{ value: 'n@x', type: 'personal' }]),
    { emails: [{ value: 'n@x', type: 'personal' }] },
  ],
  [
    101,
    "type 'Work'",
    bare,
    add('emails', [{ value: 'n@x', type: 'Work' }]),
    { emails: [{ value: 'n@x', type: 'Work' }] },
  ],
  [102, 'type null', full, set('emails', [{ value: 'n@x', type: null }]), { emails: [{ value: 'n@x' }] }],
  [103, 'remove emails[type eq "work"]', full, remove('emails[type eq "work"]'), { emails: null }],
  [
    104,
    'remove emails[value eq …] with + and @',
    { ...bare, emails: [{ value: 'a+b@x' }, work] },
    remove('emails[value eq "a+b@x"]'),
    { emails: [work] },
  ],
  [
    105,
    'remove emails with a value',
    { ...bare, emails: [{ value: 'n@x' }, work] },
    set('emails', [{ value: 'n@x' }], 'remove'),
    { emails: [work] },
  ],
  [106, 'remove what no filter finds', full, remove('emails[type eq "home"]'), nothing],
  [
    107,
    'replace a whole filtered element',
    full,
    set('emails[type eq "work"]', { value: 'n@x', display: 'N' }),
    { emails: [{ type: 'work', value: 'n@x', display: 'N' }] },
  ],
  [108, 'a number for text', full, set(`${ENT}:employeeNumber`, 123), ent({ employeeNumber: '123' })],
  [109, 'profileUrl that is no URL', full, set('profileUrl', 'ABC'), { profileUrl: 'ABC' }],
  [110, "profileUrl ''", { ...bare, profileUrl: 'x' }, set('profileUrl', ''), { profileUrl: null }],
  [111, 'an object for text', full, set('title', { value: 'x' }), { error: 'invalidValue' }],
  [112, 'the value that is there', full, set('title', 'Engineer'), nothing],
  [113, "op 'test'", full, patchOp({ op: 'test', path: 'title', value: 'x' }), { error: 'invalidSyntax' }],
  [
    114,
    'a real one from Entra',
    bare,
    patchOp(
      { op: 'Add', path: 'displayName', value: 'Ada' },
      { op: 'Add', path: 'emails[type eq "work"].value', value: 'a@x' },
      { op: 'Add', path: 'addresses[type eq "work"].streetAddress', value: '1 Main' },
      { op: 'Add', path: 'addresses[type eq "work"].locality', value: 'Paris' },
      { op: 'Replace', path: 'active', value: 'False' },
      { op: 'Add', path: `${ENT}:manager`, value: 'm1' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1' },
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'r' },
    ),
    {
      displayName: 'Ada',
      emails: [{ type: 'work', value: 'a@x' }],
      addresses: [{ type: 'work', streetAddress: '1 Main', locality: 'Paris' }],
      active: false,
      phoneNumbers: [{ type: 'mobile', value: '+1' }],
      roles: [{ primary: true, value: 'r' }],
      [ENT]: { manager: { value: 'm1' } },
    },
  ],
];

test.each(idioms)('idiom %d: %s', (_number, _title, seed, message, outcome) => {
  const before = structuredClone(seed);
  expect(outcomeOf(seed, message)).toEqual(
    typeof outcome['error'] === 'string' ? outcome : expectedOf(seed, outcome),
  );
  expect(seed).toEqual(before);
});

test('there are 114 idioms', () => {
  expect(idioms.map(([number]) => number)).toEqual(Array.from({ length: 114 }, (_, index) => index + 1));
});

function outcomeOf(seed: ScimResource, message: JsonObject): JsonObject {
  try {
    return applyPatch(userType, seed, parsePatch(message));
  } catch (error) {
    if (error instanceof SchemaFault) return { error: 'invalidValue' };
    if (error instanceof ScimError) return { error: String(error.scimType) };
    throw error;
  }
}

function expectedOf(seed: ScimResource, changed: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...seed, ...changed }).filter(([, value]) => value !== null));
}
