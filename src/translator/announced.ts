import { isObject, type Json } from '../schema/resource.ts';
import { findField } from './fields.ts';
import type { Plan } from './plan.ts';
import type { Rules } from './rules.ts';
import type { AppliedFields, FieldKey } from './translation.ts';
import { hasValue, parseFieldKey, readField, removableKeys, type TravelUser } from './traveler.ts';
import { isEqualJson } from './values/values.ts';

/** A field that a call is about to change, with the observed value before the call. Null means no value. */
export interface AnnouncedField {
  value: Json;
  /** The SCIM value that `value` comes from. */
  source: Json;
  before: Json;
}

/**
 * The fields of a call. They are committed before the call is sent, so that its outcome can be determined after a
 * crash.
 */
export type AnnouncedFields = Record<FieldKey, AnnouncedField>;

/** Returns the fields that a plan changes, with their observed values. `observed` is undefined for a create. */
export function toAnnouncedFields(
  { set, adopt, remove }: Plan,
  applied: AppliedFields,
  observed: TravelUser | undefined,
): AnnouncedFields {
  const before = (key: FieldKey) => (observed && readField(observed, key)) ?? null;
  const announced: AnnouncedFields = {};
  for (const [key, { value, source }] of Object.entries({ ...set, ...adopt }))
    announced[key] = { value, source, before: before(key) };
  for (const key of remove)
    announced[key] = { value: null, source: applied[key]?.source ?? null, before: before(key) };
  return announced;
}

/**
 * Determines which fields the bridge owns after a call with unknown outcome, from the traveler as read afterwards. An
 * announced field is owned if the traveler has the announced value, or if its value has changed since the call was
 * announced. In the second case the field is marked unsure, so that it is sent again if it is still wanted, and removed
 * otherwise.
 */
export function resolveAnnounced(
  applied: AppliedFields,
  announced: AnnouncedFields,
  { observed, rules }: { observed: TravelUser; rules: Rules },
): AppliedFields {
  const resolved: AppliedFields = { ...applied };
  for (const [key, { value, source, before }] of Object.entries(announced)) {
    const now = readField(observed, key) ?? null;
    const entry = applied[key];
    if (hasAnnouncedValue(observed, { key, value, rules })) {
      if (value === null) delete resolved[key];
      else {
        const isRole = parseFieldKey(key).kind === 'role';
        const isPreexisting = isRole && (entry ? entry.preexisting : before !== null);
        resolved[key] = {
          ...{ sent: value, answered: now, source },
          ...(isPreexisting ? { preexisting: true } : {}),
        };
      }
    } else if (!isEqualJson(now, before)) {
      if (value !== null) resolved[key] = { sent: value, answered: now, source, unsure: true };
      else if (entry) resolved[key] = { ...entry, unsure: true };
    }
  }
  return resolved;
}

/**
 * Marks fields as unsure that a late call may have changed: the traveler differs from the last response and has a value
 * that an earlier call was to set. Such a field is sent again or removed. Any other difference is drift.
 */
export function markLateChanges(
  applied: AppliedFields,
  sent: Record<FieldKey, Json[]>,
  { observed, rules }: { observed: TravelUser; rules: Rules },
): AppliedFields {
  const marked: AppliedFields = { ...applied };
  for (const key of new Set([...Object.keys(sent), ...Object.keys(applied)])) {
    const now = readField(observed, key) ?? null;
    const entry = applied[key];
    if (isEqualJson(now, entry ? entry.answered : null)) continue;
    const values = [...(sent[key] ?? []), ...(isReplaced(key, sent) ? [null] : [])];
    const isSent = (value: Json) =>
      hasAnnouncedValue(observed, { key, value, rules }) || hasCutText(observed, { key, value, rules });
    if (!values.some(isSent)) continue;
    marked[key] = entry
      ? { ...entry, unsure: true }
      : { sent: now, answered: now, source: null, unsure: true };
  }
  return marked;
}

/**
 * Adds the values of one call to those that late calls may still set: the announced values, and the elements that the
 * call repeated because it replaced their whole array.
 */
export function addSentValues(
  before: Record<FieldKey, Json[]>,
  announced: AnnouncedFields,
  applied: AppliedFields,
): Record<FieldKey, Json[]> {
  const sent = { ...before };
  const add = (key: FieldKey, value: Json) => {
    const values = sent[key] ?? [];
    if (!values.some((other) => isEqualJson(other, value))) sent[key] = [...values, value];
  };
  for (const [key, { value }] of Object.entries(announced)) add(key, value);
  const arrays = new Set(Object.keys(announced).map(arrayOf));
  for (const [key, { answered }] of Object.entries(applied)) {
    const array = arrayOf(key);
    if (array !== undefined && arrays.has(array) && !(key in announced)) add(key, answered);
  }
  return sent;
}

/**
 * Returns true if one of the calls replaced the array or address that contains the field, and so may have removed the
 * field.
 */
function isReplaced(key: FieldKey, sent: Record<FieldKey, Json[]>): boolean {
  const array = arrayOf(key);
  if (array !== undefined) return Object.keys(sent).some((other) => arrayOf(other) === array);
  if (parseFieldKey(key).kind !== 'address') return false;
  return Object.entries(sent).some(
    ([other, values]) => parseFieldKey(other).kind === 'address' && values.includes(null),
  );
}

/** Returns the name of the array that contains the field; undefined if the field is not in an array. */
function arrayOf(key: FieldKey): 'customField' | 'role' | undefined {
  const { kind } = parseFieldKey(key);
  return kind === 'customField' || kind === 'role' ? kind : undefined;
}

/** Returns true if the traveler has every value that the create would have set. */
export function hasAnnouncedValues(observed: TravelUser, announced: AnnouncedFields, rules: Rules): boolean {
  return Object.entries(announced).every(([key, { value }]) =>
    hasCreatedValue(observed, { key, value, rules }),
  );
}

/** Like `hasAnnouncedValues`, but a text may be cut: a travel API may shorten long texts instead of refusing them. */
export function hasAnnouncedOrCutValues(
  observed: TravelUser,
  announced: AnnouncedFields,
  rules: Rules,
): boolean {
  return Object.entries(announced).every(
    ([key, { value }]) =>
      hasCreatedValue(observed, { key, value, rules }) || hasCutText(observed, { key, value, rules }),
  );
}

/** Returns true if the traveler has no optional field that the create did not set. A travel API shows `false` for what nobody has set. */
export function hasOnlyAnnouncedFields(observed: TravelUser, announced: AnnouncedFields): boolean {
  return removableKeys(observed).every(
    (key) => Object.hasOwn(announced, key) || readField(observed, key) === false,
  );
}

interface AnnouncedValue {
  key: FieldKey;
  value: Json;
  rules: Rules;
}

/**
 * `archived` is no evidence: a create omits `false`, which is the default, and where the travel API archives by a call of its own, the create may
 * have been carried out without it.
 */
function hasCreatedValue(observed: TravelUser, announced: AnnouncedValue): boolean {
  return hasAnnouncedValue(observed, announced) || announced.key === 'archived';
}

function hasAnnouncedValue(observed: TravelUser, { key, value, rules }: AnnouncedValue): boolean {
  if (value === null) return readField(observed, key) === undefined;
  return hasValue(observed, { key, wanted: value, rules });
}

/** Returns true if the value is a text, as opposed to an id, code or address, of which the traveler has the beginning. */
function hasCutText(observed: TravelUser, { key, value, rules }: AnnouncedValue): boolean {
  const now = readField(observed, key);
  if (parseFieldKey(key).kind === 'customField') return haveCutData(now, value);
  return findField(key, rules.fields)?.comparison === 'normalized' && isBeginningOf(now, value);
}

function haveCutData(now: Json | undefined, sent: Json): boolean {
  if (!Array.isArray(now) || !Array.isArray(sent) || now.length !== sent.length) return false;
  const dataOf = (value: Json | undefined) => (isObject(value) ? value.data : undefined);
  return now.every((value, index) => isBeginningOf(dataOf(value), dataOf(sent[index])));
}

function isBeginningOf(now: Json | undefined, sent: Json | undefined): boolean {
  return typeof now === 'string' && now !== '' && typeof sent === 'string' && sent.startsWith(now);
}
