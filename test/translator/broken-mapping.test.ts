import fc from 'fast-check';
import type { AppliedFields, ScimUserMapping, Translation } from '../../src/model/translation.ts';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { makePlan } from '../../src/translator/plan/plan.ts';
import { runs } from '../fixtures/runs.ts';
import { lookups, rulesOf, translate } from '../fixtures/translator.ts';
import { anyApplied, anyMapping, anyUser } from './arbitraries.ts';

const travel = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const person = 'urn:acme:hr:1.0:Person';

/** Names that a mapping may have for each target and that the travel service accepts. */
const values: { target: JsonObject; named: string[] }[] = [
  { target: { userAttribute: 'costCenterId' }, named: ['Marketing', 'cc-12', 'CC-40'] },
  { target: { userAttribute: 'billingProfileId' }, named: ['HQ', 'b-2'] },
  { target: { userAttribute: 'travelPolicyId' }, named: ['Standard', 'Executive'] },
  { target: { userAttribute: 'lang' }, named: ['fr', 'en'] },
  { target: { userAttribute: 'address.countryCode' }, named: ['FR', 'Germany'] },
  { target: { userAttribute: 'dateOfBirth' }, named: ['1990-02-28'] },
  { target: { userAttribute: 'phoneNumber' }, named: ['+33 612345678'] },
  { target: { userAttribute: 'managerId' }, named: ['m-1'] },
  { target: { customField: 'Department' }, named: ['Sales', 'Legal'] },
  { target: { customField: 'Skills' }, named: ['Go', 'SQL'] },
  { target: { customFieldId: 'cf-number' }, named: ['7001', '7002'] },
  { target: { customField: 'Job title' }, named: ['Buyer'] },
];

const scimPaths = ['title', `${person}:skills`, `${travel}:billingProfile.name`, `${enterprise}:costCenter`];

function ruleOf({ target, named }: (typeof values)[number]): fc.Arbitrary<JsonObject> {
  const name = fc.constantFrom(...named);
  const map = fc.dictionary(fc.constantFrom('A', 'B'), name, { minKeys: 1 }).map((map): Json => ({ map }));
  const fallback = name.map((value): Json => ({ default: value }));
  const transforms = fc.oneof(
    fc.constant<Json[]>([]),
    map.map((one) => [one]),
    fallback.map((one) => [one]),
    fc.tuple(map, fallback),
  );
  return fc
    .record({ scimAttribute: fc.constantFrom(...scimPaths), transforms })
    .map((rule): JsonObject => ({ ...rule, ...target }));
}

/** Up to three rules for one target: those before the last have a condition. */
function rulesOfTarget(one: (typeof values)[number]): fc.Arbitrary<JsonObject[]> {
  const rule = fc.oneof(
    ruleOf(one),
    fc.constantFrom(...one.named).map((template): JsonObject => ({ template, ...one.target })),
  );
  const conditional = fc
    .tuple(rule, fc.constantFrom('title eq "A"', 'title eq "B"', 'title pr', `${person}:skills eq "Sales"`))
    .map(([some, when]): JsonObject => ({ ...some, when }));
  return fc
    .tuple(
      fc.uniqueArray(conditional, { selector: ({ when }) => when, maxLength: 2 }),
      fc.oneof(rule, conditional),
    )
    .map(([some, last]) => [...some.filter(({ when }) => when !== last['when']), last]);
}

const defaults = fc.record(
  {
    billingProfile: fc.constantFrom({ id: 'b-2' }, { name: 'HQ' }),
    travelPolicy: fc.constantFrom({ id: 'p-2' }, { name: 'Standard' }),
    costCenter: fc.constantFrom({ id: 'cc-13' }, { name: 'Marketing' }),
  },
  { requiredKeys: [] },
);

/** A mapping whose names are all known. */
const correctMapping = fc
  .tuple(
    fc.subarray(values).chain((some) => fc.tuple(...some.map(rulesOfTarget))),
    defaults,
  )
  .map(
    ([scimUserMapping, named]): JsonObject =>
      plain({ scimUserMapping: scimUserMapping.flat(), defaults: named }),
  );

const anyText = fc.constantFrom<Json[]>('A', 'B', 'C', 'Sales', 'HQ', 'Nowhere at all', '');
const userOfNames = fc
  .record(
    {
      title: anyText,
      skills: fc.array(anyText, { maxLength: 3 }),
      billingProfile: anyText,
      costCenter: anyText,
    },
    { requiredKeys: [] },
  )
  .map(({ title, skills, billingProfile, costCenter }): JsonObject => {
    const extensions = {
      [person]: { skills },
      [travel]: { billingProfile: { name: billingProfile } },
      [enterprise]: { costCenter },
    };
    return plain({ userName: 'ada@corp.example', title, ...extensions });
  });

const collections = fc.subarray<ScimUserMapping>([
  { scimAttribute: 'title', customFieldId: 'cf-title' },
  { scimAttribute: 'nickName', customFieldId: 'cf-skills' },
  { scimAttribute: 'nickName', userAttribute: 'costCenterId' },
]);

const given = fc.record({
  past: fc.oneof(userOfNames, anyUser),
  present: fc.oneof(userOfNames, anyUser),
  mapping: fc.oneof({ weight: 3, arbitrary: correctMapping }, { weight: 1, arbitrary: anyMapping }),
  collection: collections,
  more: fc.oneof(fc.constant<AppliedFields>({}), anyApplied),
  at: fc.nat(),
});

it('a name in the mapping that becomes unknown adds no removal to any plan', () => {
  let compared = 0;
  fc.assert(
    fc.property(given, ({ past, present, mapping, collection, more, at }) => {
      const paths = namesIn(mapping);
      fc.pre(paths.length > 0 && !hasDuplicateTarget(mapping));
      const broken = brokenAt(mapping, paths[at % paths.length] ?? []);
      const applied = { ...more, ...appliedFrom(translate(past, { mapping, collection, references })) };
      const before = removals(present, { mapping, collection, applied });
      const after = removals(present, { mapping: broken, collection, applied });
      expect(before).toEqual(expect.arrayContaining(after));
      compared += Object.keys(applied).length > before.length ? 1 : 0;
    }),
    runs(800),
  );
  expect(compared).toBeGreaterThan(40);
});

it('an unknown name keeps a custom field, even if another unknown name with a rule for all users comes first', () => {
  const rules = (id: string): JsonObject => ({
    scimUserMapping: [
      { scimAttribute: 'nickName', customField: 'Nowhere' },
      { template: '{userName}', customFieldId: id, when: 'not (title eq "Sales")' },
      { scimAttribute: 'title', customFieldId: 'cf-title' },
    ],
  });
  const user = { userName: 'ada@corp.example' };
  const applied = appliedFrom(translate(user, { mapping: rules('cf-title') }));
  expect(applied).toHaveProperty(['customFields.cf-title', 'source'], 'ada@corp.example');
  expect(removals(user, { mapping: rules('Nobody knows this name'), collection: [], applied })).toEqual([]);
});

it('an unknown name keeps the options of a list that a rule of the travel service sets, too', () => {
  const rules = (customField: string): JsonObject => ({
    scimUserMapping: [{ template: 'SQL', customField, when: 'title pr' }],
  });
  const collection: ScimUserMapping[] = [{ scimAttribute: 'nickName', customFieldId: 'cf-skills' }];
  const user = { userName: 'ada@corp.example', title: 'A', nickName: 'Go' };
  const applied = appliedFrom(translate(user, { mapping: rules('Skills'), collection }));
  expect(applied).toHaveProperty(['customFields.cf-skills', 'source'], 'SQL');
  expect(removals(user, { mapping: rules('Nobody knows this name'), collection, applied })).toEqual([]);
});

it('a custom field that an unknown name keeps has the findings that it had before a value was applied', () => {
  const mapping = {
    scimUserMapping: [
      { scimAttribute: 'nickName', customField: 'Nowhere', when: 'active eq true' },
      { scimAttribute: 'displayName', customFieldId: 'cf-title' },
    ],
  };
  const user = { displayName: [{ unusable: 1 }, { value: 'Buyer' }], active: true };
  const first = translate(user, { mapping });
  expect(first.findings).toEqual([
    expect.objectContaining({ field: 'customFields.cf-title', code: 'textUnusable' }),
  ]);
  const later = translate(user, { mapping, applied: appliedFrom(first) });
  expect(later.fields).toHaveProperty(['customFields.cf-title'], { kind: 'kept' });
  expect(later.findings).toEqual(first.findings);
});

it('the findings of a user do not change when the values of the same translation were applied', () => {
  fc.assert(
    fc.property(anyUser, anyMapping, (user, mapping) => {
      const first = translate(user, { mapping });
      const later = translate(user, { mapping, applied: appliedFrom(first) });
      expect(later.findings).toEqual(first.findings);
    }),
    runs(500),
  );
});

const references = { 'm-1': { travelId: 't-1' } };

interface Case {
  mapping: JsonObject;
  collection: ScimUserMapping[];
  applied: AppliedFields;
}

/** Everything that a plan removes from the traveler: whole fields, and options of a list, also with the whole. */
function removals(user: JsonObject, { mapping, collection, applied }: Case): string[] {
  const { fields } = translate(user, { mapping, collection, applied, references });
  const rules = rulesOf(mapping, collection);
  const made = makePlan({ applied, refused: {}, wanted: fields, observed: undefined, basis: '', rules });
  const skills = 'customFields.cf-skills';
  const left = made.remove.includes(skills) ? [] : made.set[skills]?.value;
  const lost = left === undefined ? [] : without(applied[skills]?.sent, left);
  const options = lost.map((one) => `${skills} ${one}`);
  return [...made.remove, ...options];
}

function without(some: Json | undefined, others: Json): string[] {
  const texts = (json: Json | undefined) =>
    Array.isArray(json) ? json.map((one) => JSON.stringify(one)) : [];
  return texts(some).filter((one) => !texts(others).includes(one));
}

function appliedFrom({ fields }: Translation): AppliedFields {
  const entries = Object.entries(fields).flatMap(([key, wanted]) =>
    wanted.kind === 'value'
      ? [[key, { sent: wanted.value, seen: wanted.value, source: wanted.source }] as const]
      : [],
  );
  return Object.fromEntries(entries);
}

type NamePath = (string | number)[];

/** The paths of all names: in `defaults`, custom fields, templates without a path, results of `map`, and `default` transforms. */
function namesIn(json: Json | undefined, path: NamePath = []): NamePath[] {
  if (typeof json === 'string') return isName(path, json) ? [path] : [];
  if (typeof json !== 'object' || json === null) return [];
  // An unknown role is refused when the mapping is read, because no lookup can make it known.
  if (!Array.isArray(json) && json['userAttribute'] === 'roles') return [];
  const entries = Array.isArray(json)
    ? json.map((value, index) => [index, value] as const)
    : Object.entries(json).map(([key, value]) => [key, value] as const);
  return entries.flatMap(([key, value]) => namesIn(value, [...path, key]));
}

function isName(path: NamePath, text: string): boolean {
  const [head] = path;
  if (head === 'defaults') return true;
  const kind = kindOf(path);
  if (kind === 'template') return !text.includes('{');
  return head === 'scimUserMapping' && /^(customField|customFieldId|default|map)$/.test(kind);
}

function kindOf(path: NamePath): string {
  return String(path.includes('map') ? 'map' : path.at(-1));
}

/** The mapping with an unknown name at a path. */
function brokenAt(mapping: JsonObject, path: NamePath): JsonObject {
  const put = (json: Json | undefined, [head, ...rest]: NamePath): Json => {
    if (head === undefined) return 'Nobody knows this name';
    if (Array.isArray(json)) return json.map((value, index) => (index === head ? put(value, rest) : value));
    const object: JsonObject = typeof json === 'object' && json !== null ? json : {};
    return { ...object, [head]: put(object[String(head)], rest) };
  };
  return plain(put(mapping, path));
}

/** True if two rules of the file set one custom field and the first has no condition, which is a fault of another kind. */
function hasDuplicateTarget({ scimUserMapping }: JsonObject): boolean {
  const rows: JsonObject[] = plain({ rows: scimUserMapping ?? [] })['rows'] as unknown as JsonObject[];
  const decided = new Set<Json>();
  for (const { customField, customFieldId, when } of rows) {
    const ids =
      customField === undefined
        ? [customFieldId].flatMap((id) => id ?? [])
        : lookups.customFields
            .filter(({ name }) => name.toLowerCase() === String(customField).toLowerCase())
            .map(({ id }) => id);
    if (ids.some((id) => decided.has(id))) return true;
    if (when === undefined) for (const id of ids) decided.add(id);
  }
  return false;
}

function plain(json: unknown): JsonObject {
  return JSON.parse(JSON.stringify(json));
}
