import type { ScopeVerdict } from '../../src/model/translation.ts';
import { type AttributeExpression, parseFilter } from '../../src/schema/filter-parser.ts';
import { toScope } from '../../src/translator/rules/scope.ts';

const groups = (...names: string[]) => ({ groups: names.map((display) => ({ display })) });

/** Judges a user by a filter, while the group "Later" has not been received. */
function judge(text: string, user: object): ScopeVerdict {
  const filter = parseFilter(text);
  if ('fault' in filter) throw new Error(filter.fault);
  const isUnresolved = (expression: AttributeExpression) => JSON.stringify(expression).includes('Later');
  return toScope(text, filter).judge({ ...user }, isUnresolved);
}

describe('a scope that names a group which has not been received', () => {
  it.each<[string, object, ScopeVerdict]>([
    ['groups[display eq "Later"]', {}, 'unresolved'],
    ['not (groups[display eq "Later"])', {}, 'unresolved'],
    ['groups.display ne "Later"', {}, 'unresolved'],
    ['groups[display eq "Later"]', groups('Later'), 'in'],
    ['not (groups[display eq "Later"])', groups('Later'), 'out'],
    ['groups[display eq "Staff" or display eq "Later"]', groups('Staff'), 'in'],
    ['groups[display eq "Staff" or display eq "Later"]', groups('Guests'), 'unresolved'],
    ['groups[display eq "Later"] or userType eq "Employee"', { userType: 'Employee' }, 'in'],
    ['groups[display eq "Later"] or userType eq "Employee"', { userType: 'Service' }, 'unresolved'],
    ['groups[display eq "Later"] and userType eq "Employee"', { userType: 'Employee' }, 'unresolved'],
    ['groups[display eq "Later"] and userType eq "Employee"', { userType: 'Service' }, 'out'],
    ['not (groups[display eq "Later"] and userType eq "Employee")', { userType: 'Service' }, 'in'],
    ['groups[display eq "Staff"]', groups('Guests'), 'out'],
  ])('%s with %j is %s', (text, user, verdict) => {
    expect(judge(text, user)).toBe(verdict);
  });
});
