import { foldCase } from '../schema/case-fold.ts';
import type { ScimResource } from '../schema/resource.ts';
import { readCountry } from './countries.ts';
import { decideCustomFields } from './custom-fields.ts';
import { decide, joined, type Part, partOf, withoutRemoval } from './decide.ts';
import { defaultRules } from './default-rules.ts';
import { type PlainField, plainFields } from './fields.ts';
import { readEmail, readers } from './readers.ts';
import { decideRoles } from './roles.ts';
import { candidatesFor, type Rule, type Rules, ruleFor } from './rules.ts';
import type { Snapshot, TraceEntry, Translation, WantedField } from './translation.ts';
import { type Context, valueAt } from './values.ts';

/**
 * Translates a SCIM user into what is wanted of the traveler: for each field that a rule targets a value, absent, or
 * unresolved; with findings for an admin and a trace of every rule's part. Pure, and total over any JSON.
 */
export function toTravel(rules: Rules, user: ScimResource, snapshot: Snapshot): Translation {
  const context = contextOf(rules, user, snapshot);
  const part = joined([
    { fields: {}, findings: rules.faults, trace: [], needsFreshLookups: false },
    archivedPart(user),
    ...plainFields.map((field) => decidePlain(field, { rules, user, context })),
    decideCustomFields(rules, { user, context }),
    decideRoles(user, rules.mapping),
  ]);
  return { ...part, ...fallbackOf(user, part.fields.email) };
}

/**
 * A number in national form is of the country of the SCIM address, or else of the mapping's default country. What a rule
 * makes of the address is no matter here: a rule for one field changes no other.
 */
function contextOf(
  { mapping }: Rules,
  user: ScimResource,
  { lookups, references, applied = {} }: Snapshot,
): Context {
  const sources = defaultRules['address.countryCode'](user);
  const countries = sources.flatMap(({ raws }) => raws).map(readCountry);
  const address = countries.flatMap((reading) => ('value' in reading ? [String(reading.value)] : []));
  const { defaultCountry } = mapping.phone ?? {};
  const phoneCountries = [...address.slice(0, 1), ...(defaultCountry === undefined ? [] : [defaultCountry])];
  return { lookups, references, applied, phoneCountries };
}

/** `archived` follows `active`, whose absence means that the user is active. */
function archivedPart(user: ScimResource): Part {
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
  const fields: Part['fields'] = { archived: { kind: 'value', value: archived, source: active } };
  return { fields, findings: [], trace: [entry], needsFreshLookups: false };
}

function decidePlain(
  field: PlainField,
  { rules, user, context }: { rules: Rules; user: ScimResource; context: Context },
): Part {
  const decision = decide(field, candidatesFor(rules, user, field), { read: readers[field], context });
  // German first and English second is no fault of anybody's.
  const isQuiet = field === 'lang' && decision.wanted.kind === 'value';
  const told = isQuiet ? { ...decision, findings: [] } : decision;
  const part = partOf(field, isRuleUnusable(field, rules) ? withoutRemoval(told) : told);
  return { ...part, trace: [...part.trace, ...superseded(field, rules)] };
}

/** True for a field that a row of the collection would set if it were right. */
function isRuleUnusable(field: PlainField, rules: Rules): boolean {
  return !ruleFor(rules, field) && rules.faults.some((fault) => fault.field === field);
}

/** The rules that a mapping rule takes the place of. */
function superseded(field: PlainField, rules: Rules): TraceEntry[] {
  const owner = ruleFor(rules, field);
  if (!owner) return [];
  const others = rules.rules.filter((rule) => rule !== owner && isFor(field, rule));
  const where = owner.origin === 'file' ? 'the mapping file' : 'the scimUserMapping collection';
  const reason = `${where} sets this field from ${owner.text}`;
  return others.map(({ origin, text }) => ({ field, origin, rule: text, outcome: 'skipped', reason }));
}

function isFor(field: PlainField, { target }: Rule): boolean {
  return target.kind === 'field' && target.field === field;
}

function fallbackOf(user: ScimResource, email: WantedField | undefined): { fallbackEmail?: string } {
  const reading = readEmail(valueAt(user, 'userName') ?? null);
  if (!('value' in reading) || typeof reading.value !== 'string') return {};
  const wanted = email?.kind === 'value' ? String(email.value) : '';
  return foldCase(wanted) === foldCase(reading.value) ? {} : { fallbackEmail: reading.value };
}
