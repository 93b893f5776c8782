import type { PauseReason, TravelAnswer, TravelFailure } from '../../model/travel-ports.ts';

/**
 * The breaker opens after this many consecutive failures that concern different people: calls without an answer, or
 * only 401.
 */
const MAX_FAILED_SUBJECTS = 5;
const FIRST_PAUSE_MS = 1_000;
/** The longest time between two probes, in milliseconds, and the time limit of each probe. */
const PROBE_MS = 30_000;
/**
 * When a probe is due, imports and the event feed wait this long, in milliseconds, so that the reconcile queue can send
 * it. The queue begins with people who must lose access.
 */
export const GIVE_WAY_MS = 2_000;

/** Receives the opening and closing of the breaker. */
export interface PauseListener {
  opened(reason: PauseReason, ms: number): void;
  closed(reason: PauseReason): void;
}

interface Open {
  reason: PauseReason;
  /** Until this time no attempt is admitted. */
  until: number;
  /** The latest value that `until` may take, even if the travel API asks for a longer wait. */
  latest: number;
  /** The number of failed probes. */
  probes: number;
  isProbing: boolean;
}

interface State {
  open: Open | undefined;
  /** The people or lists whose calls failed in the same way since the last answer. */
  streak: { reason: PauseReason; subjects: Set<unknown> } | undefined;
  listener: PauseListener;
}

export type CircuitBreaker = ReturnType<typeof circuitBreaker>;

/**
 * Creates the circuit breaker of a connection. If the travel API throttles, the breaker stays open for the requested time, at
 * most a minute; if the travel API does not answer at all, for a second. Then it admits one probe at a time, at least
 * one every 30 s, and closes with the first answer. A failure of any other kind only delays the identity that it
 * concerns. The state is kept in memory only: every replica soon detects an outage by its own calls.
 */
export function circuitBreaker(listener: PauseListener = { opened: () => {}, closed: () => {} }) {
  const state: State = { open: undefined, streak: undefined, listener };
  const holds = (now: number, giveWayMs = 0) => {
    if (state.open === undefined) return false;
    // A longer pause shows that the clock was set back.
    const until = Math.min(state.open.until, now + MAX_DELAY_MS);
    state.open.until = until;
    return now < until + giveWayMs;
  };
  return {
    /** Returns true if no attempt may start at `now`. Unlike `admit`, it does not reserve the probe for the caller. */
    blocks: holds,
    /**
     * Returns true if an attempt may start at `now`. While the breaker is open, only one caller gets true: the one that
     * may send the probe, after a probe has been due for `giveWayMs`.
     */
    admit: (now: number, giveWayMs?: number): boolean => {
      if (holds(now, giveWayMs)) return false;
      if (state.open) Object.assign(state.open, { until: now + PROBE_MS, isProbing: true });
      return true;
    },
    /** Returns the reason for which the breaker is open; undefined while it is closed. */
    pauseReason: (): PauseReason | undefined => state.open?.reason,
    /**
     * Registers the start of a call. Its result affects the breaker only if the breaker has not opened or closed since the call
     * began.
     */
    beginCall: () => {
      const probed = state.open?.isProbing ? state.open : undefined;
      const isProbe = () => probed !== undefined && probed === state.open;
      return {
        /** Records that the travel API answered, even if the answer is an error that concerns one person. */
        recordAnswer: () => answered(state, isProbe()),
        /**
         * Records a failure. `subject` is the person or list of the call: failures that all concern one subject never open
         * the breaker.
         */
        recordFailure: (failure: TravelFailure, now: number, subject: unknown) => {
          const reason = reasonOf(failure);
          if (reason === undefined) answered(state, isProbe());
          else
            failed(state, { reason, now, subject, retryAfterMs: retryAfterOf(failure), isProbe: isProbe() });
        },
      };
    },
    /** Ends an attempt that `admit` allowed. If the attempt made no call, the next attempt becomes the probe. */
    endAttempt: (now: number): void => {
      if (state.open?.isProbing) Object.assign(state.open, { until: now, isProbing: false });
    },
  };
}

function reasonOf(failure: TravelFailure): PauseReason | undefined {
  if (failure.kind === 'unauthorized') return 'unauthorized';
  if (failure.kind !== 'unavailable') return undefined;
  if (failure.isThrottled) return 'throttled';
  return failure.isUnanswered ? 'unanswered' : undefined;
}

function retryAfterOf(failure: TravelFailure): number {
  return failure.kind === 'unavailable' ? (failure.retryAfterMs ?? 0) : 0;
}

/**
 * Records an answer. A throttled breaker is closed by a probe only, because calls that began before the throttling may
 * still succeed.
 */
function answered(state: State, isProbe: boolean): void {
  state.streak = undefined;
  const { open, listener } = state;
  if (!open || (open.reason === 'throttled' && !isProbe)) return;
  state.open = undefined;
  listener.closed(open.reason);
}

interface Failed {
  reason: PauseReason;
  now: number;
  subject: unknown;
  /** The delay for which the travel API asks, in milliseconds. */
  retryAfterMs: number;
  isProbe: boolean;
}

function failed(state: State, failure: Failed): void {
  const { open } = state;
  if (failure.reason === 'throttled' && open?.reason !== 'throttled') begin(state, failure);
  else if (open) hold(open, failure);
  else count(state, failure);
}

function hold(open: Open, { now, retryAfterMs, isProbe }: Failed): void {
  if (isProbe) {
    open.probes += 1;
    open.isProbing = false;
    open.latest = now + PROBE_MS;
    open.until =
      now + Math.min(PROBE_MS, Math.max(FIRST_PAUSE_MS * 2 ** Math.min(open.probes, 20), retryAfterMs));
  } else if (!open.isProbing) {
    // This call was in flight when the breaker opened. Its failure does not count, but its Retry-After does.
    open.until = Math.max(open.until, Math.min(now + retryAfterMs, open.latest));
  }
}

function count(state: State, failure: Failed): void {
  const { reason, subject } = failure;
  const streak = state.streak?.reason === reason ? state.streak : { reason, subjects: new Set() };
  streak.subjects.add(subject);
  state.streak = streak;
  if (streak.subjects.size >= MAX_FAILED_SUBJECTS) begin(state, failure);
}

function begin(state: State, { reason, now, retryAfterMs }: Failed): void {
  const { open: before, listener } = state;
  const ms = Math.min(MAX_DELAY_MS, Math.max(FIRST_PAUSE_MS, retryAfterMs));
  state.streak = undefined;
  state.open = { reason, until: now + ms, latest: now + MAX_DELAY_MS, probes: 0, isProbing: false };
  if (before) listener.closed(before.reason);
  listener.opened(reason, ms);
}

/** The circuit breaker of a connection, and the clock of the process. */
export interface TimedBreaker {
  breaker: CircuitBreaker;
  now(): number;
}

/** Sends a call and records its result in the breaker. `subject`: the person or list that the call concerns. */
export async function sendRecorded<T>(
  { breaker, now }: TimedBreaker,
  subject: unknown,
  send: () => Promise<TravelAnswer<T>>,
): Promise<TravelAnswer<T>> {
  const call = breaker.beginCall();
  const answer = await send();
  if (answer.kind === 'ok') call.recordAnswer();
  else call.recordFailure(answer, now(), subject);
  return answer;
}

const FIRST_DELAY_MS = 1_000;
/**
 * The longest delay between two attempts at one identity, even if the travel API asks for a longer one, so that all
 * identities recover soon after an outage.
 */
export const MAX_DELAY_MS = 60_000;

/**
 * Returns the delay before the next attempt at an identity, in milliseconds. It doubles from one second to one minute, with
 * a jitter of one half, and is at least what the travel API asked for, up to a minute. A throttled identity waits for the
 * breaker and must be due when that closes, so its Retry-After is ignored here. `random` is in [0, 1).
 */
export function backoff(failure: TravelFailure, attempts: number, random: number): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempts, 20));
  const spread = full / 2 + (full / 2) * random;
  const retryAfterMs =
    failure.kind === 'unavailable' && !failure.isThrottled ? (failure.retryAfterMs ?? 0) : 0;
  return Math.round(Math.min(MAX_DELAY_MS, Math.max(spread, retryAfterMs)));
}
