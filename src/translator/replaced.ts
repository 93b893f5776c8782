import type { Json } from '../schema/resource.ts';
import { isDrift, type Plan, type PlannedField } from './plan.ts';
import { isSetByRules, type Rules } from './rules.ts';
import type { AppliedFields, FieldKey, RefusedFields } from './translation.ts';
import { parseFieldKey, readField, requiredKeys, type TravelUser } from './traveler.ts';
import { isEqualJson } from './values/values.ts';

/** The value that a field of a traveler had when the bridge began to own it. */
export interface ReplacedValue {
  /** Null means that the field had no value. */
  value: Json;
  /** The generation of the rules that replaced it. */
  generation: number;
  /** The value with which the bridge has given the field up; absent while it owns the field, and after it removed the value. */
  left?: Json;
}

/** The replaced values of one traveler. Those of email, `archived` and roles are not kept. */
export type ReplacedFields = Readonly<Record<FieldKey, ReplacedValue>>;

/** Adds the values that a change replaces in fields that the bridge does not own yet. A value stays when its field is empty meanwhile. */
export function withReplaced(
  replaced: ReplacedFields | undefined,
  { set, released }: Plan,
  { applied, observed, generation }: { applied: AppliedFields; observed: TravelUser; generation: number },
): ReplacedFields | undefined {
  const added: Record<FieldKey, ReplacedValue> = {};
  for (const key of Object.keys(set)) {
    if (key in applied || released.includes(key) || !isKept(key)) continue;
    const value = readField(observed, key) ?? null;
    if (value !== null || replaced?.[key] === undefined) added[key] = { value, generation };
  }
  return Object.keys(added).length > 0 ? { ...replaced, ...added } : replaced;
}

function isKept(key: FieldKey): boolean {
  return !requiredKeys.includes(key) && parseFieldKey(key).kind !== 'role';
}

interface PutBackInput {
  wanted: Record<FieldKey, PlannedField>;
  applied: AppliedFields;
  observed: TravelUser;
  rules: Rules;
  /** The generation from which on replaced values are put back. */
  since: number;
}

/**
 * Returns the values to put back on a traveler: those that were replaced since a generation in fields to which the rules give no value
 * any more. Where somebody has entered a value in the travel service since then, that is the one.
 */
export function valuesToPutBack(
  replaced: ReplacedFields | undefined,
  { wanted, applied, observed, rules, since }: PutBackInput,
): Record<FieldKey, Json> {
  const due = Object.entries(replaced ?? {}).flatMap(
    ([key, { value, generation, left }]): [FieldKey, Json][] => {
      if (generation < since || !isUnset(key, { wanted, rules })) return [];
      const now = readField(observed, key) ?? null;
      const entry = applied[key];
      if (entry) return [[key, !entry.unsure && isDrift(key, entry, now) ? now : value]];
      return isEqualJson(now, left ?? null) ? [[key, value]] : [];
    },
  );
  return Object.fromEntries(due);
}

/** True for a field that the rules leave alone on a traveler whose value the bridge does not own. */
function isUnset(key: FieldKey, { wanted, rules }: Pick<PutBackInput, 'wanted' | 'rules'>): boolean {
  const kind = wanted[key]?.kind;
  if (kind === undefined) return !isSetByRules(rules, key);
  return kind === 'absent' || kind === 'putBack';
}

/**
 * Returns the replaced values after a traveler is as the rules say: with the value of each field that was given up, and without those
 * that were put back, or were not because somebody has entered another value. One that the travel API refuses stays.
 */
export function replacedAfter(
  replaced: ReplacedFields | undefined,
  {
    wanted,
    applied,
    released,
    refused,
    rules,
    since,
  }: Omit<PutBackInput, 'observed' | 'since'> & {
    released: readonly FieldKey[];
    refused: RefusedFields;
    since: number | undefined;
  },
): ReplacedFields | undefined {
  const left = Object.entries(replaced ?? {}).flatMap(([key, one]): [FieldKey, ReplacedValue][] => {
    const isDue = since !== undefined && one.generation >= since && isUnset(key, { wanted, rules });
    if (isDue && !(key in refused)) return [];
    const entry = released.includes(key) ? applied[key] : undefined;
    return [[key, entry ? { ...one, left: entry.answered } : one]];
  });
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}
