import type { AppliedFields } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import type { Decision, Hold, HoldCause, Identity, Origin, Outcome, Progress } from './identity.ts';
import type { ListPage, ListQuery, ListScan, UserField, UserOrder } from './list-ports.ts';
import type { SafetyValve } from './policies.ts';

/** A lease that is taken in the commit of a write. */
export interface WriteLease {
  token: string;
  /** The duration of the lease, which begins at `now`. */
  ms: number;
  now: number;
}

/** One change of an atomic commit. */
export type IdentityChange =
  | { kind: 'insert'; identity: Identity; lease?: WriteLease }
  /**
   * Writes the columns that an IdP decides (desired, claimed, deletedAt, lastModified, version, state, attempts,
   * nextAttemptAt, origin), and `applied` if an unclaimed identity becomes claimed. Raises the revision. Applies only
   * if the stored version is `expected`. The lease is taken, and `progress` is written, only if the identity is still as
   * it was read in `before`, and has no lease.
   */
  | {
      kind: 'update';
      identity: Identity;
      expected: number;
      lease?: WriteLease & { before: Identity; progress: Progress };
    }
  /**
   * Takes the traveler away from a tombstone: its link, applied values and reservation, and its pending work. Applies
   * only if the lease and `applied` are unchanged since they were read, because otherwise the new identity would
   * inherit outdated values.
   */
  | {
      kind: 'giveUpTraveler';
      connection: string;
      id: string;
      leasedUntil: number | undefined;
      /** The applied values of the tombstone, which the new identity inherits. */
      applied: AppliedFields;
      origin: Origin;
    }
  /** Marks a tombstone dirty, so that its traveler gives up its email address. */
  | { kind: 'giveEmailUp'; connection: string; id: string }
  /** Takes the traveler away from a live identity, and ends the identity's lease. */
  | { kind: 'unlink'; id: string }
  /** Deletes an unclaimed identity because a user of the IdP takes its place. */
  | { kind: 'deleteUnclaimed'; id: string };

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
  /** True if a write that changes nothing needs no work: an IdP has written the identity before, and nothing was refused. */
  canAnswerNoOp: boolean;
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
  /** True if the identity has stored references. */
  hasReferences: boolean;
  /** The generation of the rules in force at this moment. */
  generation: number;
  parse(): Identity;
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
  /** Identities of the account that wait for the address; if there are very many, only some of them. */
  waiters: Identity[];
  /** The generation of the rules in force at this moment. */
  generation: number;
}

/** One page of complete identities, with the total number of live ones. */
export interface IdentityPage {
  total: number;
  identities: Identity[];
}

/** The store of identities. */
export interface Identities {
  findById(connection: string, id: string): Promise<Identity | undefined>;
  /** Returns the live identity with this id; undefined if there is none or it is a tombstone. */
  findView(connection: string, id: string): Promise<IdentityView | undefined>;
  /** Returns the identity, which may be a tombstone, for a write of the IdP. */
  findForWrite(connection: string, id: string): Promise<StoredIdentity | undefined>;
  /** Returns the identities that decide what a POST is, in one reading. */
  findForNewUser(
    connection: string,
    user: { userName: string; externalId: string | undefined; email: string | undefined },
  ): Promise<NewUserMatches>;
  /** Returns every match, tombstones included, newest first. */
  find(connection: string, match: IdentityMatch): Promise<Identity[]>;
  /** Reads complete live identities by `position`; with `limit` 0 it only counts them. */
  findPage(connection: string, offset: number, limit: number): Promise<IdentityPage>;
  /** Returns one page of the live identities, with an exact total. */
  list(
    connection: string,
    query: ListQuery<UserField, UserOrder>,
    scan: ListScan<ListedIdentity>,
  ): Promise<ListPage<ListedIdentity>>;
  /**
   * Commits all changes or none. `unleased`: committed, but without the lease and the progress of an update; `stale`: an identity no longer has its expected version; `duplicate`: another live identity has the userName.
   */
  commit(connection: string, changes: IdentityChange[]): Promise<'done' | 'unleased' | 'stale' | 'duplicate'>;
  /**
   * Returns the claimed identity, in any connection of the account, that is linked to this traveler or is creating it.
   * `travelEmailKey` is an address as `addressKey` returns it.
   */
  findHolder(
    account: string,
    match: { travelId: string } | { travelEmail: string } | { travelEmailKey: string } | { creating: string },
  ): Promise<Identity | undefined>;
  /** Returns true if an active identity of the account other than `except` waits for the address. */
  isWaitedFor(account: string, email: string, except: string): Promise<boolean>;
  /** Returns identities of the account that wait for the address; if there are very many, only some of them. */
  findWaiters(account: string, email: string): Promise<Identity[]>;
  /** Returns true for a traveler whose person was erased (GDPR): no identity may be linked to it. */
  isErased(account: string, travelId: string): Promise<boolean>;
}

/**
 * A call to the travel API that is about to be sent. A create reserves its email address and removes the link (an
 * undefined address ends the reservation). A new link, possibly to the traveler of a tombstone, ends a reservation. An
 * update changes the linked traveler. If the process dies, the next attempt finds in `progress` what was sent.
 */
export type Announcement = (
  | { creating: string | undefined }
  | {
      travelId: string;
      applied: AppliedFields;
      from?: Extract<IdentityChange, { kind: 'giveUpTraveler' }> | undefined;
    }
  | object
) & {
  progress?: Progress;
};

/**
 * The store of leases: only the reconciler that holds an identity's lease works on the identity. It saves the outcome
 * with the token of the lease.
 */
export interface Leases {
  /**
   * Acquires the lease for `ms` milliseconds if it is free or has expired. Returns undefined if it is held or the identity
   * does not exist. If the last lease ended without an outcome, its process died, so the state of the traveler is
   * unknown and `observed` is undefined. `generation` is that of the rules in force: a replica that is behind loads them.
   */
  acquire(
    connection: string,
    id: string,
    lease: { token: string; ms: number; now: number },
  ): Promise<{ identity: Identity; generation: number } | undefined>;
  /** Extends the lease to `ms` milliseconds from now. Returns false if it has ended. */
  extend(connection: string, id: string, lease: { token: string; ms: number; now: number }): Promise<boolean>;
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
   * Saves the outcome of an attempt at the identity `before`, raises the revision and ends the lease. `moved`: saved,
   * but the revision was raised meanwhile, so the identity stays dirty; `lost`: the lease had ended, nothing is saved;
   * `taken`: another identity of the account is linked to the traveler, nothing is saved.
   */
  finish(
    connection: string,
    id: string,
    token: string,
    before: { revision: number; travelId?: string | undefined },
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
   * Returns identities without a lease that are due for an attempt or for a check for late calls. Identities whose
   * traveler must be archived or deleted come first, then those that have waited longest. Each identity is returned
   * once.
   */
  findDue(now: number, limit: number, connections: string[]): Promise<{ connection: string; id: string }[]>;
  markDirty(connection: string, ids: string[], now: number): Promise<void>;
  /**
   * Marks identities of the account dirty that wait for this address, and those without a traveler that wait for
   * another address but could take this one because it is their userName.
   */
  markEmailWaitersDirty(account: string, email: string, now: number): Promise<void>;
  /**
   * Marks identities dirty that wait for an address, or whose reference has a missing or changed target. This repairs
   * marks that a process could not save before it died.
   */
  markUnresolvedDirty(connection: string, now: number): Promise<void>;
  /**
   * Marks at most `limit` claimed identities dirty that were translated with rules of an earlier generation, tombstones
   * included. Returns how many.
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

/** The stored state of a traveler's identity, for an import to detect whether the traveler has changed. */
export type KnownTraveler = Pick<
  Identity,
  'id' | 'travelId' | 'claimed' | 'observed' | 'rulesGeneration' | 'deletedAt'
>;

/** An identity whose traveler an import did not find in the list. */
export interface MissingTraveler {
  id: string;
  travelId: string;
  claimed: boolean;
}

/** An identity, and its traveler as an import or the event feed has read it. */
export interface SeenTraveler {
  id: string;
  /** Undefined if the state is not certain: the traveler must then be read before the next plan. */
  observed: TravelUser | undefined;
  /** The observed value when the reading began. If it has changed since, the reading is not saved. */
  before?: TravelUser;
}

/** The part of the store that imports and the event feed use. */
export interface Imports {
  /** Returns the identities of this connection for these travelers, claimed or not. */
  findKnown(connection: string, travelIds: string[]): Promise<KnownTraveler[]>;
  /** Returns the travelers that a claimed identity of another connection of the account has. */
  findLinkedElsewhere(connection: string, account: string, travelIds: string[]): Promise<string[]>;
  /** Returns the travelers whose person was erased (GDPR). */
  findErased(account: string, travelIds: string[]): Promise<ReadonlySet<string>>;
  /** Returns the keys (`addressKey`) of the addresses that creates in the account have reserved. */
  findOpenCreates(account: string): Promise<string[]>;
  /**
   * Inserts or refreshes unclaimed identities. Skips those whose userName is taken or whose traveler was linked
   * meanwhile.
   */
  saveUnclaimed(identities: Identity[], seenAt: number): Promise<void>;
  /**
   * Saves the observed travelers of claimed identities. If an identity has a lease, or its observed value differs from
   * `before`, the observed value is cleared instead, so that the next reconciliation reads the traveler.
   */
  saveObserved(connection: string, seen: SeenTraveler[], seenAt: number): Promise<void>;
  /**
   * Records that the travelers of these identities were listed at this time, without changing their observed values.
   */
  markSeen(connection: string, ids: string[], seenAt: number): Promise<void>;
  /** Returns the live identities whose traveler was not listed since this time. */
  findMissing(connection: string, since: number): Promise<MissingTraveler[]>;
  /**
   * Deletes the unclaimed identities whose traveler was not listed since this time, and returns the ids of the claimed
   * ones, tombstones included.
   */
  deleteStale(connection: string, since: number): Promise<string[]>;
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

/** A person with a held change that an admin must approve or discard. */
export interface HeldPerson {
  connection: string;
  id: string;
  userName: string;
  hold: Hold;
  /** The version of the identity to which a decision applies. */
  version: number;
  /**
   * Whether the IdP wants the person active. Approval archives the traveler of an inactive person, and archives or
   * deletes that of a deleted one.
   */
  isActive: boolean;
  isDeleted: boolean;
}

/** The number of held people of one connection for one cause. */
export interface HoldCount {
  connection: string;
  cause: HoldCause;
  /** For the cause `rules`: the people that the change would affect, counted until the limit was passed. */
  count: number;
  /** When the oldest of these holds began, in epoch milliseconds. */
  since: number;
}

/** A change of rules or lookups, and the decision about it. */
export interface HeldRules {
  connection: string;
  /** The generation of the changed rules and lookups. */
  generation: number;
  /** The number of people whom the change would affect; counting stops above the limit. */
  people: number;
  since: number;
  /** The admin's decision; undefined until there is one. A change that affects few people is approved automatically. */
  answer: Decision['answer'] | undefined;
  /** The people whom recent approved changes affected, with the time of the change. They count for the next changes. */
  recent: ReadonlyMap<string, number>;
}

/** The store of held changes, and of the counts that decide whether a change must be held. */
export interface Holds {
  /** Returns the people whose held change has no decision yet, the longest waiting first. */
  findHeldPeople(query: {
    connection?: string | undefined;
    cause?: HoldCause | undefined;
    limit: number;
  }): Promise<HeldPerson[]>;
  /**
   * Counts held people for alarms and metrics. For a held change of rules, the number of people whom it would affect is
   * used.
   */
  countHolds(): Promise<HoldCount[]>;
  /**
   * Saves an admin's decision about held people at their present version, marks them dirty, and returns their number. The
   * cause `rules` also decides the held change of rules; its approval marks every identity dirty that the rules affect.
   */
  decide(
    connection: string,
    selection: { ids: string[] } | { cause: HoldCause },
    answer: Decision['answer'],
    now: number,
  ): Promise<number>;
  /**
   * Counts one departure against the safety valve. Returns false, and counts nothing, if more people would leave within
   * the window than the valve allows. A person already counted is admitted again.
   */
  admitDeparture(connection: string, id: string, valve: SafetyValve, now: number): Promise<boolean>;
  /** Returns the last change of rules that was checked: it is held, approved or discarded. */
  findHeldRules(connection: string): Promise<HeldRules | undefined>;
  /**
   * Saves the last checked change of rules in place of an earlier one, unless another replica has saved this or a later
   * one. If it is approved, people held because of the earlier one become dirty. Returns the stored change.
   */
  saveHeldRules(held: HeldRules): Promise<HeldRules>;
  /**
   * Returns claimed live identities that were last translated with an earlier generation of the rules, in the order of
   * their ids. The page begins after the id `place.after`.
   */
  findTranslatedEarlier(
    connection: string,
    generation: number,
    place: { after: string; limit: number },
  ): Promise<Identity[]>;
}
