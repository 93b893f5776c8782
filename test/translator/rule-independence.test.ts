import fc from 'fast-check';
import { type ScimUserMapping, type Translation, travelRoles } from '../../src/model/translation.ts';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import { toSourceUser } from '../../src/translator/fields/sources.ts';
import { expandTrace } from '../../src/translator/trace.ts';
import { runs } from '../fixtures/runs.ts';
import { lookups, mappingOf, rulesOf, translate } from '../fixtures/translator.ts';
import {
  anyApplied,
  anyCondition,
  anyMapping,
  anyTarget,
  anyUser,
  plainRuleFor,
  rulesFor,
} from './arbitraries.ts';

const anyRules = anyTarget.chain(rulesFor).filter((rules) => isRight({ scimUserMapping: rules }));
const anyRule = anyTarget.chain(plainRuleFor).filter((rule) => isRight({ scimUserMapping: [rule] }));
/** Only a value `m-1` names a manager who is known. */
const references = {
  'm-1': {
    travelId: 't-1',
    user: { title: 'Sales', emails: [{ type: 'work', value: 'boss@x.example' }], roles: ['guest'] },
  },
};

it('the rules of the file for one field change no other: neither its value, nor its findings, nor its trace', () => {
  fc.assert(
    fc.property(anyUser, anyMapping, anyRules, anyApplied, fc.nat(), (user, mapping, rules, applied, at) => {
      const key = keyOf(rules[0] ?? {});
      // Who the manager is decides what rules read of the manager.
      fc.pre(key !== 'managerId' || !JSON.stringify(mapping).includes('manager.'));
      const others = rulesIn(mapping).filter((other) => keyOf(other) !== key);
      const place = at % (others.length + 1);
      const more = [...others.slice(0, place), ...rules, ...others.slice(place)];
      const given = { applied, references };
      const without = translate(user, { ...given, mapping: { ...mapping, scimUserMapping: others } });
      const having = translate(user, { ...given, mapping: { ...mapping, scimUserMapping: more } });
      const ignored = [key, ...(isKnown(key) ? [] : keptFields(having))];
      expect(allBut(ignored, having)).toEqual(allBut(ignored, without));
    }),
    runs(500),
  );
});

it('a rule of the collection for one field changes no other', () => {
  fc.assert(
    fc.property(anyUser, anyMapping, anyRule, anyApplied, (user, mapping, rule, applied) => {
      fc.pre(keyOf(rule) !== 'managerId' || !JSON.stringify(mapping).includes('manager.'));
      const row = rowOf(rule);
      const given = { applied, references, mapping };
      const without = translate(user, given);
      const having = translate(user, { ...given, collection: [row] });
      const ignored = [keyOf(rule), ...(isKnown(keyOf(rule)) ? [] : keptFields(having))];
      expect(allBut(ignored, having)).toEqual(allBut(ignored, without));
    }),
    runs(200),
  );
});

it('a rule that gives a role changes no other role, and no field', () => {
  const anyRole = fc.constantFrom(...travelRoles.filter((role) => !['admin', 'authAdmin'].includes(role)));
  fc.assert(
    fc.property(anyUser, anyMapping, anyRole, anyCondition, (user, mapping, role, when) => {
      const open = { ...mapping, roles: {} };
      const others = rulesIn(open).filter(({ userAttribute }) => userAttribute !== 'roles');
      const rules = [...others, { template: role, when, userAttribute: 'roles' }];
      const without = translate(user, { references, mapping: { ...open, scimUserMapping: others } });
      const having = translate(user, { references, mapping: { ...open, scimUserMapping: rules } });
      const ignored = [`roles.${role}`];
      expect(allBut(ignored, having)).toEqual(allBut(ignored, without));
      const { holds } = rulesOf({ scimUserMapping: rules.slice(-1) }).rules[0]?.condition ?? {};
      const isGiven = holds?.(toSourceUser(user).resource) === true;
      expect(having.fields[`roles.${role}`]?.kind).toBe(isGiven ? 'value' : undefined);
    }),
    runs(200),
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

/** True for a field that the travel service has; a rule for an unknown custom field may mean any of them. */
function isKnown(key: string): boolean {
  const [, id] = /^customFields\.(.+)$/.exec(key) ?? [];
  return id === undefined || lookups.customFields.some((field) => field.id === id);
}

/** The custom fields that stay as they are, e.g. because a rule for an unknown custom field may mean them. */
function keptFields({ fields }: Translation): string[] {
  return Object.keys(fields).filter((key) => key.startsWith('customFields.') && fields[key]?.kind === 'kept');
}

function allBut(keys: string[], { fields, findings, trace }: Translation): Json {
  const isOther = ({ field }: { field: string }) => !keys.includes(field);
  const text = JSON.stringify({
    fields: Object.entries(fields).filter(([field]) => isOther({ field })),
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
