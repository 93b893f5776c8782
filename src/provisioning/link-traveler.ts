import { isDeepStrictEqual } from 'node:util';
import { resolveAnnounced } from '../translator/announced.ts';
import type { AppliedFields } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { withEmailWait, withEmailWaitForHolder } from './email-conflicts.ts';
import { findings } from './findings.ts';
import { isAdministrator, isGuarded, isTakeoverApproved } from './guard.ts';
import type { Identity } from './identity.ts';
import { addLateCall, isOwnCreate, isSameCreate, type UnconfirmedCreate } from './late-calls.ts';
import { isResetPending } from './ownership.ts';
import {
  endInFailure,
  endInState,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withHold,
  withLinkedTraveler,
} from './reconcile-context.ts';
import type { IdentityChange } from './store-ports.ts';
import { canBeTakenOver, givesNewTraveler, isDifferentPerson, mustWaitForLeaver } from './takeover.ts';
import type { TravelAnswer } from './travel-ports.ts';
import { leaseLostFailure } from './traveler-calls.ts';
import { type TravelerGone, updateTraveler } from './update-traveler.ts';

/** The reasons for and against linking the identity to a traveler that has the wanted address. */
type Availability =
  /**
   * No live identity has the traveler. If a tombstone has it, the tombstone gives it up together with its applied
   * fields.
   */
  | { is: 'free'; tombstone: Identity | undefined }
  /** Another identity of the account is linked to the traveler, or is creating it at this moment. */
  | { is: 'linked' }
  /** The traveler owns the credential that the bridge uses, and no identity has it. */
  | { is: 'own' }
  /** The traveler belongs to a person whose data was erased. */
  | { is: 'erased' };

type Release = Extract<IdentityChange, { kind: 'giveUpTraveler' }>;

/** The result of `linkOwnCreate`. `stranger`: every traveler with the address existed before the create. */
export type OwnCreateResult =
  | ReconcileResult
  | TravelerGone
  | { found: 'none' | 'stranger'; draft: OutcomeDraft };

/**
 * Searches the travel API for the traveler of a create whose answer was lost, and links it. A traveler with the same
 * address that this create cannot have made is not linked.
 */
export async function linkOwnCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  create: UnconfirmedCreate,
): Promise<OwnCreateResult> {
  const answer = await context.connection.travel.findByEmails([create.reservation.email]);
  if (answer.kind !== 'ok') return endInFailure(draft, answer);
  const known = withLateCreate(context, draft, create);
  for (const traveler of answer.value.filter((one) => isOwnCreate(context, one, create))) {
    const availability = await readAvailability(context, traveler);
    if (availability.kind !== 'ok') return endInFailure(known, availability);
    if (availability.value.is !== 'free') continue;
    const { rules } = context.rulesSnapshot;
    const applied = resolveAnnounced({}, create.fields, { observed: traveler, rules });
    const linked = await announceLink(context, known, { traveler, applied });
    if (linked !== 'taken') return linked;
  }
  return { found: answer.value.length > 0 ? 'stranger' : 'none', draft: known };
}

/** Adds a create to the late calls. If the create is already listed, the time of the last check does not change. */
function withLateCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  create: UnconfirmedCreate,
): OutcomeDraft {
  const { reservation, fields: announced } = create;
  const before = draft.progress.late;
  const isKnown = before?.creates.some((one) => isDeepStrictEqual(one.reservation, reservation));
  const late = isKnown ? before : addLateCall(context, before, { announced, reservation });
  const kept = late?.creates.find((one) => isSameCreate(one, create))?.reservation;
  const isOpen = draft.progress.reservation !== undefined;
  const progress = isOpen && kept ? { ...draft.progress, reservation: kept } : draft.progress;
  return { ...draft, progress: { ...progress, late } };
}

/**
 * Links the traveler that has the address, if it is available and the policies allow it. Otherwise returns the reason:
 * `none` if no traveler has the address, `taken` if the traveler belongs to another identity, `erased` if the data of
 * its person was erased.
 */
export async function linkExistingTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  email: string,
): Promise<ReconcileResult | TravelerGone | 'none' | 'taken' | 'erased'> {
  const answer = await context.connection.travel.findByEmails([email]);
  if (answer.kind !== 'ok') return endInFailure(draft, answer);
  let isErased = false;
  for (const traveler of answer.value) {
    const availability = await readAvailability(context, traveler);
    if (availability.kind !== 'ok') return endInFailure(draft, availability);
    if (availability.value.is === 'erased') isErased = true;
    // The link is all that happens: the bridge never writes this traveler, and says so on the identity.
    if (availability.value.is === 'own' && context.connection.policies.onExistingUser === 'link')
      return announceLink(context, draft, { traveler, applied: {} });
    if (availability.value.is !== 'free') continue;
    const linked = await linkIfAllowed(context, draft, { traveler, tombstone: availability.value.tombstone });
    if (linked !== 'taken') return linked;
  }
  if (isErased) return 'erased';
  return answer.value.length > 0 ? 'taken' : 'none';
}

/**
 * Finds the traveler that a deleted identity's create has made although its answer was lost; undefined if there is none
 * yet.
 */
export async function findOwnCreate(
  context: ReconcileContext,
  create: UnconfirmedCreate,
): Promise<TravelAnswer<TravelUser | undefined>> {
  const answer = await context.connection.travel.findByEmails([create.reservation.email]);
  if (answer.kind !== 'ok') return answer;
  for (const traveler of answer.value.filter((one) => isOwnCreate(context, one, create))) {
    const availability = await readAvailability(context, traveler);
    if (availability.kind !== 'ok') return availability;
    if (availability.value.is === 'free') return { kind: 'ok', value: traveler };
  }
  return { kind: 'ok', value: undefined };
}

async function readAvailability(
  context: ReconcileContext,
  traveler: TravelUser,
): Promise<TravelAnswer<Availability>> {
  const self = await context.connection.lookups.readOwnUser();
  if (self.kind !== 'ok') return self;
  const { account } = context.connection;
  const { identities } = context;
  if (await identities.isErased(account, traveler.id)) return { kind: 'ok', value: { is: 'erased' } };
  const maker = await identities.findHolder(account, { creating: traveler.email });
  // `maker` is creating this traveler at this moment and has not saved the link yet.
  if (maker && maker.id !== context.identity.id && !canBeTakenOver(maker))
    return { kind: 'ok', value: { is: 'linked' } };
  const holder = await identities.findHolder(account, { travelId: traveler.id });
  const other = holder?.id === context.identity.id ? undefined : holder;
  const isOwn = self.value.id === traveler.id;
  if (other && (isOwn || !canBeTakenOver(other))) return { kind: 'ok', value: { is: 'linked' } };
  if (isOwn) return { kind: 'ok', value: { is: 'own' } };
  return { kind: 'ok', value: { is: 'free', tombstone: other } };
}

interface Candidate {
  traveler: TravelUser;
  tombstone: Identity | undefined;
}

async function linkIfAllowed(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { traveler, tombstone }: Candidate,
): Promise<ReconcileResult | TravelerGone | 'taken'> {
  const reserved = { ...draft, creating: undefined };
  if (!tombstone && context.connection.policies.onExistingUser === 'refuse')
    return endInState(withFinding(reserved, findings.existingUser(traveler.email)), 'pending');
  if (isGuarded(traveler, tombstone?.applied ?? {}) && !isTakeoverApproved(context.identity))
    return endInState(withHold(context, withFinding(reserved, findings.privileged()), 'guarded'), 'held');
  if (!tombstone) return announceLink(context, withoutLateValues(draft), { traveler, applied: {} });
  return takeOverTraveler(context, draft, { traveler, tombstone });
}

/**
 * Links the traveler of a tombstone and inherits the fields that were applied to it. If the tombstone's user competed
 * for the address, the traveler stays with the tombstone and this identity waits for the address.
 */
async function takeOverTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { traveler, tombstone }: { traveler: TravelUser; tombstone: Identity },
): Promise<ReconcileResult | TravelerGone> {
  const reserved = { ...draft, creating: undefined };
  if (mustWaitForLeaver(context, tombstone)) {
    const holder = { email: traveler.email, holder: tombstone };
    return endInState(
      { ...(await withEmailWaitForHolder(context, draft, holder)), creating: undefined },
      'pending',
    );
  }
  const isOther = isDifferentPerson(tombstone, context.identity);
  if (isOther && givesNewTraveler(context) && !isAdministrator(traveler))
    return waitForLeaverEmail(context, draft, tombstone);
  if (isOther && context.connection.policies.onReturn !== 'revive' && !isTakeoverApproved(context.identity))
    return endInState(withHold(context, withFinding(reserved, findings.heldReturn()), 'return'), 'held');
  const from = releaseOf(context, tombstone);
  const mustReset = isOther || isResetPending(tombstone, tombstone);
  const known = withLateCallsOf(context, withoutLateValues(draft), tombstone);
  const progress = mustReset ? { ...known.progress, reset: true as const } : known.progress;
  const linked =
    from &&
    (await announceLink(context, { ...draft, progress }, { traveler, applied: tombstone.applied, from }));
  if (linked !== undefined && linked !== 'taken') return linked;
  return endInFailure(draft, {
    kind: 'unavailable',
    text: 'the traveler is just being archived, or linked by another identity',
  });
}

/** Removes the values of this identity's own late creates: this traveler existed before and never received them. */
function withoutLateValues(draft: OutcomeDraft): OutcomeDraft {
  const { late } = draft.progress;
  return late ? { ...draft, progress: { ...draft.progress, late: { ...late, sent: {} } } } : draft;
}

/** Makes the tombstone's traveler give up its address. This identity waits for the address. */
async function waitForLeaverEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  tombstone: Identity,
): Promise<ReconcileResult> {
  const { connection, id } = tombstone;
  await context.identities.commit(connection, [{ kind: 'giveEmailUp', connection, id }]);
  const email = tombstone.observed?.email ?? '';
  return endInState(
    { ...withEmailWait(draft, email, findings.heldByLeaver(email)), creating: undefined },
    'pending',
  );
}

async function announceLink(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { traveler, applied, from }: { traveler: TravelUser; applied: AppliedFields; from?: Release },
): Promise<ReconcileResult | TravelerGone | 'taken'> {
  const linked = withLinkedTraveler(draft, traveler, applied);
  // The link is committed before the first PATCH: if two identities find one traveler at once, only one may change it.
  const announcement = { travelId: traveler.id, applied, progress: linked.progress, from };
  const link = await context.announce(announcement);
  if (link === 'taken') return 'taken';
  if (link === 'lost') return endInFailure(draft, leaseLostFailure);
  return updateTraveler(context, linked, { isFresh: true });
}

/**
 * Copies the tombstone's late calls to the identity, because the travel API may still carry them out on this traveler.
 */
function withLateCallsOf(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { progress, applied }: Identity,
): OutcomeDraft {
  const { announced = {}, late } = progress;
  if (!late && !progress.announced) return draft;
  const own = draft.progress.late;
  const { checkAt, sent, creates } = addLateCall(context, late, { announced, applied });
  const all = { checkAt, sent: { ...own?.sent, ...sent }, creates: [...(own?.creates ?? []), ...creates] };
  return { ...draft, progress: { ...draft.progress, late: all } };
}

/**
 * Returns the change that takes the traveler away from the tombstone. Undefined while the tombstone is being
 * reconciled, because that reconciliation could still change the traveler.
 */
function releaseOf(context: ReconcileContext, tombstone: Identity): Release | undefined {
  const { connection, id, leasedUntil, applied, origin } = tombstone;
  if (leasedUntil !== undefined && leasedUntil > context.now()) return undefined;
  const movedTo = connection === context.connection.id ? {} : { movedTo: context.connection.id };
  return { kind: 'giveUpTraveler', connection, id, leasedUntil, applied, origin: { ...origin, ...movedTo } };
}
