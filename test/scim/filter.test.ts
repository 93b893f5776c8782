import { groupType, userType } from '../../src/schema/resource-types.ts';
import {
  groupColumns,
  parseFilterParameter,
  toFilterQuery,
  userColumns,
} from '../../src/scim/lists/filter.ts';

const has = (field: string, value: string | boolean = 'x') => ({ field, operator: 'eq', value });
const part = (field: string, operator: string) => ({ field, operator, value: 'x' });
const everything = { all: [] };
const nothing = { any: [] };
const moment = Date.UTC(2026, 10, 20);

describe('a filter on users becomes a condition on columns', () => {
  const cases: [string, object, boolean][] = [
    ['userName eq "x"', has('userName'), true],
    [
      'id eq "x" and (userName eq "x" and externalId eq "x")',
      { all: [has('id'), has('userName'), has('externalId')] },
      true,
    ],
    ['emails eq "x"', has('email'), true],
    ['emails.value eq "x"', has('email'), true],
    ['emails[value eq "x"]', has('email'), true],
    ['emails[type eq "work"].value eq "x"', has('email'), false],
    ['emails[type eq "work" and value eq "x"]', has('email'), false],
    ['displayName eq "x"', has('displayName'), true],
    ['externalId eq 5', has('externalId', '5'), true],
    ['active eq true', has('active', true), true],
    ['active eq "False"', has('active', false), true],
    ['active ne true', { all: [] }, false],
    ['not (active eq true)', { all: [] }, false],
    ['meta.created gt "2026-11-20"', { field: 'created', operator: 'gt', value: moment }, true],
    [
      'META.lastmodified le "2026-11-20T01:00:00+01:00"',
      { field: 'lastModified', operator: 'le', value: moment },
      true,
    ],
    ['meta.resourceType eq "User"', everything, true],
    ['meta.resourceType eq "Group"', nothing, true],
    ['userName pr', everything, true],
    ['id eq "x" and title pr', has('id'), false],
    ['userName eq "x" or id eq "x"', { any: [has('userName'), has('id')] }, true],
    [
      'userName eq "x" or emails[type eq "work"].value eq "x"',
      { any: [has('userName'), has('email')] },
      false,
    ],
    ['userName eq "x" or title eq "x"', everything, false],
    ['not (userName eq "x")', everything, false],
    ['userName sw "x"', part('userName', 'sw'), false],
    ['displayName ew "x"', part('displayName', 'ew'), false],
    ['externalId co "x"', part('person', 'co'), false],
    ['externalId sw "x"', part('externalId', 'sw'), false],
    ['emails.value sw "x"', part('email', 'sw'), false],
    ['emails[type eq "work"].value co "x"', part('person', 'co'), false],
    ['name.familyName eq "x"', part('person', 'co'), false],
    ['name.GivenName sw "x" and active eq true', { all: [part('person', 'co'), has('active', true)] }, false],
    ['name.formatted co "x"', everything, false],
    ['name.familyName ne "x"', everything, false],
    ['userName co "\\ud800"', everything, false],
    ['meta.created sw "2026"', everything, false],
    ['emails.type eq "x"', everything, false],
    ['urn:x:y:2.0:User:id eq "x"', everything, false],
    ['externalId eq "\\ud800"', has('externalId', '\ud800'), false],
    ['externalId eq "\\ufffd"', has('externalId', '\ufffd'), false],
  ];
  test.each(cases)('%s', (text, where, isComplete) => {
    const query = toFilterQuery(userColumns, parseFilterParameter(userType, text));
    expect(query.where).toEqual(where);
    expect(query.residual === undefined).toBe(isComplete);
  });
});

test.each([
  ['userName sw "x"', ['userName']],
  ['userName sw "x" or (displayName co "y" and id eq "z")', ['userName', 'displayName']],
  ['userName sw "x" and title pr', undefined],
  ['userName sw "x" or emails sw "y"', undefined],
  ['externalId sw "x"', undefined],
  ['id eq "x"', undefined],
])(
  'the residual of a search for a part is for values only that are too long for a column: %s',
  (text, fields) => {
    const query = toFilterQuery(userColumns, parseFilterParameter(userType, text));
    expect(query.exactUnlessLong).toEqual(fields);
  },
);

test('the residual has only those comparisons that no column answers', () => {
  const filter = parseFilterParameter(
    userType,
    'userName eq "x" and title pr and nickName pr and active eq true',
  );
  const rest = parseFilterParameter(userType, 'title pr and nickName pr');
  expect(toFilterQuery(userColumns, filter)).toEqual({
    where: { all: [has('userName'), has('active', true)] },
    residual: rest,
  });
});

test('a filter on groups compares members by a column', () => {
  const query = toFilterQuery(
    groupColumns,
    parseFilterParameter(groupType, 'id eq "x" and members eq "u" and members[value eq "v"]'),
  );
  expect(query).toEqual({
    where: { all: [has('id'), has('member', 'u'), has('member', 'v')] },
    residual: undefined,
  });
});

test('a filter with more comparisons than a statement takes is a residual as a whole', () => {
  const filter = parseFilterParameter(
    userType,
    Array.from({ length: 201 }, (_, at) => `id eq "${at}"`).join(' or '),
  );
  expect(toFilterQuery(userColumns, filter)).toEqual({ where: everything, residual: filter });
});

test('no filter selects everything', () => {
  expect(toFilterQuery(userColumns, parseFilterParameter(userType, undefined))).toEqual({
    where: everything,
    residual: undefined,
  });
});
