import type { Identity } from '../../../model/identity.ts';
import type { Runtime } from '../../../model/runtime-ports.ts';
import type {
  Announcement,
  Identities,
  IdentityChange,
  LeasedOutcome,
  LeaseRequest,
  ReferenceRow,
} from '../../../model/store-ports.ts';
import type { NewUserTranslation } from '../wanted/translate-identity.ts';

/** A write of an IdP that is not committed yet. */
export interface PendingWrite {
  /** The identity as the write leaves it. */
  identity: Identity;
  /** The identity as it was read; undefined for a new one. */
  before: Identity | undefined;
  /** Everything that the commit changes: this identity, and those whose traveler or address it gets. */
  changes: IdentityChange[];
  /** The generation of the rules in force when the identity was read. */
  generation: number;
  /** The stored references of the identity; undefined if they were not read. */
  references: ReferenceRow[] | undefined;
  /** The translation of a new user without applied fields; undefined if it was not made. */
  newUser?: NewUserTranslation | undefined;
  /** An address that no identity of the account had, or was about to get, when the write was computed. */
  freeEmail?: string | undefined;
  /** The SCIM request, for the log of exchanges. */
  requestId?: string | undefined;
}

/** `stale`: an identity has changed since it was read; `duplicate`: another live identity has the userName. */
export type CommitResult = 'done' | 'stale' | 'duplicate';

/** What the commit of a write contains of its attempt: the first call, or the outcome of an attempt without a call. */
export interface CommittedStep {
  call?: Announcement | undefined;
  ended?: LeasedOutcome | undefined;
}

interface CommitDeps {
  identities: Pick<Identities, 'commit'>;
  runtime: Pick<Runtime, 'checkpoint'>;
}

/** Commits the changes of a write, with the lease of an attempt if they name one. */
export async function commitWrite(
  { identities, runtime }: CommitDeps,
  { identity, changes }: Pick<PendingWrite, 'identity' | 'changes'>,
): Promise<CommitResult | 'unleased'> {
  runtime.checkpoint('beforeCommit');
  const committed = await identities.commit(identity.connection, changes);
  if (committed === 'done' || committed === 'unleased') runtime.checkpoint('afterCommit');
  return committed;
}

/** True if the identity gets the memberships of the unclaimed one whose place it takes. */
export function inheritsMemberships({ changes }: Pick<PendingWrite, 'changes'>): boolean {
  return changes.some((change) => change.kind === 'deleteUnclaimed' && change.heir !== undefined);
}

/**
 * False if another attempt holds the lease or died with it, if the identity becomes claimed, and if the commit takes its
 * traveler away or gives it memberships, which the attempt must read after that.
 */
export function canTakeLease(write: PendingWrite): boolean {
  const { before, changes } = write;
  const isFree = before === undefined || (before.claimed && before.leasedUntil === undefined);
  return isFree && !changes.some(({ kind }) => kind === 'unlink') && !inheritsMemberships(write);
}

/** Returns the write with the lease of its attempt and the first step. */
export function withLease(
  { identity, before, changes }: PendingWrite,
  lease: LeaseRequest,
  first: CommittedStep,
): Pick<PendingWrite, 'identity' | 'changes'> {
  const call = first.call ? announcedColumns(first.call) : {};
  const { ended } = first;
  const leased = changes.map((change): IdentityChange => {
    // The change of the written identity has this very object; others, such as of a leaver, take no lease.
    if (!('identity' in change) || change.identity !== identity) return change;
    if (change.kind === 'insert') return { ...change, identity: { ...identity, ...call }, lease, ended };
    if (!before) return change;
    const { kind, expected } = change;
    const { applied, readAgainAt, progress } = { ...identity, ...call };
    const leaseOfCall = { before, call: { applied, readAgainAt, progress }, ...lease };
    return { kind, identity, expected, lease: leaseOfCall, ended };
  });
  return { identity, changes: leased };
}

/** The members of an identity that an announcement states. */
function announcedColumns({ applied, readAgainAt, progress, creating }: Announcement): Partial<Identity> {
  return { applied, readAgainAt, progress, ...(creating ? { creating } : {}) };
}

/**
 * True if a call can be announced in the commit of the write: the create for a new identity, or an update of the linked
 * traveler.
 */
export function canBeCommitted({ before }: PendingWrite, announcement: Announcement): boolean {
  return announcement.travelId === undefined && (before === undefined || !('travelId' in announcement));
}
