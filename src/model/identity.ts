import type { LeftOutValue } from '../schema/left-out.ts';
import { isActive, type Json, type ScimResource } from '../schema/resource.ts';
import type { StatedPath } from '../schema/stated-attributes.ts';
import type { Connection } from './connection.ts';
import type { Runtime } from './runtime-ports.ts';
import type {
  AppliedFields,
  CountedParts,
  FieldKey,
  Finding,
  RefusedFields,
  ScopeVerdict,
  StoredTrace,
} from './translation.ts';
import type { TravelUser } from './traveler.ts';

/**
 * `synced`: the traveler has the desired values; `dirty`: a reconciliation is due; `pending`: there is too little data to
 * create a traveler; `refused`: the travel API rejects the values; `held`: an admin must approve or discard the change.
 */
export const identityStates = ['synced', 'dirty', 'pending', 'refused', 'held'] as const;

export type IdentityState = (typeof identityStates)[number];

/** The causes for which a change to a traveler is held until an admin approves or discards it. */
export const holdCauses = [
  /** More people would leave at once than the connection's safety valve allows. */
  'safetyValve',
  /** The traveler administers the travel service by a role that the mapping did not give. */
  'guarded',
  /** The IdP has deleted a person whom it had never written. */
  'neverProvisioned',
] as const;

export type HoldCause = (typeof holdCauses)[number];

/** The causes for which the departure of a person is held. */
export const departureCauses = [
  'safetyValve',
  'guarded',
  'neverProvisioned',
] as const satisfies readonly HoldCause[];

export function isDepartureCause(cause: HoldCause | undefined): boolean {
  return departureCauses.some((one) => one === cause);
}

/** The cause and the start of the state `held` of an identity. */
export interface Hold {
  cause: HoldCause;
  /** The start of the hold, in epoch milliseconds. */
  since: number;
}

export const holdAnswers = ['approved', 'discarded'] as const;

/**
 * An admin's answer to a hold. It applies to one version only, so a later write of the IdP is held again. A discarded departure
 * stays discarded until the IdP states the departure again (`Origin.statedDeparture`).
 */
export interface Decision {
  cause: HoldCause;
  answer: (typeof holdAnswers)[number];
  version: number;
  /** The name of the admin, and the time by the wall clock. */
  by?: string;
  at?: number;
}

/**
 * A create whose outcome may not be known. It is committed before it is sent, with the records of its fields, and repeated only as it was
 * sent. It stays until `readAgainAt` has passed, also if the traveler is linked by then: a second one may still appear.
 */
export interface Creating {
  email: string;
  /** The key of the create, which is equal if it is repeated. */
  key: string;
  /** The time of the create by the clock of the travel API, in epoch milliseconds; undefined if that clock is not known. */
  at?: number;
  /**
   * True if a search has found no traveler with the address just before the create, or while its outcome was unknown: a traveler that is
   * found later was made by this create.
   */
  wasFree?: true;
}

/** The state of unfinished work on an identity, which the next reconciliation continues. */
export interface Progress {
  /**
   * The user in whose place this one is, and whose traveler it does not have: another person, or the same one, while that user is active
   * or this one is out of scope.
   */
  predecessor?: Succession;
  /** For each field, the times at which the bridge recently overwrote drift, in epoch milliseconds. */
  corrections?: Record<FieldKey, number[]>;
  /** The fields that the IdP has written since the import, or `*` for all. For these fields `Origin.baseline` no longer counts. */
  written?: FieldKey[];
  /** Set on a user whom the scope of the mapping leaves out, or of whom that is not known, if the scope decides about the traveler. */
  scope?: Exclude<ScopeVerdict, 'in'>;
  /** The version of the user at which the traveler was first to be archived because the scope of the mapping leaves the person out. */
  leftScopeAt?: number;
  /**
   * The time of the first answer 404 without the error code of the travel API about the linked traveler, while the bridge's own user could be
   * read; in epoch milliseconds.
   */
  missingSince?: number;
  /** The first call that the bridge would send if the connection were not in shadow mode, or that the person is in its pilot. */
  shadow?: ShadowPlan;
  /** The version at which the last reconciliation reached a state other than `dirty`. */
  settledVersion?: number;
}

/** The kind of the first call that a connection in shadow mode would send for a person. */
export type ShadowCall = 'create' | 'link' | 'change' | 'reactivate' | 'end';

/** The plan of one person in shadow mode. */
export interface ShadowPlan {
  /** The time at which the plan became as it is. One of before the present time in shadow mode does not count. */
  at: number;
  /** `live`: the pilot of the connection has the person provisioned. */
  call: ShadowCall | 'live';
  /** The fields that the call would change; null stands for no value. */
  fields: Record<FieldKey, { before: Json; after: Json }>;
  /** The address of a traveler that would be created. */
  email?: string;
}

/** The values by which a leaver and a newcomer are compared. */
export interface PersonalValues {
  externalId?: string;
  /** The given and the family name, else the name as one text. */
  name?: string;
  /** The userName and the email addresses. */
  contacts: readonly string[];
}

/** The values of a user at its departure. A user who returns is compared with them. */
export interface Departure extends PersonalValues {
  /** The time of the deactivation or DELETE, by the wall clock. */
  at: number;
}

/** A row of the table that says who is who (docs/architecture.md, Leaving and returning). */
export const evidenceRows = [1, 2, 3] as const;

export type EvidenceRow = (typeof evidenceRows)[number];

/** The judgement about a leaver and a newcomer, as each of the two keeps it. */
export interface Succession {
  /** The row of the table (`whoIsWho`); `joined`: an admin has said that both are one person. */
  row: EvidenceRow | 'joined';
  /** The other user: on a newcomer the leaver, on a leaver the newcomer. */
  connection: string;
  /** Undefined for a traveler without an identity. */
  id?: string;
  /** The traveler of the leaver. */
  travelId?: string;
}

/** The last request in which the IdP stated that the person leaves. */
export interface StatedDeparture {
  /** The version of that write. */
  version: number;
  /** True if the departure was discarded before. It is then held again, however few people leave. */
  isRepeated?: true;
}

/**
 * The history of an identity that the reconciler needs. It is set by writes of the IdP, in the same commit as the
 * desired state.
 */
export interface Origin {
  /** The values at the departure of an inactive user. */
  departure?: Departure;
  /** Set on users who were deactivated or deleted. */
  statedDeparture?: StatedDeparture;
  /** The user who has taken the place of this one, or who is a second one of the same person. */
  successor?: Succession;
  /**
   * The user as imported, if the first write of the IdP was a PATCH. A PATCH sets only some attributes: values that are
   * unchanged since the import do not come from the IdP, so the bridge does not own their fields. After a restore it is the user as in the
   * backup.
   */
  baseline?: ScimResource;
  /** Set by a restore: what the IdP has stated of the user since, and `wholeResource` once an admin has the stored values sent again. */
  stated?: readonly StatedPath[];
  /** The parts of references that the last write of them has changed (`countChangedParts`). */
  countedParts?: CountedParts;
  /** The values of the IdP's requests that the desired state does not have, because they do not fit the schema. */
  leftOut?: LeftOutValue[];
}

/** One SCIM user of one connection: the desired, applied and observed values, and the link to its traveler. */
export interface Identity {
  connection: string;
  /** The SCIM id. */
  id: string;
  /** The SCIM resource without `id`, `meta` and `schemas`, with the IdP's values unchanged. */
  desired: ScimResource;
  /**
   * True once an IdP has written the identity. Until then it is an imported traveler and follows the changes in the
   * travel service.
   */
  claimed: boolean;
  state: IdentityState;
  /** Raised by every write of an IdP that changes something; it is also the ETag. */
  version: number;
  /**
   * Raised by every reason to reconcile, including writes, and by every outcome and observation that is saved. An outcome
   * computed for an older revision leaves the identity dirty, and a plan computed for an older one is not announced.
   */
  revision: number;
  /** The generation of the rules and lookups that the identity was last translated with; 0: never translated. */
  rulesGeneration: number;
  /** The linked travel user. */
  travelId: string | undefined;
  applied: AppliedFields;
  refused: RefusedFields;
  /** The traveler as last read; undefined if it must be read before the next plan. */
  observed: TravelUser | undefined;
  /** The create that will be sent, or whose outcome is not known. */
  creating: Creating | undefined;
  /**
   * The time at which the traveler is read again, because until then the travel API may still carry out a call whose answer is not known; in
   * epoch milliseconds. Until a read after it, every difference from what was sent is sent again.
   */
  readAgainAt: number | undefined;
  /** The wanted address as `addressKey` returns it, while another traveler has that address. */
  waitingFor: string | undefined;
  progress: Progress;
  origin: Origin;
  /** The hold; set only in the state `held`. */
  hold: Hold | undefined;
  decision: Decision | undefined;
  findings: Finding[];
  /** The trace of the last translation; empty before the first one. */
  trace: StoredTrace;
  /**
   * The end of the lease, in epoch milliseconds. Until then, calls made under the lease may still arrive at the travel
   * API.
   */
  leasedUntil: number | undefined;
  /** Failed attempts in a row. */
  attempts: number;
  nextAttemptAt: number | undefined;
  /** Epoch milliseconds by the wall clock, as is `lastModified`. */
  createdAt: number;
  lastModified: number;
  /** The time at which the IdP deleted the user, by the wall clock. Set on a tombstone, which is kept so that the person can return. */
  deletedAt: number | undefined;
  /**
   * The time of the write that is about to be committed, by `Runtime.now`: an import that began earlier does not take the
   * traveler for deleted. It is never read back.
   */
  writtenAt?: number;
  /**
   * The time at which an attempt linked the traveler, by `Runtime.now`: an import that began earlier does not take the
   * traveler for deleted. It is never read back.
   */
  linkedAt?: number | undefined;
}

/** The outcome of one reconciliation. Saving it replaces these members of the identity. */
export type Outcome = Pick<
  Identity,
  | 'travelId'
  | 'applied'
  | 'refused'
  | 'observed'
  | 'creating'
  | 'readAgainAt'
  | 'waitingFor'
  | 'progress'
  | 'hold'
  | 'findings'
  | 'trace'
  | 'rulesGeneration'
  | 'state'
  | 'attempts'
  | 'nextAttemptAt'
  | 'linkedAt'
> & {
  /** The decision of an admin that is carried out, and is about no later hold of the same version. Saving the outcome deletes it. */
  usedDecision?: Decision | undefined;
};

/** True for a user that the IdP has deactivated or deleted. */
export function isInactive({ desired, deletedAt }: Pick<Identity, 'desired' | 'deletedAt'>): boolean {
  return !isActive(desired) || deletedAt !== undefined;
}

/** True for a user whom the IdP has not deleted. */
export function isLive({ deletedAt }: Pick<Identity, 'deletedAt'>): boolean {
  return deletedAt === undefined;
}

/** True for a person whom the pilot of the connection had provisioned at the last attempt, while others were planned. */
export function wasInPilot({ progress }: Pick<Identity, 'progress'>): boolean {
  return progress.shadow?.call === 'live';
}

/** Returns the userName for messages; empty if there is none. */
export function userNameOf({ desired }: Pick<Identity, 'desired'>): string {
  return typeof desired.userName === 'string' ? desired.userName : '';
}

const HOUR_MS = 3_600_000;
const RETRY_MS: Record<FieldKey, number> = { archived: HOUR_MS, email: 24 * HOUR_MS };

/** No check of a traveler is further away than this, in milliseconds. */
export const LONGEST_CHECK_DELAY_MS = 24 * HOUR_MS;

/** Returns the delay after which a value that was not applied is sent again, in milliseconds; undefined: it waits for a change. */
export function retryDelay(key: FieldKey): number | undefined {
  return RETRY_MS[key];
}

/** Returns the earliest time at which the traveler must be read again, in epoch milliseconds; undefined if there is none. */
export function nextCheckAt({
  applied,
  readAgainAt,
}: Pick<Identity, 'applied' | 'readAgainAt'>): number | undefined {
  const times = [readAgainAt, ...Object.values(applied).map(({ resendAt }) => resendAt)];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** True if the two are one person. */
export function isSamePerson({ row }: Succession): boolean {
  return row !== 3;
}

/** The member of `Progress.written` that stands for all fields. */
export const ALL_FIELDS = '*';

/** True for a field that the traveler has confirmed, or the bridge has sent, since the restore. */
export function isConfirmed(
  { progress: { written = [] } }: Pick<Identity, 'progress'>,
  key: FieldKey,
): boolean {
  return written.includes(key) || written.includes(ALL_FIELDS);
}

/** Creates an identity that has only a desired state: claimed, dirty, without a traveler. */
export function newIdentity(
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>,
  connection: Pick<Connection, 'id'>,
  desired: ScimResource,
): Identity {
  const time = runtime.wallClock();
  return {
    connection: connection.id,
    id: runtime.newId(),
    desired,
    claimed: true,
    state: 'dirty',
    version: 1,
    revision: 1,
    rulesGeneration: 0,
    travelId: undefined,
    applied: {},
    refused: {},
    observed: undefined,
    creating: undefined,
    readAgainAt: undefined,
    waitingFor: undefined,
    progress: {},
    origin: {},
    hold: undefined,
    decision: undefined,
    findings: [],
    trace: [],
    leasedUntil: undefined,
    attempts: 0,
    nextAttemptAt: undefined,
    createdAt: time,
    lastModified: time,
    deletedAt: undefined,
    writtenAt: runtime.now(),
  };
}
