import { findings } from '../../model/findings.ts';
import { retryDelay } from '../../model/identity.ts';
import type { AppliedFields, FieldKey, Plan } from '../../model/translation.ts';
import type { TravelUser } from '../../model/traveler.ts';
import { acceptedAndNotShown, afterAnswer, afterRead } from '../../translator/plan/field-records.ts';
import { leaseDuration } from '../calls/lease.ts';
import { type OutcomeDraft, type ReconcileContext, withFinding } from './context.ts';

// The values of a traveler that are unknown until it is read, and the times of the next reads (docs/architecture.md, Unknown until read).

/** True if the traveler must be read before the plan, because a value of it is not known or a time to read it again has come. */
export function isReadDue({ time }: ReconcileContext, draft: OutcomeDraft): boolean {
  const { observed, progress, applied, readAgainAt } = draft;
  // The first attempt after a link or a takeover reads, too.
  if (observed === undefined || progress.settledVersion === undefined) return true;
  const times = [readAgainAt, ...Object.values(applied).map(({ resendAt }) => resendAt)];
  const isDue = times.some((at) => at !== undefined && at <= time.now);
  return isDue || Object.values(applied).some(({ seen }) => seen === undefined);
}

/** Returns the draft with a traveler that was just read. A read after `readAgainAt` settles the calls without an answer. */
export function withObservedTraveler(
  { time, rulesSnapshot: { rules } }: ReconcileContext,
  draft: OutcomeDraft,
  observed: TravelUser,
): OutcomeDraft {
  const { readAgainAt } = draft;
  const isOpen = readAgainAt !== undefined;
  const applied = afterRead(draft.applied, observed, { rules, isOpen });
  if (!isOpen || readAgainAt > time.now) return { ...draft, observed, applied };
  const settled = afterRead(applied, observed, { rules, isOpen: false });
  return { ...draft, observed, applied: settled, readAgainAt: undefined };
}

/** Returns the draft with the records compared with what an import or feed has observed while a call may still be carried out. */
export function withObservationCompared(
  { rulesSnapshot: { rules } }: ReconcileContext,
  draft: OutcomeDraft,
): OutcomeDraft {
  const { observed, readAgainAt } = draft;
  if (!observed || readAgainAt === undefined) return draft;
  return { ...draft, applied: afterRead(draft.applied, observed, { rules, isOpen: true }) };
}

/**
 * Returns the draft to commit before a call: until `lateMs` after the latest end of the call it may be carried out, if it is not answered. The
 * call ends before a lease that begins now.
 */
export function withCallOpen(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { time, connection } = context;
  return withReadBy(draft, time.now + leaseDuration(connection) + connection.lateMs);
}

function withReadBy(draft: OutcomeDraft, time: number): OutcomeDraft {
  return { ...draft, readAgainAt: laterOf(draft.readAgainAt, time) };
}

/** Returns the later of two times at which a traveler is to be read again. */
export function laterOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/**
 * Returns the draft after the answer to a call, with the records that were committed before it and the time of earlier calls. If the answer
 * does not show a value that no travel API rewrites, the traveler is read again, because the value may only be late.
 */
export function withAnswer(
  context: ReconcileContext,
  sent: OutcomeDraft,
  { plan, answer }: { plan: Plan; answer: TravelUser },
): OutcomeDraft {
  const { rules } = context.rulesSnapshot;
  const isOpen = sent.readAgainAt !== undefined;
  const answered = afterAnswer(sent.applied, plan, answer, { rules, isOpen });
  const applied = withResendTimes(context, afterRead(answered, answer, { rules, isOpen }), answer);
  const draft = { ...sent, observed: answer, applied };
  const keys = [...Object.keys(plan.set), ...plan.remove];
  const isLate = acceptedAndNotShown(applied, answer, rules).some(
    (key) => keys.includes(key) && applied[key]?.resendAt === undefined,
  );
  return isLate ? withReadBy(draft, context.time.now + context.connection.lateMs) : draft;
}

/** Moves the times of values that were just sent again, and are still not shown. */
function withResendTimes(
  { time, rulesSnapshot: { rules } }: ReconcileContext,
  applied: AppliedFields,
  traveler: TravelUser,
): AppliedFields {
  const records = { ...applied };
  for (const key of acceptedAndNotShown(applied, traveler, rules)) {
    const record = records[key];
    const delay = retryDelay(key);
    if (!record || record.resendAt === undefined || delay === undefined) continue;
    if (record.resendAt <= time.now) records[key] = { ...record, resendAt: time.now + delay };
  }
  return records;
}

/** Returns the fields that are sent again although their value is known to have been accepted: their time has come, or the rules have changed. */
export function fieldsToResend(
  { identity, time, rulesSnapshot: { rules, generation } }: ReconcileContext,
  { applied, observed }: OutcomeDraft,
): FieldKey[] {
  if (!observed) return [];
  const areRulesNew = identity.rulesGeneration !== 0 && identity.rulesGeneration < generation;
  return acceptedAndNotShown(applied, observed, rules).filter((key) => {
    const at = applied[key]?.resendAt;
    return areRulesNew || (at !== undefined && at <= time.now);
  });
}

/**
 * Returns the draft of an attempt that has reached a state, with times in the future: values that the travel API has accepted and does not show
 * are sent again later, and a read that the attempt could not make is postponed.
 */
export function withTimesSettled(
  { rules, now }: { rules: ReconcileContext['rulesSnapshot']['rules'] | undefined; now: number },
  draft: OutcomeDraft,
): OutcomeDraft {
  const { observed, travelId, creating, readAgainAt } = draft;
  const isOver = readAgainAt !== undefined && readAgainAt <= now;
  // An attempt without a link has looked for the traveler of a create, unless there was none.
  const isSearched = travelId === undefined && (isOver || creating === undefined);
  const postponed = isOver ? now + POSTPONED_MS : readAgainAt;
  // While a call may still be carried out, a value that is not shown may only be late.
  const isSettled = observed && rules && readAgainAt === undefined;
  const unshown = isSettled ? acceptedAndNotShown(draft.applied, observed, rules) : [];
  const applied = { ...draft.applied };
  for (const [key, { resendAt = unshown.includes(key) ? now : undefined, ...record }] of Object.entries(
    applied,
  )) {
    const delay = retryDelay(key);
    if (resendAt === undefined || resendAt > now || delay === undefined) continue;
    // A value that is to be sent again, and was not because its field is kept now, stays unknown until an attempt wants the field.
    applied[key] = record.seen === undefined ? record : { ...record, resendAt: now + delay };
  }
  return { ...draft, applied, readAgainAt: isSearched ? undefined : postponed };
}

/** The delay of a read that an attempt could not make, for example because the identity is held; in milliseconds. */
const POSTPONED_MS = 60_000;

/** Adds a finding for each value that the travel API has accepted and does not show. */
export function withNotShownFindings(
  { rulesSnapshot: { rules } }: ReconcileContext,
  draft: OutcomeDraft,
): OutcomeDraft {
  const { observed, applied, readAgainAt } = draft;
  if (!observed) return draft;
  return acceptedAndNotShown(applied, observed, rules)
    .flatMap((key) => {
      const record = applied[key];
      if (!record) return [];
      const isLate = readAgainAt !== undefined && record.resendAt === undefined;
      const tell = isLate ? findings.unconfirmed : findings.notApplied;
      return [tell(key, record.sent, record.seen ?? null)];
    })
    .reduce(withFinding, draft);
}
