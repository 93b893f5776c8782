import type { Json } from '../schema/resource.ts';
import type { Plan } from './plan.ts';
import type { Rules } from './rules.ts';
import type { AppliedFields, FieldKey } from './translation.ts';
import { hasValue, parseFieldKey, readField, type TravelUser } from './traveler.ts';
import { isEqualJson } from './values.ts';

/** What a call is to do to one field, and what the traveler has there before. Null stands for no value. */
export interface AnnouncedField {
  value: Json;
  /** The SCIM value that it comes from. */
  source: Json;
  before: Json;
}

/** The fields of a call, as they are committed before it is sent. */
export type AnnouncedFields = Record<FieldKey, AnnouncedField>;

/** Every field where a plan makes a difference, with what was observed; `observed` is undefined for a create. */
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
 * The fields that are owned after a call without a known outcome, judged by the traveler as read since: an announced field
 * is owned if the traveler has the announced value, or a value that differs from the one observed before. In the latter
 * case it is unsure: it is sent again if it is still wanted, and removed if it is not.
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
      else resolved[key] = { sent: value, answered: now, source };
    } else if (!isEqualJson(now, before)) {
      if (value !== null) resolved[key] = { sent: value, answered: now, source, unsure: true };
      else if (entry) resolved[key] = { ...entry, unsure: true };
    }
  }
  return resolved;
}

/**
 * Marks the fields in which a traveler differs from the last answer by having a value that an earlier call was to set: the
 * travel API carried that call out late. They are sent again, or removed; any other difference is drift.
 */
export function markLateChanges(
  applied: AppliedFields,
  sent: Record<FieldKey, Json[]>,
  { observed, rules }: { observed: TravelUser; rules: Rules },
): AppliedFields {
  const doubted: AppliedFields = { ...applied };
  for (const key of new Set([...Object.keys(sent), ...Object.keys(applied)])) {
    const now = readField(observed, key) ?? null;
    const entry = applied[key];
    if (isEqualJson(now, entry ? entry.answered : null)) continue;
    const values = [...(sent[key] ?? []), ...(isReplaced(key, sent) ? [null] : [])];
    if (!values.some((value) => hasAnnouncedValue(observed, { key, value, rules }))) continue;
    doubted[key] = entry
      ? { ...entry, unsure: true }
      : { sent: now, answered: now, source: null, unsure: true };
  }
  return doubted;
}

/**
 * The values that calls carried out late may set, with those of one more call: its own, and those of the elements of ours
 * that it carried along in the arrays that it replaced.
 */
export function addSentValues(
  before: Record<FieldKey, Json[]>,
  announced: AnnouncedFields,
  applied: AppliedFields,
): Record<FieldKey, Json[]> {
  const sent = { ...before };
  const add = (key: FieldKey, value: Json) => {
    const values = sent[key] ?? [];
    if (!values.some((one) => isEqualJson(one, value))) sent[key] = [...values, value];
  };
  for (const [key, { value }] of Object.entries(announced)) add(key, value);
  const arrays = new Set(Object.keys(announced).map(arrayOf));
  for (const [key, { answered }] of Object.entries(applied)) {
    const array = arrayOf(key);
    if (array !== undefined && arrays.has(array) && !(key in announced)) add(key, answered);
  }
  return sent;
}

/** True when one of the calls replaced what the key is a part of, and so may have removed it: an array, or a whole address. */
function isReplaced(key: FieldKey, sent: Record<FieldKey, Json[]>): boolean {
  const array = arrayOf(key);
  if (array !== undefined) return Object.keys(sent).some((one) => arrayOf(one) === array);
  if (parseFieldKey(key).kind !== 'address') return false;
  return Object.entries(sent).some(
    ([one, values]) => parseFieldKey(one).kind === 'address' && values.includes(null),
  );
}

/** The array that the key is an element of. */
function arrayOf(key: FieldKey): 'customField' | 'role' | undefined {
  const { kind } = parseFieldKey(key);
  return kind === 'customField' || kind === 'role' ? kind : undefined;
}

/** True when a traveler has every value that a create was to set. */
export function hasAnnouncedValues(observed: TravelUser, announced: AnnouncedFields, rules: Rules): boolean {
  return Object.entries(announced).every(
    // A create does not send that a traveler is not archived.
    ([key, { value }]) =>
      hasAnnouncedValue(observed, { key, value, rules }) || (key === 'archived' && value === false),
  );
}

function hasAnnouncedValue(
  observed: TravelUser,
  { key, value, rules }: { key: FieldKey; value: Json; rules: Rules },
): boolean {
  if (value === null) return readField(observed, key) === undefined;
  return hasValue(observed, { key, wanted: value, rules });
}
