import type { Identity, Outcome } from '../../../model/identity.ts';
import type { Log, Runtime } from '../../../model/runtime-ports.ts';
import type { TravelFailure } from '../../../model/travel-ports.ts';
import { toStoredTrace } from '../../../translator/trace.ts';
import { backoff } from '../../calls/circuit-breaker.ts';
import { type OutcomeDraft, type ReconcileResult, withProgress } from '../context.ts';
import { withTimesSettled } from '../read-again.ts';
import { withoutMissing, withUnclearAnswer } from '../traveler-calls.ts';
import type { TranslatedIdentity } from '../wanted/translate-identity.ts';

/** The time after which a plan in shadow mode is made again, unless there is a reason to do so before, in milliseconds. */
const PLAN_AGAIN_MS = 60 * 60_000;

/** Returns the outcome of an attempt at an identity. */
export function toOutcome(
  { now, random }: Pick<Runtime, 'now' | 'random'>,
  identity: Identity,
  {
    result: { draft, end },
    translated,
    rulesGeneration,
  }: {
    result: ReconcileResult;
    translated: TranslatedIdentity | TravelFailure;
    rulesGeneration: number;
  },
): Outcome {
  const trace = 'kind' in translated ? identity.trace : toStoredTrace(translated.translation.trace);
  const isLinked = draft.travelId !== undefined && draft.travelId !== identity.travelId;
  const common = { trace, rulesGeneration, linkedAt: isLinked ? now() : undefined };
  if (end.kind === 'state') {
    const rules = 'kind' in translated ? undefined : translated.rulesSnapshot.rules;
    const settled = withSettledVersion(
      identity,
      withTimesSettled({ rules, now: now() }, withoutMissing(draft)),
    );
    return { state: end.state, attempts: 0, nextAttemptAt: undefined, ...common, ...settled };
  }
  if (end.kind === 'planned')
    return { state: 'dirty', attempts: 0, nextAttemptAt: now() + PLAN_AGAIN_MS, ...common, ...draft };
  const afterBackoff = now() + backoff(end.failure, identity.attempts, random());
  const nextAttemptAt = Math.min(afterBackoff, end.retryBy ?? afterBackoff);
  return {
    state: 'dirty',
    attempts: identity.attempts + 1,
    nextAttemptAt,
    ...common,
    ...withUnclearAnswer(draft, end.failure, identity.attempts),
    // After a failed attempt the identity still waits for the address: other identities use this to find cycles.
    waitingFor: draft.waitingFor ?? identity.waitingFor,
    hold: draft.hold ?? identity.hold,
  };
}

/**
 * Sets `settledVersion`, but not for a live unclaimed identity: the first write of an IdP must read the traveler.
 */
function withSettledVersion({ claimed, deletedAt, version }: Identity, draft: OutcomeDraft): OutcomeDraft {
  return claimed || deletedAt !== undefined ? withProgress(draft, { settledVersion: version }) : draft;
}

/** Logs how an attempt ended. */
export function logResult(
  log: Log,
  { connection, id, attempts }: Identity,
  { draft, end }: ReconcileResult,
): void {
  if (end.kind === 'state') {
    const codes = draft.findings.map(({ code }) => code);
    log.info({ connection, id, state: end.state, findings: codes }, 'reconciled');
    return;
  }
  const where = { connection, id };
  if (end.kind === 'planned') {
    log.info({ ...where, call: draft.progress.shadow?.call }, 'planned, and not sent in shadow mode');
    return;
  }
  const { failure } = end;
  if (failure.kind === 'unauthorized') {
    log.error(
      where,
      'the travel API refuses the credential of the bridge (401): check TRAVEL_API_KEY; retrying',
    );
  } else {
    const text = failure.kind === 'unavailable' ? failure.text : failure.kind;
    log.warn(
      { ...where, failure: text, attempts: attempts + 1 },
      'a call to the travel API failed; retrying',
    );
  }
}

/** True if the travel API or a guard refuses the change; the answer to a deactivation or DELETE is then 403. */
export function isRefusal({ draft, end }: ReconcileResult): boolean {
  if (end.kind !== 'state') return false;
  return end.state === 'refused' || (end.state === 'held' && draft.hold?.cause === 'guarded');
}
