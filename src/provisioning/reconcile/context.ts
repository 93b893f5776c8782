import type { ConnectionSettings } from '../../model/connection.ts';
import type { HoldCause, Identity, IdentityState, Outcome, Progress } from '../../model/identity.ts';
import type {
  AppliedFields,
  FieldKey,
  Finding,
  RefusedFields,
  StoredTrace,
  Translation,
  WantedField,
} from '../../model/translation.ts';
import type { TravelFailure } from '../../model/travel-ports.ts';
import type { TravelUser } from '../../model/traveler.ts';
import type { Json } from '../../schema/resource.ts';
import { isEqualJson } from '../../translator/values/values.ts';
import { leftOutFindings } from '../people/left-out-values.ts';
import type { RulesSnapshot } from '../rules/rules-snapshot.ts';

/** The facts from which one attempt to reconcile an identity decides. The identity's lease is held during the attempt. */
export interface ReconcileContext {
  connection: ConnectionSettings;
  identity: Identity;
  rulesSnapshot: RulesSnapshot;
  translation: Translation;
  /** Returns the translation of a user to whose traveler these fields were applied. */
  translateWith(applied: AppliedFields): Translation;
  /** The fields that `Origin.baseline` translates to; undefined if the identity has no baseline. */
  baseline: WantedFields | undefined;
  /** An address that no identity of the account had, or was about to get, when this attempt began. */
  freeEmail: string | undefined;
  /** The time at which shadow mode began; undefined if the connection is not in it. */
  shadowSince: number | undefined;
  time: AttemptTime;
}

/** The time at which the last effect has ended, or the attempt began; the interpreter of the effects keeps it. */
export interface AttemptTime {
  /** As `Runtime.now`. */
  readonly now: number;
  /** As `Runtime.wallClock`. */
  readonly wallClock: number;
  /** As `TravelUsers.serverTime`. */
  readonly server: number | undefined;
}

/** The part of the outcome that the steps of a reconciliation change. Each step returns a new draft. */
export type OutcomeDraft = Omit<
  Outcome,
  'trace' | 'rulesGeneration' | 'state' | 'attempts' | 'nextAttemptAt'
> & {
  /** The trace of the translation after a link, if the traveler had applied fields. */
  trace?: StoredTrace;
};

/** The end of a reconciliation: a state, a failure after which it is tried again, or a call that waits for the end of shadow mode. */
export type ReconcileEnd =
  | { kind: 'state'; state: Exclude<IdentityState, 'dirty'> }
  | { kind: 'planned' }
  | {
      kind: 'failed';
      failure: TravelFailure;
      /** The time by which the next attempt is made, however many have failed before; in epoch milliseconds. */
      retryBy?: number | undefined;
    };

/** The result of a reconciliation: the draft of the outcome, and the end. */
export interface ReconcileResult {
  draft: OutcomeDraft;
  end: ReconcileEnd;
}

/** The wanted value of each field. The steps of a reconciliation set a field to `kept` if it must not be sent. */
export type WantedFields = Record<FieldKey, WantedField>;

/** True if two translations want the same of a field. */
export function isSameWanted(one: WantedField | undefined, other: WantedField | undefined): boolean {
  return (
    (one?.kind ?? 'absent') === (other?.kind ?? 'absent') &&
    isEqualJson(toComparable(one), toComparable(other))
  );
}

function toComparable(wanted: WantedField | undefined): Json {
  if (wanted && 'value' in wanted) return [wanted.value ?? null, wanted.source];
  return wanted?.kind === 'unresolved' ? wanted.source : null;
}

/** A draft, and the wanted fields without those that must not be sent. */
export interface SendableFields {
  draft: OutcomeDraft;
  fields: WantedFields;
}

/**
 * Returns the draft with which a reconciliation begins: the stored state of the identity, and the findings of the new
 * translation in place of the stored ones.
 */
export function newDraft(identity: Identity, translation: Pick<Translation, 'findings'>): OutcomeDraft {
  const { travelId, applied, refused, observed, creating, readAgainAt, progress } = identity;
  return {
    travelId,
    applied,
    refused,
    observed,
    creating,
    readAgainAt,
    waitingFor: undefined,
    progress,
    hold: undefined,
    findings: [...translation.findings, ...leftOutFindings(identity)],
  };
}

/** Ends a reconciliation: the draft is saved with this state. */
export function endInState(draft: OutcomeDraft, state: Exclude<IdentityState, 'dirty'>): ReconcileResult {
  return { draft, end: { kind: 'state', state } };
}

/**
 * Ends a reconciliation with a failure: the draft is saved, and the identity stays dirty, so that it is tried again, by
 * `retryBy` at the latest if it is given.
 */
export function endInFailure(draft: OutcomeDraft, failure: TravelFailure, retryBy?: number): ReconcileResult {
  return { draft, end: { kind: 'failed', failure, retryBy } };
}

export function withFinding(draft: OutcomeDraft, finding: Finding): OutcomeDraft {
  return { ...draft, findings: [...draft.findings, finding] };
}

/** Marks the draft as held for an admin. If it was held for the same cause before, the time since when stays. */
export function withHold(
  { identity, time }: ReconcileContext,
  draft: OutcomeDraft,
  cause: HoldCause,
): OutcomeDraft {
  const since = identity.hold?.cause === cause ? identity.hold.since : time.now;
  return { ...draft, hold: { cause, since } };
}

/** True if an admin has approved the hold for this cause at the identity's current version. */
export function isApproved({ decision, version }: Identity, cause: HoldCause): boolean {
  return decision?.cause === cause && decision.answer === 'approved' && decision.version === version;
}

/** True if the last reconciliation of this version held the identity for this cause. */
export function wasHeldFor({ hold, progress, version }: Identity, cause: HoldCause): boolean {
  return hold?.cause === cause && progress.settledVersion === version;
}

/** Returns the draft with these members of its progress. Those that are undefined are removed. */
export function withProgress(
  draft: OutcomeDraft,
  change: { [Name in keyof Progress]: Progress[Name] | undefined },
): OutcomeDraft {
  const members = Object.entries({ ...draft.progress, ...change });
  return { ...draft, progress: Object.fromEntries(members.filter(([, value]) => value !== undefined)) };
}

/** Returns undefined for a record without entries, so that the progress does not keep it. */
export function unlessEmpty<T extends object>(record: T): T | undefined {
  return Object.keys(record).length === 0 ? undefined : record;
}

/**
 * Returns the draft of an identity that was just linked to a traveler, with the records of its fields. A create that may still make another
 * traveler stays.
 */
export function withLinkedTraveler(
  draft: OutcomeDraft,
  traveler: TravelUser,
  applied: AppliedFields,
): OutcomeDraft {
  const creating = draft.readAgainAt === undefined ? undefined : draft.creating;
  return { ...draft, travelId: traveler.id, observed: traveler, applied, creating };
}

/** True if the travel API may have carried out the call although it failed, for example after a time-out. */
export function isOutcomeUnknown(failure: TravelFailure): boolean {
  if (failure.kind !== 'unavailable') return false;
  return failure.isDoubtful === true || (!failure.isRejected && !failure.isThrottled);
}

/** A value that the travel API has refused; null for a removal. */
export interface Refusal {
  key: FieldKey;
  value: Json;
  reason: string;
}

/**
 * Records the fields that the travel API refused, with their values and the version of the rules. The same value is not
 * sent again under the same rules.
 */
export function withRefusals(
  context: ReconcileContext,
  draft: OutcomeDraft,
  refusals: Refusal[],
): OutcomeDraft {
  const added: RefusedFields = {};
  for (const { key, value, reason } of refusals)
    added[key] = { value, basis: context.rulesSnapshot.version, reason };
  return { ...draft, refused: { ...draft.refused, ...added } };
}

/** True if the scope of the mapping leaves the person out, and the mapping ends the access of such people. */
export function isEndedByScope({ translation, rulesSnapshot }: ReconcileContext): boolean {
  return translation.scope === 'out' && rulesSnapshot.rules.mapping.outOfScope === 'archive';
}
