// Values that the travel API has accepted and then not shown. Calls without an answer are in late-calls.ts.

import type { Json } from '../../schema/resource.ts';
import { mayBeRespelled, showsOtherValue } from '../../translator/confirmation.ts';
import { isDrift, type Plan } from '../../translator/plan.ts';
import type { AppliedField, AppliedFields, FieldKey, RefusedFields } from '../../translator/translation.ts';
import { parseFieldKey, readField } from '../../translator/traveler.ts';
import { isEqualJson } from '../../translator/values/values.ts';
import { findings } from '../findings.ts';
import { retryDelay, type SuspectedSpelling, type UnconfirmedValue } from '../identity.ts';
import {
  type OutcomeDraft,
  type ReconcileContext,
  unlessEmpty,
  withFinding,
  withProgress,
} from './context.ts';
import { isParkingAddress } from './email/addresses.ts';
import { withValuesNotShownYet } from './late-calls.ts';

/** The delay of a check that an attempt could not make, for example because the identity is held; in milliseconds. */
const POSTPONED_MS = 60_000;

/**
 * Records the fields of an answered call for which the answer shows another value than was sent: the traveler is read after `lateMs`
 * (docs/architecture.md, Answers of the travel API). `before` is what was applied before the call: a removal that is not shown stays wanted.
 */
export function withAnsweredValues(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { plan: { set, remove }, before }: { plan: Plan; before: AppliedFields },
): OutcomeDraft {
  const { observed, progress } = draft;
  if (!observed) return draft;
  const { rules, version: basis } = context.rulesSnapshot;
  const unconfirmed = { ...progress.unconfirmed };
  const applied = { ...draft.applied };
  const replaced: Record<FieldKey, UnconfirmedValue> = {};
  for (const key of [...Object.keys(set), ...remove]) {
    const value = set[key]?.value ?? null;
    const earlier = unconfirmed[key];
    delete unconfirmed[key];
    if (earlier && !isEqualJson(earlier.value, value)) replaced[key] = earlier;
    if (isParkingAddress(context.connection, String(value))) continue;
    if (!showsOtherValue(observed, { key, value, rules })) continue;
    const isNotApplied = earlier?.isNotApplied === true && isEqualJson(earlier.value, value);
    const at = context.time.now + context.connection.lateMs;
    unconfirmed[key] = { value, basis, next: 'check', at, ...(isNotApplied ? { isNotApplied } : {}) };
    const entry = before[key];
    if (value === null && entry) applied[key] = withAnswer(entry, readField(observed, key));
  }
  return withUnconfirmed(withLateValues(context, { ...draft, applied }, replaced), unconfirmed);
}

/** True if the traveler must be read because the time of a check, or of the next attempt to send a value, has come. */
export function isValueCheckDue({ time }: ReconcileContext, { progress }: OutcomeDraft): boolean {
  return Object.values(progress.unconfirmed ?? {}).some(({ at }) => at !== undefined && at <= time.now);
}

/**
 * Compares the traveler with the values that are not confirmed. A value that it shows has arrived. `isFresh`: the traveler was just read, so
 * that another value was not applied; its next attempt is marked when it is due, or when the rules have changed.
 */
export function withConfirmedValues(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { isFresh }: { isFresh: boolean },
): OutcomeDraft {
  const { observed, progress } = draft;
  if (!observed || !progress.unconfirmed) return draft;
  const { rules } = context.rulesSnapshot;
  const unconfirmed: Record<FieldKey, UnconfirmedValue> = {};
  const applied = { ...draft.applied };
  const dropped: Record<FieldKey, UnconfirmedValue> = {};
  for (const [key, one] of Object.entries(progress.unconfirmed)) {
    const entry = applied[key];
    if (!entry) continue;
    if (!isStillWanted(context, { key, entry, value: one.value })) {
      dropped[key] = one;
      continue;
    }
    const shown = readField(observed, key);
    if (!showsOtherValue(observed, { key, value: one.value, rules })) {
      if (one.value === null) delete applied[key];
      else applied[key] = withAnswer(entry, shown);
    } else {
      const judged = isFresh ? afterRead(context, key, one) : one;
      unconfirmed[key] = judged;
      if (judged !== one) applied[key] = withAnswer(entry, shown);
      else if (isToBeSentAgain(context, one)) applied[key] = { ...entry, unsure: true };
    }
  }
  return withUnconfirmed(withLateValues(context, { ...draft, applied }, dropped), unconfirmed);
}

/** Adds values that have been replaced before their check to the late calls. */
function withLateValues(
  context: ReconcileContext,
  draft: OutcomeDraft,
  replaced: Record<FieldKey, UnconfirmedValue>,
): OutcomeDraft {
  const { progress } = draft;
  const late = withValuesNotShownYet(context, progress.late, replaced);
  return late === progress.late ? draft : withProgress(draft, { late });
}

function isStillWanted(
  { translation }: ReconcileContext,
  { key, entry, value }: { key: FieldKey; entry: AppliedField; value: Json },
): boolean {
  return value === null ? translation.fields[key]?.kind !== 'value' : isEqualJson(entry.sent, value);
}

/** Returns the value after the check that has found another one in the traveler. */
function afterRead({ time }: ReconcileContext, key: FieldKey, one: UnconfirmedValue): UnconfirmedValue {
  if (one.next !== 'check' || one.at === undefined || one.at > time.now) return one;
  const { value, basis } = one;
  const delay = retryDelay(key);
  const retry = delay === undefined ? {} : { at: time.now + delay };
  return { value, basis, next: 'retry', ...retry, isNotApplied: true };
}

function isToBeSentAgain(
  { time, rulesSnapshot }: ReconcileContext,
  { next, at, basis }: UnconfirmedValue,
): boolean {
  return next === 'retry' && ((at !== undefined && at <= time.now) || basis !== rulesSnapshot.version);
}

function withAnswer({ unsure: _, ...entry }: AppliedField, shown: Json | undefined): AppliedField {
  return { ...entry, answered: shown ?? null };
}

function withUnconfirmed(draft: OutcomeDraft, unconfirmed: Record<FieldKey, UnconfirmedValue>): OutcomeDraft {
  return withProgress(draft, { unconfirmed: unlessEmpty(unconfirmed) });
}

/** Returns the removals that are not sent now, although the values are still there, in the form of refusals. */
export function waitingRemovals(context: ReconcileContext, { progress }: OutcomeDraft): RefusedFields {
  const basis = context.rulesSnapshot.version;
  const waiting = Object.entries(progress.unconfirmed ?? {}).filter(
    ([, one]) => one.value === null && !isToBeSentAgain(context, one),
  );
  return Object.fromEntries(waiting.map(([key]) => [key, { value: null, basis, reason: '' }]));
}

/**
 * Returns the draft with the unconfirmed roles marked to be sent, if the plan sends or removes any role; undefined if there are none. A
 * change replaces the roles whole.
 */
export function withRolesSentAgain(draft: OutcomeDraft, { set, remove }: Plan): OutcomeDraft | undefined {
  const isRole = (key: FieldKey) => parseFieldKey(key).kind === 'role';
  const unconfirmed = Object.keys(draft.progress.unconfirmed ?? {}).filter(isRole);
  if (unconfirmed.length === 0 || ![...Object.keys(set), ...remove].some(isRole)) return undefined;
  const applied = { ...draft.applied };
  for (const key of unconfirmed) {
    const entry = applied[key];
    if (entry) applied[key] = { ...entry, unsure: true };
  }
  return { ...draft, applied };
}

/** True if the travel API has accepted that the traveler is archived, does not show it, and the time to send it again has not come. */
export function isArchiveAccepted({ applied, progress }: OutcomeDraft): boolean {
  return progress.unconfirmed?.['archived']?.value === true && applied['archived']?.unsure !== true;
}

/** Adds a finding for each value that the traveler does not show. */
export function withUnconfirmedFindings(draft: OutcomeDraft): OutcomeDraft {
  const { observed, progress } = draft;
  if (!observed) return draft;
  return Object.entries(progress.unconfirmed ?? {})
    .map(([key, { value, isNotApplied }]) => {
      const shown = readField(observed, key) ?? null;
      return isNotApplied ? findings.notApplied(key, value, shown) : findings.unconfirmed(key, value, shown);
    })
    .reduce(withFinding, draft);
}

/**
 * Returns the draft of an attempt that has reached a state, with the due checks and attempts that it could not make postponed. Without a
 * traveler there is nothing to check.
 */
export function withChecksPostponed(draft: OutcomeDraft, now: number): OutcomeDraft {
  const { progress, travelId } = draft;
  if (!progress.unconfirmed) return draft;
  if (travelId === undefined) return withUnconfirmed(draft, {});
  const all = Object.entries(progress.unconfirmed).map(([key, one]) => {
    if (one.at === undefined || one.at > now) return [key, one] as const;
    const delay = one.next === 'check' ? POSTPONED_MS : (retryDelay(key) ?? POSTPONED_MS);
    return [key, { ...one, at: now + delay }] as const;
  });
  return withUnconfirmed(draft, Object.fromEntries(all));
}

/** A check that is later than this proves nothing, because an admin may have changed the text again meanwhile; in milliseconds. */
const IN_TIME_MS = 60_000;

/**
 * Records the texts that a read showed in another form than the answer of a PATCH shows now, and an earlier answer showed before. If a read
 * after `lateMs` shows the same other form again, it is the spelling of reads, and no change by an admin (docs/architecture.md, Answers of the
 * travel API). `before` is the draft before the PATCH.
 */
export function withSuspectedSpellings(
  context: ReconcileContext,
  draft: OutcomeDraft,
  before: OutcomeDraft,
): OutcomeDraft {
  if (!before.observed || !draft.observed) return draft;
  const suspected: Record<FieldKey, SuspectedSpelling> = { ...draft.progress.suspectedSpellings };
  const at = context.time.now + context.connection.lateMs;
  for (const [key, entry] of Object.entries(before.applied)) {
    if (!(key in draft.applied) || !mayBeRespelled(key)) continue;
    const shown = readField(before.observed, key) ?? null;
    const answered = readField(draft.observed, key) ?? null;
    if (isEqualJson(answered, entry.answered) && isDrift(key, entry, shown))
      suspected[key] = { value: shown, at };
  }
  return withSuspected(draft, suspected);
}

/** True if the traveler must be read because the time of a check has come. */
export function isSpellingCheckDue({ time }: ReconcileContext, { progress }: OutcomeDraft): boolean {
  return Object.values(progress.suspectedSpellings ?? {}).some(({ at }) => at <= time.now);
}

/** Compares a traveler that was just read with the suspected spellings whose time has come, and remembers those that it shows again. */
export function withLearnedSpellings({ time }: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { observed, progress } = draft;
  if (!observed || !progress.suspectedSpellings) return draft;
  const applied: AppliedFields = { ...draft.applied };
  const suspected: Record<FieldKey, SuspectedSpelling> = {};
  for (const [key, { value, at }] of Object.entries(progress.suspectedSpellings)) {
    const entry = applied[key];
    if (!entry) continue;
    if (at > time.now) suspected[key] = { value, at };
    else if (time.now - at < IN_TIME_MS && isEqualJson(readField(observed, key) ?? null, value))
      applied[key] = { ...entry, read: value };
  }
  return withSuspected({ ...draft, applied }, suspected);
}

/** Returns the draft of an attempt that has reached a state without the checks that it could not make. */
export function withoutDueSpellings(draft: OutcomeDraft, now: number): OutcomeDraft {
  const all = Object.entries(draft.progress.suspectedSpellings ?? {});
  return withSuspected(draft, Object.fromEntries(all.filter(([, { at }]) => at > now)));
}

function withSuspected(draft: OutcomeDraft, suspected: Record<FieldKey, SuspectedSpelling>): OutcomeDraft {
  return withProgress(draft, { suspectedSpellings: unlessEmpty(suspected) });
}
