import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { findManagerReferences } from '../../src/translator/compiled-fields.ts';
import { parseMapping } from '../../src/translator/mapping-file.ts';
import { previewText } from '../../src/translator/preview.ts';
import { expandTrace } from '../../src/translator/trace.ts';
import { fieldKeys, rulesOf, translate } from '../fixtures/translator.ts';
import { anyApplied, anyJson, anyMapping, anyUser } from './arbitraries.ts';

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
    { numRuns: 300 },
  );
});

it('the trace has the result of each field', () => {
  fc.assert(
    fc.property(anyUser, anyMapping, anyApplied, (user, mapping, applied) => {
      const { fields, trace: stored } = translate(user, { mapping, applied });
      const trace = expandTrace(stored);
      for (const [key, wanted] of Object.entries(fields)) {
        const sets = trace.filter(({ field, outcome }) => field === key && outcome === 'set');
        if (wanted.kind !== 'value') expect(sets).toEqual([]);
        else
          expect(sets.flatMap(({ after }) => after ?? [])).toEqual(
            expect.arrayContaining(tracedValues(key, wanted.value)),
          );
      }
    }),
    { numRuns: 300 },
  );
});

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
    { numRuns: 1500 },
  );
});

it('any JSON is read as a mapping or has faults', () => {
  const key = fc.constantFrom(
    'scimUserMapping',
    'scimAttribute',
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
