import { addressKey } from '../../model/addresses.ts';
import type { Connection } from '../../model/connection.ts';
import { type EvidenceRow, type Identity, isInactive } from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { IdentityChange, NewUserMatches } from '../../model/store-ports.ts';
import { leaseDuration } from '../calls/lease.ts';
import {
  isLeaver,
  judgeNewcomer,
  predecessorAfterTakeover,
  releaseOf,
  toPredecessor,
  toSuccessor,
} from '../people/takeover.ts';
import { laterOf } from '../reconcile/read-again.ts';
import { withBackupDoubted } from '../reconcile/restored/statements.ts';

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
 * the leaver, another one a traveler of its own. Returns the identity unchanged if no leaver matches.
 */
export function takeLeaversPlace(posted: PostedUser): ReturnedUser {
  const chosen = chooseLeaver(posted);
  if (!chosen) return noteSecondUser(posted);
  const { leaver, row } = chosen;
  if (row === 3) return separate(posted, leaver);
  // The first attempt links a traveler of another connection: the guard must read it before.
  const isMoved = leaver.connection !== posted.connection.id;
  return isMoved ? { identity: awaitTraveler(posted, chosen), others: [] } : handOver(posted, chosen);
}

/**
 * Returns a new user who is not in the scope of the mapping. If a leaver is the same person, the user gets that traveler once it is in
 * scope; until then the leaver keeps it, and its departure takes its course.
 */
export function awaitTravelerOfLeaver(posted: PostedUser): Identity {
  const chosen = chooseLeaver(posted);
  return chosen && chosen.row !== 3 ? awaitTraveler(posted, chosen) : posted.fresh;
}

function awaitTraveler({ fresh }: PostedUser, { leaver, row }: JudgedLeaver): Identity {
  return { ...fresh, progress: { predecessor: toPredecessor(row, leaver) } };
}

interface JudgedLeaver {
  leaver: Identity;
  row: EvidenceRow;
}

/** Returns the leaver in whose place the new user is, by externalId, userName or address: the one with the strongest evidence. */
function chooseLeaver({ fresh, matches, runtime }: PostedUser): JudgedLeaver | undefined {
  const { externalId, userName, travelEmail, holder, creator } = matches;
  const all = [...externalId, ...userName, ...travelEmail, holder, creator];
  const judged = all
    .filter((one) => one !== undefined)
    .filter(isLeaver)
    .map((leaver) => ({
      leaver,
      row: judgeNewcomer(leaver, fresh, { now: runtime.wallClock(), isNew: true }),
    }));
  return judged.sort((one, other) => one.row - other.row)[0];
}

function hasAddress({ observed, creating }: Identity, email: string | undefined): boolean {
  const own = observed?.email ?? creating?.email;
  return email !== undefined && own !== undefined && addressKey(own) === addressKey(email);
}

/** The newcomer gets a traveler of its own, once the leaver's traveler has given up the address. */
function separate({ fresh, email }: PostedUser, leaver: Identity): ReturnedUser {
  const isAwaited = hasAddress(leaver, email) && email !== undefined;
  const waiting = isAwaited ? { waitingFor: addressKey(email) } : {};
  return {
    identity: { ...fresh, ...waiting, progress: { predecessor: toPredecessor(3, leaver) } },
    others: [noteOn(leaver, fresh, 3)],
  };
}

function noteOn({ connection, id }: Identity, newcomer: Identity, row: EvidenceRow): IdentityChange {
  return { kind: 'noteSuccessor', connection, id, successor: toSuccessor(row, newcomer) };
}

/** The newcomer gets the traveler. It inherits the applied values of the leaver, so that roles and fields no longer wanted are removed. */
function handOver({ connection, fresh, runtime }: PostedUser, { leaver, row }: JudgedLeaver): ReturnedUser {
  const { travelId, creating, leasedUntil } = leaver;
  const { applied } = withBackupDoubted(leaver);
  // An archive call in flight would undo the return. Wait until the call can no longer arrive, then read the traveler
  // before planning. A lease that has not been given back counts, whatever the clock says: that of the database decides
  // when it ends.
  const hasLease = leasedUntil !== undefined;
  const leaseEnd = Math.min(leasedUntil ?? 0, runtime.now() + leaseDuration(connection));
  const lastArrival = hasLease ? leaseEnd + connection.lateMs : undefined;
  const readAgainAt = laterOf(lastArrival, leaver.readAgainAt);
  const predecessor = predecessorAfterTakeover(row, leaver, connection);
  const identity: Identity = {
    ...fresh,
    ...{ travelId, applied, creating, readAgainAt },
    progress: predecessor ? { predecessor } : {},
    observed: hasLease ? undefined : leaver.observed,
    nextAttemptAt: hasLease ? leaseEnd : undefined,
  };
  return { identity, others: [releaseOf(leaver, toSuccessor(row, fresh))] };
}

/** Notes on both users if an active one is the same person by its externalId: each keeps its own traveler. */
function noteSecondUser({ fresh, matches, runtime }: PostedUser): ReturnedUser {
  const now = runtime.wallClock();
  const first = matches.externalId.find(
    (one) => one.claimed && !isInactive(one) && judgeNewcomer(one, fresh, { now, isNew: true }) === 1,
  );
  if (!first) return { identity: fresh, others: [] };
  return {
    identity: { ...fresh, progress: { predecessor: toPredecessor(1, first) } },
    others: [noteOn(first, fresh, 1)],
  };
}
