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
  /** What the rules make of the user as imported, for an identity that has a baseline. */
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

/** The parts of the outcome that a reconciliation works on; each step answers a new one. */
export type OutcomeDraft = Omit<Outcome, 'trace' | 'rulesVersion' | 'state' | 'attempts' | 'nextAttemptAt'>;

/** How a reconciliation ended: in a state, or with a failure after which it is tried again. */
export type ReconcileEnd =
  | { kind: 'state'; state: Exclude<IdentityState, 'dirty'> }
  | { kind: 'failed'; failure: TravelFailure };

/** What a reconciliation came to. */
export interface ReconcileResult {
  draft: OutcomeDraft;
  end: ReconcileEnd;
}

/** What is wanted, by field, as a step may narrow it. */
export type WantedFields = Record<FieldKey, WantedField>;

/** The draft that a reconciliation begins with: findings are found anew each time. */
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

/** An end in a state. */
export function endInState(draft: OutcomeDraft, state: Exclude<IdentityState, 'dirty'>): ReconcileResult {
  return { draft, end: { kind: 'state', state } };
}

/** An end in a failure: the identity stays dirty, with what the draft learnt. */
export function endInFailure(draft: OutcomeDraft, failure: TravelFailure): ReconcileResult {
  return { draft, end: { kind: 'failed', failure } };
}

/** The draft with one more finding. */
export function withFinding(draft: OutcomeDraft, finding: Finding): OutcomeDraft {
  return { ...draft, findings: [...draft.findings, finding] };
}

/** The draft of an identity that waits for an admin; since when is kept while the cause stays the same. */
export function withHold(
  { identity, now }: ReconcileContext,
  draft: OutcomeDraft,
  cause: HoldCause,
): OutcomeDraft {
  const since = identity.hold?.cause === cause ? identity.hold.since : now();
  return { ...draft, hold: { cause, since } };
}

/** True when an admin has approved what is held for this cause, as the identity is now. */
export function isApproved({ decision, version }: Identity, cause: HoldCause): boolean {
  return decision?.cause === cause && decision.answer === 'approved' && decision.version === version;
}

/** True when the identity, as it is now, was held for this cause at the last reconciliation. */
export function wasHeldFor({ hold, progress, version }: Identity, cause: HoldCause): boolean {
  return hold?.cause === cause && progress.settledVersion === version;
}

/** The draft after a call whose outcome is known: nothing is announced any more. */
export function withoutAnnouncedCall(draft: OutcomeDraft): OutcomeDraft {
  const { announced: _announced, reservation: _reservation, ...progress } = draft.progress;
  return { ...draft, progress };
}

/** The draft of an identity whose traveler was just made or found, with what is applied to it. */
export function withLinkedTraveler(
  draft: OutcomeDraft,
  traveler: TravelUser,
  applied: AppliedFields,
): OutcomeDraft {
  const linked = { ...draft, travelId: traveler.id, observed: traveler, applied, creating: undefined };
  return withoutAnnouncedCall(linked);
}

/** True for a failure that may hide a success: no answer came, or one that does not tell. */
export function isOutcomeUnknown(failure: TravelFailure): boolean {
  if (failure.kind !== 'unavailable' || failure.isRejected) return false;
  return !failure.isThrottled || failure.isDoubtful === true;
}

/** The draft with refusals remembered under the context's basis. */
export function withRefusals(
  context: ReconcileContext,
  draft: OutcomeDraft,
  refusals: { key: FieldKey; reason: string; wanted: WantedFields }[],
): OutcomeDraft {
  const added: RefusedFields = {};
  for (const { key, reason, wanted } of refusals) {
    const field = wanted[key];
    // A removal that is refused is remembered as null.
    const value = field?.kind === 'value' ? field.value : null;
    added[key] = { value, basis: context.rulesSnapshot.version, reason };
  }
  return { ...draft, refused: { ...draft.refused, ...added } };
}
