import type { JsonObject, ScimResource } from '../schema/resource.ts';
import type { Applied } from '../translator/result.ts';
import type { Lookups, TravelUser } from '../translator/snapshot.ts';
import type {
  Decision,
  Hold,
  HoldCause,
  Identity,
  Membership,
  Origin,
  Outcome,
  Progress,
} from './identity.ts';
import type { SafetyValve } from './policies.ts';

// ── The store ────────────────────────────────────────────────────────────────────────────────────

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
      applied: Applied;
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
export interface ShownIdentity {
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
  atRest: boolean;
  /** Whether it is a member of any group. */
  inGroups: boolean;
}

/** A live identity as a list reads it: a large desired state is undefined, and read by itself when it is needed. */
export interface ListedIdentity extends Omit<ShownIdentity, 'desired'> {
  desired: string | undefined;
}

/** A part of a list of whole identities. `limit` 0 counts only. */
export interface IdentityPage {
  total: number;
  identities: Identity[];
}

/** The identities as the stories read and write them. */
export interface Identities {
  byId(connection: string, id: string): Promise<Identity | undefined>;
  /** Undefined for a tombstone, too. */
  shown(connection: string, id: string): Promise<ShownIdentity | undefined>;
  /** Tombstones included; newest first. */
  find(connection: string, match: IdentityMatch): Promise<Identity[]>;
  /** The live ones as they are kept, in the stable order. */
  page(connection: string, offset: number, limit: number): Promise<IdentityPage>;
  /** A part of the live ones, with an exact total. */
  list(
    connection: string,
    query: ListQuery<UserField, UserOrder>,
    scan: Scan<ListedIdentity>,
  ): Promise<Listed<ListedIdentity>>;
  /** All or nothing. `stale`: an expected version had moved; `duplicate`: another live identity has the userName. */
  commit(connection: string, changes: IdentityChange[]): Promise<'done' | 'stale' | 'duplicate'>;
  /**
   * The claimed identity linked to a traveler of this travel account, or just making it, in whatever connection. A
   * `travelEmailKey` is the key of an address, as `waitingFor` has it.
   */
  holder(
    account: string,
    match: { travelId: string } | { travelEmail: string } | { travelEmailKey: string } | { creating: string },
  ): Promise<Identity | undefined>;
  /** True when an active identity of this travel account other than `except` waits for the address. */
  isWaitedFor(account: string, email: string, except: string): Promise<boolean>;
  /** The identities of this travel account that wait for the address; some, where they are very many. */
  waiters(account: string, email: string): Promise<Identity[]>;
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
  | { travelId: string; applied: Applied; from?: Extract<IdentityChange, { kind: 'release' }> | undefined }
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
  take(
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
  due(now: number, limit: number, connections: string[]): Promise<{ connection: string; id: string }[]>;
  markDirty(connection: string, ids: string[], now: number): Promise<void>;
  /**
   * Those of this travel account that wait for an address, or that have no traveler and this address as their userName while
   * they wait for another one.
   */
  markWaitingDirty(account: string, email: string, now: number): Promise<void>;
  /**
   * Those that wait for an address, and those with a reference that leads nowhere, or elsewhere than when it was
   * resolved: the second look for what a touch may have missed, because a process died or nobody touched.
   */
  markOpenDirty(connection: string, now: number): Promise<void>;
  /** Claimed, live or dead, translated with other rules; at most `limit`, answers how many. */
  markStaleDirty(connection: string, rulesVersion: string, limit: number, now: number): Promise<number>;
  /** How many identities there are in each state, for the metrics. */
  counts(): Promise<{ connection: string; state: string; count: number }[]>;
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
  of(connection: string, id: string): Promise<ReferenceRow[]>;
  save(connection: string, id: string, rows: ReferenceRow[]): Promise<void>;
  /**
   * Saves the rows that `decide` answers, and answers them too. No other references are written between what `decide`
   * reads with `of` and the save.
   */
  decide(
    connection: string,
    id: string,
    decide: (of: (id: string) => Promise<ReferenceRow[]>) => Promise<ReferenceRow[]>,
  ): Promise<ReferenceRow[]>;
  /** The identities that refer to the target, or to any of the values, which are compared without case. */
  referrers(connection: string, target: string, values: string[]): Promise<string[]>;
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
export interface Seen {
  id: string;
  /** Undefined: the traveler must be read before the next plan. */
  observed: TravelUser | undefined;
  /** What was known before the look. */
  before?: TravelUser;
}

/** What an import needs to know and keep. */
export interface Imports {
  /** Identities of this connection for these travelers, claimed or not. */
  known(connection: string, travelIds: string[]): Promise<KnownTraveler[]>;
  /** Those of these travelers that another connection of the account has claimed. */
  linkedElsewhere(connection: string, account: string, travelIds: string[]): Promise<string[]>;
  /** Those of these travelers of the account whose person was erased. */
  erased(account: string, travelIds: string[]): Promise<ReadonlySet<string>>;
  /** The keys of the addresses of creates that are announced in the account. */
  openCreates(account: string): Promise<string[]>;
  /** Adds or refreshes unclaimed identities; passes over those whose userName is taken or whose traveler was linked meanwhile. */
  saveUnclaimed(identities: Identity[], seenAt: number): Promise<void>;
  /**
   * Keeps what was seen of claimed identities. Of those who are held, or are not as before the look any more, nothing is
   * known then, also after the attempt that is under way if they are touched.
   */
  observe(connection: string, seen: Seen[], seenAt: number): Promise<void>;
  /** Notes that the travelers of identities were seen, and changes nothing else. */
  markSeen(connection: string, ids: string[], seenAt: number): Promise<void>;
  /** Live identities whose traveler an import begun at `since` did not see. */
  missing(connection: string, since: number): Promise<MissingTraveler[]>;
  /** Removes unclaimed identities, and answers claimed ones, tombstones included, that a whole import begun at `since` did not see. */
  sweep(connection: string, since: number): Promise<string[]>;
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
  list(query: {
    connection?: string | undefined;
    cause?: HoldCause | undefined;
    limit: number;
  }): Promise<HeldPerson[]>;
  /** How many wait, for alarms and metrics; a change of rules that waits counts as the people it would change. */
  counts(): Promise<HoldCount[]>;
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
  heldRules(connection: string): Promise<HeldRules | undefined>;
  /**
   * Notes a change of rules, in place of the one before. Where it needs no admin any more, the people who were held
   * because of the one before become dirty.
   */
  holdRules(held: HeldRules): Promise<void>;
  /**
   * Identities that rules may change: claimed, live, and translated before with another version. By id, beginning after
   * the given one.
   */
  translatedOtherwise(
    connection: string,
    version: string,
    place: { after: string; limit: number },
  ): Promise<Identity[]>;
}

/** A group as kept: attributes without id, meta, members. */
export interface Group {
  connection: string;
  id: string;
  attributes: ScimResource;
  version: number;
  createdAt: number;
  lastModified: number;
}

/** A group as a list reads it: large attributes are undefined, and read by themselves when they are needed. */
export interface ListedGroup extends Omit<Group, 'attributes'> {
  attributes: ScimResource | undefined;
}

/** A member of a group (RFC 7643 §4.2). */
export interface Member {
  value: string;
  display?: string;
  type?: string;
}

/** A member as it is read; `names` is what its id names, undefined when there is no such resource. */
export interface ResolvedMember extends Member {
  names: 'User' | 'Group' | undefined;
}

/** One step on a group's members, in order. `require` changes nothing: of each list at least one must be a member. */
export type MemberChange =
  | { kind: 'require'; lists: string[][] }
  | { kind: 'add'; members: Member[] }
  | { kind: 'remove'; values: string[] }
  | { kind: 'replace'; members: Member[] };

/** The groups and their members, which are rows. */
export interface Groups {
  byId(connection: string, id: string): Promise<Group | undefined>;
  /** A part of the groups, with an exact total. */
  list(
    connection: string,
    query: ListQuery<GroupField, GroupOrder>,
    scan: Scan<ListedGroup>,
  ): Promise<Listed<ListedGroup>>;
  /** The members of one group; of a large one in pieces that are read while they are asked for, and may change meanwhile. */
  membersOf(connection: string, groupId: string): Promise<ResolvedMember[] | AsyncIterable<ResolvedMember[]>>;
  /**
   * The members of many groups, each with the version that they belong to; large groups, and those that would make it
   * too many members in all, are left out.
   */
  membersOfSmall(
    connection: string,
    groupIds: string[],
  ): Promise<Map<string, { version: number; members: ResolvedMember[] }>>;
  /**
   * The members in their order. Many are read in pieces, with a `pause` after each; a caller that must know the version
   * they belong to reads it before and after.
   */
  members(
    connection: string,
    groupIds: string[],
    pause?: () => Promise<void>,
  ): Promise<Map<string, ResolvedMember[]>>;
  /** The groups that each of these users is a member of. */
  groupsOf(connection: string, userIds: string[]): Promise<Map<string, { value: string; display: string }[]>>;
  /** The groups that a user is a member of, with what each of them keeps of the member. */
  membershipsOf(connection: string, userId: string): Promise<Membership[]>;
  insert(group: Group, members: Member[]): Promise<'done' | 'duplicate'>;
  /**
   * At the expected version only. Applies the member changes in order, and the attributes; answers `unchanged`, leaving
   * version and lastModified alone, when neither makes a difference, and `noTarget` when a member that is required is
   * none. `delete` removes the group, also from the groups that contain it, which are modified at its `lastModified`.
   */
  change(
    group: Group,
    expected: number,
    change: { attributes: ScimResource; members: MemberChange[] } | 'delete',
  ): Promise<'done' | 'unchanged' | 'stale' | 'duplicate' | 'noTarget'>;
}

// ── The travel API ───────────────────────────────────────────────────────────────────────────────

/** A field the travel API would not take, by its dotted name, e.g. `address.countryCode`. */
export interface InvalidField {
  field: string;
  code: string;
  message: string;
}

/**
 * Every way the travel API can fail a call about a user, after the table in docs/architecture.md, Answers of the travel
 * API.
 */
export type TravelFailure =
  | { kind: 'notFound' }
  | { kind: 'conflict' }
  | { kind: 'invalid'; fields: InvalidField[] }
  | { kind: 'forbidden' }
  /** Our own credential is wrong. */
  | { kind: 'unauthorized' }
  /**
   * 429, 5xx, time-out, connection, an answer that can't be read: it may have been carried out. `text` is for the log;
   * `isThrottled`: 429, or 503 with Retry-After, which concern everybody; `isUnanswered`: no whole answer came;
   * `isUnsupported`: 501; `isRejected`: the request itself is refused (400 without a field, 413, 415), which says nothing
   * about its values: it is tried again, and the connection works.
   */
  | {
      kind: 'unavailable';
      text: string;
      retryAfterMs?: number;
      isThrottled?: true;
      /** With `isThrottled`: it may have been carried out all the same (503). */
      isDoubtful?: true;
      isUnanswered?: true;
      isUnsupported?: true;
      isRejected?: true;
    };

/** An answer of the travel API: what was asked for, or why not. A failure here is a decision to take, not an exception. */
export type TravelAnswer<T> = { kind: 'ok'; value: T } | TravelFailure;

/** The travelers, as the reconciler needs them; one attempt each. */
export interface TravelUsers {
  create(user: JsonObject): Promise<TravelAnswer<TravelUser>>;
  read(id: string): Promise<TravelAnswer<TravelUser>>;
  /** JSON merge patch (RFC 7396). */
  patch(id: string, patch: JsonObject): Promise<TravelAnswer<TravelUser>>;
  remove(id: string): Promise<TravelAnswer<TravelUser>>;
  /** Exact addresses, without case; archived travelers included. */
  byEmail(emails: string[], timeoutMs?: number): Promise<TravelAnswer<TravelUser[]>>;
  page(offset: number, limit: number): Promise<TravelAnswer<TravelUserPage>>;
  /**
   * The present time by the travel API's own clock, in milliseconds, up to a second behind (RFC 9110 §6.6.1: `Date` has
   * whole seconds). Undefined while no answer has told it.
   */
  serverTime(): number | undefined;
}

/** Some of the travelers. */
export interface TravelUserPage {
  users: TravelUser[];
  /** The travelers on this page that cannot be read: their ids, undefined for one without an id. */
  unreadable: (string | undefined)[];
  /** Travelers on this page, those that cannot be read included. */
  length: number;
  total: number;
  /** False where the travel API gives no total: `total` then counts the travelers that are known to exist. */
  isTotalGiven: boolean;
  /** True when no more travelers follow. */
  isLast: boolean;
}

/** What rules and values are looked up in. */
export interface TravelLookups {
  /** As last read; read first when never read or older than the refresh time. A failure to refresh keeps what is there. */
  current(): Promise<TravelAnswer<Lookups>>;
  /** Reads anew now, unless that was done within the last moments; answers what is then current. */
  refresh(): Promise<TravelAnswer<Lookups>>;
  /** What was read is out of date: the next question is answered anew, however recent it is. */
  expire(): void;
  /** The travel user whose credential the bridge uses. */
  self(): Promise<TravelAnswer<TravelUser>>;
}

/** One change that the travel API tells of, by an event. */
export interface FeedEvent {
  id: string;
  /** E.g. `user.updated`, `costCenter.created`. */
  kind: string;
  /** The traveler that the change was made to, as it was then; with events of users. */
  traveler: TravelUser | undefined;
  /** The address that the traveler had before. */
  previousEmail: string | undefined;
}

/** Some events, the newest first. */
export interface FeedPage {
  events: FeedEvent[];
  /** Where older ones are; undefined where there are none. */
  next: string | undefined;
}

/** What the travel API tells of changes. */
export interface TravelFeed {
  /** `none`: this travel API has no feed, or not from that place on. */
  page(limit: number, from: string | undefined): Promise<TravelAnswer<FeedPage | 'none'>>;
}

// ── What only the process knows ──────────────────────────────────────────────────────────────────

/** The moments at which a process may die; tests kill it there. */
export type Checkpoint = 'beforeCommit' | 'afterCommit' | 'beforeSend' | 'afterSend' | 'beforeOutcome';

/** Time, randomness, the log, and the crash points. */
export interface Runtime {
  /**
   * Epoch milliseconds by a clock that starts with the process at the wall clock's time and never jumps: for everything
   * that waits, expires or is compared.
   */
  now(): number;
  /** Epoch milliseconds by the wall clock, which may jump either way: only for times that people or IdPs read. */
  wallClock(): number;
  newId(): string;
  /** A number in [0, 1). */
  random(): number;
  /** Waits; rejects never; ends early when aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  log: Log;
  checkpoint(at: Checkpoint): void;
}

/** The part of a pino logger that is used. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Why a story cannot end as asked; `abandoned`: the client went away while the request waited. */
export type ProvisioningErrorKind =
  | 'notFound'
  | 'conflict'
  | 'refused'
  | 'unavailable'
  | 'tooMany'
  | 'noTarget'
  | 'abandoned';

/** A story's refusal. The message may be read by the client; the cause is for the log. */
export class ProvisioningError extends Error {
  readonly kind: ProvisioningErrorKind;

  constructor(kind: ProvisioningErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BridgeError';
    this.kind = kind;
  }
}

/** How a column is compared with a value. */
export type Relation = 'eq' | 'gt' | 'ge' | 'lt' | 'le';

/** A comparison that a column answers; texts by `eq` only, times in epoch milliseconds. */
export interface Comparison<Field extends string> {
  field: Field;
  is: Relation;
  value: string | number | boolean;
}

/** A condition that columns answer. `all` of none holds for everybody, `any` of none for nobody. */
export type Where<Field extends string> =
  | { all: Where<Field>[] }
  | { any: Where<Field>[] }
  | Comparison<Field>;

/** What columns answer of users. Case: userName, displayName and email without, the rest exactly. */
export type UserField =
  | 'id'
  | 'userName'
  | 'externalId'
  | 'email'
  | 'displayName'
  | 'active'
  | 'created'
  | 'lastModified';

/** What columns answer of groups. */
export type GroupField = 'id' | 'displayName' | 'externalId' | 'member' | 'created' | 'lastModified';

/** What users can be sorted by; `position` is the stable key, which is fixed for life. */
export type UserOrder =
  | 'position'
  | 'id'
  | 'userName'
  | 'externalId'
  | 'displayName'
  | 'created'
  | 'lastModified';

/** What groups can be sorted by. */
export type GroupOrder = Exclude<UserOrder, 'userName'>;

/** Where a row stands in an order: its value there, null when it has none, and its stable key. */
export interface Key {
  value: string | number | null;
  position: number;
}

/** Which part of which list is wanted, and in which order; rows without a value come last, descending first. */
export interface ListQuery<Field extends string, By extends string> {
  where: Where<Field>;
  order: { by: By; descending: boolean };
  /** After so many rows, or after the row that had this key. */
  place: { offset: number } | { after: Key };
  limit: number;
}

/** A part of a list. */
export interface Listed<Row> {
  /** How many there are in all. */
  total: number;
  rows: Row[];
  /** The keys of the rows, in their order; may be none where no others follow. */
  keys: Key[];
  /** The key of the last row when others follow it. */
  next: Key | undefined;
}

/** What a list that takes long owes to the others, and what it asks of rows beyond their columns. */
export interface Scan<Row> {
  /** Awaited between short steps: lets others in now and then, and throws when it has taken too long. */
  step(): Promise<void>;
  /** Which of the rows match what no column answers; undefined: columns answer all of it. */
  residual: ((rows: Row[]) => Promise<boolean[]>) | undefined;
}
