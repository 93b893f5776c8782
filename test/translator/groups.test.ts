import type { Json } from '../../src/schema/resource.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { previewText } from '../../src/translator/preview.ts';
import { findNamedGroups, groupTest } from '../../src/translator/rules/named-groups.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { lookups, mappingOf, rulesOf, translate } from '../fixtures/translator.ts';

const rule = (given: { [name: string]: Json }) => ({ userAttribute: 'costCenterId', ...given });
const when = (condition: string) => rule({ template: 'CC-40', when: condition });

/** Returns those of some groups that the rules of a mapping name; undefined if no rule reads groups. */
function namedBy(...scimUserMapping: Json[]): string[] | undefined {
  const test = groupTest(rulesOf({ scimUserMapping }));
  const groups = ['Site Paris', 'Site Lyon', 'VIP'].map((display) => ({ value: `g-${display}`, display }));
  return test && groups.filter(test).map(({ display }) => display);
}

describe('the groups that rules name', () => {
  it('are not asked for if no rule reads groups', () => {
    expect(
      namedBy(when('userType pr'), { scimAttribute: 'title', userAttribute: 'lastName' }),
    ).toBeUndefined();
  });

  it.each([
    ['groups[display eq "vip"]', ['VIP']],
    ['not (groups[display eq "VIP"])', ['VIP']],
    ['groups.display ne "VIP"', ['VIP']],
    ['groups[display sw "Site" and not (display ew "Paris")]', ['Site Lyon']],
    ['groups[display co "ari"] or groups.value eq "g-VIP"', ['Site Paris', 'VIP']],
    ['groups pr', ['Site Paris', 'Site Lyon', 'VIP']],
    ['groups.display eq null', ['Site Paris', 'Site Lyon', 'VIP']],
    ['urn:ietf:params:scim:schemas:core:2.0:User:groups[display eq "VIP"]', ['VIP']],
  ])('by the condition %s', (condition, named) => {
    expect(namedBy(when(condition))).toEqual(named);
  });

  it('by a source: the entries of its map, and all groups without one', () => {
    const map = { 'site lyon': 'CC-40', 'Site Paris': 'CC-40' };
    expect(namedBy(rule({ scimAttribute: 'groups.display', transforms: [{ map }] }))).toEqual(['Site Paris']);
    expect(namedBy(rule({ scimAttribute: 'groups.display', transforms: ['lowercase', { map }] }))).toEqual([
      'Site Lyon',
    ]);
    expect(namedBy(rule({ scimAttribute: 'groups[display sw "Site"].display' }))).toEqual([
      'Site Paris',
      'Site Lyon',
    ]);
    expect(namedBy(rule({ template: 'In {groups.display}' }))).toEqual(['Site Paris', 'Site Lyon', 'VIP']);
  });
});

describe('a part that groups do not have', () => {
  it.each([
    [
      when('groups[displayName eq "VIP"]'),
      'scimUserMapping[0].when',
      'a rule can read no groups.displayName',
    ],
    [
      rule({ scimAttribute: 'groups.type' }),
      'scimUserMapping[0].scimAttribute',
      'a rule can read no groups.type',
    ],
    [
      rule({ scimAttribute: 'groups[name eq "VIP"].display' }),
      'scimUserMapping[0].scimAttribute',
      'a rule can read no groups.name',
    ],
  ])('is a fault: %j', (row, path, problem) => {
    const parsed = parseMapping({ scimUserMapping: [row] });
    expect(parsed).toMatchObject({ faults: [{ path, problem }] });
  });
});

it('the names that a mapping has in full are found with their places', () => {
  const mapping = mappingOf({
    scimUserMapping: [
      when('groups[display eq "A"] or (groups.display ne "B" and groups[display sw "C"])'),
      rule({
        sources: ['title', 'groups.display'],
        transforms: [{ map: { D: 'x' } }],
        customField: 'Job title',
      }),
      { template: '{groups[display eq "E"].display}', customField: 'Department' },
    ].map(({ userAttribute, ...row }: { [name: string]: Json }) =>
      row.customField === undefined ? { ...row, userAttribute: userAttribute ?? null } : row,
    ),
  });
  expect(findNamedGroups(mapping)).toEqual([
    { path: 'scimUserMapping[0].when', name: 'A' },
    { path: 'scimUserMapping[0].when', name: 'B' },
    { path: 'scimUserMapping[1].transforms[0].map.D', name: 'D' },
    { path: 'scimUserMapping[2].template', name: 'E' },
  ]);
});

describe('the trace', () => {
  const mapping = { scimUserMapping: [when('groups[display sw "Site"]')] };

  it('names the group that the condition has found', () => {
    const groups = [
      { value: 'g-1', display: 'VIP' },
      { value: 'g-2', display: 'Site Paris' },
    ];
    const translation = translate({ userName: 'a@x.example' }, { mapping, groups });
    expect(translation.trace.filter(({ field }) => field === 'costCenterId')).toEqual([
      {
        ...{ field: 'costCenterId', origin: 'file', rule: '"CC-40"', when: 'groups[display sw "Site"]' },
        ...{ group: 'Site Paris', outcome: 'set', before: 'CC-40', after: 'cc-12' },
      },
    ]);
    expect(previewText(translation)).toContain(
      'set by file rule "CC-40", when groups[display sw "Site"], as a member of "Site Paris": "CC-40" → "cc-12"',
    );
  });

  it('names no group if the condition has found none', () => {
    const { trace } = translate({ userName: 'a@x.example' }, { mapping });
    expect(trace.filter(({ when }) => when !== undefined)).toEqual([
      expect.not.objectContaining({ group: expect.anything() }),
    ]);
  });
});

test('a person who is read from the travel service gets no groups: they come from the identity provider alone', () => {
  const rules = rulesOf({ scimUserMapping: [rule({ scimAttribute: 'groups.display' })] });
  const traveler = { id: 't', email: 'a@x.example', archived: false, createdAt: '', costCenterId: 'cc-12' };
  expect(toScim(rules, traveler, { lookups })).not.toHaveProperty('groups');
});
