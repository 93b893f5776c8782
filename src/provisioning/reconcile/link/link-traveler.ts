import { addressKey } from '../../../model/addresses.ts';
import { findings } from '../../../model/findings.ts';
import { type Identity, isInactive, type Succession } from '../../../model/identity.ts';
import type { AppliedFields, Finding } from '../../../model/translation.ts';
import type { TravelAnswer, TravelFailure } from '../../../model/travel-ports.ts';
import { isAdministrator, type TravelUser } from '../../../model/traveler.ts';
import {
  isLeaver,
  judgeNewcomer,
  predecessorAfterTakeover,
  releaseOf,
  toPredecessor,
  toSuccessor,
} from '../../people/takeover.ts';
import { haveEqualNames } from '../../people/who-is-who.ts';
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
import { isOwnCreate, type SentCreate } from '../create/own-create.ts';
import { isGuarded } from '../departure/guard.ts';
import { type Program, perform } from '../effects.ts';
import { canGiveEmailUp, isStaying, newParkingAddress } from '../email/addresses.ts';
import { laterOf } from '../read-again.ts';
import { isFromBackup, withBackupDoubted } from '../restored/statements.ts';
import { confirmMissing, isBareNotFound, leaseLostFailure } from '../traveler-calls.ts';
import type { TravelerGone } from '../update/update-traveler.ts';
import { announceLink, type Release } from './announce-link.ts';

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
  create: SentCreate,
): Program<OwnCreateResult> {
  const found = yield* findOwnCreate(context, draft, create);
  if ('kind' in found) return endInFailure(draft, found);
  for (const traveler of found.own) {
    const linked = yield* linkIfAllowed(context, draft, {
      ...{ traveler, own: create.applied },
      leaver: undefined,
    });
    if (linked === 'gone' || (linked !== 'taken' && 'end' in linked)) return linked;
  }
  return { found: found.isFree ? 'none' : 'stranger', draft: found.draft };
}

/**
 * Finds the travelers that a create without an answer has made and that nobody has. If no traveler has the address, the draft says so: one that
 * appears later was made by this create.
 */
export function* findOwnCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  create: SentCreate,
): Program<{ draft: OutcomeDraft; own: TravelUser[]; isFree: boolean } | TravelFailure> {
  const { creating } = create;
  const answer = yield* perform('findTravelers', [creating.email]);
  if (answer.kind !== 'ok') return answer;
  if (answer.value.length === 0)
    return { draft: { ...draft, creating: { ...creating, wasFree: true } }, own: [], isFree: true };
  const own: TravelUser[] = [];
  for (const traveler of answer.value.filter((one) => isOwnCreate(context, one, create))) {
    const availability = yield* readAvailability(context, traveler);
    if (availability.kind !== 'ok') return availability;
    const { value } = availability;
    // A traveler that another user had is not that of this create.
    if (value.is === 'free' && value.leaver === undefined) own.push(traveler);
  }
  return { draft, own, isFree: false };
}

/**
 * Links the traveler that has the address, if it is available; a guarded one is held. Otherwise returns the reason: `none` if no traveler
 * has the address, `taken` if the traveler belongs to another identity, `erased` if the data of its person was erased. `create` is the create
 * that got 409. A gateway that sends it twice returns the second answer only: the traveler is then that of the create.
 */
export function* linkExistingTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { email, create }: { email: string; create: SentCreate | undefined },
): Program<ReconcileResult | TravelerGone | 'none' | 'taken' | 'erased' | OwnTravelerNeeded> {
  const answer = yield* perform('findTravelers', [email]);
  // The next attempt looks for the traveler of this create, even if it wants another address by then.
  const unresolved = { ...draft, ...create };
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
    const own = !leaver && create && isOwnCreate(context, traveler, create) ? create.applied : undefined;
    const linked = yield* linkIfAllowed(context, draft, { traveler, leaver, own });
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
    const confirmed = yield* confirmMissing(context, draft, answer);
    return confirmed === 'gone' ? 'none' : confirmed;
  }
  const traveler = answer.value;
  const availability = yield* readAvailability(context, traveler);
  if (availability.kind !== 'ok') return endInFailure(draft, availability);
  const { value } = availability;
  // The departure of a leaver who has no link any more may just have deleted the traveler.
  if (value.is !== 'free' || !value.leaver) return 'none';
  const linked = yield* linkIfAllowed(context, draft, { traveler, leaver: value.leaver });
  return linked === 'taken' || (linked !== 'gone' && 'email' in linked) ? 'none' : linked;
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
  /** The records of the create that has made the traveler; undefined for one that existed. */
  own?: AppliedFields | undefined;
}

/**
 * Both people have a traveler of their own, so the create goes on with this draft. `free`: the traveler that had the address has a parking
 * address now. Otherwise it keeps the address for now, as the finding says, so the create has another one.
 */
interface OwnTravelerNeeded {
  draft: OutcomeDraft;
  email: 'free' | Finding;
}

function* linkIfAllowed(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { traveler, leaver, own }: Candidate,
): Program<ReconcileResult | TravelerGone | 'taken' | OwnTravelerNeeded> {
  const applied = own ?? leaver?.applied ?? {};
  const row = leaver && judgementOn(context, draft, leaver);
  if (leaver && row === 3) return yield* waitForLeaverEmail(context, draft, { traveler, leaver });
  // Once the traveler has another address, or no administrator role any more, this identity is reconciled again.
  const waiting = {
    ...draft,
    creating: own && draft.creating,
    waitingFor: draft.waitingFor ?? addressKey(traveler.email),
  };
  if (!leaver && !own && traveler.archived) return yield* parkTraveler(context, draft, traveler);
  if (!leaver && !own && isOfOtherName(context, traveler)) return 'taken';
  if (isGuarded(traveler, applied) && !isApproved(context.identity, 'guarded'))
    return endInState(withHold(context, withFinding(waiting, findings.privileged()), 'guarded'), 'held');
  return leaver && row
    ? yield* takeOver(context, draft, { traveler, leaver, row })
    : yield* announceLink(context, draft, { traveler, applied });
}

/** True for a traveler of another last name: the address of a restored person may have passed to somebody else since the backup. */
export function isOfOtherName(
  { identity, translation: { fields } }: ReconcileContext,
  { lastName: name }: TravelUser,
): boolean {
  const { lastName: wanted } = fields;
  if (!isFromBackup(identity) || name === undefined || wanted?.kind !== 'value') return false;
  return !haveEqualNames({ name }, { name: String(wanted.value) });
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
  const known = withOpenCallsOf(draft, leaver);
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
  const kept: OwnTravelerNeeded = { draft: judged, email: findings.emailTaken(traveler.email) };
  const email = isAdministrator(traveler) ? undefined : yield* newParkingAddress(context, draft);
  if (email === undefined) return kept;
  if ((yield* perform('announce', judged)) !== 'done') return endInFailure(judged, leaseLostFailure);
  const answer = yield* perform('patchTraveler', id, { email });
  switch (answer.kind) {
    case 'ok':
    case 'notFound':
      return { draft: judged, email: 'free' };
    case 'forbidden':
    case 'invalid':
    case 'conflict':
      return kept;
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(judged, answer);
  }
}

/**
 * Makes the traveler of a leaver, who is another person, give up its address, which the store may not know. A leaver keeps the address as
 * long as the newcomer is inactive, or as an admin decides about the departure, and if it cannot have another one.
 */
function* waitForLeaverEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { leaver, traveler }: { leaver: Identity; traveler: TravelUser },
): Program<OwnTravelerNeeded> {
  const { connection, id } = leaver;
  const { email } = traveler;
  const judged = withProgress(draft, { predecessor: { ...toPredecessor(3, leaver), travelId: traveler.id } });
  const successor = toSuccessor(3, context.identity);
  yield* perform('noteSuccessor', { kind: 'noteSuccessor', connection, id, successor });
  yield* perform('askForEmail', leaver, email);
  const isKept =
    isStaying(leaver, traveler) || !canGiveEmailUp({ ...leaver, observed: traveler }, context.connection);
  const isFreedSoon = !isKept && !isInactive(context.identity);
  return { draft: judged, email: isFreedSoon ? findings.heldByLeaver(email) : findings.emailTaken(email) };
}

/**
 * Copies what is unknown of a leaver's traveler to the identity, because the travel API may still carry its calls out.
 */
function withOpenCallsOf(draft: OutcomeDraft, { creating, readAgainAt }: Identity): OutcomeDraft {
  return {
    ...draft,
    creating: draft.creating ?? creating,
    readAgainAt: laterOf(draft.readAgainAt, readAgainAt),
  };
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
