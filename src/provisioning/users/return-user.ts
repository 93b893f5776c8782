import type { Connection } from '../connection.ts';
import {
  type Identity,
  isInactive,
  type LateCalls,
  type Origin,
  predecessorOf,
  type Succession,
} from '../identity.ts';
import { addressKey } from '../reconcile/email/addresses.ts';
import { withValuesNotShownYet } from '../reconcile/late-calls.ts';
import { isResetPending, isReturnHeld } from '../reconcile/ownership.ts';
import { withBackupDoubted } from '../reconcile/restored/statements.ts';
import { leaseDuration } from '../reconcile/run/lease.ts';
import type { Runtime } from '../runtime-ports.ts';
import type { IdentityChange, NewUserMatches } from '../store-ports.ts';
import {
  canBeTakenOver,
  canGiveEmailUp,
  isNumberSharedBy,
  judgeNewcomer,
  judgeTraveler,
  mustAskBeforeRevival,
  takeoverEffect,
  toSuccessor,
} from './takeover.ts';

/** A user who is being created, and the identities that match it. */
export interface PostedUser {
  connection: Connection;
  /** The new identity, without a traveler. */
  fresh: Identity;
  /** The wanted address. */
  email: string | undefined;
  matches: NewUserMatches;
  runtime: Pick<Runtime, 'now' | 'wallClock'>;
}

/** The new identity with what it takes over, and the other changes of its commit. */
export interface ReturnedUser {
  identity: Identity;
  others: IdentityChange[];
}

/**
 * Decides about the leavers that match a new user (docs/architecture.md, Leaving and returning). The same person gets the traveler of
 * the leaver; for another one the policy `onReturn` decides. Returns the identity unchanged if no leaver matches.
 */
export function takeLeaversPlace(posted: PostedUser): ReturnedUser {
  const chosen = chooseLeaver(posted);
  if (!chosen) return noteSecondUser(posted);
  const { leaver, ...judgement } = chosen;
  const { connection, email } = posted;
  const effect = takeoverEffect(connection, judgement, {
    mustAsk: mustAskBeforeRevival(leaver),
    canSeparate: !hasAddress(leaver, email) || canGiveEmailUp(leaver, connection),
  });
  const predecessor = toPredecessor(chosen, effect);
  if (effect === 'separate') return separate(posted, leaver, predecessor);
  if (effect === 'held') return holdWithoutTraveler(posted, leaver, predecessor);
  return handOver(posted, leaver, predecessor);
}

/**
 * Returns a new user who is not in the scope of the mapping. If a leaver is the same person, the user gets that traveler once it is in
 * scope; until then the leaver keeps it, and its departure takes its course.
 */
export function awaitTravelerOfLeaver(posted: PostedUser): Identity {
  const { fresh } = posted;
  const chosen = chooseLeaver(posted);
  if (chosen?.verdict !== 'same') return fresh;
  return { ...fresh, progress: { predecessor: toPredecessor(chosen, 'waiting') } };
}

function toPredecessor({ leaver, row, verdict }: JudgedLeaver, effect: Succession['effect']): Succession {
  const { connection, id, travelId } = leaver;
  return { row, verdict, effect, connection, id, ...(travelId === undefined ? {} : { travelId }) };
}

type JudgedLeaver = ReturnType<typeof judgeNewcomer> & { leaver: Identity };

/**
 * Returns the leaver who is the same person, by the strongest evidence; else one in whose place the new user is, by externalId, userName
 * or address. An equal employee number alone does not put a user in the place of a leaver.
 */
function chooseLeaver({ connection, fresh, matches, runtime }: PostedUser): JudgedLeaver | undefined {
  const { externalId, userName, travelEmail, holder, creator, employeeNumber } = matches;
  const inPlace = [...externalId, ...userName, ...travelEmail, holder, creator];
  const all = [...externalId, ...(employeeNumber ?? []), ...inPlace].filter((one) => one !== undefined);
  const leavers = new Map(
    all.filter((one) => canBeTakenOver(one, connection)).map((one) => [`${one.connection} ${one.id}`, one]),
  );
  const judged = [...leavers.values()].map((leaver) => ({
    leaver,
    ...judgeNewcomer(leaver, {
      ...{ newcomer: fresh, now: runtime.wallClock(), isNew: true },
      isNumberShared: isNumberSharedBy(employeeNumber, leaver),
    }),
  }));
  const [same] = judged.filter(({ verdict }) => verdict === 'same').sort((one, other) => one.row - other.row);
  return same ?? judged.find(({ leaver }) => inPlace.some((one) => one?.id === leaver.id));
}

function hasAddress({ observed, creating }: Identity, email: string | undefined): boolean {
  const own = observed?.email ?? creating;
  return email !== undefined && own !== undefined && addressKey(own) === addressKey(email);
}

/** The newcomer gets a traveler of its own, once the leaver's traveler has given up the address. */
function separate({ fresh, email }: PostedUser, leaver: Identity, predecessor: Succession): ReturnedUser {
  const givesEmailUp = hasAddress(leaver, email);
  const waiting = givesEmailUp && email !== undefined ? { waitingFor: addressKey(email) } : {};
  return {
    identity: { ...fresh, ...waiting, progress: { predecessor } },
    others: [noteOn(leaver, toSuccessor(predecessor, fresh), givesEmailUp)],
  };
}

/** The newcomer waits for an admin. The leaver keeps the traveler until then, and its own departure takes its course. */
function holdWithoutTraveler(
  { fresh, email }: PostedUser,
  leaver: Identity,
  predecessor: Succession,
): ReturnedUser {
  const waiting = email === undefined ? {} : { waitingFor: addressKey(email) };
  return {
    identity: { ...fresh, ...waiting, progress: { predecessor }, origin: { returnAt: fresh.version } },
    others: [noteOn(leaver, toSuccessor(predecessor, fresh), false)],
  };
}

function noteOn(
  { connection, id }: Pick<Identity, 'connection' | 'id'>,
  successor: Succession,
  givesEmailUp: boolean,
): IdentityChange {
  return { kind: 'noteSuccessor', connection, id, successor, givesEmailUp };
}

/**
 * The newcomer gets the traveler. It inherits the applied values of the leaver, so that roles and fields that are no longer wanted are
 * removed; another person's values are all removed.
 */
function handOver(
  { connection, fresh, runtime }: PostedUser,
  leaver: Identity,
  predecessor: Succession,
): ReturnedUser {
  const { travelId, creating, leasedUntil, progress } = leaver;
  const { applied } = withBackupDoubted(leaver);
  // An archive call in flight would undo the return. Wait until the call can no longer arrive, then read the traveler
  // before planning. A lease that has not been given back counts, whatever the clock says: that of the database decides
  // when it ends.
  const hasLease = leasedUntil !== undefined;
  const leaseEnd = Math.min(leasedUntil ?? 0, runtime.now() + leaseDuration(connection));
  const { announced, reservation } = progress;
  const open = withValuesNotShownYet(
    { time: { now: runtime.now() }, connection },
    progress.late,
    progress.unconfirmed,
  );
  const late = hasLease ? withLateArchive(open, leaseEnd + connection.lateMs) : open;
  const isMoved = leaver.connection !== connection.id;
  const origin: Origin = {
    ...resetMarks(leaver, predecessor, fresh.version),
    ...(isMoved ? { movedFrom: leaver.connection } : {}),
  };
  const identity: Identity = {
    ...fresh,
    ...{ travelId, applied, creating, origin },
    progress: {
      ...(announced ? { announced } : {}),
      ...(reservation ? { reservation } : {}),
      ...(late ? { late } : {}),
      predecessor,
    },
    observed: hasLease ? undefined : leaver.observed,
    nextAttemptAt: hasLease ? leaseEnd : undefined,
  };
  return { identity, others: [releaseOf(leaver, toSuccessor(predecessor, fresh), connection)] };
}

/** A reset that was pending when the leaver left is still to be done, and a hold of its return still to be decided. */
function resetMarks(leaver: Identity, { effect }: Succession, version: number): Origin {
  if (!isReturnHeld(leaver))
    return effect === 'revived' || isResetPending(leaver, leaver) ? { resetAt: version } : {};
  // The SCIM user was activated for another person, who never got the traveler: the departure is that of its owner.
  const isOwner = effect === 'passedOn' && predecessorOf(leaver, leaver)?.id === undefined;
  if (!isOwner) return { returnAt: version };
  const { returnAt: _, ...origin } = leaver.origin;
  return isResetPending({ origin }, leaver) ? { resetAt: version } : {};
}

/**
 * Returns the change that takes the traveler away from a leaver. The tombstone of the same person gets no note, since the person is
 * simply back.
 */
export function releaseOf(
  { connection, id, leasedUntil, applied, origin, progress, deletedAt }: Identity,
  successor: Succession,
  { id: newConnection }: Pick<Connection, 'id'>,
): Extract<IdentityChange, { kind: 'giveUpTraveler' }> {
  const { givesEmailUp: _, departure, successor: before, ...others } = origin;
  // A finding that says something else must go.
  const isBack = successor.effect === 'passedOn' && deletedAt !== undefined && before === undefined;
  // References to the one whose place this leaver had are still not meant for the next one.
  const predecessor = predecessorOf({ origin }, { progress });
  const released: Origin = {
    ...others,
    ...(predecessor ? { predecessor } : {}),
    // A live user who is activated again is a joiner.
    ...(departure && deletedAt !== undefined ? { departure } : {}),
    ...(isBack ? {} : { successor }),
    ...(connection === newConnection ? {} : { movedTo: newConnection }),
  };
  return { kind: 'giveUpTraveler', connection, id, leasedUntil, applied, origin: released };
}

/** Adds an archive call in flight to the late calls: the travel API may still carry it out after its time-out. */
function withLateArchive(before: LateCalls | undefined, checkAt: number): LateCalls {
  const { sent = {}, creates = [] } = before ?? {};
  return { checkAt, sent: { ...sent, archived: [...(sent.archived ?? []), true] }, creates };
}

/** Notes on both users if an active one is the same person by externalId or employee number: each keeps its own traveler. */
function noteSecondUser({ fresh, matches, runtime }: PostedUser): ReturnedUser {
  const { externalId, employeeNumber } = matches;
  for (const active of [...externalId, ...(employeeNumber ?? [])]) {
    if (!active.claimed || isInactive(active)) continue;
    const { row, verdict } = judgeNewcomer(active, {
      ...{ newcomer: fresh, now: runtime.wallClock(), isNew: true },
      isNumberShared: isNumberSharedBy(employeeNumber, active),
    });
    if (row !== 3 && row !== 4) continue;
    const { connection, id } = active;
    const predecessor: Succession = { row, verdict, effect: 'bothActive', connection, id };
    return {
      identity: { ...fresh, progress: { predecessor } },
      others: [noteOn(active, toSuccessor(predecessor, fresh), false)],
    };
  }
  return { identity: fresh, others: [] };
}

/**
 * Decides about a new user whose address or userName an archived traveler without a user has. Returns the identity that is linked to the
 * traveler; undefined if the newcomer is not given it at once.
 */
export function takeArchivedTraveler(
  { connection, fresh, runtime }: Pick<PostedUser, 'connection' | 'fresh' | 'runtime'>,
  { travelId, observed }: Identity,
): Identity | undefined {
  if (!observed) return undefined;
  const judgement = judgeTraveler(observed, { newcomer: fresh, now: runtime.wallClock() });
  const isSame = judgement.verdict === 'same';
  const isRevived = judgement.verdict === 'other' && connection.policies.onReturn === 'revive';
  if (!isSame && !isRevived) return undefined;
  const predecessor: Succession = {
    ...{ ...judgement, effect: isSame ? 'passedOn' : 'revived', connection: connection.id },
    travelId: observed.id,
  };
  const origin = isSame ? {} : { resetAt: fresh.version };
  return { ...fresh, travelId, observed, origin, progress: { predecessor } };
}
