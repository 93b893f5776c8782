import { allRulesText, appliedText, conflictText, planText } from '../../src/cli/mapping/mapping-texts.ts';
import type { MappingPreview } from '../../src/provisioning/rules/preview-mapping.ts';
import type { MappingVersion } from '../../src/store/queues/rules-in-force.ts';
import { otherRules } from '../../src/translator/mapping/default-rules.ts';
import { compileRules } from '../../src/translator/rules.ts';
import { mappingOf } from '../fixtures/translator.ts';

const preview: MappingPreview = {
  ...{ people: 150, changed: 100, created: 0, pending: 0, outOfScope: 0 },
  fields: [
    { field: 'lang', set: 98, cleared: 0, again: 0, released: 0 },
    { field: 'customFields.c1', set: 0, cleared: 2, again: 0, released: 0 },
    { field: 'phoneNumber', set: 0, cleared: 1, again: 0, released: 0 },
  ],
  findings: [],
  presentFindings: [],
  examples: [],
  names: { 'customFields.c1': 'Department' },
};
const subject = { connection: 'okta', mapping: 'new.json' };

test('a plan lists the removed values apart, and does not mention an approval up to 100 people', () => {
  const text = planText(preview, subject);
  expect(text).toMatch(/Values that would be removed:\n {2}Department: 2 people\n {2}phoneNumber: 1 person$/);
});

test('a plan says that a change of more than 100 people waits for approval, and how to approve it', () => {
  const text = planText({ ...preview, changed: 101, fields: [] }, subject);
  expect(text).toContain('so the change waits for approval once the mapping is in force');
  expect(text).toMatch(/jetbridge holds approve --cause rules --connection okta$/);
  expect(text).not.toContain('removed');
});

test('a conflict names the source if no command was run, and each member that differs', () => {
  const version: MappingVersion = {
    ...{ number: 4, generation: 9, edition: 4, digest: 'd', mapping: {}, author: undefined },
    source: 'file',
    appliedAt: Date.UTC(2026, 0, 2, 3, 4),
  };
  const members = [{ name: 'phone', before: null, after: { defaultCountry: 'FR' } }];
  expect(conflictText(version, { addedRules: [], removedRules: [], members })).toBe(
    [
      'Nothing was applied: the mapping was changed meanwhile, by a mapping file at 2026-01-02 03:04 (UTC), version 4:',
      '  phone: null → {"defaultCountry":"FR"}',
      'Look at it with "npx jetbridge mapping show", add its changes to yours, and apply again.',
    ].join('\n'),
  );
  expect(conflictText(version, { addedRules: [], removedRules: [], members: [] })).toContain(
    'the order of the rules',
  );
});

test('an applied mapping says when people follow: within a minute, or after the approval', () => {
  expect(appliedText('okta', 4, false)).toMatch(
    /^In force for connection okta, as version 4\. A running server .* within a minute\.\nGo back with /,
  );
  expect(appliedText('okta', 4, true)).toContain('People follow within a minute after the approval.');
});

test('all rules are listed in their order of precedence, in the form of a mapping file', () => {
  const mapping = mappingOf({
    scimUserMapping: [
      { scimAttribute: 'nickName', userAttribute: 'firstName' },
      { template: 'fr', userAttribute: 'lang', when: 'userType eq "Intern"' },
    ],
    scope: 'userType pr',
  });
  const collection = [{ scimAttribute: 'title', customFieldId: 'cf-title' }];
  const text = allRulesText(mapping, otherRules(compileRules(mapping, collection)));
  const sections = text.split('\n\n');
  expect(sections[0]).toMatch(
    /^Rules of the mapping.*\n {2}\{"scimAttribute":"nickName","userAttribute":"firstName"\}\n/,
  );
  expect(sections[1]).toContain('{"scimAttribute":"title","customFieldId":"cf-title"}');
  expect(sections[2]).toContain(
    '\n  {"scimAttribute":"name.familyName","userAttribute":"lastName"}\n    then name.formatted',
  );
  expect(sections[2]).toContain(
    '\n  {"sources":["preferredLanguage","locale"],"fallback":"unusable","userAttribute":"lang"}\n    then language.default\n    if no condition of the rules above holds\n',
  );
  expect(sections[2]).toContain('\n  archived: active\n');
  expect(sections[2]).not.toContain('firstName');
  expect(sections[3]).toBe('Settings of the mapping:\n  scope: "userType pr"');
  expect(sections[4]).toMatch(/:\n {2}firstName$/);
});
