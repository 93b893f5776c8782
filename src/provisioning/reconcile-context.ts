import type {
  AppliedFields,
  FieldKey,
  Finding,
  RefusedFields,
  Translation,
  WantedField,
} from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import type { Connection } from './connection.ts';
import type { HoldCause, Identity, IdentityState, Outcome } from './identity.ts';
import type { RulesSnapshot } from './rules-snapshot.ts';
import type { Checkpoint } from './runtime-ports.ts';
import type { Announcement, Holds, Identities, Leases } from './store-ports.ts';
import type { TravelFailure } from './travel-ports.ts';

/** One identity while the reconciler holds its lease, with everything that the steps of its reconciliation use. */
export interface ReconcileContext {
  connection: Connection;
  identity: Identity;
  rulesSnapshot: RulesSnapshot;
  translation: Translation;
  /** The translation of `Origin.baseline`, for an identity that has one. */
  baseline: WantedFields | undefined;
  identities: Pick<Identities, 'find' | 'findHolder' | 'commit' | 'isErased' | 'isWaitedFor' | 'findWaiters'>;
  holds: Pick<Holds, 'admitDeparture'>;
  /** Commits what the next call to the travel API is about to write, under the lease (`Leases.announce`). */
  announce(announcement: Announcement): ReturnType<Leases['announce']>;
  /** Commits that the identity waits for the address: from then on, an identity that frees it makes this one dirty. */
  saveEmailWait(email: string): Promise<void>;
  /** Makes another identity dirty, in its own connection. */
  enqueue(identity: Pick<Identity, 'connection' | 'id'>): Promise<void>;
  now(): number;
  newId(): string;
  checkpoint(at: Checkpoint): void;
}

/** The part of the outcome that the steps of a reconciliation change. Each step returns a new draft. */
export type OutcomeDraft = Omit<Outcome, 'trace' | 'rulesVersion' | 'state' | 'attempts' | 'nextAttemptAt'>;

/** How a reconciliation ended: in a state, or with a failure after which it is tried again. */
export type ReconcileEnd =
  | { kind: 'state'; state: Exclude<IdentityState, 'dirty'> }
  | { kind: 'failed'; failure: TravelFailure };

/** The result of a reconciliation: the draft of the outcome, and how it ended. */
export interface ReconcileResult {
  draft: OutcomeDraft;
  end: ReconcileEnd;
}

/** The wanted value of each field. Steps of the reconciliation replace fields that must not be sent by `kept`. */
export type WantedFields = Record<FieldKey, WantedField>;

/** A draft with the fields that may be sent for it. */
export interface SendableFields {
  draft: OutcomeDraft;
  fields: WantedFields;
}

/** The draft at the beginning of a reconciliation: the identity's state, with the findings of the translation alone. */
export function newDraft(identity: Identity, translation: Translation): OutcomeDraft {
  const { travelId, applied, refused, observed, creating, progress } = identity;
  return {
    travelId,
    applied,
    refused,
    observed,
    creating,
    waitingFor: undefined,
    progress,
    hold: undefined,
    findings: translation.findings,
  };
}

/** Ends a reconciliation in a state. */
export function endInState(draft: OutcomeDraft, state: Exclude<IdentityState, 'dirty'>): ReconcileResult {
  return { draft, end: { kind: 'state', state } };
}

/** Ends a reconciliation in a failure: the draft is saved, and the identity stays dirty. */
export function endInFailure(draft: OutcomeDraft, failure: TravelFailure): ReconcileResult {
  return { draft, end: { kind: 'failed', failure } };
}

export function withFinding(draft: OutcomeDraft, finding: Finding): OutcomeDraft {
  return { ...draft, findings: [...draft.findings, finding] };
}

/** Holds the draft for an admin. `since` stays as it was while the cause is the same. */
export function withHold(
  { identity, now }: ReconcileContext,
  draft: OutcomeDraft,
  cause: HoldCause,
): OutcomeDraft {
  const since = identity.hold?.cause === cause ? identity.hold.since : now();
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

/** The draft after a call whose outcome is known, which needs no announcement any more. */
export function withoutAnnouncedCall(draft: OutcomeDraft): OutcomeDraft {
  const { announced: _announced, reservation: _reservation, ...progress } = draft.progress;
  return { ...draft, progress };
}

/** The draft of an identity that was just linked to a traveler, with the fields that are applied to it. */
export function withLinkedTraveler(
  draft: OutcomeDraft,
  traveler: TravelUser,
  applied: AppliedFields,
): OutcomeDraft {
  const linked = { ...draft, travelId: traveler.id, observed: traveler, applied, creating: undefined };
  return withoutAnnouncedCall(linked);
}

/** True if the travel API may have carried out the call although it failed, for example after a time-out. */
export function isOutcomeUnknown(failure: TravelFailure): boolean {
  if (failure.kind !== 'unavailable' || failure.isRejected) return false;
  return !failure.isThrottled || failure.isDoubtful === true;
}

/** Remembers refused fields with the value and the version of the rules under which the travel API refused them. */
export function withRefusals(
  context: ReconcileContext,
  draft: OutcomeDraft,
  refusals: { key: FieldKey; reason: string; wanted: WantedFields }[],
): OutcomeDraft {
  const added: RefusedFields = {};
  for (const { key, reason, wanted } of refusals) {
    const field = wanted[key];
    // Null stands for a refused removal.
    const value = field?.kind === 'value' ? field.value : null;
    added[key] = { value, basis: context.rulesSnapshot.version, reason };
  }
  return { ...draft, refused: { ...draft.refused, ...added } };
}
