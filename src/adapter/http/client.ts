import { type AxiosAdapter, AxiosHeaders, type AxiosResponse } from 'axios';
import type { CallCause } from '../../model/exchange.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { TravelAnswer, TravelOutage } from '../../model/travel-ports.ts';
import type { TravelerChange } from '../../model/traveler.ts';
import type { JsonRecord } from '../json.ts';
import type { Query, TravelProfile } from '../profile.ts';
import {
  type HttpResponse,
  toNetworkFailure,
  toTimeoutFailure,
  toTravelAnswer,
  toUnreadableFailure,
} from './answers.ts';
import { type CallRecorder, type EndedCall, recordCall } from './exchanges.ts';
import { acceptEncoding, httpAdapter } from './http-adapter.ts';
import {
  type CallMeasurement,
  type MeasuredCall,
  measureCall,
  type TravelOperation,
} from './measured-call.ts';
import { outageRecord } from './outage.ts';

/** The address and credential of the travel API, and the limits for its use. */
export interface ClientSettings extends CallMeasurement {
  /** The base URL, to which paths such as `/api/users` are added. */
  url: string;
  token: string;
  profile: TravelProfile;
  clock: Pick<Runtime, 'now' | 'wallClock' | 'wait'>;
  /** The time limit of a call that has none of its own, in milliseconds. */
  timeoutMs: number;
  /** The largest number of concurrent calls. */
  concurrency: number;
  /** The largest number of calls per second; undefined: no limit. */
  perSecond: number | undefined;
  /** The number of processes that share both limits; this client uses its part of them. Default: 1. */
  sharers?: () => number;
  /** Records the calls; undefined disables it. */
  recorder?: CallRecorder | undefined;
}

/** A request to the travel API. `path` appears in the log, so it must not contain personal data; ids are allowed. */
export interface TravelRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** The name of the call in metrics and traces. */
  operation: TravelOperation;
  query?: Query;
  /** The JSON body. */
  body?: object;
  /** The media types of the body, the preferred one first. After a 415 another one is used. */
  mediaTypes?: readonly string[];
  headers?: Record<string, string>;
  /** The change of a traveler that the request says. */
  change?: TravelerChange;
  deadline?: Deadline | undefined;
  cause?: CallCause | undefined;
  /**
   * True if a 403 or 404 counts only if it is the travel API's own (docs/architecture.md, Answers of the travel API).
   */
  needsOwnError?: boolean;
  /** True for calls that are repeated all day: those that succeed are not recorded. */
  isPolling?: true;
}

/** The time at which a call ends, or several calls that are one together. */
export interface Deadline {
  signal: AbortSignal;
  ms: number;
}

/** Converts the body of a response (undefined for a 204) and its `ETag` to the expected value; undefined if it cannot be read. */
export type ReadBody<T> = (body: JsonRecord | undefined, etag: string | undefined) => T | undefined;

/** The HTTP client for the travel API of one connection. */
export interface TravelClient {
  profile: TravelProfile;
  /**
   * Makes one attempt. Only a request whose media type is refused (415) is sent again, if it has another one. The returned
   * promise never rejects.
   */
  call<T>(request: TravelRequest, read: ReadBody<T>): Promise<TravelAnswer<T>>;
  /** Returns a deadline from now; without a time, that of a call. */
  deadline(ms?: number): Deadline;
  /** The travel API's clock in epoch milliseconds, from the last `Date` header; undefined before the first one. */
  serverTime(): number | undefined;
  /** Returns since when the travel API gives no usable answers; undefined while it gives some, and before the first call. */
  outage(): TravelOutage | undefined;
  /** Closes all sockets. Calls under way end without a response. */
  close(): void;
}

/**
 * Creates the client for one connection. The time limit of a call includes the wait for a free slot, so that the call ends
 * before the lease under which it is made.
 */
export function travelClient(settings: ClientSettings): TravelClient {
  const { concurrency, perSecond, sharers, clock, timeoutMs, profile } = settings;
  const adapter = httpAdapter(settings.url);
  const send = createSender(settings, adapter.send);
  const limit = createLimiter({ concurrency, perSecond, sharers, clock });
  const exchange = createExchange();
  const outage = outageRecord(clock.wallClock);
  let clockOffset: number | undefined;
  const newDeadline = (ms = timeoutMs): Deadline => ({ signal: AbortSignal.timeout(ms), ms });
  const exchangeInTime = async (request: TravelRequest, name: string, measured: MeasuredCall) => {
    const { signal: deadline, ms } = request.deadline ?? newDeadline();
    let isSent = false;
    try {
      return await exchange(request, (type) =>
        limit(deadline, () => {
          isSent = true;
          measured.begin();
          return send(request, { type, deadline, traceHeaders: measured.headers() });
        }),
      );
    } catch (error) {
      return deadline.aborted ? toTimeoutFailure(name, ms, isSent) : toNetworkFailure(name, error);
    }
  };
  return {
    profile,
    deadline: newDeadline,
    call: async (request, read) => {
      const name = `${request.method} ${request.path}`;
      const measured = measureCall(settings, request);
      const response = await exchangeInTime(request, name, measured);
      if ('kind' in response) {
        measured.end(response, undefined);
        if (!isShort(request, settings)) outage.record(response, { name, status: undefined });
        return response;
      }
      const answer = toAnswer(settings, request, response, read);
      measured.end(answer, response);
      outage.record(answer, { name, status: response.status });
      const date = Date.parse(response.date ?? '');
      // Error pages may come from a gateway, which may have another clock: its time only counts while there is no other.
      const isReliable = answer.kind !== 'unavailable' || clockOffset === undefined;
      if (!Number.isNaN(date) && isReliable) clockOffset = date - clock.now();
      return answer;
    },
    serverTime: () => (clockOffset === undefined ? undefined : clock.now() + clockOffset),
    outage: outage.current,
    close: adapter.close,
  };
}

/** A call with less time than others does not show that the travel API is down. */
function isShort({ deadline }: TravelRequest, { timeoutMs }: ClientSettings): boolean {
  return deadline !== undefined && deadline.ms < timeoutMs;
}

function toAnswer<T>(
  { profile, clock }: ClientSettings,
  { method, path, change, needsOwnError }: TravelRequest,
  response: HttpResponse,
  read: ReadBody<T>,
): TravelAnswer<T> {
  const name = `${method} ${path}`;
  const meaning = { errors: profile.errors, change, needsOwnError };
  const answer = toTravelAnswer(name, response, clock.wallClock(), meaning);
  if (answer.kind !== 'ok') return answer;
  const value = read(answer.value, response.etag);
  return value === undefined ? toUnreadableFailure(name) : { kind: 'ok', value };
}

/** Sends one request. The media type is that of its body. */
type Send = (
  request: TravelRequest,
  options: { type: string; deadline: AbortSignal; traceHeaders: Record<string, string> },
) => Promise<HttpResponse>;

/** Makes the function that sends requests. It calls the adapter directly, because no interceptor or transform of axios is used. */
function createSender({ url, token, recorder, clock }: ClientSettings, adapter: AxiosAdapter): Send {
  const { username, password } = new URL(url);
  const common = {
    // The user name and password of the URL take the place of the token.
    ...(username || password ? {} : { Authorization: `Bearer ${token}` }),
    Accept: 'application/json',
    'Accept-Encoding': acceptEncoding,
    'User-Agent': 'jetbridge',
  };
  return async (request, { type, deadline, traceHeaders }) => {
    const { method, path, query, headers, cause } = request;
    const body = request.body && { type, text: JSON.stringify(request.body) };
    const began = clock.now();
    const record = (result: EndedCall['result']) => {
      if (recorder) recordCall(recorder, { request, body, ms: clock.now() - began, result });
    };
    try {
      const response = await adapter({
        method,
        url: path,
        params: query,
        data: body?.text,
        headers: new AxiosHeaders({
          ...(body && { 'Content-Type': type }),
          ...common,
          ...headers,
          ...traceHeaders,
          // The logs of both sides can be joined by it.
          ...(cause?.requestId !== undefined && { 'X-Request-Id': cause.requestId }),
        }),
        signal: deadline,
      });
      record({ response });
      return toHttpResponse(response);
    } catch (error) {
      record({ error, isTimeout: deadline.aborted });
      throw error;
    }
  };
}

function toHttpResponse({ status, data, headers }: AxiosResponse<string>): HttpResponse {
  const header = (name: string): string | undefined => {
    const value: unknown = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    status,
    body: data,
    retryAfter: header('retry-after'),
    date: header('date'),
    acceptPatch: header('accept-patch'),
    etag: header('etag'),
  };
}

/** Sends a request with a body of a media type. */
type SendAs = (type: string) => Promise<HttpResponse>;

type Exchange = (request: TravelRequest, sendAs: SendAs) => Promise<HttpResponse>;

/**
 * Sends a request again whose media type is refused (415), in the type that `Accept-Patch` names or else in the other one. A
 * refused request had no effect. Later requests use the type that was accepted.
 */
function createExchange(): Exchange {
  let accepted: string | undefined;
  return async ({ mediaTypes }, sendAs) => {
    if (!mediaTypes) return sendAs('application/json');
    const tried = accepted ?? mediaTypes[0] ?? 'application/json';
    const response = await sendAs(tried);
    if (response.status !== 415) return response;
    const other = otherMediaType(mediaTypes, tried, response.acceptPatch);
    const second = await sendAs(other);
    if (second.status !== 415) accepted = other;
    return second;
  };
}

/** An accepted type may have parameters or a vendor prefix. A JSON patch (RFC 6902) is another format and does not count. */
function otherMediaType(known: readonly string[], tried: string, acceptPatch = ''): string {
  const accepted = acceptPatch.split(',').map((entry) => entry.trim());
  const isMergePatch = /^application\/(?:json|(?:[\w.-]+\.)?merge-patch\+json)\s*(?:;|$)/i;
  const named = accepted.find((type) => isMergePatch.test(type) && type !== tried);
  return named ?? known.find((type) => type !== tried) ?? tried;
}

/** The limits for the use of a travel API. */
export interface Limits {
  /** The number of concurrent calls. */
  concurrency: number;
  /** The number of calls that may start within any second; undefined for no limit. */
  perSecond: number | undefined;
  /** The number of processes that share the limits. Each has an equal part, but at least one call and one a second. */
  sharers?: (() => number) | undefined;
  clock: Pick<Runtime, 'now' | 'wait'>;
}

/** Runs work within the limits, first come, first served. Rejects if the deadline passes during the wait. */
export type Limiter = <T>(deadline: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** Creates the limiter that all calls of a connection share. */
export function createLimiter({ concurrency, perSecond, sharers = () => 1, clock }: Limits): Limiter {
  const partOf = (limit: number) => Math.max(1, Math.floor(limit / sharers()));
  const slots = createSemaphore(() => partOf(concurrency));
  const waitForRate = createPacer(() => perSecond && partOf(perSecond), clock);
  return async (deadline, work) => {
    await slots.acquire(deadline);
    try {
      await waitForRate(deadline);
      deadline.throwIfAborted();
      return await work();
    } finally {
      slots.release();
    }
  };
}

/** A semaphore whose size may change: after it has become smaller, it admits no call until enough others have ended. */
function createSemaphore(size: () => number): {
  acquire(deadline: AbortSignal): Promise<void>;
  release(): void;
} {
  let used = 0;
  const waiting = new Set<() => void>();
  return {
    acquire: (deadline) =>
      new Promise((resolve, reject) => {
        if (used < size()) {
          used += 1;
          resolve();
          return;
        }
        const proceed = () => {
          deadline.removeEventListener('abort', cancel);
          resolve();
        };
        const cancel = () => {
          waiting.delete(proceed);
          reject(deadline.reason);
        };
        waiting.add(proceed);
        deadline.addEventListener('abort', cancel);
      }),
    release: () => {
      used -= 1;
      for (const next of waiting) {
        if (used >= size()) return;
        used += 1;
        waiting.delete(next);
        next();
      }
    },
  };
}

/** Records the start times of the last calls, so that the limit holds for every second and not only on average. */
function createPacer(
  limit: () => number | undefined,
  clock: Limits['clock'],
): (deadline: AbortSignal) => Promise<void> {
  const starts: number[] = [];
  return async (deadline) => {
    const perSecond = limit();
    if (perSecond === undefined) return;
    // Older starts than the last `perSecond` ones do not matter; there are some after the limit was lowered.
    starts.splice(0, starts.length - perSecond);
    const oldest = starts.length < perSecond ? undefined : starts.shift();
    const now = clock.now();
    const at = oldest === undefined ? now : Math.max(now, oldest + 1_000);
    starts.push(at);
    if (at > now) await clock.wait(at - now, deadline);
  };
}
