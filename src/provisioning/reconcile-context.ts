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
import type { Holds, Identities, Leases } from './store-ports.ts';
import type { TravelFailure } from './travel-ports.ts';

/** One identity under reconciliation: everything that is decided about it rests on this. */
export interface Task {
  connection: Connection;
  identity: Identity;
  /** The lease's token. */
  token: string;
  basis: RulesSnapshot;
  translation: Translation;
  /** What the rules make of the user as imported, for an identity that has a baseline. */
  baseline: Fields | undefined;
  store: {
    identities: Pick<
      Identities,
      'find' | 'findHolder' | 'commit' | 'isErased' | 'isWaitedFor' | 'findWaiters'
    >;
    leases: Pick<Leases, 'announce' | 'waitFor'>;
    holds: Pick<Holds, 'admitDeparture'>;
  };
  /** Makes another identity dirty, in whatever connection. */
  enqueue(identity: Pick<Identity, 'connection' | 'id'>): Promise<void>;
  now(): number;
  newId(): string;
  checkpoint(at: Checkpoint): void;
}

/** The parts of the outcome that a reconciliation works on; each step answers a new one. */
export type Draft = Omit<Outcome, 'trace' | 'rulesVersion' | 'state' | 'attempts' | 'nextAttemptAt'>;

/** How a reconciliation ended: in a state, or with a failure after which it is tried again. */
export type ReconcileEnd =
  | { kind: 'state'; state: Exclude<IdentityState, 'dirty'> }
  | { kind: 'failed'; failure: TravelFailure };

/** What a reconciliation came to. */
export interface ReconcileResult {
  draft: Draft;
  end: ReconcileEnd;
}

/** What is wanted, by field, as a step may narrow it. */
export type Fields = Record<FieldKey, WantedField>;

/** The draft that a reconciliation begins with: findings are found anew each time. */
export function draftOf(identity: Identity, translation: Translation): Draft {
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
export function endInState(draft: Draft, state: Exclude<IdentityState, 'dirty'>): ReconcileResult {
  return { draft, end: { kind: 'state', state } };
}

/** An end in a failure: the identity stays dirty, with what the draft learnt. */
export function endInFailure(draft: Draft, failure: TravelFailure): ReconcileResult {
  return { draft, end: { kind: 'failed', failure } };
}

/** The draft with one more finding. */
export function withFinding(draft: Draft, finding: Finding): Draft {
  return { ...draft, findings: [...draft.findings, finding] };
}

/** The draft of an identity that waits for an admin; since when is kept while the cause stays the same. */
export function withHold({ identity, now }: Task, draft: Draft, cause: HoldCause): Draft {
  const since = identity.hold?.cause === cause ? identity.hold.since : now();
  return { ...draft, hold: { cause, since } };
}

/** True when an admin has approved what is held for this cause, as the identity is now. */
export function isApproved({ decision, version }: Identity, cause: HoldCause): boolean {
  return decision?.cause === cause && decision.answer === 'approved' && decision.version === version;
}

/** True when the identity, as it is now, was held for this cause at the last reconciliation. */
export function isHeldBefore({ hold, progress, version }: Identity, cause: HoldCause): boolean {
  return hold?.cause === cause && progress.settledVersion === version;
}

/** The draft after a call whose outcome is known: nothing is announced any more. */
export function withKnownOutcome(draft: Draft): Draft {
  const { announced: _announced, reservation: _reservation, ...progress } = draft.progress;
  return { ...draft, progress };
}

/** The draft of an identity whose traveler was just made or found, with what is applied to it. */
export function withTraveler(draft: Draft, traveler: TravelUser, applied: AppliedFields): Draft {
  const linked = { ...draft, travelId: traveler.id, observed: traveler, applied, creating: undefined };
  return withKnownOutcome(linked);
}

/** True for a failure that may hide a success: no answer came, or one that does not tell. */
export function isOutcomeUnknown(failure: TravelFailure): boolean {
  if (failure.kind !== 'unavailable' || failure.isRejected) return false;
  return !failure.isThrottled || failure.isDoubtful === true;
}

/** The draft with refusals remembered under the task's basis. */
export function withRefusals(
  task: Task,
  draft: Draft,
  refusals: { key: FieldKey; reason: string; wanted: Fields }[],
): Draft {
  const added: RefusedFields = {};
  for (const { key, reason, wanted } of refusals) {
    const field = wanted[key];
    // A removal that is refused is remembered as null.
    const value = field?.kind === 'value' ? field.value : null;
    added[key] = { value, basis: task.basis.version, reason };
  }
  return { ...draft, refused: { ...draft.refused, ...added } };
}
