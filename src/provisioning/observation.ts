import { isDeepStrictEqual } from 'node:util';
import { type Announced, doubtLate, resolveAnnounced, withSent } from '../translator/announced.ts';
import { drift } from '../translator/plan.ts';
import type { Applied } from '../translator/result.ts';
import type { TravelUser } from '../translator/snapshot.ts';
import type { LateCalls, Reservation } from './identity.ts';
import type { OpenCreate } from './late-creates.ts';
import { type Draft, endInFailure, type ReconcileResult, type Task } from './task.ts';

/** How often drift of one field is corrected within an hour. */
const CORRECTIONS = 3;
const HOUR_MS = 3_600_000;

/** Reads the linked traveler; `gone` when it no longer exists. */
export async function readTraveler(
  task: Task,
  draft: Draft,
  travelId: string,
): Promise<Draft | ReconcileResult | 'gone'> {
  const answer = await task.connection.travel.read(travelId);
  if (answer.kind === 'ok') return withObserved(task, draft, answer.value);
  return answer.kind === 'notFound' ? 'gone' : endInFailure(draft, answer);
}

/** The draft with a traveler that was just read; what calls without a known outcome came to is judged by it. */
export function withObserved(task: Task, draft: Draft, observed: TravelUser): Draft {
  const { announced, ...progress } = draft.progress;
  const seen = { observed, rules: task.basis.rules };
  if (!announced) return withLateDoubts(task, { ...draft, observed });
  const late = lateAfter(task, draft.progress.late, { announced, applied: draft.applied });
  const applied = resolveAnnounced(draft.applied, announced, seen);
  return withLateDoubts(task, { ...draft, observed, applied, progress: { ...progress, late } });
}

/** The draft in which fields are doubted that an earlier call may have changed after the last answer. */
export function withLateDoubts(task: Task, draft: Draft): Draft {
  const { observed, progress } = draft;
  if (!observed || !progress.late) return draft;
  const applied = doubtLate(draft.applied, progress.late.sent, { observed, rules: task.basis.rules });
  return { ...draft, applied };
}

/** A call without a known outcome. */
interface LateCall {
  announced: Announced;
  /** What was applied before it. */
  applied?: Applied;
  /** Of a create. */
  reservation?: Reservation;
}

/** The late calls with one more, which may be carried out from now on until the travel API has surely forgotten it. */
export function lateAfter(
  { now, connection }: Task,
  before: LateCalls | undefined,
  { announced, applied = {}, reservation }: LateCall,
): LateCalls {
  const creates = before?.creates ?? [];
  return {
    checkAt: now() + connection.lateMs,
    sent: withSent(before?.sent ?? {}, announced, applied),
    creates: reservation ? withCreate(creates, { reservation, fields: announced }) : creates,
  };
}

/** A create that was repeated is one: it may have been carried out since it was first announced. */
function withCreate(creates: OpenCreate[], create: OpenCreate): OpenCreate[] {
  const before = creates.find((one) => isSameCreate(one, create));
  if (!before) return [...creates, create];
  const wasFree = before.reservation.wasFree || create.reservation.wasFree;
  const once = { ...before, reservation: { ...before.reservation, wasFree } };
  return creates.map((one) => (one === before ? once : one));
}

/** True when two creates would make the same traveler. */
export function isSameCreate(one: OpenCreate, other: OpenCreate): boolean {
  return one.reservation.email === other.reservation.email && isDeepStrictEqual(one.fields, other.fields);
}

/** True when the time has come to look once more for calls that were carried out late. */
export function isLateCheckDue({ now }: Task, { progress: { late } }: Draft): boolean {
  return late !== undefined && late.checkAt <= now();
}

/** The draft once the last look for late calls is over. */
export function withoutLateCalls(draft: Draft): Draft {
  const { late: _, ...progress } = draft.progress;
  return { ...draft, progress };
}

/**
 * The draft in which fields that drifted are sent again, where the connection corrects drift; a field that comes back again
 * and again is left as it is for the rest of the hour.
 */
export function correctingDrift(task: Task, draft: Draft): Draft {
  if (task.connection.policies.drift !== 'correct' || !draft.observed) return draft;
  const now = task.now();
  const corrections = recentCorrections(draft.progress.corrections ?? {}, now);
  const applied: Applied = { ...draft.applied };
  for (const { field } of drift(draft.applied, draft.observed)) {
    const entry = applied[field];
    const times = corrections[field] ?? [];
    if (!entry || times.length >= CORRECTIONS) continue;
    applied[field] = { ...entry, unsure: true };
    corrections[field] = [...times, now];
  }
  const { corrections: _, ...progress } = draft.progress;
  const isAny = Object.keys(corrections).length > 0;
  return { ...draft, applied, progress: isAny ? { ...progress, corrections } : progress };
}

function recentCorrections(all: Record<string, number[]>, now: number): Record<string, number[]> {
  const recent = Object.entries(all).map(
    ([field, times]) => [field, times.filter((time) => time > now - HOUR_MS && time <= now)] as const,
  );
  return Object.fromEntries(recent.filter(([, times]) => times.length > 0));
}
