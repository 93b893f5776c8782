import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../schema/resource.ts';
import type { Plan } from '../translator/plan.ts';
import { findDrift, findInvalidFields, isEmptyPlan, makePlan, toAppliedFields } from '../translator/plan.ts';
import type { AppliedFields, FieldKey, Finding } from '../translator/translation.ts';
import type { CustomFieldValue } from '../translator/traveler.ts';
import {
  addressKey,
  findIdentityAmong,
  isInactive,
  isParkingAddress,
  resolveEmailConflict,
  withEmailWait,
  withoutHeldEmail,
} from './email-conflicts.ts';
import { findings } from './findings.ts';
import { isAdministrator, isGuarded, isTakeoverApproved, refuseOwnUser, withGuardsApplied } from './guard.ts';
import { isLateCheckDue, removeLateTravelers, withLateCallsDoubted, withoutLateCalls } from './late-calls.ts';
import {
  appliedForReset,
  earlierLostValueFindings,
  findLostValues,
  isResetPending,
  withDriftMarked,
  withLostValues,
  withoutUnownedFields,
  withResetDone,
  withWrittenFields,
} from './ownership.ts';
import {
  endInFailure,
  endInState,
  isOutcomeUnknown,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  type SendableFields,
  type WantedFields,
  withFinding,
  withHold,
  withoutAnnouncedCall,
  withRefusals,
} from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';
import { patchTraveler, readTraveler } from './traveler-calls.ts';

/** Each round sends what the last one left over; a sane travel API ends it in two or three. */
const ROUNDS = 6;

/** The traveler of a linked identity no longer exists. */
export type TravelerGone = 'gone';

/**
 * Makes the linked traveler agree with what is wanted: one patch for one change, and none for no change. What the
 * travel API refuses is remembered and the rest is sent. `isFresh`: the traveler in the draft was read in this attempt.
 */
export async function updateTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { isFresh }: { isFresh: boolean } = { isFresh: false },
): Promise<ReconcileResult | TravelerGone> {
  const { travelId } = draft;
  if (travelId === undefined) return 'gone';
  const own = await refuseOwnUser(context, draft);
  if (own) return own;
  // An attempt that was to archive and more, and failed: the deactivation goes alone now.
  const isAlone = draft.progress.announced?.archived?.value === true;
  const mustRead = !isFresh && mustReadFirst(context, draft);
  const seen = mustRead ? await readTraveler(context, draft, travelId) : withLateCallsDoubted(context, draft);
  if (seen === 'gone' || 'end' in seen) return seen;
  const checked = isLateCheckDue(context, seen) ? await afterLateCheck(context, seen) : seen;
  if ('end' in checked) return checked;
  const sending = await prepareUpdate(context, withDriftMarked(context, checked), {
    isFresh: isFresh || mustRead,
    isAlone,
  });
  return 'end' in sending ? sending : sendUntilDone(context, sending, ROUNDS);
}

/** What the draft knows may be out of date: a first claim, a link or a return, or a call whose outcome is not known. */
function mustReadFirst(context: ReconcileContext, draft: OutcomeDraft): boolean {
  const { observed, progress } = draft;
  return (
    observed === undefined ||
    progress.announced !== undefined ||
    progress.settledVersion === undefined ||
    isLateCheckDue(context, draft) ||
    isResetPending(context.identity, draft)
  );
}

async function afterLateCheck(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Promise<OutcomeDraft | ReconcileResult> {
  const failure = await removeLateTravelers(context, draft);
  return failure ? endInFailure(draft, failure) : withoutLateCalls(draft);
}

interface UpdateRound extends SendableFields {
  /** The traveler was read in this attempt, and the gates were passed. */
  isFresh: boolean;
  /** A deactivation is sent alone, first. */
  isAlone: boolean;
  /** Values of disabled custom fields that the travel API refused to take back, and that are left out. */
  omit: readonly CustomFieldValue[];
  /** The address was sent once more, as nobody was found under it after a conflict. */
  isEmailSentAgain: boolean;
}

/** What is wanted of the traveler as the draft knows it: owned fields only, a free address, and nothing that a gate stops. */
async function prepareUpdate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  how: Pick<UpdateRound, 'isFresh' | 'isAlone'>,
): Promise<UpdateRound | ReconcileResult> {
  const isReset = isResetPending(context.identity, draft);
  if (isMovedAdmin(context, draft) && !isTakeoverApproved(context.identity))
    return endInState(withHold(context, withFinding(draft, findings.privileged()), 'guarded'), 'held');
  if (isReset && draft.observed && isAdministrator(draft.observed) && !isTakeoverApproved(context.identity))
    return endInState(withHold(context, withFinding(draft, findings.heldReturn()), 'return'), 'held');
  const begun = withArchiveDoubted(draft);
  const owned = isReset
    ? { draft: { ...begun, applied: appliedForReset(begun) }, fields: context.translation.fields }
    : withoutUnownedFields(context, begun);
  const addressed = await withoutEmailOfStranger(context, await resolveEmailConflict(context, owned));
  if ('end' in addressed) return addressed;
  const sendable = how.isFresh ? await withGuardsApplied(context, addressed) : addressed;
  return { ...sendable, ...how, omit: [], isEmailSentAgain: false };
}

/**
 * An address that is waited for is not sent again while a traveler has it whom the bridge does not know, or whose address it
 * has not seen since an attempt that died.
 */
async function withoutEmailOfStranger(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
): Promise<SendableFields | ReconcileResult> {
  const email = fields.email;
  const wanted = email?.kind === 'value' ? String(email.value) : undefined;
  const isWaiting = wanted !== undefined && context.identity.waitingFor === addressKey(wanted);
  if (!isWaiting || addressKey(draft.observed?.email ?? '') === addressKey(wanted)) return { draft, fields };
  const holders = await context.connection.travel.findByEmails([wanted]);
  if (holders.kind !== 'ok') return endInFailure(draft, holders);
  if (holders.value.every(({ id }) => id === draft.travelId)) return { draft, fields };
  const holder = await findIdentityAmong(context, holders.value);
  if (holder) return withoutHeldEmail(context, { draft, fields }, { email: wanted, holder });
  return { draft: withEmailWait(draft, wanted), fields: { ...fields, email: { kind: 'kept' } } };
}

/** Somebody who returns is in use again, or not, as the IdP says now, whatever was sent for the one who left. */
function withArchiveDoubted(draft: OutcomeDraft): OutcomeDraft {
  const { archived } = draft.applied;
  if (!archived || draft.progress.settledVersion !== undefined) return draft;
  return { ...draft, applied: { ...draft.applied, archived: { ...archived, unsure: true } } };
}

/** True for an administrator whom another connection left archived, and whom no IdP brings back unseen. */
function isMovedAdmin({ identity }: ReconcileContext, { applied, observed }: OutcomeDraft): boolean {
  const isBack = identity.origin.movedFrom !== undefined && !isInactive(identity);
  return isBack && observed?.archived === true && isGuarded(observed, applied);
}

async function sendUntilDone(
  context: ReconcileContext,
  sending: UpdateRound,
  rounds: number,
): Promise<ReconcileResult | TravelerGone> {
  const { draft, fields, isFresh, isAlone } = sending;
  const { travelId } = draft;
  const whole = planFor(context, draft, fields);
  const next = isAlone ? onlyDeactivation(whole) : whole;
  if (isEmptyPlan(next) || travelId === undefined) return endWithoutCall(context, { draft, fields }, next);
  if (rounds === 0)
    return endInFailure(draft, { kind: 'unavailable', text: 'the travel API keeps changing its answer' });
  if (next.needsFreshRead && !isFresh) {
    const seen = await readTraveler(context, withoutEmailFindings(draft), travelId);
    if (seen === 'gone' || 'end' in seen) return seen;
    const again = await prepareUpdate(context, withDriftMarked(context, seen), { isFresh: true, isAlone });
    return 'end' in again ? again : sendUntilDone(context, again, rounds);
  }
  const left = await sendPatch(context, sending, { travelId, plan: next });
  return left === 'gone' || 'end' in left ? left : sendUntilDone(context, left, rounds - 1);
}

/** Sends one patch; answers what is left to do. */
async function sendPatch(
  context: ReconcileContext,
  sending: UpdateRound,
  { travelId, plan: next }: { travelId: string; plan: Plan },
): Promise<ReconcileResult | TravelerGone | UpdateRound> {
  const { draft, fields, omit } = sending;
  const sent = await patchTraveler(context, draft, { travelId, plan: next, omit });
  if (!('failure' in sent)) {
    // The answer shows the whole traveler, and so what was changed by hand meanwhile.
    const answered = withDriftMarked(context, sent.draft);
    const done = withLostValues({ draft: answered, fields }, omit);
    // The gates have not been passed for what drifted.
    const isFresh = isDeepStrictEqual(answered.progress, sent.draft.progress);
    return { ...done, isFresh, isAlone: false, omit: [], isEmailSentAgain: false };
  }
  const { body } = sent;
  const { lost, failure } = await findLostValues(context, sent.failure, {
    plan: next,
    body,
    current: draft.observed,
  });
  const tried: UpdateRound = { ...sending, draft: sent.draft, omit: [...omit, ...lost] };
  return failure ? await handlePatchFailure(context, tried, { plan: next, body, failure }) : tried;
}

/** What the step about addresses notes. */
const addressCodes = ['emailTaken', 'emailHeldByLeaver', 'emailSwapBlocked'];

/** Addresses are judged anew by the traveler as read: what was noted about them before does not count. */
function withoutEmailFindings(draft: OutcomeDraft): OutcomeDraft {
  const findings = draft.findings.filter(({ code }) => !addressCodes.includes(code));
  return { ...draft, waitingFor: undefined, findings };
}

function planFor(context: ReconcileContext, draft: OutcomeDraft, wanted: WantedFields): Plan {
  const { applied, refused, observed } = draft;
  const isReset = isResetPending(context.identity, draft);
  return makePlan({
    ...{ applied, refused, wanted, observed, isReset },
    ...{ basis: context.rulesSnapshot.version, rules: context.rulesSnapshot.rules },
  });
}

/** The deactivation alone, if the plan has one: what else is wrong with the person must not keep them in use. */
function onlyDeactivation(whole: Plan): Plan {
  const { archived } = whole.set;
  if (archived?.value !== true) return whole;
  return { set: { archived }, adopt: {}, remove: [], released: [], needsFreshRead: true };
}

/** What to do after a failed patch: stop, or go on with what is left. */
async function handlePatchFailure(
  context: ReconcileContext,
  sending: UpdateRound,
  { plan: tried, body, failure }: { plan: Plan; body: JsonObject; failure: TravelFailure },
): Promise<ReconcileResult | TravelerGone | UpdateRound> {
  const draft = withoutAnnouncedCall(sending.draft);
  switch (failure.kind) {
    case 'notFound':
      return 'gone';
    case 'forbidden':
      if (tried.set.archived?.value === true && !isAlone(tried)) return { ...sending, draft, isAlone: true };
      return endInState(
        withFinding(draft, findings.forbidden('archived' in tried.set ? 'archived' : '*')),
        'refused',
      );
    case 'conflict': {
      const email = tried.set.email?.value;
      if (typeof email !== 'string')
        return withRefusedFields(context, { ...sending, draft }, refusalsOf(tried, [], 'conflict'));
      return handleTakenEmail(context, { ...sending, draft }, email);
    }
    case 'invalid': {
      if (tried.set.archived?.value === true && !isAlone(tried)) return { ...sending, draft, isAlone: true };
      const keys = findInvalidFields(
        failure.fields.map(({ field }) => field),
        tried,
        body,
      );
      const reason = failure.fields.map(({ message }) => message).join('; ');
      return withRefusedFields(context, { ...sending, draft }, refusalsOf(tried, keys, reason));
    }
    case 'unauthorized':
      return endInFailure(draft, failure);
    case 'unavailable':
      if (failure.isRejected && tried.set.archived?.value === true && !isAlone(tried))
        return { ...sending, draft, isAlone: true };
      return endInFailure(isOutcomeUnknown(failure) ? sending.draft : draft, failure);
  }
}

/**
 * The rest, without an address that another traveler has. The wait for it is noted before a second look: an address that was
 * freed before is sent once more, and one that is freed from now on makes this identity dirty.
 */
async function handleTakenEmail(
  context: ReconcileContext,
  sending: UpdateRound,
  email: string,
): Promise<ReconcileResult | UpdateRound> {
  const { draft, fields, isEmailSentAgain } = sending;
  await context.saveEmailWait(email);
  const holders = await context.connection.travel.findByEmails([email]);
  if (holders.kind !== 'ok') return endInFailure(withEmailWait(draft, email), holders);
  const holder = await findIdentityAmong(context, holders.value);
  if (holder)
    return { ...sending, ...(await withoutHeldEmail(context, { draft, fields }, { email, holder })) };
  const isFree = holders.value.length === 0;
  if (isFree && !isEmailSentAgain) return { ...sending, isEmailSentAgain: true };
  const finding = isFree ? findings.unfindableEmail(email) : findings.emailTaken(email);
  return {
    ...sending,
    draft: withEmailWait(draft, email, finding),
    fields: { ...fields, email: { kind: 'kept' } },
  };
}

function isAlone({ set, remove }: Plan): boolean {
  return Object.keys(set).length + remove.length === 1;
}

interface Refusal {
  key: FieldKey;
  reason: string;
}

/** The named keys, or all that were sent when none was named. */
function refusalsOf(tried: Plan, keys: FieldKey[], reason: string): Refusal[] {
  return (keys.length > 0 ? keys : [...Object.keys(tried.set), ...tried.remove]).map((key) => ({
    key,
    reason,
  }));
}

function withRefusedFields(
  context: ReconcileContext,
  sending: UpdateRound,
  refusals: Refusal[],
): UpdateRound {
  const { draft, fields } = sending;
  const refused = withRefusals(
    context,
    draft,
    refusals.map((refusal) => ({ ...refusal, wanted: fields })),
  );
  return { ...sending, draft: refused, isAlone: false };
}

/** Nothing left to send. */
function endWithoutCall(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
  next: Plan,
): ReconcileResult {
  const applied = draft.observed ? toAppliedFields(draft.applied, next, draft.observed) : draft.applied;
  const refused = Object.fromEntries(
    Object.entries(draft.refused).filter(
      ([key, { basis }]) =>
        basis === context.rulesSnapshot.version && isRefusalCurrent(context, { draft, fields }, key),
    ),
  );
  const told = [
    ...draft.findings,
    ...Object.entries(refused).map(([key, { value, reason }]) => findings.refused(key, value, reason)),
    ...(draft.observed
      ? findDrift(applied, draft.observed).filter((one) => !isParkingDrift(context, one, applied))
      : []),
    ...earlierLostValueFindings(context, draft),
  ];
  // Not remembered, so that any repeat of a deactivation tries again.
  const { archived: _, ...remembered } = refused;
  const done = withWrittenFields(context, {
    ...draft,
    ...{ applied, refused: remembered, findings: told, creating: undefined },
  });
  if (done.hold) return endInState(done, 'held');
  return endInState(
    withResetDone(context.identity, done),
    Object.keys(refused).length > 0 ? 'refused' : 'synced',
  );
}

/** True for an address that differs only because one of the two is a parking address. */
function isParkingDrift(
  { connection }: ReconcileContext,
  { field, value }: Finding,
  { email }: AppliedFields,
): boolean {
  const emails = [value, email?.answered];
  return field === 'email' && emails.some((one) => isParkingAddress(connection, String(one)));
}

/** True while the refused value, or the refused removal, is what is wanted. */
function isRefusalCurrent(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
  key: FieldKey,
): boolean {
  const refused = draft.refused[key]?.value;
  // While it is remembered, no other parking address is tried.
  if (key === 'email' && isParkingAddress(context.connection, String(refused)))
    return draft.waitingFor !== undefined;
  const field = fields[key];
  if (field?.kind !== 'value') return refused === null && key in draft.applied;
  return isDeepStrictEqual(field.value, refused);
}
