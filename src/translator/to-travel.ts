import { foldCase } from '../schema/case-fold.ts';
import type { ScimResource } from '../schema/resource.ts';
import { addressAttribute } from './candidates.ts';
import { readCountry } from './countries.ts';
import { decideCustomFields } from './custom-fields.ts';
import {
  decideField,
  emptyPart,
  mergeParts,
  type TranslationPart,
  toPart,
  withoutRemoval,
} from './decide.ts';
import type { Field } from './fields.ts';
import { readEmail } from './readers.ts';
import { decideRoles } from './roles.ts';
import { candidatesFor, findRule, type Rules } from './rules.ts';
import type { Snapshot, TraceEntry, Translation, WantedField } from './translation.ts';
import { type ReadContext, valueAt } from './values.ts';

/**
 * Translates a SCIM user to the fields of a traveler. Each field that a rule can set gets a value or is absent,
 * unresolved or kept. Findings tell the admin which values were not used; the trace shows what each rule has read.
 * Pure; accepts any JSON.
 */
export function toTravel(rules: Rules, user: ScimResource, snapshot: Snapshot): Translation {
  const context = readContextOf(rules, user, snapshot);
  const part = mergeParts([
    { ...emptyPart, findings: rules.faults },
    archivedPart(user),
    ...rules.fields.map((field) => fieldPart(field, { rules, user, context })),
    decideCustomFields(rules, { user, context }),
    decideRoles(user, rules.mapping),
  ]);
  return { ...part, ...fallbackEmailOf(user, part.fields.email) };
}

/**
 * A national phone number belongs to the country of the SCIM address, or else to the mapping's default country. Mapping
 * rules for the address are ignored here, because a rule for one field must not change another.
 */
function readContextOf(
  { mapping }: Rules,
  user: ScimResource,
  { lookups, references, applied = {} }: Snapshot,
): ReadContext {
  const countries = addressAttribute(user, 'country')
    .flatMap(({ raws }) => raws)
    .map(readCountry);
  const address = countries.flatMap((reading) => ('value' in reading ? [String(reading.value)] : []));
  const { defaultCountry } = mapping.phone ?? {};
  const phoneCountries = [...address.slice(0, 1), ...(defaultCountry === undefined ? [] : [defaultCountry])];
  return { lookups, references, applied, phoneCountries };
}

/** Translates `active` to its opposite, `archived`. A user without `active` is active. */
function archivedPart(user: ScimResource): TranslationPart {
  const active = valueAt(user, 'active') ?? true;
  const archived = active === false;
  const entry: TraceEntry = {
    field: 'archived',
    origin: 'default',
    rule: 'active',
    outcome: 'set',
    before: active,
    after: archived,
  };
  return {
    ...emptyPart,
    fields: { archived: { kind: 'value', value: archived, source: active } },
    trace: [entry],
  };
}

function fieldPart(
  field: Field,
  { rules, user, context }: { rules: Rules; user: ScimResource; context: ReadContext },
): TranslationPart {
  const { key } = field;
  const decision = decideField(key, candidatesFor(rules, user, field), { read: field.read, context });
  const isSilent = field.skipsSilently === true && decision.wanted.kind === 'value';
  const reported = isSilent ? { ...decision, findings: [] } : decision;
  const part = toPart(key, hasFaultyRule(key, rules) ? withoutRemoval(reported) : reported);
  return { ...part, trace: [...part.trace, ...traceOfOverriddenRules(key, rules)] };
}

/** Returns true if the collection has a faulty row for the field that would set the field if it were correct. */
function hasFaultyRule(key: string, rules: Rules): boolean {
  return !findRule(rules, key) && rules.faults.some((fault) => fault.field === key);
}

/** Returns trace entries for the mapping rules that another rule with the same target overrides. */
function traceOfOverriddenRules(key: string, rules: Rules): TraceEntry[] {
  const used = findRule(rules, key);
  if (!used) return [];
  const others = rules.rules.filter(
    (rule) => rule !== used && rule.target.kind === 'field' && rule.target.field === key,
  );
  const where = used.origin === 'file' ? 'the mapping file' : 'the scimUserMapping collection';
  const reason = `${where} sets this field from ${used.text}`;
  return others.map(({ origin, text }) => ({ field: key, origin, rule: text, outcome: 'skipped', reason }));
}

function fallbackEmailOf(user: ScimResource, email: WantedField | undefined): { fallbackEmail?: string } {
  const reading = readEmail(valueAt(user, 'userName') ?? null);
  if (!('value' in reading) || typeof reading.value !== 'string') return {};
  const wanted = email?.kind === 'value' ? String(email.value) : '';
  return foldCase(wanted) === foldCase(reading.value) ? {} : { fallbackEmail: reading.value };
}
