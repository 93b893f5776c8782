import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { expandTrace } from '../../src/translator/trace.ts';
import type { ScimUserMapping, Translation } from '../../src/translator/translation.ts';
import { lookups, mappingOf, translate } from '../fixtures/translator.ts';
import { anyApplied, anyMapping, anyTarget, anyUser, ruleFor } from './arbitraries.ts';

const anyRule = anyTarget.chain(ruleFor).filter((rule) => isRight({ scimUserMapping: [rule] }));
const references = { 'm-1': { travelId: 't-1' } };

it('a rule of the file for one field changes no other: neither its value, nor its findings, nor its trace', () => {
  fc.assert(
    fc.property(anyUser, anyMapping, anyRule, anyApplied, fc.nat(), (user, mapping, rule, applied, at) => {
      const others = rulesIn(mapping).filter((other) => keyOf(other) !== keyOf(rule));
      const place = at % (others.length + 1);
      const more = [...others.slice(0, place), rule, ...others.slice(place)];
      const given = { applied, references };
      const without = translate(user, { ...given, mapping: { ...mapping, scimUserMapping: others } });
      const having = translate(user, { ...given, mapping: { ...mapping, scimUserMapping: more } });
      expect(allBut(keyOf(rule), withoutKept(having, without))).toEqual(allBut(keyOf(rule), without));
    }),
    { numRuns: 400 },
  );
});

it('a rule of the collection for one field changes no other', () => {
  fc.assert(
    fc.property(anyUser, anyMapping, anyRule, anyApplied, (user, mapping, rule, applied) => {
      const row = rowOf(rule);
      const given = { applied, references, mapping };
      const without = translate(user, given);
      const having = translate(user, { ...given, collection: [row] });
      expect(allBut(keyOf(rule), withoutKept(having, without))).toEqual(allBut(keyOf(rule), without));
    }),
    { numRuns: 200 },
  );
});

function rulesIn({ scimUserMapping }: JsonObject): JsonObject[] {
  return JSON.parse(JSON.stringify(scimUserMapping ?? []));
}

/** The rule as a row of the collection, which names custom fields by id. */
function rowOf(rule: JsonObject): ScimUserMapping {
  const { scimAttribute, userAttribute } = rule;
  const target = userAttribute
    ? { userAttribute: String(userAttribute) }
    : { customFieldId: keyOf(rule).replace('customFields.', '') };
  return { scimAttribute: String(scimAttribute), ...target };
}

/** The field that a rule sets. A rule for a name that several custom fields have sets none of them. */
function keyOf({ userAttribute, customFieldId, customField }: JsonObject): string {
  if (typeof userAttribute === 'string') return userAttribute;
  const named = lookups.customFields.filter(({ name }) => name === customField);
  const id = named.length === 1 ? named[0]?.id : customField;
  return `customFields.${String(customFieldId ?? id)}`;
}

/** The translation without the custom fields that are kept only because a rule with an unknown name may mean them. */
function withoutKept(having: Translation, without: Translation): Translation {
  const fields = Object.entries(having.fields).filter(
    ([key, wanted]) => wanted.kind !== 'kept' || key in without.fields || !key.startsWith('customFields.'),
  );
  return { ...having, fields: Object.fromEntries(fields) };
}

function allBut(key: string, { fields, findings, trace }: Translation): Json {
  const { [key]: _, ...others } = fields;
  const isOther = ({ field }: { field: string }) => field !== key;
  const text = JSON.stringify({
    fields: others,
    findings: findings.filter(isOther),
    trace: expandTrace(trace).filter(isOther),
  });
  // An added rule changes the index of the rules after it.
  return JSON.parse(text.replaceAll(/scimUserMapping\[\d+\]/g, 'scimUserMapping[]'));
}

function isRight(mapping: JsonObject): boolean {
  try {
    return mappingOf(mapping) !== undefined;
  } catch {
    return false;
  }
}
