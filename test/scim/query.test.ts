import { groupType, userType } from '../../src/schema/resource-type.ts';
import { readFilter } from '../../src/scim/filter.ts';
import { toGroupQuestion, toUserQuestion } from '../../src/scim/query.ts';

const id = { by: 'id', value: 'x' };
const userName = { by: 'userName', value: 'x' };
const email = { by: 'email', value: 'x' };

describe('a filter on users asks the indexes', () => {
  const cases: [string, object[], boolean][] = [
    ['userName eq "x"', [userName], true],
    [
      'id eq "x" and (userName eq "x" and externalId eq "x")',
      [id, userName, { by: 'externalId', value: 'x' }],
      true,
    ],
    ['emails eq "x"', [email], true],
    ['emails.value eq "x"', [email], true],
    ['emails[value eq "x"]', [email], true],
    ['emails[type eq "work"].value eq "x"', [email], false],
    ['emails[type eq "work" and value eq "x"]', [email], false],
    ['id eq "x" and active eq true', [id], false],
    ['userName eq "x" or id eq "x"', [], false],
    ['not (userName eq "x")', [], false],
    ['userName sw "x"', [], false],
    ['emails.type eq "x"', [], false],
    ['externalId eq 5', [], false],
    ['urn:x:y:2.0:User:id eq "x"', [], false],
  ];
  test.each(cases)('%s', (text, matches, isAnswered) => {
    const question = toUserQuestion(readFilter(userType, text));
    expect(question.matches).toEqual(matches);
    expect(question.residual === undefined).toBe(isAnswered);
  });
});

test('a filter on groups asks for members', () => {
  const question = toGroupQuestion(
    readFilter(groupType, 'id eq "x" and members eq "u" and members[value eq "v"]'),
  );
  expect(question).toEqual({
    matches: [id, { by: 'member', value: 'u' }, { by: 'member', value: 'v' }],
    residual: undefined,
  });
});

test('no filter asks for everything', () => {
  expect(toUserQuestion(readFilter(userType, undefined))).toEqual({ matches: [], residual: undefined });
});
