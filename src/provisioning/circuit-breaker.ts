import type { Connection } from './connection.ts';
import type { TravelAnswer, TravelFailure, TravelFeed, TravelUsers } from './travel-ports.ts';

/** The breaker opens when calls for so many different people in a row have no answer, or none but 401. */
const PEOPLE = 5;
const FIRST_PAUSE_MS = 1_000;
/** The longest time between two probes, and how long the result of one is waited for. */
const PROBE_MS = 30_000;
/** Imports and the feed leave a probe that is due to the queue for so long, where those who leave come first. */
export const GIVE_WAY_MS = 2_000;

/**
 * Why a connection pauses. `throttled`: 429, or 503 with Retry-After; `unanswered`: time-outs, refused and broken
 * connections; `unauthorized`: 401 for everybody.
 */
export const pauseReasons = ['throttled', 'unanswered', 'unauthorized'] as const;

export type PauseReason = (typeof pauseReasons)[number];

/** A call that has begun. Its result counts for the pause in which it began. */
interface TrackedCall {
  /** The travel API gave an answer, whatever it says about the person. */
  recordAnswer(): void;
  /** `subject` is the person, or whatever else the call was about: failures of one person stop nobody else. */
  recordFailure(failure: TravelFailure, now: number, subject: unknown): void;
}

/**
 * The circuit breaker of a connection. A travel API that asks everybody to wait is left alone for as long as it asks, at
 * most a minute; one that does not answer anybody, for a second. After that one attempt at a time is a probe, at least
 * each half minute, until one is answered. Other failures concern one person, who backs off alone.
 */
export interface CircuitBreaker {
  /** True if an attempt may be made at `now`; while paused, true for one caller if the next probe is due since `giveWayMs`. */
  admit(now: number, giveWayMs?: number): boolean;
  /** True if nothing would be admitted at `now`; asks without taking the probe. */
  blocks(now: number, giveWayMs?: number): boolean;
  /** Undefined while the connection does not pause. */
  pauseReason(): PauseReason | undefined;
  beginCall(): TrackedCall;
  /** The admitted attempt has ended; if it made no call, the next one is the probe. */
  endAttempt(now: number): void;
}

/** What is told when a pause begins and when it ends. */
export interface PauseListener {
  opened(reason: PauseReason, ms: number): void;
  closed(reason: PauseReason): void;
}

interface Open {
  reason: PauseReason;
  /** Nothing is admitted before. */
  until: number;
  /** However long the travel API asks for, `until` does not pass this. */
  latest: number;
  /** Probes that failed. */
  probes: number;
  isProbing: boolean;
}

interface State {
  open: Open | undefined;
  /** The failures of one kind since the last answer, by subject. */
  row: { reason: PauseReason; subjects: Set<unknown> } | undefined;
  listener: PauseListener;
}

/** A connection's pause; it lives in the process, as each replica finds out for itself soon enough. */
export function circuitBreaker(
  listener: PauseListener = { opened: () => {}, closed: () => {} },
): CircuitBreaker {
  const state: State = { open: undefined, row: undefined, listener };
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
          else failed(state, { reason, now, subject, asked: askedBy(failure), isProbe: isProbe() });
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

function askedBy(failure: TravelFailure): number {
  return failure.kind === 'unavailable' ? (failure.retryAfterMs ?? 0) : 0;
}

/** Calls that began before the travel API asked to wait may still succeed: only a probe ends that pause. */
function answered(state: State, isProbe: boolean): void {
  state.row = undefined;
  const { open, listener } = state;
  if (!open || (open.reason === 'throttled' && !isProbe)) return;
  state.open = undefined;
  listener.closed(open.reason);
}

interface Failed {
  reason: PauseReason;
  now: number;
  subject: unknown;
  /** How long the travel API asks to wait. */
  asked: number;
  isProbe: boolean;
}

function failed(state: State, failure: Failed): void {
  const { open } = state;
  if (failure.reason === 'throttled' && open?.reason !== 'throttled') begin(state, failure);
  else if (open) hold(open, failure);
  else count(state, failure);
}

function hold(open: Open, { now, asked, isProbe }: Failed): void {
  if (isProbe) {
    open.probes += 1;
    open.isProbing = false;
    open.latest = now + PROBE_MS;
    open.until = now + Math.min(PROBE_MS, Math.max(FIRST_PAUSE_MS * 2 ** Math.min(open.probes, 20), asked));
  } else if (!open.isProbing) {
    // Calls that were under way when the pause began fail with it: only what they ask for counts.
    open.until = Math.max(open.until, Math.min(now + asked, open.latest));
  }
}

function count(state: State, failure: Failed): void {
  const { reason, subject } = failure;
  const row = state.row?.reason === reason ? state.row : { reason, subjects: new Set() };
  row.subjects.add(subject);
  state.row = row;
  if (row.subjects.size >= PEOPLE) begin(state, failure);
}

function begin(state: State, { reason, now, asked }: Failed): void {
  const { open: before, listener } = state;
  const ms = Math.min(LONGEST_MS, Math.max(FIRST_PAUSE_MS, asked));
  state.row = undefined;
  state.open = { reason, until: now + ms, latest: now + LONGEST_MS, probes: 0, isProbing: false };
  if (before) listener.closed(before.reason);
  listener.opened(reason, ms);
}

/** What of a connection speaks to the travel API. */
type Speaking = Pick<Connection, 'travel' | 'lookups' | 'feed'>;

type Listen = <T>(subject: unknown, call: () => Promise<TravelAnswer<T>>) => Promise<TravelAnswer<T>>;

/** The connection as attempts use it: the pause learns from every answer. Whether one may begin is asked before. */
export function withReportedAnswers<C extends Speaking>(
  connection: C,
  heed: CircuitBreaker,
  now: () => number,
): C {
  const listen: Listen = async (subject, call) => {
    const begun = heed.beginCall();
    const answer = await call();
    if (answer.kind === 'ok') begun.recordAnswer();
    else begun.recordFailure(answer, now(), subject);
    return answer;
  };
  return listening(connection, listen, (call) => learning(heed, now, call));
}

/**
 * The connection as imports, the feed, the rules and the searches of IdPs use it: while it pauses a call fails without
 * being made, unless a probe is due and no attempt has taken it.
 */
export function withCircuitBreaker<C extends Speaking>(
  connection: C,
  heed: CircuitBreaker,
  now: () => number,
): C {
  const seen = withReportedAnswers(connection, heed, now);
  const restrain: Listen = async (_, call) => (heed.admit(now(), GIVE_WAY_MS) ? call() : paused);
  const inMemory = async <T>(call: () => Promise<TravelAnswer<T>>) =>
    heed.blocks(now(), GIVE_WAY_MS) ? paused : call();
  // An IdP waits for a search, which is given up soon: that it has no answer in that time says nothing.
  const search: TravelUsers['findByEmails'] = async (emails, timeoutMs) => {
    if (timeoutMs === undefined) return restrain(undefined, () => seen.travel.findByEmails(emails));
    if (heed.pauseReason() !== undefined) return paused;
    const begun = heed.beginCall();
    const answer = await connection.travel.findByEmails(emails, timeoutMs);
    if (answer.kind === 'ok') begun.recordAnswer();
    else if (reasonOf(answer) !== 'unanswered') begun.recordFailure(answer, now(), emails[0]);
    return answer;
  };
  const one = listening(seen, restrain, inMemory);
  return { ...one, travel: { ...one.travel, findByEmails: search } };
}

const paused: TravelFailure = { kind: 'unavailable', text: 'the connection pauses' };

/** Lookups come mostly from memory, so an answer proves nothing; a failure does, and nobody can do without them. */
async function learning<T>(
  heed: CircuitBreaker,
  now: () => number,
  call: () => Promise<TravelAnswer<T>>,
): Promise<TravelAnswer<T>> {
  const begun = heed.beginCall();
  const answer = await call();
  if (answer.kind !== 'ok') begun.recordFailure(answer, now(), Symbol('lookups'));
  return answer;
}

type Guard = <T>(call: () => Promise<TravelAnswer<T>>) => Promise<TravelAnswer<T>>;

/** The connection with `listen` around each call about people and events, and `guard` around each about lookups. */
function listening<C extends Speaking>(connection: C, listen: Listen, guard: Guard): C {
  const { travel, lookups, feed } = connection;
  return {
    ...connection,
    travel: {
      create: (user) => listen(user.email, () => travel.create(user)),
      read: (id) => listen(id, () => travel.read(id)),
      patch: (id, patch) => listen(id, () => travel.patch(id, patch)),
      remove: (id) => listen(id, () => travel.remove(id)),
      findByEmails: (emails, timeoutMs) => listen(emails[0], () => travel.findByEmails(emails, timeoutMs)),
      readPage: (offset, limit) => listen('page', () => travel.readPage(offset, limit)),
      serverTime: travel.serverTime,
    },
    lookups: {
      ...lookups,
      current: () => guard(() => lookups.current()),
      refresh: () => guard(() => lookups.refresh()),
      readOwnUser: () => guard(() => lookups.readOwnUser()),
    },
    ...(feed ? { feed: { ...feed, source: listeningFeed(feed.source, listen) } } : {}),
  };
}

function listeningFeed(source: TravelFeed, listen: Listen): TravelFeed {
  return { readPage: (limit, from) => listen('feed', () => source.readPage(limit, from)) };
}

const FIRST_DELAY_MS = 1_000;
/** Nobody waits longer, whatever the travel API asks for: once it is back, nobody need wait long. */
export const LONGEST_MS = 60_000;

/**
 * How long to wait before the next attempt at a person, in milliseconds: doubling from a second to a minute, spread by
 * half so that a crowd does not return at once, and, up to a minute, never before what the travel API asked for. A
 * throttled person waits for the connection's pause, and must be due when that ends. `random` in [0, 1).
 */
export function backoff(failure: TravelFailure, attempts: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_DELAY_MS * 2 ** Math.min(attempts, 20));
  const spread = full / 2 + (full / 2) * random;
  const asked = failure.kind === 'unavailable' && !failure.isThrottled ? (failure.retryAfterMs ?? 0) : 0;
  return Math.round(Math.min(LONGEST_MS, Math.max(spread, asked)));
}
