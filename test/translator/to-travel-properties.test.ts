import fc from 'fast-check';
import type { StoredTrace, TraceEntry } from '../../src/model/translation.ts';
import { conditionTest } from '../../src/schema/filter-match.ts';
import { parseFilter } from '../../src/schema/filter-parser.ts';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { userType } from '../../src/schema/resource-types.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { previewText } from '../../src/translator/preview.ts';
import { findManagerReferences } from '../../src/translator/rules/compiled-fields.ts';
import { expandTrace, toStoredTrace } from '../../src/translator/trace.ts';
import { runs } from '../fixtures/runs.ts';
import { fieldKeys, rulesOf, translate } from '../fixtures/translator.ts';
import { anyApplied, anyCondition, anyJson, anyMapping, anyUser } from './arbitraries.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const travel = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

it('any JSON is translated under any mapping without an exception, and every field is decided', () => {
  const user = fc.oneof({ weight: 4, arbitrary: anyUser }, fc.dictionary(fc.string(), anyJson));
  fc.assert(
    fc.property(user, anyMapping, anyApplied, (of, mapping, applied) => {
      const translation = translate(of, { mapping, applied });
      // The store keeps translations as JSON.
      expect(JSON.parse(JSON.stringify(translation))).toEqual(translation);
      expect(Object.keys(translation.fields)).toEqual(expect.arrayContaining([...fieldKeys, 'archived']));
      for (const { field, code, reason, remedy } of translation.findings)
        expect([field, code, reason, remedy]).not.toContain('');
      expect(previewText(translation)).not.toBe('');
      expect(findManagerReferences(rulesOf(mapping), of).every((raw) => raw !== '')).toBe(true);
    }),
    runs(300),
  );
});

it('the trace has the result of each field', () => {
  fc.assert(
    fc.property(anyUser, anyMapping, anyApplied, (user, mapping, applied) => {
      const { fields, trace: stored } = translate(user, { mapping, applied });
      const trace = expandTrace(stored);
      for (const [key, wanted] of Object.entries(fields)) {
        const sets = trace.filter(({ field, outcome }) => field === key && outcome === 'set');
        const value = 'value' in wanted ? wanted.value : undefined;
        if (value === undefined) expect(sets).toEqual([]);
        else
          expect(sets.flatMap(({ after }) => after ?? [])).toEqual(
            expect.arrayContaining(tracedValues(key, value)),
          );
      }
    }),
    runs(300),
  );
});

it('a stored trace has the entries of the translation', () => {
  fc.assert(
    fc.property(anyUser, anyMapping, anyApplied, (user, mapping, applied) => {
      const { trace } = translate(user, { mapping, applied });
      const stored: StoredTrace = JSON.parse(JSON.stringify(toStoredTrace(trace)));
      const sorted = (entries: TraceEntry[]) =>
        entries.toSorted((one, other) => one.field.localeCompare(other.field));
      expect(sorted(expandTrace(stored))).toEqual(sorted(trace));
    }),
    runs(300),
  );
});

it.each<[string, JsonObject]>([
  ['without attributes', {}],
  ['with empty extensions', { [enterprise]: {}, [travel]: {} }],
])(
  'the trace of a user %s is stored, and is not that of an identity that was never translated',
  (_, user) => {
    const { trace } = translate(user);
    const entries = expandTrace(toStoredTrace(trace));
    expect(entries).toHaveLength(trace.length);
    expect(entries).toEqual(expect.arrayContaining(trace));
    expect(expandTrace([])).toEqual([]);
  },
);

it('a value that is left out has a finding', () => {
  const given: [string, (value: Json) => JsonObject][] = [
    ['phoneNumber', (value) => ({ phoneNumbers: [{ type: 'work', value }] })],
    ['email', (value) => ({ emails: [{ type: 'work', value }] })],
    ['firstName', (givenName) => ({ name: { givenName } })],
    ['lang', (preferredLanguage) => ({ preferredLanguage })],
    ['address.streetAddress', (streetAddress) => ({ addresses: [{ streetAddress }] })],
    ['address.countryCode', (country) => ({ addresses: [{ country }] })],
    ['managerId', (value) => ({ [enterprise]: { manager: { value } } })],
    ['costCenterId', (costCenter) => ({ [enterprise]: { costCenter } })],
    ['billingProfileId', (billingProfile) => ({ [travel]: { billingProfile } })],
    ['travelPolicyId', (travelPolicyId) => ({ [travel]: { travelPolicyId } })],
    ...['currency', 'dateOfBirth', 'gender', 'separateIcsEmails'].map(
      (name): [string, (value: Json) => JsonObject] => [name, (value) => ({ [travel]: { [name]: value } })],
    ),
    ['roles', (value) => ({ roles: [{ value }] })],
    ['customFields.cf-title', (title) => ({ title })],
    ['customFields.cf-department', (nickName) => ({ nickName })],
  ];
  const mapping = {
    scimUserMapping: [
      { scimAttribute: 'title', customField: 'Job title' },
      { scimAttribute: 'nickName', customField: 'Department' },
    ],
  };
  fc.assert(
    fc.property(
      fc.constantFrom(...given),
      anyJson.filter((value) => !isBlank(value)),
      ([key, userOf], value) => {
        const { fields, findings } = translate(userOf(value), { mapping });
        const isSet = Object.entries(fields).some(
          ([name, wanted]) => name.startsWith(key) && wanted.kind === 'value',
        );
        const hasFinding = findings.some(
          ({ field, reason, remedy }) => field.startsWith(key) && reason && remedy,
        );
        expect(isSet || hasFinding).toBe(true);
      },
    ),
    runs(1500),
  );
});

it('any text is a template and a condition, or a fault with its place; translated, it never throws', () => {
  const piece = fc.oneof(
    fc.constantFrom('{', '}', '{{', '}}', '"', '\\', '[', ']', '(', ')', ' ', '.', ':', '\n'),
    fc.constantFrom(
      'title',
      'userType',
      'emails',
      'emails.value',
      'name',
      'type',
      'urn:acme:hr:1.0:Person:badge',
    ),
    fc.constantFrom(' eq ', ' pr', ' and ', ' or ', 'not (', ' co ', ' ge ', 'true', 'null', '"x"', '7'),
    fc.string({ maxLength: 3 }),
  );
  const anyText = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
    anyCondition,
  );
  let read = 0;
  const usual = runs(1500);
  fc.assert(
    fc.property(anyText, anyText, anyUser, (template, when, user) => {
      for (const members of [{ template }, { scimAttribute: 'title', when }, { sources: [template, when] }]) {
        const mapping = { scimUserMapping: [{ customField: 'Job title', ...members }] };
        const result = parseMapping(mapping);
        if ('mapping' in result) {
          read += 1;
          const { fields, trace } = translate(user, { mapping });
          expect(fields['customFields.cf-title']).toBeDefined();
          expect(expandTrace(trace).some(({ field }) => field === 'customFields.cf-title')).toBe(true);
        } else
          for (const { path, problem, remedy } of result.faults) {
            expect(path).toMatch(/^scimUserMapping\[0\]\./);
            expect([problem, remedy]).not.toContain('');
          }
      }
    }),
    usual,
  );
  // Else the texts would test little but faults.
  expect(read).toBeGreaterThan((usual.numRuns * 4) / 15);
});

it('of several rules for one field, the first is used whose condition holds for the user', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyCondition, { maxLength: 4 }), anyUser, (conditions, user) => {
      const rules = conditions.map((when, index) => ({
        template: `rule ${index}`,
        customField: 'Job title',
        when,
      }));
      const otherwise = { template: 'otherwise', customField: 'Job title' };
      const mapping = { scimUserMapping: [...rules, otherwise] };
      const first = conditions.findIndex((when) => matches(when, user));
      const value = [{ data: first < 0 ? 'otherwise' : `rule ${first}` }];
      const { fields, trace } = translate(user, { mapping });
      expect(fields['customFields.cf-title']).toMatchObject({ kind: 'value', value });
      const skipped = expandTrace(trace).filter(({ outcome, when }) => outcome === 'skipped' && when);
      expect(skipped.map(({ reason }) => reason)).toEqual(
        conditions.slice(0, first < 0 ? undefined : first).map((when) => `when ${when} is false`),
      );
    }),
    runs(400),
  );
});

function matches(when: string, user: JsonObject): boolean {
  const filter = parseFilter(when);
  return !('fault' in filter) && conditionTest(userType, filter)(user);
}

it('any JSON is read as a mapping or has faults', () => {
  const key = fc.constantFrom(
    'scimUserMapping',
    'scimAttribute',
    'sources',
    'template',
    'when',
    'customField',
    'transforms',
    'roles',
    'map',
    'default',
  );
  const part = fc.dictionary(key, fc.oneof(anyJson, fc.array(fc.dictionary(key, anyJson))));
  fc.assert(
    fc.property(fc.oneof(anyJson, part), (value) => {
      const result = parseMapping(value);
      const isRight =
        'mapping' in result || result.faults.every(({ path, problem, remedy }) => path && problem && remedy);
      expect(isRight).toBe(true);
    }),
  );
});

/** The values that the trace shows: the name of a role, and each option of a list in an entry of its own. */
function tracedValues(key: string, value: Json): Json[] {
  return key.startsWith('roles.') ? [key.slice('roles.'.length)] : [value].flat();
}

function isBlank(value: Json): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isBlank);
  return value === null || (typeof value === 'string' && value.trim() === '');
}
