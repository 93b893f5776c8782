import type { Identity, Origin, Outcome, Succession } from './identity.ts';
import type { ListPage, ListQuery, ListScan, SortKey, UserField, UserOrder } from './list-ports.ts';
import type { AppliedFields } from './translation.ts';

/** A lease to acquire or to extend. */
export interface LeaseRequest {
  token: string;
  /** The duration of the lease, which begins at `now`. */
  ms: number;
  now: number;
}

/** One change of an atomic commit. */
export type IdentityChange =
  /** Applies only if the condition holds. */
  | {
      kind: 'insert';
      identity: Identity;
      condition?: NewUserCondition | undefined;
      lease?: LeaseRequest;
      ended?: LeasedOutcome | undefined;
    }
  /**
   * Writes the columns that an IdP decides (desired, claimed, deletedAt, lastModified, version, state, attempts,
   * nextAttemptAt, origin), and `applied` if an unclaimed identity becomes claimed. Raises the revision. Applies only
   * if the stored version is `expected`. The lease is taken, and `progress` is written, only if the identity is still as
   * it was read in `before`, and has no lease. With `ended`, the attempt has already ended: its outcome is saved, and the
   * lease is released.
   */
  | {
      kind: 'update';
      identity: Identity;
      expected: number;
      lease?: LeaseRequest & {
        before: Identity;
        call: Pick<Identity, 'applied' | 'readAgainAt' | 'progress'>;
      };
      ended?: LeasedOutcome | undefined;
    }
  /**
   * Takes the traveler away from a leaver: its link, applied values and reservation, and its pending work. Applies
   * only if the lease and `applied` are unchanged since they were read, because otherwise the new identity would
   * inherit outdated values.
   */
  | {
      kind: 'giveUpTraveler';
      connection: string;
      id: string;
      leasedUntil: number | undefined;
      /** The applied values of the leaver, which the new identity inherits. */
      applied: AppliedFields;
      origin: Origin;
      /** Set if the change applies only once the lease has ended: the present time, where no database tells it. */
      leaseEndedBy?: number;
    }
  /**
   * Notes on a user that another one has taken its place, and marks it dirty. Another person takes the place of a leaver only (row 3); a
   * second user of the same person is noted on an active one.
   */
  | { kind: 'noteSuccessor'; connection: string; id: string; successor: Succession }
  /**
   * Links a live identity that has no traveler to one that no identity has after the changes before. The next attempt reads the
   * traveler. The applied values are those of the leaver.
   */
  | { kind: 'link'; id: string; travelId: string; applied: AppliedFields }
  /** Takes the traveler away from a live identity, and ends the identity's lease. `predecessor`: the tombstone that has the traveler now. */
  | { kind: 'unlink'; id: string; predecessor?: Succession }
  /**
   * Deletes an unclaimed identity because a user of the IdP takes its place. Its memberships, and the references to it, move to `heir`,
   * the identity of the same person.
   */
  | { kind: 'deleteUnclaimed'; id: string; heir?: Pick<Identity, 'id' | 'lastModified'> | undefined };

/** The outcome of an attempt that holds the lease `token`, and the identity that it was based on. */
export interface LeasedOutcome {
  token: string;
  before: Pick<Identity, 'revision'>;
  outcome: Outcome;
}

/**
 * A condition `column = value` with an index. userName and email addresses are compared without case, the others
 * exactly.
 */
export type IdentityMatch =
  | { by: 'id'; value: string }
  | { by: 'userName'; value: string }
  | { by: 'externalId'; value: string }
  | { by: 'email'; value: string }
  | { by: 'travelId'; value: string }
  /** The employee number, without case. */
  | { by: 'employeeNumber'; value: string }
  /** The email address of the linked traveler as last read. */
  | { by: 'travelEmail'; value: string };

/** The columns of a live identity that a SCIM response needs, with JSON columns unparsed. */
export interface IdentityView {
  id: string;
  /** The desired state without id, meta and schemas, as stored JSON text. */
  desired: string;
  /** JSON text of the list of extension URNs at the top level of `desired`; null if not known. */
  extensions: string | null;
  version: number;
  createdAt: number;
  lastModified: number;
  travelUserId: string | undefined;
  /** True if the user is a member of at least one group. */
  inGroups: boolean;
}

/**
 * A live identity in a list. If its desired state is large, `desired` is undefined, and the caller reads it when it is
 * needed.
 */
export interface ListedIdentity extends Omit<IdentityView, 'desired'> {
  desired: string | undefined;
}

/** An identity as stored. Most of it is parsed only when it is needed, because most repeated writes change nothing. */
export interface StoredIdentity {
  view: IdentityView;
  isDeleted: boolean;
  /**
   * True if a write that changes nothing needs no work: an IdP has written the identity before, nothing was refused, and no
   * admin has decided about it.
   */
  canAnswerNoOp: boolean;
  /** True if the identity has stored references. */
  hasReferences: boolean;
  /** The generation of the rules in force at this moment. */
  generation: number;
  parse(): Identity;
}

/** The values by which the identities are found that decide what a POST is. */
export interface NewUser {
  userName: string;
  externalId: string | undefined;
  email: string | undefined;
}

/** The condition that a user has no matches (see `NewUserMatches`), and that the rules in force are of this generation. */
export interface NewUserCondition extends NewUser {
  generation: number;
}

/** The identities with the userName, externalId or email address of a new user, tombstones included, newest first. */
export interface NewUserMatches {
  /** Of the connection. */
  userName: Identity[];
  /** Of the connection. */
  externalId: Identity[];
  /** Of the connection, by the email address of the linked traveler as last read. */
  travelEmail: Identity[];
  /** The claimed identity of the account whose traveler has the address; a live one before a tombstone. */
  holder: Identity | undefined;
  /** The claimed identity of the account that is creating a traveler with the address. */
  creator: Identity | undefined;
  /** The generation of the rules in force at this moment. */
  generation: number;
}

/** One page of complete identities, with the total number of live ones. */
export interface IdentityPage {
  total: number;
  identities: Identity[];
  /** The key of the last identity, if another page follows. */
  next?: SortKey | undefined;
}

/** The store of identities. */
export interface Identities {
  findById(connection: string, id: string): Promise<Identity | undefined>;
  /** Returns the live identity with this id; undefined if there is none or it is a tombstone. */
  findView(connection: string, id: string): Promise<IdentityView | undefined>;
  /** Returns the identity, which may be a tombstone, for a write of the IdP. */
  findForWrite(connection: string, id: string): Promise<StoredIdentity | undefined>;
  /** Returns the identities that decide what a POST is, in one reading. */
  findForNewUser(connection: string, user: NewUser): Promise<NewUserMatches>;
  /** Returns every match, tombstones included, newest first. */
  find(connection: string, match: IdentityMatch): Promise<Identity[]>;
  /**
   * Reads complete live identities by `position`, after this many of them or after the one with this key; with `limit` 0 it only counts
   * them.
   */
  findPage(connection: string, from: number | SortKey, limit: number): Promise<IdentityPage>;
  /** Returns one page of the live identities, with an exact total. `hidden` is the traveler whose person is left out while unclaimed. */
  list(
    connection: string,
    query: ListQuery<UserField, UserOrder>,
    scan: ListScan<ListedIdentity>,
    hidden?: string,
  ): Promise<ListPage<ListedIdentity>>;
  /**
   * Commits all changes or none. `unleased`: committed, but without the lease, the progress and the end of an update;
   * `stale`: an identity no longer has its expected version, or the condition of an insert does not hold; `duplicate`: another live identity has the userName.
   */
  commit(connection: string, changes: IdentityChange[]): Promise<'done' | 'unleased' | 'stale' | 'duplicate'>;
  /**
   * Returns the claimed identity, in any connection of the account, that is linked to this traveler or is creating it.
   */
  findHolder(
    account: string,
    match: { travelId: string } | { travelEmail: string } | { creating: string },
  ): Promise<Identity | undefined>;
  /** Returns true if an active identity of the account other than `except` waits for the address. */
  isWaitedFor(account: string, email: string, except: string): Promise<boolean>;
  /** Returns true for a traveler whose person was erased (GDPR): no identity may be linked to it. */
  isErased(account: string, travelId: string): Promise<boolean>;
}

/**
 * What is committed before a call to the travel API is sent: the records of its fields. If the process dies, the next attempt reads the traveler
 * to learn what became of them. A create and a new link state the traveler, too: undefined for a create, which reserves its address.
 */
export interface Announcement extends Pick<Identity, 'applied' | 'readAgainAt' | 'progress'> {
  travelId?: string | undefined;
  creating?: Identity['creating'];
  /** The tombstone whose traveler is linked. */
  from?: Extract<IdentityChange, { kind: 'giveUpTraveler' }> | undefined;
  /** True if a call follows, of which nobody knows the outcome until it is answered. */
  isCall?: true;
}

/**
 * The store of leases: only the reconciler that holds an identity's lease works on the identity. It saves the outcome
 * with the token of the lease.
 */
export interface Leases {
  /**
   * Acquires the lease for `ms` milliseconds if it is free or has expired. Returns undefined if it is held or the identity
   * does not exist. `generation` is that of the rules in force: a replica that is behind loads them.
   */
  acquire(
    connection: string,
    id: string,
    lease: LeaseRequest,
  ): Promise<{ identity: Identity; generation: number } | undefined>;
  /** Extends the lease to `ms` milliseconds from now. Returns false if it has ended. */
  extend(connection: string, id: string, lease: LeaseRequest): Promise<boolean>;
  /**
   * Commits a call before it is sent. `lost`: the lease has ended. `taken`: another identity of the account has
   * reserved the address or is linked to the traveler, or the tombstone `from` has changed since it was read.
   */
  announce(
    connection: string,
    id: string,
    token: string,
    announcement: Announcement,
  ): Promise<'done' | 'lost' | 'taken'>;
  /** Saves the address that the identity waits for. The identity becomes dirty as soon as that address is free. */
  waitFor(connection: string, id: string, token: string, email: string): Promise<void>;
  /**
   * Saves the outcome of an attempt at the identity `before`, raises the revision and ends the lease. `kept`: saved as it is; `moved`: saved,
   * but the revision was raised meanwhile, so the identity stays dirty; `lost`: the lease had ended, nothing is saved;
   * `taken`: another identity of the account is linked to the traveler, nothing is saved.
   */
  finish(
    connection: string,
    id: string,
    token: string,
    before: LeasedOutcome['before'],
    outcome: Outcome,
  ): Promise<'kept' | 'moved' | 'lost' | 'taken'>;
  /** Ends the lease without saving an outcome. */
  release(connection: string, id: string, token: string): Promise<void>;
  /**
   * Ends all leases. Used at start with an embedded database: only one process uses it, so all leases belong to
   * processes that died.
   */
  releaseAll(): Promise<void>;
}

/** The queue of dirty identities. Marking an identity dirty raises its revision, not its version. */
export interface ReconcileQueue {
  /**
   * Returns identities without a lease that are due for an attempt or for a check of the traveler (`nextCheckAt`). Identities whose
   * traveler must be archived or deleted come first, then those that have waited longest. Each identity is returned
   * once.
   */
  findDue(now: number, limit: number, connections: string[]): Promise<{ connection: string; id: string }[]>;
  markDirty(connection: string, ids: string[], now: number): Promise<void>;
  /**
   * Marks an identity dirty whose traveler has an address that another one needs. If the store has another address, the traveler is read first.
   * If the identity waits for its next attempt already, it is not tried earlier: else two identities that cannot move would have each other tried
   * without end.
   */
  askForEmail(holder: Pick<Identity, 'connection' | 'id'>, email: string, now: number): Promise<void>;
  /**
   * Marks identities of the account dirty that wait for this address, and those without a traveler that wait for
   * another address but could take this one because it is their userName. The identity `except` stays as it is.
   */
  markEmailWaitersDirty(
    account: string,
    email: string,
    now: number,
    except?: Pick<Identity, 'connection' | 'id'>,
  ): Promise<void>;
  /** Marks the identities of the account dirty that wait for an address: travelers are gone, and any of them may have had it. */
  markAllEmailWaitersDirty(account: string, now: number): Promise<void>;
  /**
   * Marks identities dirty that wait for an address or for a group that the scope names, or whose reference has a missing or changed target.
   * This repairs marks that a process could not save before it died.
   */
  markUnresolvedDirty(connection: string, now: number): Promise<void>;
  /**
   * Marks at most `limit` claimed identities dirty that were translated with rules of an earlier generation, tombstones
   * included. Returns their number.
   */
  markStaleDirty(connection: string, generation: number, limit: number, now: number): Promise<number>;
  /** Counts the identities in each state, for the metrics. */
  countByState(): Promise<{ connection: string; state: string; count: number }[]>;
}

/** A value that names another user, e.g. a manager, and the identity and traveler that it resolves to. */
export interface ReferenceRow {
  /** The value as the IdP sent it. */
  raw: string;
  /** The id of the identity that `raw` resolves to; undefined if there is none. */
  target: string | undefined;
  /** The id of the traveler that `raw` resolves to; undefined if there is none. */
  travelId: string | undefined;
}

/** The store of references between the identities of one connection. */
export interface References {
  findRows(connection: string, id: string): Promise<ReferenceRow[]>;
  save(connection: string, id: string, rows: ReferenceRow[]): Promise<void>;
  /**
   * Saves and returns the rows that `compute` returns. Until they are saved, no other reference of the connection is
   * written, so the rows that `compute` reads with `findRows` stay valid.
   */
  update(
    connection: string,
    id: string,
    compute: (findRows: (id: string) => Promise<ReferenceRow[]>) => Promise<ReferenceRow[]>,
  ): Promise<ReferenceRow[]>;
  /**
   * Returns the ids of the identities that have a reference to the target, or one of the values as a raw reference.
   * Values are compared without case.
   */
  findReferrers(connection: string, target: string, values: string[]): Promise<string[]>;
}

/** Deletes records whose retention has ended. */
export interface Retention {
  /**
   * Deletes at most `limit` tombstones that are older than `before` (wall clock) and have no pending work, and returns
   * their number. Their travelers stay unchanged and unlinked.
   */
  expireTombstones(
    connection: string,
    bounds: { before: number; now: number; limit: number },
  ): Promise<number>;
}
