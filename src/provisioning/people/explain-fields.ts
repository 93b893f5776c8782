import { type Identity, isConfirmed } from '../../model/identity.ts';
import type { FieldKey, Lookups, TraceEntry } from '../../model/translation.ts';
import type { Json } from '../../schema/resource.ts';
import { isDrift } from '../../translator/plan/field-records.ts';
import { readField, removableKeys, requiredKeys } from '../../translator/plan/traveler.ts';
import { expandTrace } from '../../translator/trace.ts';
import { isEqualJson } from '../../translator/values/values.ts';

/**
 * The comparison of a field of the traveler with the value that the IdP wants.
 * `same`: the traveler has the value that was sent. `drift`: the value was changed in the travel service. `uncertain`:
 * the outcome of a call is not known. `refused`: the travel API refuses the value. `notSent`: the value waits, for the
 * reasons that the state and the findings give. `notApplied`: the travel API has accepted the value, and a later read shows another one. `leftOut`: the value of the IdP cannot be used, see the findings.
 * `imported`: the IdP has not changed the field since the import, so the bridge does not either. `unread`: the traveler
 * must be read again. `foreign`: the travel service decides, because no rule has a value.
 */
export const fieldStandings = [
  ...(['same', 'drift', 'uncertain', 'refused', 'notSent', 'leftOut', 'imported'] as const),
  ...(['notApplied', 'unread', 'foreign'] as const),
] as const;

export type FieldStanding = (typeof fieldStandings)[number];

/** The explanation of one field of a traveler. Members without a value are left out. */
export interface ExplainedField {
  field: FieldKey;
  standing: FieldStanding;
  /** The effect of each rule when the user was last translated. */
  rules: TraceEntry[];
  /** The value of the identity provider. */
  source?: Json;
  /** The value that the rules made of it. */
  wanted?: Json;
  /** The value as it was sent last; left out if the traveler had it already. */
  sent?: Json;
  /** The value in the answer of the travel API, if it is spelled differently. */
  answered?: Json;
  /** The value of the traveler as last read. */
  observed?: Json;
  /** The reason for which the travel API refuses the value. */
  refusal?: string;
}

type Explained = Pick<
  Identity,
  'trace' | 'applied' | 'refused' | 'observed' | 'progress' | 'origin' | 'findings'
>;

/**
 * Explains every field for which the identity provider, the bridge or the travel service has a value, in the order of
 * the rules.
 */
export function explainFields(identity: Explained): ExplainedField[] {
  const entries = expandTrace(identity.trace);
  return fieldKeys(identity, entries).flatMap((field) => {
    const rules = entries.filter((entry) => entry.field === field);
    const values = valuesOf(identity, field, rules);
    if (Object.values(values).every((value) => value === undefined)) return [];
    const standing = standingOf(identity, field, values);
    const refusal = identity.refused[field]?.reason;
    return [{ field, standing, rules, ...withoutUndefined({ ...values, refusal }) }];
  });
}

function fieldKeys({ applied, observed, refused }: Explained, entries: TraceEntry[]): FieldKey[] {
  return [
    ...new Set([
      ...entries.map(({ field }) => field),
      ...Object.keys(applied),
      ...Object.keys(refused),
      ...(observed ? [...requiredKeys, ...removableKeys(observed)] : []),
    ]),
  ];
}

type FieldValues = Pick<
  { [Name in keyof ExplainedField]-?: ExplainedField[Name] | undefined },
  'source' | 'wanted' | 'sent' | 'answered' | 'observed'
>;

function valuesOf({ applied, observed }: Explained, field: FieldKey, rules: TraceEntry[]): FieldValues {
  const used = rules.findLast(({ before }) => before !== undefined);
  const entry = applied[field];
  const isSpelledAlike = entry?.seen === undefined || isEqualJson(entry.seen, entry.sent);
  const set = rules.find(({ outcome }) => outcome === 'set');
  return {
    source: used?.before ?? entry?.source,
    // A trace names the role; the value of its field is true.
    wanted: set && field.startsWith('roles.') ? true : set?.after,
    // A value that was there before was never sent.
    sent: entry && !isEqualJson(entry.before, entry.sent) ? entry.sent : undefined,
    answered: isSpelledAlike ? undefined : entry.seen,
    observed: observed && readField(observed, field),
  };
}

function standingOf(identity: Explained, field: FieldKey, values: FieldValues): FieldStanding {
  const { applied, observed, progress, refused, origin, findings } = identity;
  const entry = applied[field];
  if (field in refused) return 'refused';
  const tells = (code: string) => findings.some((one) => one.field === field && one.code === code);
  if (tells('notApplied')) return 'notApplied';
  if (tells('unconfirmed') || (entry && entry.seen === undefined)) return 'uncertain';
  if (entry === undefined) {
    if (values.wanted === undefined) return values.source === undefined ? 'foreign' : 'leftOut';
    return isFromImport({ origin, progress }, field) ? 'imported' : 'notSent';
  }
  if (!observed) return 'unread';
  if (isDrift(field, entry, values.observed ?? null)) return 'drift';
  return values.wanted === undefined || isEqualJson(values.wanted, entry.sent) ? 'same' : 'notSent';
}

/** True for a field of an imported user that the IdP has not written (docs/architecture.md, The rules of the plan). */
function isFromImport({ origin, progress }: Pick<Identity, 'origin' | 'progress'>, field: FieldKey): boolean {
  return origin.baseline !== undefined && !isConfirmed({ progress }, field);
}

/** The values that are not undefined. */
type Known<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Returns the object without the members that are undefined. */
export function withoutUndefined<T extends object>(values: T): Known<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Known<T>; // The filter leaves out what the type does.
}

/** The names of the resources and custom fields that keys and values of fields contain as ids. */
export function namesById(lookups: Lookups): Map<string, string> {
  const { customFields, costCenters, billingProfiles, travelPolicies } = lookups;
  const named = [...customFields, ...costCenters, ...billingProfiles, ...travelPolicies];
  const options = customFields.flatMap((field) => field.options.map(({ id, data }) => [id, data] as const));
  return new Map([...named.map(({ id, name }) => [id, name] as const), ...options]);
}

/** Only the names of the ids that `shown` contains, because a travel service may have many thousands. */
export function usedNames(shown: object, lookups: Lookups): Record<string, string> {
  const text = JSON.stringify(shown);
  return Object.fromEntries([...namesById(lookups)].filter(([id]) => text.includes(id)));
}
