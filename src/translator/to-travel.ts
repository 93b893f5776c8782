import type { Snapshot, Translation, WantedField } from '../model/translation.ts';
import { foldCase } from '../schema/case-fold.ts';
import { isActive, type ScimResource } from '../schema/resource.ts';
import { translateCustomFields } from './custom-fields.ts';
import { type TranslationDraft, translateField } from './decide.ts';
import { toSourceUser } from './fields/sources.ts';
import { translateRoles } from './roles.ts';
import { compiledFields } from './rules/compiled-fields.ts';
import { withGroups } from './rules/groups.ts';
import type { Rules } from './rules/rules.ts';
import { readCountry } from './values/countries.ts';
import { readEmail } from './values/readers.ts';
import { isUnassigned, type ReadContext, valueAt } from './values/values.ts';

/**
 * Translates a SCIM user to the fields of a traveler. Each field that a rule can set gets a value or is absent,
 * unresolved or kept. Findings tell the admin which values were not used; the trace shows what each rule has read.
 * Pure; accepts any JSON. Everything that depends on the rules and lookups only is prepared once for both.
 */
export function toTravel(rules: Rules, desired: ScimResource, snapshot: Snapshot): Translation {
  const resource = withGroups(desired, snapshot.groups ?? []);
  const user = toSourceUser(resource, snapshot.countedParts);
  const input = { user, context: readContextOf(rules, user.address.element.country, snapshot) };
  const draft: TranslationDraft = {
    fields: {},
    findings: [...rules.faults],
    trace: [],
    scope: rules.scope?.judge(user.resource, snapshot.namesUnknownGroup) ?? 'in',
    isInPilot: rules.pilot?.judge(user.resource, snapshot.namesUnknownGroup) === 'in',
    needsFreshLookups: false,
  };
  translateActive(draft, resource);
  for (const field of compiledFields(rules)) translateField(draft, field, input);
  translateCustomFields(draft, rules, input);
  translateRoles(draft, rules, { ...input, resource });
  return { ...draft, ...fallbackEmailOf(resource, draft.fields.email) };
}

/**
 * A national phone number belongs to the country of the SCIM address, or else to the mapping's default country. Mapping
 * rules for the address are ignored here, because a rule for one field must not change another.
 */
function readContextOf(
  { mapping }: Rules,
  country: Parameters<typeof isUnassigned>[0],
  { lookups, references, applied = {}, statedOn }: Snapshot,
): ReadContext {
  const reading = country === undefined || isUnassigned(country) ? undefined : readCountry(country);
  const { defaultCountry } = mapping.phone ?? {};
  const phoneCountries = reading && 'value' in reading ? [String(reading.value)] : [];
  if (defaultCountry !== undefined) phoneCountries.push(defaultCountry);
  return { lookups, references, applied, statedOn, phoneCountries };
}

/** Translates `active` to its opposite, `archived`. A user without `active` is active. */
function translateActive({ fields, trace }: TranslationDraft, user: ScimResource): void {
  const active = valueAt(user, 'active') ?? true;
  const archived = !isActive(user);
  fields.archived = { kind: 'value', value: archived, source: active };
  trace.push({
    ...{ field: 'archived', origin: 'default', rule: 'active', outcome: 'set' },
    ...{ before: active, after: archived },
  });
}

function fallbackEmailOf(user: ScimResource, email: WantedField | undefined): { fallbackEmail?: string } {
  const reading = readEmail(valueAt(user, 'userName') ?? null);
  if (!('value' in reading) || typeof reading.value !== 'string') return {};
  const wanted = email?.kind === 'value' ? String(email.value) : '';
  if (wanted === reading.value) return {};
  return foldCase(wanted) === foldCase(reading.value) ? {} : { fallbackEmail: reading.value };
}
