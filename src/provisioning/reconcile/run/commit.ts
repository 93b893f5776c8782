import type { Identity } from '../../identity.ts';
import { ProvisioningError } from '../../provisioning-error.ts';
import type { Runtime } from '../../runtime-ports.ts';
import type {
  Announcement,
  Identities,
  IdentityChange,
  LeasedOutcome,
  LeaseRequest,
  ReferenceRow,
} from '../../store-ports.ts';
import type { NewUserTranslation } from '../translate-identity.ts';

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

/** A step of the attempt that is part of the commit: an announced call, or the outcome of an attempt without a call. */
type FirstStep = { announcement: Announcement } | { ended: LeasedOutcome };

/** The commit of the write that an attempt begins with; it happens at most once. */
export interface WriteCommit {
  /**
   * Commits the write and takes the lease, unless that has been done. Rejects with `NotLeased` if the attempt cannot go
   * on, and with the error of the store if the commit failed. `first` is committed with the write.
   */
  run(first?: FirstStep): Promise<void>;
  isBegun(): boolean;
  /** Resolves when the commit has ended; rejects with the error of the store. */
  result: Promise<CommitResult>;
}

/** Ends an attempt that cannot go on: its write was not committed (`stale`, `duplicate`), or was committed without the lease. */
export class NotLeased extends Error {
  readonly isCommitted: boolean;

  constructor(isCommitted: boolean) {
    super(isCommitted ? 'the write was committed without the lease' : 'the write was not committed');
    this.name = 'NotLeased';
    this.isCommitted = isCommitted;
  }
}

interface CommitDeps {
  identities: Pick<Identities, 'commit'>;
  runtime: Pick<Runtime, 'checkpoint'>;
}

/** Creates the commit of a write. It runs when the first step asks for it. */
export function writeCommit(deps: CommitDeps, write: PendingWrite, lease: LeaseRequest): WriteCommit {
  let running: Promise<void> | undefined;
  let settle: { resolve(result: CommitResult): void; reject(error: unknown): void } | undefined;
  const result = new Promise<CommitResult>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const commit = async (first: FirstStep | undefined): Promise<void> => {
    try {
      const committed = await commitWrite(deps, withLease(write, lease, first));
      settle?.resolve(committed === 'unleased' ? 'done' : committed);
      if (committed !== 'done' || !canTakeLease(write))
        throw new NotLeased(committed === 'done' || committed === 'unleased');
    } catch (error) {
      settle?.reject(error);
      throw error;
    }
  };
  return {
    run: (first) => {
      running ??= commit(first);
      return running;
    },
    isBegun: () => running !== undefined,
    result,
  };
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

/** The number of attempts at a write when other writers keep committing first. */
const MAX_TRIES = 20;

/** Computes and commits a write of a user again while it is stale. Throws `unavailable` if other writers keep committing first. */
export async function repeatWhileStale<T>(
  tryWrite: (earlierTries: number) => Promise<T | 'stale'>,
): Promise<T> {
  for (let earlierTries = 0; earlierTries < MAX_TRIES; earlierTries += 1) {
    const result = await tryWrite(earlierTries);
    if (result !== 'stale') return result;
  }
  throw new ProvisioningError('unavailable', 'Too many writers change this user at once; try again.');
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

function withLease(
  write: PendingWrite,
  lease: LeaseRequest,
  first: FirstStep | undefined,
): Pick<PendingWrite, 'identity' | 'changes'> {
  const { identity, before, changes } = write;
  if (!canTakeLease(write)) return { identity, changes };
  const call = first && 'announcement' in first ? announcedColumns(first.announcement) : {};
  const ended = first && 'ended' in first ? first.ended : undefined;
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
