import type { Json, ScimResource } from '../schema/resource.ts';
import type { AnnouncedFields } from '../translator/announced.ts';
import type {
  AppliedFields,
  FieldKey,
  Finding,
  RefusedFields,
  TraceEntry,
} from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';

/**
 * `synced`: the travel service agrees; `dirty`: it may not yet; `pending`: too little data to make a traveler;
 * `refused`: the travel API will not have it; `held`: an admin must decide.
 */
export type IdentityState = 'synced' | 'dirty' | 'pending' | 'refused' | 'held';

/** Why the bridge waits for an admin before it goes on with an identity. */
export type HoldCause =
  /** More people would leave at once than the connection's safety valve lets pass. */
  | 'safetyValve'
  /** The traveler administers the travel service, or is the bridge's own user. */
  | 'guarded'
  /** Somebody returns under another externalId than the one who left. */
  | 'return'
  /** Other rules or lookups would change many people at once. */
  | 'rules';

/** What an identity in the state `held` waits for. */
export interface Hold {
  cause: HoldCause;
  /** Since when, in epoch milliseconds. */
  since: number;
}

/** An admin's answer to a hold. It counts for the version that the admin saw: a later write of the IdP is a new question. */
export interface Decision {
  cause: HoldCause;
  answer: 'approved' | 'discarded';
  version: number;
}

/** A create that was announced: what tells our own traveler from a stranger's. */
export interface Reservation {
  email: string;
  /** Whether the address was looked for, and was free, before the create was sent. */
  wasFree: boolean;
  /** When it was announced, by the clock of the travel API in epoch milliseconds; undefined while that clock is not known. */
  reservedAt: number | undefined;
}

/** Calls without a known outcome, which the travel API may carry out after the bridge gave up waiting. */
export interface LateCalls {
  /** When the traveler is read once more, in epoch milliseconds. */
  checkAt: number;
  /** By field, every value that such a call was to set. */
  sent: Record<FieldKey, Json[]>;
  /** Creates that may still make a traveler, with the fields that they were to set. */
  creates: { reservation: Reservation; fields: AnnouncedFields }[];
}

/** What the reconciler must know at its next attempt, besides what is applied and observed. */
export interface Progress {
  /** Committed before each call, and removed with its outcome: it is still there when the outcome is not known. */
  announced?: AnnouncedFields;
  /** Belongs to `creating`; absent while the address is reserved and no create was sent. */
  reservation?: Reservation;
  late?: LateCalls | undefined;
  /** True: the traveler was somebody else's, and all that is not wanted is still to be removed. */
  reset?: true;
  /** The last reset (`Origin.resetAt`) that was carried out. */
  resetDone?: number;
  /** While the traveler has a parking address: the address that it had before. */
  parkedFrom?: string;
  /** When drift of a field was corrected lately, in epoch milliseconds. */
  corrections?: Record<FieldKey, number[]>;
  /** Of an identity with a baseline: the fields that the IdP has written since; for them the baseline counts no more. */
  written?: FieldKey[];
  /** The version with which the last reconciliation ended in a state. */
  settledVersion?: number;
}

/** What a group, by its id, keeps of a member besides the member's id. */
export interface Membership {
  group: string;
  display?: string;
  type?: string;
}

/** What a write of the IdP decides about the traveler besides the desired state. */
export interface Origin {
  /** The externalId that the person had when they were deactivated. */
  leftAs?: string;
  /** The version of the write by which somebody else took this traveler over: all that is not wanted is removed, once. */
  resetAt?: number;
  /** The version of the write that must be approved before the traveler is given to somebody else. */
  returnAt?: number;
  /** The connection that the person came from, or, of a tombstone, went to. */
  movedFrom?: string;
  movedTo?: string;
  /**
   * The user as imported, where the first write of the IdP was a PATCH: what has not changed since is not the IdP's, and its
   * fields are not owned.
   */
  baseline?: ScimResource;
  /** Of a tombstone: its traveler gives its address up, as somebody else needs it. */
  givesEmailUp?: true;
  /** Of a tombstone: the groups that the user was a member of, for a DELETE that is refused. */
  memberOf?: Membership[];
}

/** One SCIM user of one connection: what the IdP wants, what was sent, what was seen, and the link between the two. */
export interface Identity {
  connection: string;
  /** The SCIM id. */
  id: string;
  /** The SCIM resource without `id`, `meta` and `schemas`; the IdP's values verbatim. */
  desired: ScimResource;
  /** False while no IdP has written it: it was imported, and follows the travel service. */
  claimed: boolean;
  state: IdentityState;
  /** Raised by every effective write of an IdP; the ETag. */
  version: number;
  /** Raised by every reason to reconcile, writes included: an outcome reached under an older revision leaves it dirty. */
  revision: number;
  /** The rules it was last translated with. */
  rulesVersion: string | undefined;
  /** The linked travel user. */
  travelId: string | undefined;
  applied: AppliedFields;
  refused: RefusedFields;
  /** The travel user as last seen; undefined when it must be read before the next plan. */
  observed: TravelUser | undefined;
  /** The address of a create that was announced and whose outcome is not known. */
  creating: string | undefined;
  /** The key (`addressKey`) of the address that it wants and another traveler holds. */
  waitingFor: string | undefined;
  progress: Progress;
  origin: Origin;
  /** With the state `held` only. */
  hold: Hold | undefined;
  decision: Decision | undefined;
  findings: Finding[];
  trace: TraceEntry[];
  /** While a reconciler holds it; what it is doing at the travel API may still arrive until then. */
  leasedUntil: number | undefined;
  /** Failed attempts in a row. */
  attempts: number;
  nextAttemptAt: number | undefined;
  /** By the wall clock, in epoch milliseconds, as is `lastModified`. */
  createdAt: number;
  lastModified: number;
  /** Set on a tombstone: gone for the IdP, kept so that the person can return. By the wall clock. */
  deletedAt: number | undefined;
  /**
   * The time of the write that is about to be committed, by `Runtime.now`: an import that began before it concludes
   * nothing from the traveler's absence. It is not read back; without it `lastModified` counts.
   */
  writtenAt?: number;
}

/** What one reconciliation leaves behind; it replaces these parts of the identity. */
export type Outcome = Pick<
  Identity,
  | 'travelId'
  | 'applied'
  | 'refused'
  | 'observed'
  | 'creating'
  | 'waitingFor'
  | 'progress'
  | 'hold'
  | 'findings'
  | 'trace'
  | 'rulesVersion'
  | 'state'
  | 'attempts'
  | 'nextAttemptAt'
>;
