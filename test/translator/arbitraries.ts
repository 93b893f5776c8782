import fc from 'fast-check';
import type { AppliedFields } from '../../src/model/translation.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import { parseFilter } from '../../src/schema/filter-parser.ts';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { parseMapping } from '../../src/translator/mapping/mapping-file.ts';
import { fieldKeys, lookups } from '../fixtures/translator.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const travel = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const person = 'urn:acme:hr:1.0:Person';

/** Any JSON value. */
export const anyJson: fc.Arbitrary<Json> = fc
  .jsonValue()
  .map((value): Json => JSON.parse(JSON.stringify(value)));

/** Values that readers accept, and values that they do not. */
const likely: fc.Arbitrary<Json> = fc.oneof(
  anyJson,
  fc.constantFrom<Json[]>('work', 'mobile', true, 'True', 'ada@x.example', 'Ada King', '7001', 7001),
  fc.constantFrom<Json[]>(
    '+33 612345678',
    '06 12 34 56 78',
    '1990-02-28',
    '28/02/1990',
    'fr-CA',
    'de',
    'EUR',
  ),
  fc.constantFrom<Json[]>('Sales', 'Closed', 'Go', 'SQL', 'FR', 'Allemagne', 'manager', 'admin', 'female'),
  fc.constantFrom<Json[]>(
    'cc-12',
    'Marketing',
    'Twins',
    'HQ',
    'p-1',
    'm-1',
    '{"value":"guest"}',
    'guest, admin',
  ),
);

const part = fc.oneof(
  likely,
  fc.dictionary(fc.constantFrom('id', 'name', 'value', 'email', 'display', 'givenName', 'level'), likely, {
    maxKeys: 3,
  }),
);
const element = fc.dictionary(
  fc.constantFrom('value', 'type', 'primary', 'display', 'country', 'locality', 'streetAddress'),
  likely,
  { maxKeys: 4 },
);
const attribute = fc.oneof(part, fc.array(fc.oneof(likely, element), { maxLength: 4 }));

const attributes = [
  ...['userName', 'name', 'displayName', 'nickName', 'title', 'userType', 'active', 'externalId'],
  ...[
    'emails',
    'phoneNumbers',
    'addresses',
    'preferredLanguage',
    'locale',
    'roles',
    '__proto__',
    'constructor',
  ],
];
const extensionAttributes = [
  ...['manager', 'costCenter', 'costCenterId', 'billingProfile', 'travelPolicy', 'department', 'roles'],
  ...['currency', 'dateOfBirth', 'gender', 'separateIcsEmails', 'skills', 'badge'],
];
const extension = fc.dictionary(fc.constantFrom(...extensionAttributes), attribute, { maxKeys: 5 });

/** A SCIM user with any values in the attributes that rules read, also values that the schema would refuse. */
export const anyUser: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...attributes), attribute, { maxKeys: 10 }),
    extension,
    extension,
    extension,
  )
  .map(([user, one, other, third]) => ({ ...user, [enterprise]: one, [travel]: other, [person]: third }));

const name = likely.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));

const path = fc.constantFrom(
  ...['title', 'nickName', 'userType', 'displayName', 'userName', 'externalId', 'active', 'locale', 'name'],
  ...['name.givenName', 'name.middleName', 'emails', 'emails.value', 'emails[type eq "home"].value'],
  ...['phoneNumbers[type eq "work"].value', 'addresses.country', 'addresses[primary eq true]', 'roles.value'],
  ...[`${enterprise}:department`, `${enterprise}:manager`, `${travel}:costCenter.name`, `${travel}:roles`],
  ...[`${person}:skills`, `${person}:badge.level`, `${person}:badge`],
);

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom('$1', '$&', '$', '\\', 'FR'),
);
const transform: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(
    'trim',
    'lowercase',
    'uppercase',
    'titlecase',
    'digits',
    'ascii',
    'date',
    'phone',
    'country',
    'language',
  ),
  fc.constantFrom('DD/MM/YYYY', 'YYYYMMDD', 'MM.DD.YYYY', 'D MMMM YYYY').map((date) => ({ date })),
  fc.constantFrom(',', ' ', 'a').map((split) => ({ split })),
  fc.constantFrom('FR', 'GB', 'US').map((phone) => ({ phone })),
  text.map((prefix) => ({ prefix })),
  fc
    .tuple(
      fc.oneof(text, fc.constantFrom('', '.*', '(\\w+)', '(.)(.)', '^(.*), (.*)$')),
      fc.oneof(fc.constant(''), text),
    )
    .map(([pattern, replacement]) => ({ replace: { pattern, with: replacement } })),
  fc.dictionary(name, fc.string({ maxLength: 8 }), { maxKeys: 3 }).map((map) => ({ map })),
  text.map((value) => ({ default: value })),
);

/** Targets of rules: every field, preferences, every custom field by name and by id, and unknown ones. */
export const anyTarget: fc.Arbitrary<JsonObject> = fc.oneof(
  fc
    .constantFrom(...fieldKeys, 'travelerPrefs.flightSeatPosition', 'travelerPrefs.meal')
    .map((userAttribute) => ({ userAttribute })),
  fc.constantFrom(...lookups.customFields.map(({ name }) => name)).map((customField) => ({ customField })),
  fc
    .constantFrom(...lookups.customFields.map(({ id }) => id), 'cf-gone')
    .map((customFieldId) => ({ customFieldId })),
);

const transforms = fc.option(fc.array(transform, { maxLength: 4 }), { nil: [] });

/** A rule for a target that reads one attribute, as rules of the collection do. */
export function plainRuleFor(target: JsonObject): fc.Arbitrary<JsonObject> {
  return fc.record({ scimAttribute: path, transforms }).map((rule) => ({ ...rule, ...target }));
}

const literal = fc.oneof(
  fc.constantFrom(' ', ', ', '{{', '}}', 'Marketing', 'HQ', 'ada@x.example', 'fr'),
  fc.string({ maxLength: 6 }).map((some) => some.replace(/[{}]/g, '')),
);
const inserted = fc
  .oneof({ weight: 8, arbitrary: path }, fc.constant('manager.title'))
  .filter((some) => !/^(name|addresses.*)$|:roles$/.test(some))
  .map((some) => `{${some}}`);
const optional = fc.tuple(literal, inserted, literal).map((parts) => `{[${parts.join('')}]}`);
const template = fc
  .array(fc.oneof(literal, inserted, optional), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''))
  .filter((some) => some.trim() !== '');

const comparison = fc
  .tuple(
    path.filter((some) => !some.includes('[')),
    fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'),
    fc.oneof(
      likely.filter((value) => typeof value !== 'object'),
      fc.constant(null),
    ),
  )
  .map(([name, operator, value]) => `${name} ${operator} ${JSON.stringify(value)}`);
const simpleCondition = fc.oneof(
  comparison,
  path.map((some) => (some.endsWith(']') ? some : `${some} pr`)),
);

/** A SCIM filter with attributes of `anyUser`. */
export const anyCondition: fc.Arbitrary<string> = fc
  .oneof(
    simpleCondition,
    fc.tuple(simpleCondition, fc.constantFrom('and', 'or'), simpleCondition).map((words) => words.join(' ')),
    simpleCondition.map((some) => `not (${some})`),
  )
  .filter((some) => !('fault' in parseFilter(some)));

/** Paths of the manager, which conditions cannot read. */
const managerPath = fc.constantFrom(
  ...['manager.title', 'manager.displayName', 'manager.emails[type eq "work"].value', 'manager.roles'],
  ...[`manager.${person}:skills`, 'manager.manager.value'],
);
const inputPath = fc.oneof({ weight: 4, arbitrary: path }, managerPath);

/** The input of a rule: a SCIM path, several, or a template. */
const input: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 3, arbitrary: inputPath.map((scimAttribute) => ({ scimAttribute })) },
  fc.array(inputPath, { minLength: 1, maxLength: 3 }).map((sources) => ({ sources })),
  fc
    .tuple(fc.array(inputPath, { minLength: 1, maxLength: 3 }), fc.constantFrom('absent', 'unusable'))
    .map(([sources, fallback]) => ({ sources, fallback })),
  template.map((text) => ({ template: text })),
);

/** The rules for a target: all but the last have a condition, and the last may have one. */
export function rulesFor(target: JsonObject): fc.Arbitrary<JsonObject[]> {
  const conditional = fc
    .tuple(input, transforms, anyCondition)
    .map(([reads, steps, when]) => ({ ...reads, transforms: steps, ...target, when }));
  const last = fc
    .tuple(input, transforms, fc.option(anyCondition, { nil: undefined, freq: 3 }))
    .map(([reads, steps, when]) => ({
      ...reads,
      transforms: steps,
      ...target,
      ...(when === undefined ? {} : { when }),
    }));
  return fc
    .tuple(fc.array(conditional, { maxLength: 2 }), last)
    .map(([some, end]): JsonObject[] => [...some, end]);
}

const role = fc.constantFrom('accountant', 'admin', 'authAdmin', 'guest', 'manager', 'premium');
const roleRule = fc
  .tuple(role, anyCondition)
  .map(([template, when]): JsonObject => ({ template, when, userAttribute: 'roles' }));
const settings = fc.record(
  {
    phone: fc.constantFrom({ defaultCountry: 'FR' }, { defaultCountry: 'GB' }),
    language: fc.constantFrom({ default: 'fr' }, { default: 'en' }),
    roles: fc.record(
      { allow: fc.uniqueArray(role), map: fc.dictionary(name, role, { maxKeys: 2 }) },
      { requiredKeys: [] },
    ),
    defaults: fc.record(
      {
        billingProfile: fc.constantFrom({ id: 'b-2' }, { name: 'HQ' }),
        travelPolicy: fc.constantFrom({ id: 'p-2' }, { name: 'Nothing' }),
        costCenter: fc.constantFrom({ id: 'cc-16' }, { name: 'Twins' }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

/** A mapping without faults, with any rules, transforms and settings; several rules may set one field. */
export const anyMapping: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.uniqueArray(fc.oneof(anyTarget, fc.constant<JsonObject>({ customField: 'Nowhere' })), {
      selector: (target) => JSON.stringify(target),
      maxLength: 6,
    }),
    settings,
  )
  .chain(([targets, rest]) =>
    fc
      .tuple(fc.array(roleRule, { maxLength: 2 }), ...targets.map(rulesFor))
      .map((rules): JsonObject => ({ ...JSON.parse(JSON.stringify(rest)), scimUserMapping: rules.flat() })),
  )
  .filter((mapping) => 'mapping' in parseMapping(mapping));

const word = fc.stringMatching(/^[A-Za-zÀ-ÿ' -]{1,12}$/);
const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });

/** A traveler as the travel API may represent it, also with values that Jetbridge would not send. */
export const anyTraveler: fc.Arbitrary<TravelUser> = fc
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

/** Fields that any rules may have applied. */
export const anyApplied: fc.Arbitrary<AppliedFields> = fc.dictionary(
  fc.constantFrom(...fieldKeys, 'archived', 'roles.guest', 'customFields.cf-title', 'customFields.cf-skills'),
  fc.record({ sent: likely, seen: likely, source: likely }),
  { maxKeys: 5 },
);
