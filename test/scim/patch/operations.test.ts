import fc from 'fast-check';
import { normalize } from '../../../src/schema/normalize.ts';
import {
  type Json,
  type JsonObject,
  SchemaFault,
  type ScimResource,
  urns,
} from '../../../src/schema/resource.ts';
import { userType } from '../../../src/schema/resource-types.ts';
import { applyPatch, parsePatch } from '../../../src/scim/patch/patch.ts';
import { ScimError } from '../../../src/scim/protocol/errors.ts';
import { runs } from '../../fixtures/runs.ts';
import { patchOp } from '../../fixtures/scim.ts';

const ENT = urns.enterprise;
const OTHER = 'urn:x:y:2.0:User';
const work = { value: 'a@x', type: 'work', primary: true };
const home = { value: 'b@x', type: 'home' };

function patched(seed: JsonObject, ...operations: unknown[]): ScimResource {
  const { userName, ...rest } = applyPatch(
    userType,
    { userName: 'ada', ...seed },
    parsePatch(patchOp(...operations)),
  );
  expect(userName).toBe('ada');
  return rest;
}

/** Returns a resource with one multi-valued attribute. */
function inResource(path: string, elements: Json[]): JsonObject {
  const name = path.slice(path.lastIndexOf(':') + 1);
  return path.includes(':')
    ? { [path.slice(0, -name.length - 1)]: { [name]: elements } }
    : { [name]: elements };
}

describe('the operation has the expected outcome', () => {
  const cases: [string, JsonObject, object, JsonObject][] = [
    [
      'manager without a URN, as an array',
      {},
      { op: 'Add', path: 'manager', value: [{ $ref: 'http://x/Users/m', value: 'm' }] },
      { [ENT]: { manager: { $ref: 'http://x/Users/m', value: 'm' } } },
    ],
    [
      'Remove of manager with a value',
      { [ENT]: { manager: { value: 'm' } } },
      { op: 'Remove', path: 'manager', value: [{ value: 'm' }] },
      {},
    ],
    [
      'a URN with a dot before the attribute',
      {},
      { op: 'add', path: `${ENT}.department`, value: 'D' },
      { [ENT]: { department: 'D' } },
    ],
    ...['replace', 'add'].map((op): [string, JsonObject, object, JsonObject] => [
      `${op} at a text in a list that no schema declares`,
      { [OTHER]: { skills: ['SQL', 'Go'] } },
      { op, path: `${OTHER}:skills[value eq "SQL"]`, value: 'PostgreSQL' },
      { [OTHER]: { skills: ['PostgreSQL', 'Go'] } },
    ]),
    ...[
      [
        'roles',
        'the description of a role',
        { display: 'Y' },
        { value: 'x', display: 'Y', type: 't', primary: true },
      ],
      ['roles', 'the type of a role', { type: 'u' }, { value: 'x', display: 'X', type: 'u', primary: true }],
      ['roles', 'a role', { value: 'y' }, { value: 'y', type: 't', primary: true }],
      [
        'roles',
        'a role and its description',
        { value: 'y', display: 'Y' },
        { value: 'y', display: 'Y', type: 't', primary: true },
      ],
      ['roles', 'a role by itself', { value: 'x' }, { value: 'x', display: 'X', type: 't', primary: true }],
      [
        `${OTHER}:roles`,
        'a value that no schema declares',
        { display: 'Y' },
        { value: 'x', display: 'Y', type: 't', primary: true },
      ],
      [
        `${urns.travel}:roles`,
        'a role of the travel extension',
        { display: 'Y' },
        { value: 'x', display: 'Y' },
      ],
    ].map(([path, title, value, expected]): [string, JsonObject, object, JsonObject] => {
      const others = [{ value: 'z', display: 'Z' }];
      const element =
        path === `${urns.travel}:roles`
          ? { value: 'x', display: 'X' }
          : { value: 'x', display: 'X', type: 't', primary: true };
      const resource = (one: unknown) => inResource(String(path), [one, ...others] as Json[]);
      return [
        `replace of ${title} at its value keeps the rest`,
        resource(element),
        { op: 'replace', path: `${path}[value eq "x"]`, value },
        resource(expected),
      ];
    }),
    [
      'replace of a part of an email at its type keeps the address',
      { emails: [{ ...work, display: 'W' }, home] },
      { op: 'replace', path: 'emails[type eq "work"]', value: { display: 'V' } },
      { emails: [{ ...work, display: 'V' }, home] },
    ],
    [
      'empty text for a part of manager',
      { [ENT]: { manager: { value: 'm', displayName: 'Max' } } },
      { op: 'replace', path: `${ENT}:manager.displayName`, value: '' },
      { [ENT]: { manager: { value: 'm' } } },
    ],
    [
      'an extension object with dotted keys',
      {},
      { op: 'add', value: { [ENT]: { 'manager.value': 'm' } } },
      { [ENT]: { manager: { value: 'm' } } },
    ],
    [
      'an extension object, cleared in parts',
      { [ENT]: { department: 'D', division: 'V' } },
      { op: 'replace', value: { [ENT]: { department: null } } },
      { [ENT]: { division: 'V' } },
    ],
    ['an extension, cleared', { [ENT]: { department: 'D' } }, { op: 'replace', value: { [ENT]: null } }, {}],
    ['the core URN as a path', {}, { op: 'add', path: urns.user, value: { title: 'T' } }, { title: 'T' }],
    [
      'an attribute that the extension does not declare',
      {},
      { op: 'add', path: `${ENT}:badge`, value: '7' },
      { [ENT]: { badge: '7' } },
    ],
    [
      'name, cleared in parts',
      { name: { givenName: 'A', familyName: 'L' } },
      { op: 'replace', path: 'name', value: { givenName: null } },
      { name: { familyName: 'L' } },
    ],
    ['name, cleared', { name: { givenName: 'A' } }, { op: 'replace', path: 'name', value: null }, {}],
    [
      'the last part of name, cleared',
      { name: { givenName: 'A' } },
      { op: 'remove', path: 'name.givenName' },
      {},
    ],
    ['active, removed', { active: true }, { op: 'remove', path: 'active' }, {}],
    [
      'a filtered value, cleared',
      { emails: [work, home] },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: null },
      { emails: [home] },
    ],
    [
      'a filtered value that is not there, cleared',
      { emails: [home] },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: null },
      { emails: [home] },
    ],
    [
      'a filtered value, emptied',
      { emails: [work] },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: '' },
      { emails: [{ ...work, value: '' }] },
    ],
    [
      'a filtered value in an array',
      { emails: [home] },
      { op: 'Add', path: 'emails[type eq "work"].value', value: [{ value: 'c@x' }] },
      { emails: [home, { type: 'work', value: 'c@x' }] },
    ],
    [
      'text for a whole filtered element',
      {},
      { op: 'add', path: 'emails[type eq "work"]', value: 'c@x' },
      { emails: [{ type: 'work', value: 'c@x' }] },
    ],
    [
      'add to a whole filtered element',
      { emails: [work] },
      { op: 'add', path: 'emails[type eq "work"]', value: { display: 'D' } },
      { emails: [{ ...work, display: 'D' }] },
    ],
    [
      'a filter by value',
      { emails: [work, home] },
      { op: 'replace', path: 'emails[value eq "b@x"].type', value: 'other' },
      { emails: [work, { ...home, type: 'other' }] },
    ],
    [
      'primary moved by a filter',
      { emails: [work, home] },
      { op: 'replace', path: 'emails[type eq "home"].primary', value: 'True' },
      {
        emails: [
          { ...work, primary: false },
          { ...home, primary: true },
        ],
      },
    ],
    [
      'a part of all values',
      { emails: [work, home] },
      { op: 'replace', path: 'emails.display', value: 'D' },
      {
        emails: [
          { ...work, display: 'D' },
          { ...home, display: 'D' },
        ],
      },
    ],
    [
      'a part of no value',
      {},
      { op: 'add', path: 'emails.value', value: 'c@x' },
      { emails: [{ value: 'c@x' }] },
    ],
    [
      'a part removed from all values',
      { emails: [work, home] },
      { op: 'remove', path: 'emails.type' },
      { emails: [{ value: 'a@x', primary: true }, { value: 'b@x' }] },
    ],
    ['add of nothing', { emails: [work] }, { op: 'add', path: 'emails', value: [] }, { emails: [work] }],
    ['replace by nothing', { emails: [work] }, { op: 'replace', path: 'emails', value: [] }, {}],
    [
      'roles that accumulate',
      { roles: [{ value: '{"id":1}' }] },
      { op: 'Add', path: 'roles', value: [{ value: '{"id":2}' }] },
      { roles: [{ value: '{"id":1}' }, { value: '{"id":2}' }] },
    ],
    [
      'an address that is there already',
      { addresses: [{ type: 'work', country: 'FR' }] },
      { op: 'add', path: 'addresses', value: [{ country: 'FR', type: 'work' }] },
      { addresses: [{ type: 'work', country: 'FR' }] },
    ],
    [
      'an address that is there, now the primary one',
      {
        addresses: [
          { country: 'FR', primary: true },
          { country: 'DE', primary: false },
        ],
      },
      { op: 'add', path: 'addresses', value: [{ country: 'DE', primary: true }] },
      {
        addresses: [
          { country: 'FR', primary: false },
          { country: 'DE', primary: true },
        ],
      },
    ],
    [
      'an undeclared list',
      { [OTHER]: { tags: ['a'] } },
      { op: 'add', path: `${OTHER}:tags`, value: ['a', 'b'] },
      { [OTHER]: { tags: ['a', 'b'] } },
    ],
    [
      'an undeclared list, filtered',
      { [OTHER]: { keys: [{ type: 'x', value: 1 }] } },
      { op: 'replace', path: `${OTHER}:keys[type eq "x"].value`, value: 2 },
      { [OTHER]: { keys: [{ type: 'x', value: 2 }] } },
    ],
    [
      'an undeclared part',
      { [OTHER]: { badge: { no: 1 } } },
      { op: 'replace', path: `${OTHER}:badge.no`, value: 2 },
      { [OTHER]: { badge: { no: 2 } } },
    ],
    [
      'an undeclared extension as a whole',
      {},
      { op: 'add', path: OTHER, value: { a: { b: 1 }, c: null } },
      { [OTHER]: { a: { b: 1 } } },
    ],
    [
      'an undeclared extension, in another case',
      { [OTHER]: { a: 1 } },
      { op: 'replace', path: `${OTHER.toUpperCase()}:A`, value: 2 },
      { [OTHER]: { a: 2 } },
    ],
    ['an undeclared extension, removed', { [OTHER]: { a: 1 } }, { op: 'remove', path: OTHER }, {}],
    ['read-only travelUserId', {}, { op: 'add', path: `${urns.travel}:travelUserId`, value: 't' }, {}],
    ['URLs as keys', {}, { op: 'add', value: { 'http://schemas.example/x': 1, title: 'T' } }, { title: 'T' }],
    ['path null', {}, { op: 'add', path: null, value: { title: 'T' } }, { title: 'T' }],
  ];
  test.each(cases)('%s', (_title, seed, operation, expected) => {
    expect(patched(seed, operation)).toEqual(expected);
  });
});

describe('a PATCH is refused', () => {
  const cases: [string, JsonObject, string][] = [
    ['without Operations', {}, 'invalidSyntax'],
    ['with Operations that are no array', { Operations: {} }, 'invalidSyntax'],
    ['with an operation that is no object', patchOp('x'), 'invalidSyntax'],
    ['with an unknown op', patchOp({ op: 'move', path: 'title', value: 'x' }), 'invalidSyntax'],
    ['without an op', patchOp({ path: 'title', value: 'x' }), 'invalidSyntax'],
    ['when remove has no path', patchOp({ op: 'remove' }), 'noTarget'],
    ['when add has no value', patchOp({ op: 'add', path: 'title' }), 'invalidValue'],
    ['when a path-less value is no object', patchOp({ op: 'replace', value: 'x' }), 'invalidValue'],
    ['when the path is no text', patchOp({ op: 'replace', path: 5, value: 'x' }), 'invalidPath'],
    ['when the path is empty', patchOp({ op: 'replace', path: '', value: 'x' }), 'invalidPath'],
    [
      'when the path cannot be read',
      patchOp({ op: 'replace', path: 'emails[type eq "work"', value: 'x' }),
      'invalidPath',
    ],
    [
      'when a filtered key cannot be read',
      patchOp({ op: 'replace', value: { 'emails[type eq].value': 'x' } }),
      'invalidPath',
    ],
    [
      'when nothing matches a filter by value',
      patchOp({ op: 'replace', path: 'emails[value eq "z"].type', value: 'x' }),
      'noTarget',
    ],
    [
      'when nothing matches a negation',
      patchOp({ op: 'add', path: 'emails[type ne "work"].value', value: 'x' }),
      'noTarget',
    ],
    [
      'when a single value does not match',
      patchOp({ op: 'replace', path: `${ENT}:manager[value eq "z"].displayName`, value: 'x' }),
      'noTarget',
    ],
    [
      'when one value becomes many',
      patchOp({ op: 'add', path: 'emails[type eq "work"]', value: ['x', 'y'] }),
      'invalidValue',
    ],
    [
      'when text belongs to no complex value',
      patchOp({ op: 'replace', path: 'name', value: 'x' }),
      'invalidValue',
    ],
    [
      'when userName would be empty',
      patchOp({ op: 'replace', path: 'userName', value: ' ' }),
      'invalidValue',
    ],
    ['when userName would be cleared', patchOp({ op: 'replace', value: { userName: null } }), 'invalidValue'],
    ['when id is removed', patchOp({ op: 'remove', path: 'id' }), 'mutability'],
    ['when the resource would be cleared', patchOp({ op: 'remove', path: urns.user }), 'noTarget'],
    [
      'when values are too many',
      patchOp({ op: 'add', path: 'emails', value: Array.from({ length: 250 }, (_, n) => `${n}@x`) }),
      'invalidValue',
    ],
    [
      'when a filter is long and values are many',
      patchOp(
        {
          op: 'replace',
          path: 'emails',
          value: Array.from({ length: 250 }, (_, n) => `user${n}@corp.example`),
        },
        ...Array.from({ length: 5 }, () => ({
          op: 'remove',
          path: `emails[${Array.from({ length: 240 }, () => 'value co "z"').join(' or ')}].type`,
        })),
      ),
      'invalidValue',
    ],
    [
      'when many long values are compared with many',
      patchOp(
        {
          op: 'replace',
          path: 'emails',
          value: Array.from({ length: 15 }, (_, n) => 'x'.repeat(15_000) + n),
        },
        ...Array.from({ length: 90 }, () => ({ op: 'remove', path: 'emails', value: ['y@x'] })),
      ),
      'invalidValue',
    ],
    [
      'when an undeclared value grows beyond its bounds',
      patchOp(
        { op: 'add', path: `${OTHER}:a`, value: numbered(250) },
        { op: 'add', path: `${OTHER}:a.more`, value: 1 },
      ),
      'invalidValue',
    ],
    [
      'when an undeclared value would be nested too deeply',
      patchOp({
        op: 'add',
        path: `${OTHER}:a[type eq "x"].b`,
        value: JSON.parse(`${'['.repeat(16)}1${']'.repeat(16)}`),
      }),
      'invalidValue',
    ],
    [
      'when the value is nested beyond reason',
      patchOp({ op: 'add', path: 'title', value: JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) }),
      'invalidValue',
    ],
    [
      'when the resource would be too large',
      patchOp(
        ...['title', 'nickName', 'locale', 'userType', 'timezone'].map((path) => ({
          op: 'add',
          path,
          value: 'x'.repeat(60_000),
        })),
      ),
      'invalidValue',
    ],
    [
      'when operations are too many',
      patchOp(...Array.from({ length: 1501 }, () => ({ op: 'remove', path: 'title' }))),
      'invalidValue',
    ],
  ];
  test.each(cases)('%s', (_title, message, scimType) => {
    const seed = { userName: 'ada', emails: [work] };
    expect(errorOf(() => applyPatch(userType, seed, parsePatch(message)))).toBe(scimType);
    expect(seed).toEqual({ userName: 'ada', emails: [work] });
  });
});

test('operations without effect return an equal resource', () => {
  const seed = {
    emails: [work, home],
    name: { givenName: 'A' },
    [ENT]: { department: 'D', manager: { value: 'm' } },
  };
  const echo = patched(
    seed,
    { op: 'replace', value: seed },
    { op: 'add', path: 'emails', value: [{ ...home }] },
    { op: 'replace', path: `${ENT}:manager`, value: 'm' },
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'a@x' },
  );
  expect(echo).toEqual(seed);
});

test('any operations return a normalized resource or fail, and the given resource is not modified', () => {
  const path = fc.constantFrom(
    'title',
    'name',
    'name.givenName',
    'emails',
    'emails.value',
    'emails[type eq "work"]',
    'emails[primary eq true].value',
    'active',
    ENT,
    `${ENT}:manager`,
    `${OTHER}:a`,
    `${OTHER}:a.b`,
    `${OTHER}:a[type eq "x"]`,
    OTHER,
    'nope',
    undefined,
  );
  const operation = fc.record(
    { op: fc.constantFrom('add', 'replace', 'remove'), path, value: fc.jsonValue() },
    { requiredKeys: ['op'] },
  );
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 5 }), (operations) => {
      const seed: ScimResource = { userName: 'ada', active: true, emails: [work], [OTHER]: { a: { b: 1 } } };
      const before = structuredClone(seed);
      try {
        const result = applyPatch(userType, seed, parsePatch(patchOp(...operations)));
        expect(normalize(userType, result).resource).toEqual(result);
      } catch (error) {
        if (!(error instanceof ScimError || error instanceof SchemaFault)) throw error;
      }
      expect(seed).toEqual(before);
    }),
    runs(500),
  );
});

function numbered(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, 1]));
}

function errorOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof SchemaFault) return 'invalidValue';
    if (error instanceof ScimError) return error.scimType;
    throw error;
  }
  return undefined;
}
