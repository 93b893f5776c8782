import type { AppliedFields } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import type { Decision, Hold, HoldCause, Identity, Origin, Outcome, Progress } from './identity.ts';
import type { ListPage, ListQuery, ListScan, UserField, UserOrder } from './list-ports.ts';
import type { SafetyValve } from './policies.ts';

/** One step of an atomic commit. An `update` writes the IdP's side only and applies only at `expected` version. */
export type IdentityChange =
  | { kind: 'insert'; identity: Identity }
  /** Writes desired, claimed, deletedAt, lastModified, version, state, attempts, nextAttemptAt, origin, raises revision; `applied` too when an unclaimed identity becomes claimed. */
  | { kind: 'update'; identity: Identity; expected: number }
  /**
   * Takes the traveler from a tombstone: link, applied and open create go, and it needs no work any more. Applies only
   * while lease and `applied` are as they were read: work that began or ended since then changes what is inherited.
   */
  | {
      kind: 'release';
      connection: string;
      id: string;
      leasedUntil: number | undefined;
      /** As it was inherited. */
      applied: AppliedFields;
      origin: Origin;
    }
  /** Lets a tombstone's traveler give its address up, and makes the tombstone dirty. */
  | { kind: 'giveEmailUp'; connection: string; id: string }
  /** Takes the traveler from a live identity, whose reconciler loses the lease. */
  | { kind: 'unlink'; id: string }
  /** Removes an unclaimed identity that gives way to an IdP's. */
  | { kind: 'erase'; id: string };

/** An equality that an index answers. Case: userName and emails without, the rest exactly. */
export type IdentityMatch =
  | { by: 'id'; value: string }
  | { by: 'userName'; value: string }
  | { by: 'externalId'; value: string }
  | { by: 'email'; value: string }
  | { by: 'travelId'; value: string }
  /** The address of the linked traveler as last seen. */
  | { by: 'travelEmail'; value: string };

/** A live identity as it is read to be shown: no more than the front door needs, and nothing parsed. */
export interface IdentityView {
  id: string;
  /** The desired state, without id, meta and schemas: JSON text as kept. */
  desired: string;
  /** JSON text of the list of extension URNs that `desired` has at its top level; null: not known. */
  extensions: string | null;
  version: number;
  createdAt: number;
  lastModified: number;
  travelUserId: string | undefined;
  /** True when a write that changes nothing has nothing to do: an IdP has written it before, and nothing was refused. */
  canAnswerNoOp: boolean;
  /** Whether it is a member of any group. */
  inGroups: boolean;
}

/** A live identity as a list reads it: a large desired state is undefined, and read by itself when it is needed. */
export interface ListedIdentity extends Omit<IdentityView, 'desired'> {
  desired: string | undefined;
}

/** A part of a list of whole identities. `limit` 0 counts only. */
export interface IdentityPage {
  total: number;
  identities: Identity[];
}

/** The identities as the stories read and write them. */
export interface Identities {
  findById(connection: string, id: string): Promise<Identity | undefined>;
  /** Undefined for a tombstone, too. */
  findView(connection: string, id: string): Promise<IdentityView | undefined>;
  /** Tombstones included; newest first. */
  find(connection: string, match: IdentityMatch): Promise<Identity[]>;
  /** The live ones as they are kept, in the stable order. */
  findPage(connection: string, offset: number, limit: number): Promise<IdentityPage>;
  /** A part of the live ones, with an exact total. */
  list(
    connection: string,
    query: ListQuery<UserField, UserOrder>,
    scan: ListScan<ListedIdentity>,
  ): Promise<ListPage<ListedIdentity>>;
  /** All or nothing. `stale`: an expected version had moved; `duplicate`: another live identity has the userName. */
  commit(connection: string, changes: IdentityChange[]): Promise<'done' | 'stale' | 'duplicate'>;
  /**
   * The claimed identity linked to a traveler of this travel account, or just making it, in whatever connection. A
   * `travelEmailKey` is the key of an address, as `waitingFor` has it.
   */
  findHolder(
    account: string,
    match: { travelId: string } | { travelEmail: string } | { travelEmailKey: string } | { creating: string },
  ): Promise<Identity | undefined>;
  /** True when an active identity of this travel account other than `except` waits for the address. */
  isWaitedFor(account: string, email: string, except: string): Promise<boolean>;
  /** The identities of this travel account that wait for the address; some, where they are very many. */
  findWaiters(account: string, email: string): Promise<Identity[]>;
  /** True for a traveler of this travel account whose person was erased: nobody is linked to it. */
  isErased(account: string, travelId: string): Promise<boolean>;
}

/**
 * What is about to be written at the travel API: a create under an address (undefined takes it back), which unlinks; a
 * traveler that becomes linked, with what is applied to it, perhaps from a tombstone that gives it up, which ends an open
 * create; or changes to the fields of the linked one. With all of them
 * goes what the next attempt must know if the outcome of the call never does.
 */
export type Announcement = (
  | { creating: string | undefined }
  | {
      travelId: string;
      applied: AppliedFields;
      from?: Extract<IdentityChange, { kind: 'release' }> | undefined;
    }
  | object
) & {
  progress?: Progress;
};

/** The reconciler's hold on one identity at a time. */
export interface Leases {
  /**
   * Takes the lease when it is free or has run out at `now`; undefined when another holds it or the identity is gone.
   * After one that ran out `observed` is undefined: its holder died, and nobody knows what it had sent.
   */
  acquire(
    connection: string,
    id: string,
    lease: { token: string; until: number; now: number },
  ): Promise<Identity | undefined>;
  /**
   * Announces what is about to be written at the travel API: a create under an address (undefined takes it back), which
   * unlinks, or changes to a traveler that is linked with this, which ends an open create. `lost`: the token no longer holds; `taken`: another identity of the
   * account has announced a create under the same address, or is linked to that traveler; or the tombstone `from` which it
   * is taken has moved.
   */
  announce(
    connection: string,
    id: string,
    token: string,
    news: Announcement,
  ): Promise<'done' | 'lost' | 'taken'>;
  /** Notes the address that it waits for, so that whoever frees it from now on makes it dirty. */
  waitFor(connection: string, id: string, token: string, email: string): Promise<void>;
  /**
   * Keeps the outcome and gives the lease back. `moved`: kept, but the revision was raised meanwhile, so it stays dirty;
   * `lost`: the token no longer holds, nothing was kept; `taken`: another identity of the account is linked to that traveler, nothing was kept.
   */
  finish(
    connection: string,
    id: string,
    token: string,
    revision: number,
    outcome: Outcome,
  ): Promise<'kept' | 'moved' | 'lost' | 'taken'>;
  /** Gives the lease back with nothing changed. */
  release(connection: string, id: string, token: string): Promise<void>;
  /** Ends all leases: those of a process that died, where the store is ours alone; as if they had run out. */
  releaseAll(): Promise<void>;
}

/** What makes identities dirty, and which are due. A touch raises the revision, not the version. */
export interface ReconcileQueue {
  /**
   * Identities that nobody holds and whose time has come, of an attempt or of a look for a late call: first those that
   * must be taken out of use, then the longest waiting. Each once.
   */
  findDue(now: number, limit: number, connections: string[]): Promise<{ connection: string; id: string }[]>;
  markDirty(connection: string, ids: string[], now: number): Promise<void>;
  /**
   * Those of this travel account that wait for an address, or that have no traveler and this address as their userName while
   * they wait for another one.
   */
  markEmailWaitersDirty(account: string, email: string, now: number): Promise<void>;
  /**
   * Those that wait for an address, and those with a reference that leads nowhere, or elsewhere than when it was
   * resolved: the second look for what a touch may have missed, because a process died or nobody touched.
   */
  markUnresolvedDirty(connection: string, now: number): Promise<void>;
  /** Claimed, live or dead, translated with other rules; at most `limit`, answers how many. */
  markStaleDirty(connection: string, rulesVersion: string, limit: number, now: number): Promise<number>;
  /** How many identities there are in each state, for the metrics. */
  countByState(): Promise<{ connection: string; state: string; count: number }[]>;
}

/** A reference from one identity to another's traveler, e.g. its manager. */
export interface ReferenceRow {
  /** The value as the IdP gave it. */
  raw: string;
  /** The identity it was resolved to. */
  target: string | undefined;
  /** The travel user it was resolved to. */
  travelId: string | undefined;
}

/** References between identities, by connection. */
export interface References {
  findRows(connection: string, id: string): Promise<ReferenceRow[]>;
  save(connection: string, id: string, rows: ReferenceRow[]): Promise<void>;
  /**
   * Saves the rows that `decide` answers, and answers them too. No other references are written between what `decide`
   * reads with `of` and the save.
   */
  update(
    connection: string,
    id: string,
    decide: (of: (id: string) => Promise<ReferenceRow[]>) => Promise<ReferenceRow[]>,
  ): Promise<ReferenceRow[]>;
  /** The identities that refer to the target, or to any of the values, which are compared without case. */
  findReferrers(connection: string, target: string, values: string[]): Promise<string[]>;
}

/** What an import has to know of an identity to see whether its traveler is news. */
export type KnownTraveler = Pick<
  Identity,
  'id' | 'travelId' | 'claimed' | 'observed' | 'rulesVersion' | 'deletedAt'
>;

/** An identity whose traveler an import did not see. */
export interface MissingTraveler {
  id: string;
  travelId: string;
  claimed: boolean;
}

/** What was seen of the traveler of an identity. */
export interface SeenTraveler {
  id: string;
  /** Undefined: the traveler must be read before the next plan. */
  observed: TravelUser | undefined;
  /** What was known before the look. */
  before?: TravelUser;
}

/** What an import needs to know and keep. */
export interface Imports {
  /** Identities of this connection for these travelers, claimed or not. */
  findKnown(connection: string, travelIds: string[]): Promise<KnownTraveler[]>;
  /** Those of these travelers that another connection of the account has claimed. */
  findLinkedElsewhere(connection: string, account: string, travelIds: string[]): Promise<string[]>;
  /** Those of these travelers of the account whose person was erased. */
  findErased(account: string, travelIds: string[]): Promise<ReadonlySet<string>>;
  /** The keys of the addresses of creates that are announced in the account. */
  findOpenCreates(account: string): Promise<string[]>;
  /** Adds or refreshes unclaimed identities; passes over those whose userName is taken or whose traveler was linked meanwhile. */
  saveUnclaimed(identities: Identity[], seenAt: number): Promise<void>;
  /**
   * Keeps what was seen of claimed identities. Of those who are held, or are not as before the look any more, nothing is
   * known then, also after the attempt that is under way if they are touched.
   */
  saveObserved(connection: string, seen: SeenTraveler[], seenAt: number): Promise<void>;
  /** Notes that the travelers of identities were seen, and changes nothing else. */
  markSeen(connection: string, ids: string[], seenAt: number): Promise<void>;
  /** Live identities whose traveler an import begun at `since` did not see. */
  findMissing(connection: string, since: number): Promise<MissingTraveler[]>;
  /** Removes unclaimed identities, and answers claimed ones, tombstones included, that a whole import begun at `since` did not see. */
  deleteStale(connection: string, since: number): Promise<string[]>;
}

/** What ends what is kept for a limited time. */
export interface Retention {
  /**
   * Removes at most `limit` tombstones that were deleted before a time, by the wall clock, and have nothing left to do; answers
   * how many. Their travelers stay as they are, and belong to nobody.
   */
  expireTombstones(
    connection: string,
    bounds: { before: number; now: number; limit: number },
  ): Promise<number>;
}

/** A person whom an admin must decide about. */
export interface HeldPerson {
  connection: string;
  id: string;
  userName: string;
  hold: Hold;
  /** The version that a decision is about. */
  version: number;
  /** What the IdP wants: an approval archives a person who is inactive, and archives or deletes one who is deleted. */
  isActive: boolean;
  isDeleted: boolean;
}

/** What waits for one reason at one connection. */
export interface HoldCount {
  connection: string;
  cause: HoldCause;
  /** Of the cause `rules`: at how many people the count of those concerned stopped. */
  count: number;
  /** Since when the first of them waits, in epoch milliseconds. */
  since: number;
}

/** A change of rules or lookups, and what was decided about it. */
export interface HeldRules {
  connection: string;
  /** The version of rules and lookups (`Basis.version`). */
  version: string;
  /** How many people it would change, as far as they were counted. */
  people: number;
  since: number;
  /** Undefined while an admin must decide. A change that concerns few people is approved without one. */
  answer: Decision['answer'] | undefined;
}

/** What waits for an admin, and what decides whether something must wait. */
export interface Holds {
  /** The people without an answer to what they wait for now, the longest waiting first. */
  findHeldPeople(query: {
    connection?: string | undefined;
    cause?: HoldCause | undefined;
    limit: number;
  }): Promise<HeldPerson[]>;
  /** How many wait, for alarms and metrics; a change of rules that waits counts as the people it would change. */
  countHolds(): Promise<HoldCount[]>;
  /**
   * Keeps an admin's answer about held people as they are now, and makes them dirty; answers how many. The cause `rules`
   * also decides about the change of rules that waits, and an approval makes everybody dirty whom it concerns.
   */
  decide(
    connection: string,
    whom: { ids: string[] } | { cause: HoldCause },
    answer: Decision['answer'],
    now: number,
  ): Promise<number>;
  /**
   * Counts that a person is about to leave. False when more would leave within the window than the valve lets pass; then
   * nothing is counted. A person who is counted already passes again.
   */
  admitDeparture(connection: string, id: string, valve: SafetyValve, now: number): Promise<boolean>;
  /** The change of rules that was judged last: it waits, or may be followed, or an admin has discarded it. */
  findHeldRules(connection: string): Promise<HeldRules | undefined>;
  /**
   * Notes a change of rules, in place of the one before. Where it needs no admin any more, the people who were held
   * because of the one before become dirty.
   */
  saveHeldRules(held: HeldRules): Promise<void>;
  /**
   * Identities that rules may change: claimed, live, and translated before with another version. By id, beginning after
   * the given one.
   */
  findTranslatedOtherwise(
    connection: string,
    version: string,
    place: { after: string; limit: number },
  ): Promise<Identity[]>;
}
