import type { TravelUser } from '../../../translator/traveler.ts';
import { findings } from '../../findings.ts';
import { type Identity, isInactive, type Succession } from '../../identity.ts';
import {
  isLeaver,
  judgeNewcomer,
  predecessorAfterTakeover,
  releaseOf,
  toPredecessor,
  toSuccessor,
} from '../../people/takeover.ts';
import type { TravelAnswer, TravelFailure } from '../../travel-ports.ts';
import {
  endInFailure,
  endInState,
  isApproved,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withHold,
  withProgress,
} from '../context.ts';
import { type Program, perform } from '../effects.ts';
import {
  addressKey,
  canGiveEmailUp,
  isStaying,
  newParkingAddress,
  withEmailWait,
} from '../email/addresses.ts';
import { isAdministrator, isGuarded } from '../guard.ts';
import {
  addLateCall,
  isOwnCreate,
  type UnconfirmedCreate,
  withAddressFree,
  withAnnouncedCreate,
  withLateCreate,
  withValuesNotShownYet,
} from '../late-calls.ts';
import { withBackupDoubted } from '../restored/statements.ts';
import { confirmMissing, isBareNotFound, leaseLostFailure } from '../traveler-calls.ts';
import type { TravelerGone } from '../update-traveler.ts';
import { announceLink, announceOwnLink, type OwnTraveler, type Release } from './announce-link.ts';

/** The reasons for and against linking the identity to a traveler that has the wanted address. */
type Availability =
  /**
   * No active identity has the traveler. A leaver that has it gives it up together with its applied fields.
   */
  | { is: 'free'; leaver: Identity | undefined }
  /** Another identity of the account is linked to the traveler, or is creating it at this moment. */
  | { is: 'linked' }
  /** The traveler owns the credential that the bridge uses, and no identity has it. */
  | { is: 'own' }
  /** The traveler belongs to a person whose data was erased. */
  | { is: 'erased' };

/** The result of `linkOwnCreate`. `stranger`: every traveler with the address existed before the create. */
export type OwnCreateResult =
  | ReconcileResult
  | TravelerGone
  | { found: 'none' | 'stranger'; draft: OutcomeDraft };

/**
 * Searches the travel API for the traveler of a create whose answer was lost, and links it. A traveler with the same
 * address that this create cannot have made is not linked.
 */
export function* linkOwnCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  create: UnconfirmedCreate,
): Program<OwnCreateResult> {
  const answer = yield* perform('findTravelers', [create.reservation.email]);
  if (answer.kind !== 'ok') return endInFailure(draft, answer);
  const known = withLateCreate(context, draft, create);
  if (answer.value.length === 0)
    return { found: 'none', draft: withAddressFree(known, create.reservation.email) };
  for (const traveler of answer.value.filter((one) => isOwnCreate(context, one, create))) {
    const availability = yield* readAvailability(context, traveler);
    if (availability.kind !== 'ok') return endInFailure(known, availability);
    if (availability.value.is !== 'free') continue;
    const linked = yield* announceOwnLink(context, known, { traveler, create });
    if (linked !== 'taken') return linked;
  }
  return { found: 'stranger', draft: known };
}

/**
 * Links the traveler that has the address, if it is available and the policies allow it. Otherwise returns the reason: `none` if no traveler
 * has the address, `taken` if the traveler belongs to another identity, `erased` if the data of its person was erased. `create` is the create
 * that got 409. A gateway that sends it twice returns the second answer only: the traveler is then that of the create.
 */
export function* linkExistingTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, create }: { email: string; create: UnconfirmedCreate | undefined },
): Program<ReconcileResult | TravelerGone | 'none' | 'taken' | 'erased' | OwnTravelerNeeded> {
  const answer = yield* perform('findTravelers', [email]);
  // The next attempt looks for the traveler of this create, even if it wants another address by then.
  const unresolved = create ? withAnnouncedCreate(draft, create) : draft;
  if (answer.kind !== 'ok') return endInFailure(unresolved, answer);
  let isErased = false;
  for (const traveler of answer.value) {
    const availability = yield* readAvailability(context, traveler);
    if (availability.kind !== 'ok') return endInFailure(unresolved, availability);
    if (availability.value.is === 'erased') isErased = true;
    // The link is all that happens: the bridge never writes this traveler, and says so on the identity.
    if (availability.value.is === 'own')
      return yield* announceLink(context, draft, { traveler, applied: {} });
    if (availability.value.is !== 'free') continue;
    const { leaver } = availability.value;
    const isOwn = !leaver && create !== undefined && isOwnCreate(context, traveler, create);
    const linked = isOwn
      ? yield* announceOwnLink(context, draft, { traveler, create })
      : yield* linkIfAllowed(context, draft, { traveler, leaver });
    if (linked !== 'taken') return linked;
  }
  if (isErased) return 'erased';
  return answer.value.length > 0 ? 'taken' : 'none';
}

/**
 * Links the traveler of the leaver who is the same person. Returns `none` if the traveler does not exist any more, or belongs to an active
 * user by now.
 */
export function* linkTravelerOfLeaver(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult | TravelerGone | 'none'> {
  const answer = yield* perform('readTraveler', travelId);
  if (answer.kind === 'notFound') return 'none';
  if (answer.kind !== 'ok') {
    if (!isBareNotFound(answer)) return endInFailure(draft, answer);
    const confirmed = yield* confirmMissing(context, draft, { travelId, failure: answer });
    return confirmed === 'gone' ? 'none' : confirmed;
  }
  const traveler = answer.value;
  const availability = yield* readAvailability(context, traveler);
  if (availability.kind !== 'ok') return endInFailure(draft, availability);
  if (availability.value.is !== 'free') return 'none';
  const { leaver } = availability.value;
  const linked = yield* linkIfAllowed(context, draft, { traveler, leaver });
  return linked === 'taken' || (linked !== 'gone' && 'email' in linked) ? 'none' : linked;
}

/**
 * Finds the traveler that a deleted identity's creates have made although their answers were lost. Without one, the draft says whether
 * the addresses are free.
 */
export function* findOwnCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<{ draft: OutcomeDraft; own?: OwnTraveler } | TravelFailure> {
  let searched = draft;
  for (const create of draft.progress.late?.creates ?? []) {
    const { email } = create.reservation;
    const answer = yield* perform('findTravelers', [email]);
    if (answer.kind !== 'ok') return answer;
    if (answer.value.length === 0) searched = withAddressFree(searched, email);
    for (const traveler of answer.value.filter((one) => isOwnCreate(context, one, create))) {
      const availability = yield* readAvailability(context, traveler);
      if (availability.kind !== 'ok') return availability;
      const { value } = availability;
      // A traveler that another user had is not that of this create.
      const isOwn = value.is === 'free' && value.leaver === undefined;
      if (isOwn) return { draft: searched, own: { traveler, create } };
    }
  }
  return { draft: searched };
}

/** Tells whether the identity may be linked to a traveler that was found. */
export function* readAvailability(
  context: ReconcileContext,
  traveler: TravelUser,
): Program<TravelAnswer<Availability>> {
  const self = yield* perform('readOwnUser');
  if (self.kind !== 'ok') return self;
  if (yield* perform('isErased', traveler.id)) return { kind: 'ok', value: { is: 'erased' } };
  const maker = yield* perform('findHolder', { creating: traveler.email });
  // `maker` is creating this traveler at this moment and has not saved the link yet.
  if (maker && maker.id !== context.identity.id && !isLeaver(maker))
    return { kind: 'ok', value: { is: 'linked' } };
  const holder = yield* perform('findHolder', { travelId: traveler.id });
  const other = holder?.id === context.identity.id ? undefined : holder;
  const isOwn = self.value.id === traveler.id;
  if (other && (isOwn || !isLeaver(other))) return { kind: 'ok', value: { is: 'linked' } };
  if (isOwn) return { kind: 'ok', value: { is: 'own' } };
  return { kind: 'ok', value: { is: 'free', leaver: other } };
}

interface Candidate {
  traveler: TravelUser;
  leaver: Identity | undefined;
}

/**
 * Both people have a traveler of their own, so the create goes on with this draft. `free`: the traveler that had the address has a parking
 * address now. `heldByLeaver`: it keeps the address for now, so the create has another one.
 */
interface OwnTravelerNeeded {
  draft: OutcomeDraft;
  email: 'free' | 'heldByLeaver';
}

function* linkIfAllowed(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { traveler, leaver }: Candidate,
): Program<ReconcileResult | TravelerGone | 'taken' | OwnTravelerNeeded> {
  const row = leaver && judgementOn(context, draft, leaver);
  if (leaver && row === 3) return yield* waitForLeaverEmail(context, draft, { traveler, leaver });
  // Once the traveler has another address, or no administrator role any more, this identity is reconciled again.
  const waiting = {
    ...draft,
    creating: undefined,
    waitingFor: draft.waitingFor ?? addressKey(traveler.email),
  };
  if (!leaver && traveler.archived) return yield* parkTraveler(context, draft, traveler);
  if (isGuarded(traveler, leaver?.applied ?? {}) && !isApproved(context.identity, 'guarded'))
    return endInState(withHold(context, withFinding(waiting, findings.privileged()), 'guarded'), 'held');
  return leaver && row
    ? yield* takeOver(context, draft, { traveler, leaver, row })
    : yield* announceLink(context, withoutLateValues(draft), { traveler, applied: {} });
}

/** A judgement is made once: what it is based on may change later. */
function judgementOn(
  { identity, time }: ReconcileContext,
  { progress: { predecessor } }: OutcomeDraft,
  leaver: Identity,
): Succession['row'] {
  const isKnown = predecessor?.id === leaver.id && predecessor.connection === leaver.connection;
  return isKnown ? predecessor.row : judgeNewcomer(leaver, identity, { now: time.wallClock });
}

/** Links the traveler of a leaver, who is the same person, and inherits the fields that were applied to it. */
function* takeOver(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { traveler, leaver, row }: { traveler: TravelUser; leaver: Identity; row: Succession['row'] },
): Program<ReconcileResult | TravelerGone> {
  const from = releaseUnlessBusy(context, leaver, row);
  const known = withLateCallsOf(context, withoutLateValues(draft), leaver);
  const taken = withProgress(known, {
    predecessor: predecessorAfterTakeover(row, leaver, context.connection),
  });
  const { applied } = withBackupDoubted(leaver);
  const linked = from && (yield* announceLink(context, taken, { traveler, applied, from }));
  if (linked !== undefined && linked !== 'taken') return linked;
  const judged = withProgress(draft, { predecessor: toPredecessor(row, leaver) });
  return endInFailure(judged, {
    kind: 'unavailable',
    text: 'the traveler is just being archived, or linked by another identity',
  });
}

/**
 * Gives an archived traveler without an identity a parking address: it is that of another person. The judgement is committed before the
 * call.
 */
function* parkTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  traveler: TravelUser,
): Program<ReconcileResult | OwnTravelerNeeded> {
  const { id } = traveler;
  const predecessor: Succession = { row: 3, connection: context.connection.id, travelId: id };
  const judged = withProgress(draft, { predecessor });
  const email = isAdministrator(traveler) ? undefined : yield* newParkingAddress(context, draft);
  if (email === undefined) return { draft: judged, email: 'heldByLeaver' };
  if ((yield* perform('announce', { progress: judged.progress })) !== 'done')
    return endInFailure(judged, leaseLostFailure);
  const answer = yield* perform('patchTraveler', id, { email });
  switch (answer.kind) {
    case 'ok':
    case 'notFound':
      return { draft: judged, email: 'free' };
    case 'forbidden':
    case 'invalid':
    case 'conflict':
      return { draft: judged, email: 'heldByLeaver' };
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(judged, answer);
  }
}

/** Removes the values of this identity's own late creates: this traveler existed before and never received them. */
function withoutLateValues(draft: OutcomeDraft): OutcomeDraft {
  const { late } = draft.progress;
  return late ? withProgress(draft, { late: { ...late, sent: {} } }) : draft;
}

/**
 * Makes the traveler of a leaver, who is another person, give up its address, which the store may not know. A leaver keeps the address as
 * long as the newcomer is inactive, or as an admin decides about the departure, and if it cannot have another one.
 */
function* waitForLeaverEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { leaver, traveler }: { leaver: Identity; traveler: TravelUser },
): Program<ReconcileResult | OwnTravelerNeeded> {
  const { connection, id } = leaver;
  const { email } = traveler;
  const judged = withProgress(draft, { predecessor: { ...toPredecessor(3, leaver), travelId: traveler.id } });
  const successor = toSuccessor(3, context.identity);
  yield* perform('noteSuccessor', { kind: 'noteSuccessor', connection, id, successor });
  yield* perform('askForEmail', leaver, email);
  const isKept =
    isStaying(leaver, traveler) || !canGiveEmailUp({ ...leaver, observed: traveler }, context.connection);
  if (isInactive(context.identity) || isKept) return { draft: judged, email: 'heldByLeaver' };
  return endInState(
    { ...withEmailWait(judged, email, findings.heldByLeaver(email)), creating: undefined },
    'pending',
  );
}

/**
 * Copies the tombstone's late calls to the identity, because the travel API may still carry them out on this traveler.
 */
function withLateCallsOf(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { progress, applied }: Identity,
): OutcomeDraft {
  const { announced = {}, reservation } = progress;
  const late = withValuesNotShownYet(context, progress.late, progress.unconfirmed);
  if (!late && !progress.announced) return draft;
  const own = draft.progress.late;
  const create = reservation ? { reservation } : {};
  const { checkAt, sent, creates } = addLateCall(
    context,
    { ...progress, late },
    { announced, applied, ...create },
  );
  const all = { checkAt, sent: { ...own?.sent, ...sent }, creates: [...(own?.creates ?? []), ...creates] };
  return withProgress(draft, { late: all });
}

/**
 * Returns the change that takes the traveler away from the leaver. Undefined while the leaver is being reconciled, because that
 * reconciliation could still change the traveler.
 */
function releaseUnlessBusy(
  { identity, time }: ReconcileContext,
  leaver: Identity,
  row: Succession['row'],
): Release | undefined {
  const { leasedUntil } = leaver;
  if (leasedUntil !== undefined && leasedUntil > time.now) return undefined;
  // The clock of this process may be ahead, so the store compares again.
  return { ...releaseOf(leaver, toSuccessor(row, identity)), leaseEndedBy: time.now };
}
