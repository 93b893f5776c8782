import { pathReader } from '../../src/schema/filter-match.ts';
import {
  type AttributePath,
  type PathFault,
  parseFilter,
  parsePath,
} from '../../src/schema/filter-parser.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { userType } from '../../src/schema/resource-types.ts';

const ENT = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const user: ScimResource = {
  userName: 'ada@corp.example',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  active: true,
  emails: [
    { value: 'ada@corp.example', type: 'work', primary: true },
    { value: 'ada@home.example', type: 'Home' },
  ],
  [ENT]: { department: 'Navigation', manager: { value: 'm-1' } },
  'urn:example:custom:2.0:User': { costCode: '4711', nested: { deep: 1 }, list: ['a', 'b'] },
};

describe('a path reads', () => {
  const cases: [string, unknown[]][] = [
    ['userName', ['ada@corp.example']],
    ['USERNAME', ['ada@corp.example']],
    ['name.givenName', ['Ada']],
    ['name', [{ givenName: 'Ada', familyName: 'Lovelace' }]],
    ['emails.value', ['ada@corp.example', 'ada@home.example']],
    ['emails[type eq "work"].value', ['ada@corp.example']],
    ['emails[type eq "HOME"].value', ['ada@home.example']],
    ['emails[primary eq true].value', ['ada@corp.example']],
    ['emails[primary eq "True"].value', ['ada@corp.example']],
    [
      'emails[type eq "work" and primary eq true]',
      [{ value: 'ada@corp.example', type: 'work', primary: true }],
    ],
    ['emails[not (type eq "work")].value', ['ada@home.example']],
    ['emails[type eq "other"].value', []],
    [`${ENT}:department`, ['Navigation']],
    [`${ENT.toUpperCase()}:DEPARTMENT`, ['Navigation']],
    [`${ENT}.department`, ['Navigation']],
    [`${ENT}:manager.value`, ['m-1']],
    ['manager.value', ['m-1']],
    ['urn:ietf:params:scim:schemas:core:2.0:User:name.familyName', ['Lovelace']],
    ['urn:ietf:params:scim:schemas:core:2.0:User:emails[type eq "work"].value', ['ada@corp.example']],
    ['urn:example:custom:2.0:User:costCode', ['4711']],
    ['urn:example:custom:2.0:user:COSTCODE', ['4711']],
    ['urn:example:custom:2.0:User:nested.deep', [1]],
    ['urn:example:custom:2.0:User:list', ['a', 'b']],
    [ENT, [{ department: 'Navigation', manager: { value: 'm-1' } }]],
    ['title', []],
    ['constructor', []],
    ['toString.name', []],
    ['urn:example:other:2.0:User:x', []],
  ];
  test.each(cases)('%s', (text, values) => {
    expect(pathReader(userType, path(text))(user)).toEqual(values);
  });
});

test('a URN without a version ends before its last part', () => {
  expect(parsePath('urn:acme:people:badge')).toMatchObject({ urn: 'urn:acme:people', attribute: 'badge' });
});

test('a misspelt URN is an unknown URN, not a known one', () => {
  const urn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0User';
  expect(parsePath(`${urn}:department`)).toMatchObject({ urn, attribute: 'department' });
  expect(parsePath(urn)).toMatchObject({ urn, attribute: undefined });
});

describe('a faulty path is a fault with the position of the character', () => {
  const cases: [string, number][] = [
    ['', 0],
    ['name.', 0],
    ['.name', 0],
    ['name.givenName.more', 0],
    ['emails[type eq "work"', 21],
    ['emails[foo', 10],
    ['emails[type eq ].value', 15],
    ['emails[type xx "work"].value', 12],
    ['emails[type eq "work].value', 15],
    ['emails[type eq "work"]value', 22],
    ['emails[type eq "work"].value.more', 22],
    ['emails[value[type eq "x"] eq "y"]', 12],
    ['name.givenName[a eq "b"]', 14],
    ['two words', 4],
    ['__proto__.polluted', 0],
  ];
  test.each(cases)('%s', (text, position) => {
    const fault = parsePath(text) as PathFault;
    expect(fault).toEqual({ fault: expect.any(String), position });
  });
});

test('a filter that is nested too deeply is a fault at the first parenthesis beyond the limit', () => {
  expect(parsePath(`emails[${'('.repeat(2000)}`)).toEqual({ fault: expect.any(String), position: 56 });
});

test('a path that is too long is a fault', () => {
  expect(parsePath('x'.repeat(5000))).toMatchObject({ position: 4096 });
});

function path(text: string): AttributePath {
  const parsed = parsePath(text);
  if ('fault' in parsed) throw new Error(`${text}: ${parsed.fault} at ${parsed.position}`);
  return parsed;
}

describe('a number in a filter has the value that JSON gives it (RFC 8259 §6)', () => {
  const numbers = [
    '0',
    '-0',
    '7',
    '-1.5',
    '1.5e0',
    '1E5',
    '1e+5',
    '25e-1',
    '0.10',
    '9007199254740991',
    '1e-400',
  ];
  test.each(numbers)('%s', (text) => {
    expect(parseFilter(`urn:x:y:2.0:User:a eq ${text}`)).toMatchObject({ value: JSON.parse(text) });
    expect(parseFilter(`urn:x:y:2.0:User:a[b eq ${text}]`)).toMatchObject({
      path: { filter: { value: JSON.parse(text) } },
    });
  });
});

describe('a number that JSON does not allow is a fault at its first character', () => {
  test.each([
    '05',
    '-05',
    '00',
    '+1',
    '.5',
    '1.',
    '1.e5',
    '1e',
    '1e+',
    'e5',
    '-',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
  ])('%s', (text) => {
    expect(parseFilter(`id eq ${text}`)).toEqual({ fault: expect.any(String), position: 6 });
  });
});

describe('a number that JavaScript rounds is a fault that asks for a string', () => {
  test.each(['9007199254740993', '-9007199254740992', '1e400', '1e22', '9'.repeat(5000)])('%s', (text) => {
    expect(parseFilter(`id eq ${text}`)).toEqual({
      fault: expect.stringMatching(/^"[-\d.e…]{3,61}" is beyond what numbers hold; send it as a string$/),
      position: 6,
    });
  });
});

describe('a word after eq that is neither true, false, null nor a number is a text if bare words are accepted', () => {
  const cases: [string, unknown][] = [
    ['ada', 'ada'],
    ['Ada.Lovelace+x@corp-group.example', 'Ada.Lovelace+x@corp-group.example'],
    ['04f9e1a2-7c1b-4d55-9c36-1f0e4f5a9b11', '04f9e1a2-7c1b-4d55-9c36-1f0e4f5a9b11'],
    ['0042', '0042'],
    ['+33612345678', '+33612345678'],
    ['NaN', 'NaN'],
    ['True', true],
    ['null', null],
    ['42', 42],
    ['1e2', 100],
  ];
  test.each(cases)('%s', (word, value) => {
    const syntax = { bareWords: true };
    expect(parseFilter(`userName eq ${word}`, syntax)).toMatchObject({ op: 'eq', value });
    expect(parseFilter(`(userName EQ ${word}) and title pr`, syntax)).toMatchObject({ op: 'and' });
    expect(parsePath(`emails[value eq ${word}].type`, syntax)).toMatchObject({ filter: { value } });
  });

  test.each(['sw', 'co', 'EW'])('after %s too', (op) => {
    expect(parseFilter(`userName ${op} ada@corp.example`, { bareWords: true })).toMatchObject({
      op: op.toLowerCase(),
      value: 'ada@corp.example',
    });
  });

  const ordered: [string, unknown][] = [
    ['42', 42],
    ['0042', '0042'],
    ['+5', '+5'],
    ['2026-01-31', '2026-01-31'],
    ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00Z'],
    ['2026-01-31T08:00:00.123-02:00', '2026-01-31T08:00:00.123-02:00'],
  ];
  test.each(ordered)('after gt, ge, lt and le, and after eq, a number or a date: %s', (word, value) => {
    for (const op of ['gt', 'ge', 'lt', 'le', 'eq'])
      expect(parseFilter(`externalId ${op} ${word}`, { bareWords: true })).toMatchObject({ op, value });
  });

  test.each([
    'gt ada',
    'le 2026-01-31x',
    'ge 12:30',
    'sw and',
    'co OR',
    "ew 'ada'",
    'ne ada',
    'eq and',
    'eq OR',
    'eq ada,bob',
    "eq 'ada'",
    'eq zoë',
    'eq ada"x"',
    'eq 1e400',
  ])('but not in: userName %s', (rest) => {
    expect(parseFilter(`userName ${rest}`, { bareWords: true })).toMatchObject({ fault: expect.any(String) });
  });
});
