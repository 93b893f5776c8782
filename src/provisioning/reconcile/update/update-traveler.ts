import { addressKey, isParkingAddress } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import { isInactive } from '../../../model/identity.ts';
import type { FieldKey, Finding, Plan } from '../../../model/translation.ts';
import { refusalReason, type TravelFailure } from '../../../model/travel-ports.ts';
import type { CustomFieldValue, TravelerChange } from '../../../model/traveler.ts';
import { acceptedAndNotShown, doubted } from '../../../translator/plan/field-records.ts';
import { findInvalidFields, isEmptyPlan, makePlan } from '../../../translator/plan/plan.ts';
import { parseFieldKey } from '../../../translator/plan/traveler.ts';
import {
  endInFailure,
  endInState,
  isOutcomeUnknown,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  type Refusal,
  type SendableFields,
  type WantedFields,
  withFinding,
  withRefusals,
} from '../context.ts';
import { isCreateOpen } from '../create/own-create.ts';
import { withGuardsApplied } from '../departure/guard.ts';
import { type Program, perform } from '../effects.ts';
import { withEmailWait } from '../email/addresses.ts';
import { findIdentityAmong, resolveEmailConflict, withoutHeldEmail } from '../email/conflicts.ts';
import { withoutTakenEmail } from '../email/taken-email.ts';
import { fieldsToResend, isReadDue, withObservationCompared } from '../read-again.ts';
import { readTraveler, refuseOwnUser, sendPatch } from '../traveler-calls.ts';
import { endUpdate } from './end-update.ts';
import {
  findLostValues,
  withAdoptedAddress,
  withDriftDoubted,
  withKeptRolesReported,
  withLostValues,
  withoutUnownedFields,
} from './ownership.ts';

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
  const isAlone = isArchiveUnknown(draft);
  const mustRead = !isFresh && isReadDue(context, draft);
  const current = mustRead
    ? yield* readTraveler(context, draft, travelId)
    : withObservationCompared(context, draft);
  if (current === 'gone' || 'end' in current) return current;
  const round = yield* prepareUpdate(context, current, { isFresh: isFresh || mustRead, isAlone });
  return 'end' in round ? round : yield* sendUntilDone(context, round, ROUNDS);
}

/** True if it is not known whether a call has archived the traveler that also changed other fields. */
function isArchiveUnknown({ applied: { archived, ...others } }: OutcomeDraft): boolean {
  const isOpen = archived?.sent === true && archived.seen === undefined;
  return isOpen && Object.values(others).some(({ seen }) => seen === undefined);
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
  /** The findings without those of the preparation, which is repeated after a read. */
  told: Finding[];
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
  const doubted = withFieldsDoubted(context, draft);
  const owned = withAdoptedAddress(context, withoutUnownedFields(context, doubted));
  const addressed = yield* withoutUnknownHoldersEmail(
    context,
    yield* resolveEmailConflict(context, withAddressOfCreate(owned)),
  );
  if ('end' in addressed) return addressed;
  const guarded = how.isFresh ? yield* withGuardsApplied(context, addressed) : addressed;
  const parked = guarded.draft.hold ? withoutParkingAddress(context, guarded) : guarded;
  const { findings: told } = draft;
  return { omit: [], isEmailSentAgain: false, told, ...how, ...withKeptRolesReported(parked) };
}

/** Until a create without an answer can make no traveler any more, the person keeps its address. */
function withAddressOfCreate({ draft, fields }: SendableFields): SendableFields {
  return { draft, fields: isCreateOpen(draft) ? { ...fields, email: { kind: 'kept' } } : fields };
}

/**
 * Marks the fields as unknown that are sent again unless the traveler has their value: drift that the connection corrects, values that were
 * accepted without effect, the access of a person who returns, and the address of an active person whose traveler has a parking address.
 */
function withFieldsDoubted(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { connection, identity } = context;
  const isParked = draft.observed !== undefined && isParkingAddress(connection, draft.observed.email);
  const keys = [
    ...fieldsToResend(context, draft),
    ...(draft.progress.settledVersion === undefined ? ['archived'] : []),
    ...(isParked && !isInactive(identity) ? ['email'] : []),
  ];
  const drifted = withDriftDoubted(context, draft);
  return { ...drifted, applied: doubted(drifted.applied, keys) };
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
 * Replaces the awaited address while the travel API finds another traveler with it. The store may not know that traveler, or not its current
 * address if a process died.
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
  // A failed search must not delay a deactivation.
  if (holders.kind !== 'ok')
    return isDeactivation(context, fields)
      ? { draft: withEmailWait(draft, wanted), fields: { ...fields, email: { kind: 'kept' } } }
      : endInFailure(draft, holders);
  if (holders.value.every(({ id }) => id === draft.travelId)) return { draft, fields };
  const holder = yield* findIdentityAmong(context, holders.value);
  return yield* withoutHeldEmail(context, { draft, fields }, { email: wanted, holder });
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

function* sendUntilDone(
  context: ReconcileContext,
  round: UpdateRound,
  rounds: number,
): Program<ReconcileResult | TravelerGone> {
  const { draft, fields, isFresh, isAlone, told } = round;
  const { travelId } = draft;
  const whole = planFor(context, draft, fields);
  const next = isAlone ? onlyDeactivation(whole) : whole;
  if (isEmptyPlan(next) || travelId === undefined) return endUpdate(context, { draft, fields }, next);
  if (rounds === 0)
    return endInFailure(draft, { kind: 'unavailable', text: 'the travel API keeps changing its answer' });
  if (next.needsFreshRead && !isFresh) {
    const unprepared = { ...draft, waitingFor: undefined, findings: told };
    const current = yield* readTraveler(context, unprepared, travelId);
    if (current === 'gone' || 'end' in current) return current;
    const again = yield* prepareUpdate(context, current, { isFresh: true, isAlone });
    return 'end' in again ? again : yield* sendUntilDone(context, again, rounds);
  }
  const rest = yield* sendPlan(context, round, { travelId, plan: next });
  return rest === 'gone' || 'end' in rest ? rest : yield* sendUntilDone(context, rest, rounds - 1);
}

/** Sends one PATCH and returns the state for the next request of this attempt. */
function* sendPlan(
  context: ReconcileContext,
  sending: UpdateRound,
  { travelId, plan: next }: { travelId: string; plan: Plan },
): Program<ReconcileResult | TravelerGone | UpdateRound> {
  const { draft, fields, omit } = sending;
  const sent = yield* sendPatch(context, draft, { travelId, plan: next, omit });
  if (!('failure' in sent)) {
    // The answer is the whole traveler, so it also shows changes made in the travel service meanwhile.
    const answered = withDriftDoubted(context, sent.draft);
    const done = withLostValues({ draft: answered, fields }, omit);
    // If the answer shows drift, the guards must be applied to those fields before they are sent.
    const isFresh = answered.applied === sent.draft.applied;
    const told = [...sending.told, ...omit.map(findings.customFieldLost)];
    return { isFresh, isAlone: false, omit: [], isEmailSentAgain: false, told, ...done };
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

function planFor(context: ReconcileContext, draft: OutcomeDraft, wanted: WantedFields): Plan {
  const { rules } = context.rulesSnapshot;
  const plan = planWith(context, draft, wanted);
  const isRole = (key: FieldKey) => parseFieldKey(key).kind === 'role';
  if (!draft.observed || ![...Object.keys(plan.set), ...plan.remove].some(isRole)) return plan;
  // Roles are replaced whole, so those that the travel API does not show are sent again with any other one.
  const roles = acceptedAndNotShown(draft.applied, draft.observed, rules).filter(isRole);
  return planWith(context, { ...draft, applied: doubted(draft.applied, roles) }, wanted);
}

function planWith(
  { rulesSnapshot: { version: basis, rules, putBackSince } }: ReconcileContext,
  { applied, refused, observed }: OutcomeDraft,
  wanted: WantedFields,
): Plan {
  return makePlan({
    basis,
    rules,
    applied,
    refused,
    wanted,
    observed,
    isPutBack: putBackSince !== undefined,
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
  const { draft } = sending;
  const isDeactivating = tried.set.archived?.value === true && !isAlone(tried);
  if (isDeactivating && isRefusedAsSent(failure)) return { ...sending, isAlone: true };
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
        return withRefusedFields(context, sending, refusalsOf(tried, [], 'conflict'));
      const taken = yield* withoutTakenEmail(
        context,
        { draft, fields: sending.fields },
        { email, isSentAgain: sending.isEmailSentAgain },
      );
      if (taken === 'free') return { ...sending, isEmailSentAgain: true };
      return 'end' in taken ? taken : { ...sending, ...taken };
    }
    case 'invalid': {
      const keys = findInvalidFields(
        failure.fields.map(({ field }) => field),
        tried,
        change,
      );
      const reason = refusalReason(failure);
      return withRefusedFields(context, sending, refusalsOf(tried, keys, reason));
    }
    case 'unauthorized':
      return endInFailure(draft, failure);
    case 'unavailable':
      return endInFailure(draft, failure);
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

/** Returns a refusal of each field that the answer names, or of every sent field if it names none. */
function refusalsOf(tried: Plan, keys: FieldKey[], reason: string): Refusal[] {
  return (keys.length > 0 ? keys : [...Object.keys(tried.set), ...tried.remove]).map((key) => ({
    ...{ key, reason },
    value: tried.set[key]?.value ?? null,
  }));
}

function withRefusedFields(
  context: ReconcileContext,
  sending: UpdateRound,
  refusals: Refusal[],
): UpdateRound {
  const { draft, fields } = sending;
  const refused = withRefusals(context, draft, refusals);
  // A leaver whom the travel API does not archive still uses the address.
  const isStaying = isInactive(context.identity) && refusals.some(({ key }) => key === 'archived');
  const left = isStaying ? withoutParkingAddress(context, { draft: refused, fields }) : { draft: refused };
  return { ...sending, ...left, isAlone: false };
}
