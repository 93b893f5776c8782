import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { parseMapping } from '../../src/translator/mapping.ts';
import { keep, plan, toMergePatch } from '../../src/translator/plan.ts';
import { previewText } from '../../src/translator/preview.ts';
import { referencesOf } from '../../src/translator/references.ts';
import { toScim } from '../../src/translator/to-scim.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';
import { lookups, rulesOf, translate } from './house.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const travel = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

const mapping = {
  scimUserMapping: [
    { scimAttribute: 'title', customField: 'Job title', transforms: ['trim'] },
    { scimAttribute: `${enterprise}:department`, customField: 'Department' },
    { scimAttribute: `${enterprise}:employeeNumber`, customFieldId: 'cf-number', transforms: ['digits'] },
    { scimAttribute: 'nickName', userAttribute: 'gender', transforms: [{ map: { m: 'male', f: 'female' } }] },
    { scimAttribute: `${enterprise}:organization`, userAttribute: 'costCenterId' },
    { scimAttribute: 'userType', userAttribute: 'address.region', transforms: ['uppercase'] },
  ],
};

const json = fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value)));
const likely = fc.oneof(
  json,
  fc.constantFrom<Json[]>(
    'work',
    'mobile',
    true,
    'ada@x.example',
    '+33 612345678',
    'Sales',
    'FR',
    'fr',
    'manager',
    'cc-12',
  ),
);
const element = fc.dictionary(
  fc.constantFrom('value', 'type', 'primary', 'display', 'country', 'locality'),
  likely,
);
const attribute = fc.oneof(likely, element, fc.array(fc.oneof(likely, element), { maxLength: 4 }));
const names = [
  ...[
    'userName',
    'name',
    'displayName',
    'nickName',
    'title',
    'userType',
    'active',
    'emails',
    'phoneNumbers',
    'addresses',
  ],
  ...['preferredLanguage', 'locale', 'roles', '__proto__', 'constructor'],
];
const extension = fc.dictionary(
  fc.constantFrom(
    'manager',
    'costCenter',
    'department',
    'roles',
    'currency',
    'dateOfBirth',
    'separateIcsEmails',
  ),
  fc.oneof(attribute, fc.dictionary(fc.constantFrom('id', 'name', 'value', 'email'), likely)),
);
const anyUser = fc
  .tuple(fc.dictionary(fc.constantFrom(...names), attribute), extension, extension)
  .map(([user, one, other]): JsonObject => ({ ...user, [enterprise]: one, [travel]: other }));

const word = fc.stringMatching(/^[A-Za-zÀ-ÿ' -]{1,12}$/);
const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });
const anyTraveler = fc
  .record({
    email: fc.oneof(fc.emailAddress(), word),
    archived: fc.boolean(),
    firstName: maybe(word),
    lastName: maybe(word),
    phoneNumber: maybe(
      fc.constantFrom('+33 612345678', '+33 6 12 34 56 78', '+1 4255550100', '0612345678', 'n/a'),
    ),
    lang: maybe(fc.constantFrom('fr', 'en', 'de')),
    address: maybe(
      fc.record(
        {
          streetAddress: word,
          city: word,
          region: word,
          postalCode: word,
          countryCode: fc.constantFrom('FR', 'gb', 'XX'),
        },
        { requiredKeys: [] },
      ),
    ),
    billingProfileId: maybe(fc.constantFrom('b-1', 'b-unknown')),
    costCenterId: maybe(fc.constantFrom('cc-12', 'cc-13', 'cc-14', 'cc-unknown')),
    travelPolicyId: maybe(fc.constantFrom('p-1', 'p-unknown')),
    managerId: maybe(fc.constantFrom('t-1', 't-2')),
    dateOfBirth: maybe(fc.constantFrom('1990-02-28', '1990-2-3')),
    gender: maybe(fc.constantFrom('female', 'male', 'other')),
    currency: maybe(fc.constantFrom('EUR', 'usd', 'euro')),
    separateIcsEmails: maybe(fc.boolean()),
    roles: maybe(fc.uniqueArray(fc.constantFrom('manager', 'guest', 'admin', 'unheardOf'))),
    customFields: maybe(
      fc.subarray([
        { customFieldId: 'cf-title', values: [{ data: 'Buyer' }] },
        { customFieldId: 'cf-number', values: [{ data: '7001' }] },
        {
          customFieldId: 'cf-department',
          values: [{ customFieldOptionId: 'o-sales', data: 'Sales', displayName: 'S' }],
        },
        { customFieldId: 'cf-foreign', values: [{ data: 'x' }] },
      ]),
    ),
  })
  .map((fields): TravelUser => {
    const there = Object.entries(fields).filter(([, value]) => value !== undefined);
    return {
      id: 't',
      createdAt: '2026-01-01T00:00:00Z',
      email: '',
      archived: false,
      ...Object.fromEntries(there),
    };
  });

it('translates any JSON without a fault of its own', () => {
  fc.assert(
    fc.property(fc.oneof(anyUser, fc.dictionary(fc.string(), json)), (user) => {
      const translation = translate(user, { mapping });
      expect(previewText(translation)).not.toBe('');
      expect(referencesOf(rulesOf(mapping), user).every((raw) => raw !== '')).toBe(true);
      // What cannot be a value in JSON would not survive the store.
      expect(JSON.parse(JSON.stringify(translation))).toEqual(translation);
    }),
    { numRuns: 500 },
  );
});

it('a value that was sent is not left out without a word', () => {
  const given: [string, fc.Arbitrary<Json>, (value: Json) => JsonObject][] = [
    ['phoneNumber', json, (value) => ({ phoneNumbers: [{ type: 'work', value }] })],
    ['email', json, (value) => ({ emails: [{ type: 'work', value }] })],
    ['lang', json, (preferredLanguage) => ({ preferredLanguage })],
    ['address.countryCode', json, (country) => ({ addresses: [{ country }] })],
    ['currency', json, (currency) => ({ [travel]: { currency } })],
    ['costCenterId', json, (costCenter) => ({ [enterprise]: { costCenter } })],
  ];
  const blank = (value: Json): boolean =>
    value === null || (typeof value === 'string' ? value.trim() === '' : typeof value === 'object');
  for (const [field, values, userOf] of given) {
    fc.assert(
      fc.property(
        values.filter((value) => !blank(value)),
        (value) => {
          const { fields, findings } = translate(userOf(value));
          const isTold = findings.some(
            (finding) => finding.field === field && finding.reason && finding.remedy,
          );
          expect(fields[field]?.kind === 'value' || isTold).toBe(true);
        },
      ),
    );
  }
});

it('a rule for one field changes no other', () => {
  const targets = [
    'firstName',
    'lastName',
    'phoneNumber',
    'lang',
    'gender',
    'dateOfBirth',
    'managerId',
    'travelPolicyId',
  ];
  fc.assert(
    fc.property(anyUser, fc.constantFrom(...targets), (user, userAttribute) => {
      const rule = { scimAttribute: 'nickName', userAttribute, transforms: ['uppercase'] };
      const { [userAttribute]: _with, ...others } = translate(user, {
        mapping: { scimUserMapping: [rule] },
      }).fields;
      const { [userAttribute]: _without, ...before } = translate(user).fields;
      expect(others).toEqual(before);
    }),
  );
});

it('does the same work once only: what was sent and kept leaves nothing to plan', () => {
  fc.assert(
    fc.property(anyUser, anyTraveler, anyUser, (user, observed, before) => {
      const rules = rulesOf(mapping);
      const settle = (of: JsonObject, applied: Parameters<typeof keep>[0]): Parameters<typeof keep>[0] => {
        const wanted = translate(of, { mapping, applied }).fields;
        return keep(applied, plan({ applied, refused: {}, wanted, observed, basis: '', rules }), observed);
      };
      const applied = settle(user, settle(before, {}));
      const wanted = translate(user, { mapping, applied }).fields;
      const next = plan({ applied, refused: {}, wanted, observed, basis: '', rules });
      expect(next).toEqual({ set: {}, adopt: {}, remove: [], released: [], needsCurrent: false });
    }),
  );
});

it('a patch carries every foreign element along', () => {
  fc.assert(
    fc.property(anyUser, anyTraveler, (user, observed) => {
      const wanted = translate(user, { mapping }).fields;
      const next = plan({ applied: {}, refused: {}, wanted, observed, basis: '', rules: rulesOf(mapping) });
      const { roles, customFields } = toMergePatch(next, observed);
      if (roles !== undefined) expect(roles).toEqual(expect.arrayContaining(observed.roles ?? []));
      const ids = (observed.customFields ?? []).map(({ customFieldId }) =>
        expect.objectContaining({ customFieldId }),
      );
      if (customFields !== undefined) expect(customFields).toEqual(expect.arrayContaining(ids));
    }),
  );
});

it('a traveler shown as a SCIM user wants nothing else of themselves', () => {
  fc.assert(
    fc.property(anyTraveler, (traveler) => {
      const rules = rulesOf(mapping);
      const user = toScim(rules, traveler, { lookups });
      const references = new Map(referencesOf(rules, user).map((raw) => [raw, { travelId: raw }]));
      const { fields } = toTravel(rules, user, { lookups, references });
      const next = plan({ applied: {}, refused: {}, wanted: fields, observed: traveler, basis: '', rules });
      expect({ set: next.set, remove: next.remove }).toEqual({ set: {}, remove: [] });
      // And once more, by way of what was adopted.
      const applied = keep({}, next, traveler);
      const again = plan({ applied, refused: {}, wanted: fields, observed: traveler, basis: '', rules });
      expect(again).toEqual({ set: {}, adopt: {}, remove: [], released: [], needsCurrent: false });
    }),
    { numRuns: 500 },
  );
});

it('reads any JSON as a mapping or tells its faults', () => {
  const key = fc.constantFrom(
    'scimUserMapping',
    'scimAttribute',
    'customField',
    'transforms',
    'roles',
    'map',
    'default',
  );
  const part = fc.dictionary(key, fc.oneof(json, fc.array(fc.dictionary(key, json))));
  fc.assert(
    fc.property(fc.oneof(json, part), (value) => {
      const result = parseMapping(value);
      const isRight =
        'mapping' in result || result.faults.every(({ path, problem, remedy }) => path && problem && remedy);
      expect(isRight).toBe(true);
    }),
  );
});
