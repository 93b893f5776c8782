import { isDeepStrictEqual } from 'node:util';
import { findInvalidFields, isEmptyPlan, makePlan, type Plan } from '../../translator/plan.ts';
import type { FieldKey, RefusedFields } from '../../translator/translation.ts';
import type { CustomFieldValue, TravelerChange } from '../../translator/traveler.ts';
import { findings } from '../findings.ts';
import { isInactive } from '../identity.ts';
import { refusalReason, type TravelFailure } from '../travel-ports.ts';
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
  withoutAnnouncedCall,
  withRefusals,
} from './context.ts';
import { type Program, perform } from './effects.ts';
import { addressKey, isParkingAddress, withEmailDoubted, withEmailWait } from './email/addresses.ts';
import { findIdentityAmong, resolveEmailConflict, withoutHeldEmail } from './email/conflicts.ts';
import { withoutTakenEmail } from './email/taken-email.ts';
import { endUpdate } from './end-update.ts';
import { withGuardsApplied } from './guard.ts';
import { finishLateCheck, isLateCheckDue, withLateCallsDoubted } from './late-calls.ts';
import {
  findLostValues,
  withAdoptedAddress,
  withDriftMarked,
  withKeptRolesReported,
  withLostValues,
  withoutUnownedFields,
} from './ownership.ts';
import { withPutBack } from './replaced-values.ts';
import { announceAndPatch, readTraveler, refuseOwnUser } from './traveler-calls.ts';
import {
  isSpellingCheckDue,
  isValueCheckDue,
  waitingRemovals,
  withConfirmedValues,
  withRolesSentAgain,
} from './unconfirmed-values.ts';

/** The number of requests in one attempt; usually one or two are enough. */
const ROUNDS = 6;

/** The traveler of a linked identity does not exist any more. */
export type TravelerGone = 'gone';

/**
 * Sets the linked traveler to the wanted fields, by one PATCH if they differ. Records the fields that the travel API
 * refuses, and sends the others again. `isFresh` means that the traveler in the draft was read in this attempt.
 */
export function* updateTraveler(
  context: ReconcileContext,
  begun: OutcomeDraft,
  { isFresh }: { isFresh: boolean } = { isFresh: false },
): Program<ReconcileResult | TravelerGone> {
  const draft = begun.refused['archived'] ? withArchivedAllowed(begun) : begun;
  const { travelId } = draft;
  if (travelId === undefined) return 'gone';
  const own = yield* refuseOwnUser(context, draft);
  if (own) return own;
  // After a PATCH without a known outcome that also archived the traveler, send the deactivation alone first.
  const isAlone = draft.progress.announced?.archived?.value === true;
  const mustRead = !isFresh && mustReadFirst(context, draft);
  const current = mustRead
    ? yield* readTraveler(context, draft, travelId)
    : withConfirmedValues(context, withLateCallsDoubted(context, draft), { isFresh: false });
  if (current === 'gone' || 'end' in current) return current;
  const checked = yield* finishLateCheck(context, current);
  if ('end' in checked) return checked;
  const round = yield* prepareUpdate(context, withDriftMarked(context, checked), {
    isFresh: isFresh || mustRead,
    isAlone,
  });
  return 'end' in round ? round : yield* sendUntilDone(context, round, ROUNDS);
}

/**
 * True if the traveler must be read before the plan: its state is not known (new links, returns, calls with an unknown outcome), or the time
 * of a check has come. After a crash there is nothing observed: taking the lease of a dead process
 * forgets it (`Leases.acquire`). The plan may ask for a read, too, such as before an archive (`Plan.needsFreshRead`).
 */
function mustReadFirst(context: ReconcileContext, draft: OutcomeDraft): boolean {
  const { observed, progress } = draft;
  return (
    observed === undefined ||
    progress.announced !== undefined ||
    progress.settledVersion === undefined ||
    isLateCheckDue(context, draft) ||
    isValueCheckDue(context, draft) ||
    isSpellingCheckDue(context, draft)
  );
}

interface UpdateRound extends SendableFields {
  /** True if this attempt has read the traveler and applied the guards to it. */
  isFresh: boolean;
  /** True if the next request sends only the deactivation, before all other fields. */
  isAlone: boolean;
  /** Custom field values that are omitted because the travel API refuses their disabled field or option. */
  omit: readonly CustomFieldValue[];
  /** True if the address was sent a second time: after a 409, no traveler with it was found. */
  isEmailSentAgain: boolean;
}

/**
 * Chooses the fields of the first request: owned fields with a free address, without those that need an admin's
 * approval. May hold the identity.
 */
function* prepareUpdate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  how: Pick<UpdateRound, 'isFresh' | 'isAlone'>,
): Program<UpdateRound | ReconcileResult> {
  const doubted = withParkingDoubted(context, withArchiveDoubted(draft));
  const owned = withPutBack(context, withAdoptedAddress(context, withoutUnownedFields(context, doubted)));
  const addressed = yield* withoutUnknownHoldersEmail(context, yield* resolveEmailConflict(context, owned));
  if ('end' in addressed) return addressed;
  const guarded = how.isFresh ? yield* withGuardsApplied(context, addressed) : addressed;
  const parked = guarded.draft.hold ? withoutParkingAddress(context, guarded) : guarded;
  return { omit: [], isEmailSentAgain: false, ...how, ...withKeptRolesReported(parked) };
}

/** A leaver whose departure is held keeps the address, because an admin may discard the departure. */
function withoutParkingAddress(
  { connection }: ReconcileContext,
  { draft, fields }: SendableFields,
): SendableFields {
  const { email } = fields;
  const isParking = email?.kind === 'value' && isParkingAddress(connection, String(email.value));
  return { draft, fields: isParking ? { ...fields, email: { kind: 'kept' } } : fields };
}

/**
 * Sets the email to `kept` while the travel API finds another traveler with the awaited address. The store may not know
 * that traveler, or not its current address if a process died.
 */
function* withoutUnknownHoldersEmail(
  context: ReconcileContext,
  { draft, fields }: SendableFields,
): Program<SendableFields | ReconcileResult> {
  const email = fields.email;
  const wanted = email?.kind === 'value' ? String(email.value) : undefined;
  const isWaiting = wanted !== undefined && context.identity.waitingFor === addressKey(wanted);
  if (!isWaiting || addressKey(draft.observed?.email ?? '') === addressKey(wanted)) return { draft, fields };
  const holders = yield* perform('findTravelers', [wanted]);
  const waiting = {
    draft: withEmailWait(draft, wanted),
    fields: { ...fields, email: { kind: 'kept' } },
  } as const;
  // A failed search must not delay a deactivation.
  if (holders.kind !== 'ok') return isDeactivation(context, fields) ? waiting : endInFailure(draft, holders);
  if (holders.value.every(({ id }) => id === draft.travelId)) return { draft, fields };
  const holder = yield* findIdentityAmong(context, holders.value);
  if (holder) return yield* withoutHeldEmail(context, { draft, fields }, { email: wanted, holder });
  return waiting;
}

function isDeactivation({ identity }: ReconcileContext, { archived }: WantedFields): boolean {
  return archived?.kind === 'value' && archived.value === true && identity.applied['archived']?.sent !== true;
}

/**
 * The travel API may have refused `archived` only in the create of this attempt. Sent again, it archives the traveler of an inactive
 * user, who must not stay active.
 */
function withArchivedAllowed(draft: OutcomeDraft): OutcomeDraft {
  const { archived: _, ...refused } = draft.refused;
  return { ...draft, refused };
}

/** Marks `archived` as unsure for a returning user: it is sent again even if the tombstone sent the same value. */
function withArchiveDoubted(draft: OutcomeDraft): OutcomeDraft {
  const { archived } = draft.applied;
  if (!archived || draft.progress.settledVersion !== undefined) return draft;
  return { ...draft, applied: { ...draft.applied, archived: { ...archived, unsure: true } } };
}

/**
 * Marks the address of an active person as unsure if the traveler has a parking address. That is no drift: only the bridge sets one, perhaps
 * before the database was restored.
 */
function withParkingDoubted({ connection, identity }: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const isParked = draft.observed !== undefined && isParkingAddress(connection, draft.observed.email);
  return isParked && !isInactive(identity) ? withEmailDoubted(draft) : draft;
}

function* sendUntilDone(
  context: ReconcileContext,
  round: UpdateRound,
  rounds: number,
): Program<ReconcileResult | TravelerGone> {
  const { draft, fields, isFresh, isAlone } = round;
  const { travelId } = draft;
  const whole = planFor(context, draft, fields);
  const next = isAlone ? onlyDeactivation(whole) : whole;
  if (isEmptyPlan(next) || travelId === undefined) return endUpdate(context, { draft, fields }, next);
  if (rounds === 0)
    return endInFailure(draft, { kind: 'unavailable', text: 'the travel API keeps changing its answer' });
  if (next.needsFreshRead && !isFresh) {
    const current = yield* readTraveler(context, withoutEmailFindings(draft), travelId);
    if (current === 'gone' || 'end' in current) return current;
    const again = yield* prepareUpdate(context, withDriftMarked(context, current), {
      isFresh: true,
      isAlone,
    });
    return 'end' in again ? again : yield* sendUntilDone(context, again, rounds);
  }
  const rest = yield* sendPatch(context, round, { travelId, plan: next });
  return rest === 'gone' || 'end' in rest ? rest : yield* sendUntilDone(context, rest, rounds - 1);
}

/** Sends one PATCH and returns the state for the next request of this attempt. */
function* sendPatch(
  context: ReconcileContext,
  sending: UpdateRound,
  { travelId, plan: next }: { travelId: string; plan: Plan },
): Program<ReconcileResult | TravelerGone | UpdateRound> {
  const { draft, fields, omit } = sending;
  const sent = yield* announceAndPatch(context, draft, { travelId, plan: next, omit });
  if (!('failure' in sent)) {
    // The answer is the whole traveler, so it also shows changes made in the travel service meanwhile.
    const answered = withDriftMarked(context, sent.draft);
    const done = withLostValues({ draft: answered, fields }, omit);
    // If the answer shows drift, the guards must be applied to those fields before they are sent.
    const isFresh = isDeepStrictEqual(answered.progress, sent.draft.progress);
    return { isFresh, isAlone: false, omit: [], isEmailSentAgain: false, ...done };
  }
  const { change } = sent;
  const { lost, failure } = yield* findLostValues(context, sent.failure, {
    plan: next,
    change,
    current: draft.observed,
  });
  const tried: UpdateRound = { ...sending, draft: sent.draft, omit: [...omit, ...lost] };
  return failure ? yield* handlePatchFailure(context, tried, { plan: next, change, failure }) : tried;
}

/** The codes of the findings about email conflicts. */
const addressCodes = ['emailTaken', 'emailHeldByLeaver'];

/** Removes the findings and the wait about the address, because the email conflict is evaluated again. */
function withoutEmailFindings(draft: OutcomeDraft): OutcomeDraft {
  const findings = draft.findings.filter(({ code }) => !addressCodes.includes(code));
  return { ...draft, waitingFor: undefined, findings };
}

function planFor(context: ReconcileContext, draft: OutcomeDraft, wanted: WantedFields): Plan {
  const plan = planWith(context, draft, { wanted, waiting: waitingRemovals(context, draft) });
  // An array is replaced whole, so its elements that were not applied are sent again with any other one.
  const withRoles = withRolesSentAgain(draft, plan);
  return withRoles ? planWith(context, withRoles, { wanted, waiting: {} }) : plan;
}

function planWith(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { wanted, waiting }: { wanted: WantedFields; waiting: RefusedFields },
): Plan {
  const { applied, refused, observed } = draft;
  return makePlan({
    basis: context.rulesSnapshot.version,
    rules: context.rulesSnapshot.rules,
    ...{ applied, refused: { ...refused, ...waiting }, wanted, observed },
  });
}

/** Reduces the plan to the deactivation, if the plan contains one: a refused field must not prevent a deactivation. */
function onlyDeactivation(whole: Plan): Plan {
  const { archived } = whole.set;
  if (archived?.value !== true) return whole;
  return { set: { archived }, adopt: {}, remove: [], released: [], needsFreshRead: true };
}

/** Handles a failed PATCH: ends the reconciliation, or returns the next request with the fields left. */
function* handlePatchFailure(
  context: ReconcileContext,
  sending: UpdateRound,
  { plan: tried, change, failure }: { plan: Plan; change: TravelerChange; failure: TravelFailure },
): Program<ReconcileResult | TravelerGone | UpdateRound> {
  const draft = withoutAnnouncedCall(sending.draft);
  const isDeactivating = tried.set.archived?.value === true && !isAlone(tried);
  if (isDeactivating && isRefusedAsSent(failure)) return { ...sending, draft, isAlone: true };
  switch (failure.kind) {
    case 'notFound':
      return 'gone';
    case 'forbidden':
      return endInState(
        withFinding(draft, findings.forbidden('archived' in tried.set ? 'archived' : '*')),
        'refused',
      );
    case 'conflict': {
      const email = tried.set.email?.value;
      if (typeof email !== 'string')
        return withRefusedFields(context, { ...sending, draft }, refusalsOf(tried, [], 'conflict'));
      const taken = yield* withoutTakenEmail(
        context,
        { draft, fields: sending.fields },
        { email, isSentAgain: sending.isEmailSentAgain },
      );
      if (taken === 'free') return { ...sending, draft, isEmailSentAgain: true };
      return 'end' in taken ? taken : { ...sending, ...taken };
    }
    case 'invalid': {
      const keys = findInvalidFields(
        failure.fields.map(({ field }) => field),
        tried,
        change,
      );
      const reason = refusalReason(failure);
      return withRefusedFields(context, { ...sending, draft }, refusalsOf(tried, keys, reason));
    }
    case 'unauthorized':
      return endInFailure(draft, failure);
    case 'unavailable':
      return endInFailure(isOutcomeUnknown(failure) ? sending.draft : draft, failure);
  }
}

/**
 * True if the travel API refused what the request contained, so that a part of it may be accepted. A 412 refuses no value, and the request may
 * have been carried out: the next attempt reads the traveler, and then sends the deactivation alone.
 */
function isRefusedAsSent(failure: TravelFailure): boolean {
  if (failure.kind === 'unavailable') return failure.isRejected === true && !isOutcomeUnknown(failure);
  return failure.kind === 'forbidden' || failure.kind === 'conflict' || failure.kind === 'invalid';
}

function isAlone({ set, remove }: Plan): boolean {
  return Object.keys(set).length + remove.length === 1;
}

interface Refusal {
  key: FieldKey;
  reason: string;
}

/** Returns a refusal of each field that the answer names, or of every sent field if it names none. */
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
  // A leaver whom the travel API does not archive still uses the address.
  const isStaying = isInactive(context.identity) && refusals.some(({ key }) => key === 'archived');
  const left = isStaying ? withoutParkingAddress(context, { draft: refused, fields }) : { draft: refused };
  return { ...sending, ...left, isAlone: false };
}
