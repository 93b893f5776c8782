import type { Json } from '../../src/schema/resource.ts';
import { checkNames } from '../../src/translator/rules/check-names.ts';
import { lookups, rulesOf } from '../fixtures/translator.ts';

function faultsOf(...scimUserMapping: Json[]): string[] {
  const faults = checkNames(rulesOf({ scimUserMapping }), lookups);
  return faults.map(({ path, problem, remedy }) => `${path}: ${problem}. ${remedy}`);
}

describe('a template without a path is a value of the mapping: ', () => {
  it('an unknown one has its place and the name that was probably meant', () => {
    const rule = { template: 'Marketting', userAttribute: 'costCenterId', when: 'userType eq "Contractor"' };
    expect(faultsOf(rule, { template: 'Marketing', userAttribute: 'costCenterId' })).toEqual([
      'scimUserMapping[0].template: the travel service has no such cost center: "Marketting". Did you mean "Marketing"?',
    ]);
  });

  it('it is looked up as it is after the transforms', () => {
    const rule = { template: '40', userAttribute: 'costCenterId', transforms: [{ prefix: 'CC-' }] };
    expect(faultsOf(rule)).toEqual([]);
    expect(faultsOf({ ...rule, template: '41' })).toEqual([
      'scimUserMapping[0].template: the travel service has no such cost center: "CC-41". Did you mean "CC-40"?',
    ]);
  });

  it('one that the transforms leave out is a fault', () => {
    const transforms = [{ map: { A: 'Marketing' } }];
    expect(faultsOf({ template: 'B', userAttribute: 'costCenterId', transforms })).toEqual([
      'scimUserMapping[0].template: the transforms of the rule give no value: the map of the rule has no entry for it. Correct the transforms.',
    ]);
    const intended = [{ map: { B: '' } }];
    expect(faultsOf({ template: 'B', userAttribute: 'costCenterId', transforms: intended })).toEqual([]);
  });
});

it('a template with a path is not looked up, because its text depends on the user', () => {
  expect(faultsOf({ template: 'CC-{title}', userAttribute: 'costCenterId' })).toEqual([]);
});

it('each rule with a condition is checked, even if another rule for its field is right', () => {
  const contractors = { scimAttribute: 'title', customField: 'Jop title', when: 'userType eq "Contractor"' };
  expect(faultsOf(contractors, { scimAttribute: 'title', customField: 'Job title' })).toEqual([
    'scimUserMapping[0].customField: the travel service has no custom field called "Jop title". Did you mean "Job title"?',
  ]);
});
