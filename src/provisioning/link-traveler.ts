import { isDeepStrictEqual } from 'node:util';
import { resolveAnnounced } from '../translator/announced.ts';
import type { AppliedFields } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { withEmailWait, withEmailWaitForHolder } from './email-conflicts.ts';
import { findings } from './findings.ts';
import { isAdministrator, isGuarded, isTakeoverApproved } from './guard.ts';
import type { Identity, LateCalls } from './identity.ts';
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

/** Whether a traveler that has the wanted address can become this identity's. */
type Availability =
  /** Perhaps of a tombstone, which gives it up with what was applied. */
  | { is: 'free'; tombstone: Identity | undefined }
  /** Another identity of the account is linked to it, or is just making it. */
  | { is: 'linked' }
  /** The bridge's own credential belongs to it. */
  | { is: 'own' }
  /** Its person was erased. */
  | { is: 'erased' };

type Release = Extract<IdentityChange, { kind: 'giveUpTraveler' }>;

/** What the look for our own create came to. */
export type OwnCreateResult =
  | ReconcileResult
  | TravelerGone
  | { found: 'none' | 'stranger'; draft: OutcomeDraft };

/**
 * Looks for the traveler of a create whose outcome is not known, and links it. A traveler in whose making we cannot have had
 * a part is a stranger, even under the same address.
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
    const standing = await readAvailability(context, traveler);
    if (standing.kind !== 'ok') return endInFailure(known, standing);
    if (standing.value.is !== 'free') continue;
    const seen = { observed: traveler, rules: context.rulesSnapshot.rules };
    const applied = resolveAnnounced({}, create.fields, seen);
    const linked = await announceLink(context, known, { traveler, applied });
    if (linked !== 'taken') return linked;
  }
  return { found: answer.value.length > 0 ? 'stranger' : 'none', draft: known };
}

/** The draft that remembers a create which may be carried out late; the time of the last look stays as it was first set. */
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

/** Links the traveler that has the address, if the connection and its standing allow it; else tells why there is none. */
export async function linkExistingTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  email: string,
): Promise<ReconcileResult | TravelerGone | 'none' | 'taken' | 'erased'> {
  const answer = await context.connection.travel.findByEmails([email]);
  if (answer.kind !== 'ok') return endInFailure(draft, answer);
  let isErased = false;
  for (const traveler of answer.value) {
    const standing = await readAvailability(context, traveler);
    if (standing.kind !== 'ok') return endInFailure(draft, standing);
    if (standing.value.is === 'erased') isErased = true;
    if (standing.value.is !== 'free') continue;
    const linked = await linkIfAllowed(context, draft, { traveler, tombstone: standing.value.tombstone });
    if (linked !== 'taken') return linked;
  }
  if (isErased) return 'erased';
  return answer.value.length > 0 ? 'taken' : 'none';
}

/** Finds the traveler that a deleted identity's own create may have made; undefined when there is none yet. */
export async function findOwnCreate(
  context: ReconcileContext,
  create: UnconfirmedCreate,
): Promise<TravelAnswer<TravelUser | undefined>> {
  const answer = await context.connection.travel.findByEmails([create.reservation.email]);
  if (answer.kind !== 'ok') return answer;
  for (const traveler of answer.value.filter((one) => isOwnCreate(context, one, create))) {
    const standing = await readAvailability(context, traveler);
    if (standing.kind !== 'ok') return standing;
    if (standing.value.is === 'free') return { kind: 'ok', value: traveler };
  }
  return { kind: 'ok', value: undefined };
}

async function readAvailability(
  context: ReconcileContext,
  traveler: TravelUser,
): Promise<TravelAnswer<Availability>> {
  const self = await context.connection.lookups.readOwnUser();
  if (self.kind !== 'ok') return self;
  if (self.value.id === traveler.id) return { kind: 'ok', value: { is: 'own' } };
  const { account } = context.connection;
  const { identities } = context;
  if (await identities.isErased(account, traveler.id)) return { kind: 'ok', value: { is: 'erased' } };
  const maker = await identities.findHolder(account, { creating: traveler.email });
  // Found before its maker has noted that it is theirs.
  if (maker && maker.id !== context.identity.id && !canBeTakenOver(maker))
    return { kind: 'ok', value: { is: 'linked' } };
  const holder = await identities.findHolder(account, { travelId: traveler.id });
  const other = holder?.id === context.identity.id ? undefined : holder;
  if (other && !canBeTakenOver(other)) return { kind: 'ok', value: { is: 'linked' } };
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
  const inherited = tombstone?.applied ?? {};
  if (isGuarded(traveler, inherited) && !isTakeoverApproved(context.identity))
    return endInState(withHold(context, withFinding(reserved, findings.privileged()), 'guarded'), 'held');
  if (!tombstone) return announceLink(context, withLateValues(draft, {}), { traveler, applied: {} });
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
  const from = releaseTombstone(context, tombstone);
  const mustReset = isOther || isResetPending(tombstone, tombstone);
  const known = withLateCallsOf(context, withLateValues(draft, {}), tombstone);
  const progress = mustReset ? { ...known.progress, reset: true as const } : known.progress;
  const linked =
    from && (await announceLink(context, { ...draft, progress }, { traveler, applied: inherited, from }));
  if (linked !== undefined && linked !== 'taken') return linked;
  return endInFailure(draft, {
    kind: 'unavailable',
    text: 'the traveler is just being archived, or linked by another identity',
  });
}

/** The draft without the values of creates of its own, which were not sent to a traveler that somebody else has made. */
function withLateValues(draft: OutcomeDraft, sent: LateCalls['sent']): OutcomeDraft {
  const { late } = draft.progress;
  return late ? { ...draft, progress: { ...draft.progress, late: { ...late, sent } } } : draft;
}

/** The tombstone's traveler gives its address up, and this identity waits for it. */
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
  // Before the first patch: of two who find one traveler at the same moment, one must not write it.
  const news = { travelId: traveler.id, applied, progress: linked.progress, from };
  const link = await context.announce(news);
  if (link === 'taken') return 'taken';
  if (link === 'lost') return endInFailure(draft, leaseLostFailure);
  return updateTraveler(context, linked, { isFresh: true });
}

/** The draft that remembers the calls of the tombstone which may be carried out late. */
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

/** Work that is under way at the tombstone would come after what is sent from here. */
function releaseTombstone(context: ReconcileContext, tombstone: Identity): Release | undefined {
  const { connection, id, leasedUntil, applied, origin } = tombstone;
  if (leasedUntil !== undefined && leasedUntil > context.now()) return undefined;
  const movedTo = connection === context.connection.id ? {} : { movedTo: context.connection.id };
  return { kind: 'giveUpTraveler', connection, id, leasedUntil, applied, origin: { ...origin, ...movedTo } };
}
