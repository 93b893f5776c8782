import type { AppliedField, AppliedFields, FieldKey, Plan } from '../../model/translation.ts';
import type { TravelUser } from '../../model/traveler.ts';
import type { Json } from '../../schema/resource.ts';
import type { Rules } from '../rules/rules.ts';
import { isEqualJson } from '../values/values.ts';
import { areSameSpellings, isRewritten, showsOtherValue } from './confirmation.ts';
import { hasValue, parseFieldKey, readField, requiredKeys } from './traveler.ts';

// The records of the fields that the bridge owns: before a call, after its answer, and after a read (docs/architecture.md, Unknown until
// read).

/** Returns the records to commit before a call: what the plan sends is unknown until an answer or a read shows it. */
export function beforeCall(
  applied: AppliedFields,
  plan: Plan,
  observed: TravelUser | undefined,
): AppliedFields {
  const records = adopted(applied, plan, observed);
  for (const [key, { value, source }] of Object.entries(plan.set)) {
    const before = beforeOf(key, applied[key], observed);
    const record = { sent: value, source, ...(before === undefined ? {} : { before }) };
    records[key] = withResendTime(record, applied[key]);
  }
  for (const key of plan.remove) {
    const record = unseen(applied[key] ?? { sent: null, source: null });
    records[key] = withResendTime({ ...record, sent: null }, applied[key]);
  }
  return records;
}

/** A value that is sent again is still known not to be shown. */
function withResendTime(record: AppliedField, known: AppliedField | undefined): AppliedField {
  const resendAt = known && isEqualJson(known.sent, record.sent) ? known.resendAt : undefined;
  return resendAt === undefined ? record : { ...record, resendAt };
}

/** Returns the records of a plan that needs no call: values that the traveler has already are owned, and some fields no longer are. */
export function withoutCall(
  applied: AppliedFields,
  plan: Plan,
  observed: TravelUser | undefined,
): AppliedFields {
  return withoutKeys(adopted(applied, plan, observed), plan.released);
}

/** What an answer and a read are judged by. */
interface Judging {
  rules: Rules;
  /** True while an earlier call without an answer may still be carried out. */
  isOpen: boolean;
}

/** Returns the records after the answer to the call of a plan, from those that were committed before the call. */
export function afterAnswer(
  committed: AppliedFields,
  { set, remove, released }: Plan,
  answer: TravelUser,
  { rules, isOpen }: Judging,
): AppliedFields {
  const records = { ...committed };
  for (const key of [...Object.keys(set), ...remove]) {
    const record = committed[key];
    if (!record) continue;
    if (record.sent === null && !isOpen && readField(answer, key) === undefined) delete records[key];
    else records[key] = { ...record, seen: seenIn(answer, { key, sent: record.sent, rules }) };
  }
  return withoutKeys(records, released);
}

/**
 * Returns the records after a read. A value that the traveler shows is settled. While a call without an answer may still be carried out, every
 * other value becomes unknown again, so that it is sent again; afterwards it is drift.
 */
export function afterRead(
  applied: AppliedFields,
  traveler: TravelUser,
  { rules, isOpen }: Judging,
): AppliedFields {
  const records: AppliedFields = {};
  for (const [key, record] of Object.entries(applied)) {
    const { sent, seen, resendAt } = record;
    const shown = readField(traveler, key) ?? null;
    const isSettled = seen === shown && resendAt === undefined;
    if (showsValue(traveler, { key, sent, rules })) {
      if (sent !== null || isOpen) records[key] = isSettled ? record : { ...unseen(record), seen: shown };
    } else if (seen !== undefined && isOpen && !isEqualJson(seen, shown)) records[key] = unseen(record);
    else records[key] = record;
  }
  return records;
}

function unseen({ seen: _, resendAt: _at, ...record }: AppliedField): AppliedField {
  return record;
}

/** Returns the records with these fields unknown: their values are sent again unless the traveler has them. */
export function doubted(applied: AppliedFields, keys: readonly FieldKey[]): AppliedFields {
  const records = { ...applied };
  for (const key of keys) {
    const known = records[key];
    if (!known) continue;
    const { seen: _, ...record } = known;
    records[key] = record;
  }
  return records;
}

/** A value that was sent; null for a removal. */
interface SentValue {
  key: FieldKey;
  sent: Json;
  rules: Rules;
}

/** True if the traveler has the value that was sent, or none after a removal. */
export function showsValue(traveler: TravelUser, { key, sent, rules }: SentValue): boolean {
  if (key === 'archived' && traveler.isArchivedUnknown) return false;
  const isAbsent = readField(traveler, key) === undefined;
  if (sent === null || isAbsent) return sent === null && isAbsent;
  if (hasValue(traveler, { key, wanted: sent, rules })) return true;
  return !isRewritten(key, rules) && !showsOther(traveler, { key, sent, rules });
}

/** The value that an answer shows. Where the travel API does not show whether a traveler is archived, an answer says that it is as sent. */
function seenIn(answer: TravelUser, { key, sent, rules }: SentValue): Json {
  const isHidden =
    key === 'archived' && answer.isArchivedUnknown && !showsOther(answer, { key, sent, rules });
  return isHidden ? sent : (readField(answer, key) ?? null);
}

function showsOther(traveler: TravelUser, { key, sent, rules }: SentValue): boolean {
  return showsOtherValue(traveler, { key, value: sent, rules });
}

/** Returns the keys of the fields that the travel API has accepted and does not show, although no travel API rewrites such values. */
export function acceptedAndNotShown(applied: AppliedFields, traveler: TravelUser, rules: Rules): FieldKey[] {
  return Object.entries(applied).flatMap(([key, { sent, seen }]) => {
    // Most values are shown as they were sent.
    if (seen === undefined || seen === sent) return [];
    const isUnchanged = isEqualJson(seen, readField(traveler, key) ?? null);
    return isUnchanged && showsOther(traveler, { key, sent, rules }) ? [key] : [];
  });
}

/** Returns true if the traveler shows every value that was sent and that no travel API rewrites. */
export function showsCreatedValues(traveler: TravelUser, applied: AppliedFields, rules: Rules): boolean {
  return Object.entries(applied).every(([key, { sent }]) => {
    // A create omits `archived: false`, and where the travel API archives by a call of its own, it may have been carried out without it.
    if (key === 'archived' || sent === null || isRewritten(key, rules)) return true;
    return readField(traveler, key) !== undefined && !showsOther(traveler, { key, sent, rules });
  });
}

/** True if the traveler shows another value of an owned field than the travel API has shown: it was changed in the travel service. */
export function isDrift(key: FieldKey, { seen }: AppliedField, shown: Json): boolean {
  return seen !== undefined && !areSameSpellings(key, shown, seen);
}

/** Takes over the values that the traveler has already. */
function adopted(applied: AppliedFields, { adopt }: Plan, observed: TravelUser | undefined): AppliedFields {
  const records = { ...applied };
  for (const [key, { value, source }] of Object.entries(adopt)) {
    const known = applied[key];
    const seen = (observed && readField(observed, key)) ?? null;
    const before = beforeOf(key, known, observed);
    records[key] =
      known?.seen !== undefined && isEqualJson(known.sent, value)
        ? { ...known, source }
        : { sent: value, source, seen, ...(before === undefined ? {} : { before }) };
  }
  return records;
}

/** The value that a field had before the bridge owned it. A role is only of interest if it was there. */
function beforeOf(
  key: FieldKey,
  known: AppliedField | undefined,
  observed: TravelUser | undefined,
): Json | undefined {
  if (known) return known.before;
  if (!observed || requiredKeys.includes(key)) return undefined;
  const value = readField(observed, key);
  return parseFieldKey(key).kind === 'role' ? value : (value ?? null);
}

function withoutKeys(applied: AppliedFields, keys: readonly FieldKey[]): AppliedFields {
  return Object.fromEntries(Object.entries(applied).filter(([key]) => !keys.includes(key)));
}
