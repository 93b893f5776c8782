import type { Connection } from './connection.ts';
import type { TravelAnswer, TravelFailure, TravelFeed, TravelUsers } from './travel-ports.ts';

/** The breaker opens after failures of calls for so many different people in a row: no answer, or only 401. */
const MAX_FAILED_SUBJECTS = 5;
const FIRST_PAUSE_MS = 1_000;
/** The longest time between two probes, and the time limit for the result of one, in milliseconds. */
const PROBE_MS = 30_000;
/** Imports and the feed leave a due probe to the reconcile queue for this long, since leavers come first there. */
export const GIVE_WAY_MS = 2_000;

/**
 * Why the breaker is open. `throttled`: 429, or 503 with Retry-After; `unanswered`: time-outs, refused and broken
 * connections; `unauthorized`: 401 on every call.
 */
export const pauseReasons = ['throttled', 'unanswered', 'unauthorized'] as const;

export type PauseReason = (typeof pauseReasons)[number];

/** A call in flight. Its result counts for the open period in which it began. */
interface TrackedCall {
  /** The travel API answered, whatever the answer says about the person. */
  recordAnswer(): void;
  /**
   * `subject` identifies the person or list that the call was about: failures for one subject alone never open the
   * breaker.
   */
  recordFailure(failure: TravelFailure, now: number, subject: unknown): void;
}

/**
 * The circuit breaker of a connection. It opens for as long as a throttling travel API asks for, at most a minute, and for
 * a second if the travel API does not answer anybody. After that one attempt at a time is a probe, at least each half
 * minute, until one is answered, which closes the breaker. Other failures concern one identity, which backs off alone.
 */
export interface CircuitBreaker {
  /**
   * Returns true if an attempt may start at `now`. While open, it is true for one caller, the probe, once a probe has
   * been due for `giveWayMs`.
   */
  admit(now: number, giveWayMs?: number): boolean;
  /** Returns true if no attempt may start at `now`; does not claim the probe. */
  blocks(now: number, giveWayMs?: number): boolean;
  /** Returns undefined while the breaker is closed. */
  pauseReason(): PauseReason | undefined;
  /** Registers a call; its result is reported to the returned object. */
  beginCall(): TrackedCall;
  /** Ends an admitted attempt. If it made no call, the next attempt is the probe. */
  endAttempt(now: number): void;
}

/** Receives the opening and closing of the breaker. */
export interface PauseListener {
  opened(reason: PauseReason, ms: number): void;
  closed(reason: PauseReason): void;
}

interface Open {
  reason: PauseReason;
  /** No attempt is admitted before this time. */
  until: number;
  /** The upper limit of `until`, however long the travel API asks to wait. */
  latest: number;
  /** The number of failed probes. */
  probes: number;
  isProbing: boolean;
}

interface State {
  open: Open | undefined;
  /** The subjects of failed calls of one kind since the last answer. */
  streak: { reason: PauseReason; subjects: Set<unknown> } | undefined;
  listener: PauseListener;
}

/** Creates a closed breaker. It is kept in memory: each replica detects an outage by itself soon enough. */
export function circuitBreaker(
  listener: PauseListener = { opened: () => {}, closed: () => {} },
): CircuitBreaker {
  const state: State = { open: undefined, streak: undefined, listener };
  const holds = (now: number, giveWayMs = 0) =>
    state.open !== undefined && now < state.open.until + giveWayMs;
  return {
    blocks: holds,
    admit: (now, giveWayMs) => {
      if (holds(now, giveWayMs)) return false;
      if (state.open) Object.assign(state.open, { until: now + PROBE_MS, isProbing: true });
      return true;
    },
    pauseReason: () => state.open?.reason,
    beginCall: () => {
      const probed = state.open?.isProbing ? state.open : undefined;
      const isProbe = () => probed !== undefined && probed === state.open;
      return {
        recordAnswer: () => answered(state, isProbe()),
        recordFailure: (failure, now, subject) => {
          const reason = reasonOf(failure);
          if (reason === undefined) answered(state, isProbe());
          else
            failed(state, { reason, now, subject, retryAfterMs: retryAfterOf(failure), isProbe: isProbe() });
        },
      };
    },
    endAttempt: (now) => {
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

/** Calls that began before the throttling may still succeed, so only a probe closes a throttled breaker. */
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
  /** How long the travel API asks to wait, in milliseconds. */
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
    // Calls in flight when the breaker opened fail too: only the wait that they ask for counts.
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

/** The parts of a connection that call the travel API. */
type TravelAccess = Pick<Connection, 'travel' | 'lookups' | 'feed'>;

type Report = <T>(subject: unknown, call: () => Promise<TravelAnswer<T>>) => Promise<TravelAnswer<T>>;

/**
 * Returns the connection with every answer reported to the breaker. Reconciliations use it; their caller asks `admit`
 * first.
 */
export function withReportedAnswers<C extends TravelAccess>(
  connection: C,
  breaker: CircuitBreaker,
  now: () => number,
): C {
  const report: Report = async (subject, call) => {
    const tracked = breaker.beginCall();
    const answer = await call();
    if (answer.kind === 'ok') tracked.recordAnswer();
    else tracked.recordFailure(answer, now(), subject);
    return answer;
  };
  return withCallsWrapped(connection, report, (call) => reportFailures(breaker, now, call));
}

/**
 * Returns the connection as imports, the feed, the rules and the searches of IdPs use it: while the breaker is open, a call
 * fails without being sent, unless a probe is due that no reconciliation has claimed.
 */
export function withCircuitBreaker<C extends TravelAccess>(
  connection: C,
  breaker: CircuitBreaker,
  now: () => number,
): C {
  const seen = withReportedAnswers(connection, breaker, now);
  const callUnlessOpen: Report = async (_, call) => (breaker.admit(now(), GIVE_WAY_MS) ? call() : paused);
  const inMemory = async <T>(call: () => Promise<TravelAnswer<T>>) =>
    breaker.blocks(now(), GIVE_WAY_MS) ? paused : call();
  // A search that an IdP waits for has a short time-out, so a missing answer says nothing about the travel API.
  const search: TravelUsers['findByEmails'] = async (emails, timeoutMs) => {
    if (timeoutMs === undefined) return callUnlessOpen(undefined, () => seen.travel.findByEmails(emails));
    if (breaker.pauseReason() !== undefined) return paused;
    const call = breaker.beginCall();
    const answer = await connection.travel.findByEmails(emails, timeoutMs);
    if (answer.kind === 'ok') call.recordAnswer();
    else if (reasonOf(answer) !== 'unanswered') call.recordFailure(answer, now(), emails[0]);
    return answer;
  };
  const one = withCallsWrapped(seen, callUnlessOpen, inMemory);
  return { ...one, travel: { ...one.travel, findByEmails: search } };
}

const paused: TravelFailure = { kind: 'unavailable', text: 'the connection pauses' };

/** Lookups come mostly from memory, so a success proves nothing; a failure counts, since every identity needs them. */
async function reportFailures<T>(
  breaker: CircuitBreaker,
  now: () => number,
  call: () => Promise<TravelAnswer<T>>,
): Promise<TravelAnswer<T>> {
  const tracked = breaker.beginCall();
  const answer = await call();
  if (answer.kind !== 'ok') tracked.recordFailure(answer, now(), Symbol('lookups'));
  return answer;
}

type WrapLookup = <T>(call: () => Promise<TravelAnswer<T>>) => Promise<TravelAnswer<T>>;

/** Returns the connection with `report` around each call about travelers and events, and `wrapLookup` around lookups. */
function withCallsWrapped<C extends TravelAccess>(connection: C, report: Report, wrapLookup: WrapLookup): C {
  const { travel, lookups, feed } = connection;
  return {
    ...connection,
    travel: {
      create: (user) => report(user.email, () => travel.create(user)),
      read: (id) => report(id, () => travel.read(id)),
      patch: (id, patch) => report(id, () => travel.patch(id, patch)),
      remove: (id) => report(id, () => travel.remove(id)),
      findByEmails: (emails, timeoutMs) => report(emails[0], () => travel.findByEmails(emails, timeoutMs)),
      readPage: (offset, limit) => report('page', () => travel.readPage(offset, limit)),
      serverTime: travel.serverTime,
    },
    lookups: {
      ...lookups,
      current: () => wrapLookup(() => lookups.current()),
      refresh: () => wrapLookup(() => lookups.refresh()),
      readOwnUser: () => wrapLookup(() => lookups.readOwnUser()),
    },
    ...(feed ? { feed: { ...feed, source: wrapFeed(feed.source, report) } } : {}),
  };
}

function wrapFeed(source: TravelFeed, report: Report): TravelFeed {
  return { readPage: (limit, from) => report('feed', () => source.readPage(limit, from)) };
}

const FIRST_DELAY_MS = 1_000;
/** The longest wait of one identity, whatever the travel API asks for, so that all recover soon after an outage. */
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
