import { findings } from './findings.ts';
import type { Progress } from './identity.ts';
import {
  endInFailure,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
} from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';

/** The time between the two reads after which a traveler counts as deleted, in milliseconds. */
const CONFIRM_MS = 60_000;
/** After this time of failures that a gateway may have caused, an operator is alarmed; in milliseconds. */
const ALARM_MS = 5 * 60_000;

type BareNotFound = Extract<TravelFailure, { kind: 'unavailable' }>;

/** True for a 404 that has not the error code of the travel API. */
export function isBareNotFound(failure: TravelFailure): failure is BareNotFound {
  return failure.kind === 'unavailable' && failure.bareStatus === 404;
}

/**
 * Decides about a traveler that was answered with a 404 without an error code (docs/architecture.md, Answers of the travel API). It is gone
 * if the bridge's own user can be read by its id, now and at the first 404, at least a minute ago. Until then the attempt fails.
 */
export async function confirmMissing(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { travelId, failure }: { travelId: string; failure: BareNotFound },
): Promise<ReconcileResult | 'gone'> {
  if (!(await isOwnUserReadable(context))) return endInFailure(withoutMissing(draft), failure);
  const now = context.now();
  const before = draft.progress.missing;
  const since = before?.travelId === travelId ? Math.min(before.since, now) : now;
  const confirmAt = since + CONFIRM_MS;
  if (now >= confirmAt) return 'gone';
  const waiting = { ...draft, progress: { ...draft.progress, missing: { travelId, since } } };
  return endInFailure(waiting, { ...failure, retryAfterMs: confirmAt - now }, confirmAt);
}

/** True if the travel API itself, and not only a gateway, answers requests for travelers by their ids. */
async function isOwnUserReadable({ connection: { lookups, travel } }: ReconcileContext): Promise<boolean> {
  const own = await lookups.readOwnUser();
  if (own.kind !== 'ok') return false;
  const read = await travel.read(own.value.id);
  return read.kind === 'ok' && read.value.id === own.value.id;
}

/** Returns the draft after the traveler was read: it exists. */
export function withoutMissing(draft: OutcomeDraft): OutcomeDraft {
  if (!draft.progress.missing) return draft;
  const { missing: _, ...progress } = draft.progress;
  return { ...draft, progress };
}

/** Returns the progress of an attempt that has reached a state: its calls were answered by the travel API. */
export function withoutBareAnswers({
  missing: _missing,
  bareSince: _since,
  ...progress
}: Progress): Progress {
  return progress;
}

/**
 * Returns the draft of an attempt that has failed, with the time since when a gateway may answer in place of the travel API. After five
 * minutes a finding tells it, which the alarm counts. Failures of other kinds do not end that time.
 */
export function withBareAnswers(draft: OutcomeDraft, failure: TravelFailure, now: number): OutcomeDraft {
  const status = failure.kind === 'unavailable' ? failure.bareStatus : undefined;
  const begun = draft.progress.bareSince ?? (status && now);
  if (begun === undefined) return draft;
  // The clock may have been set back.
  const since = Math.min(begun, now);
  const noted = { ...draft, progress: { ...draft.progress, bareSince: since } };
  const isKnown = draft.findings.some(({ code }) => code === 'unclearAnswer');
  if (now - since < ALARM_MS || isKnown) return noted;
  return { ...noted, findings: [...draft.findings, findings.unclearAnswer(status)] };
}
