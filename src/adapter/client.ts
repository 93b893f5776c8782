import { type AxiosAdapter, AxiosHeaders, type AxiosResponse } from 'axios';
import type { CallCause } from '../log/exchange.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import type { TravelAnswer } from '../provisioning/travel-ports.ts';
import {
  type Envelope,
  type HttpResponse,
  toNetworkFailure,
  toTimeoutFailure,
  toTravelAnswer,
  toUnreadableFailure,
} from './answers.ts';
import { type CallRecorder, type EndedCall, recordCall } from './exchanges.ts';
import { acceptEncoding, httpAdapter } from './http-adapter.ts';

/** The media types of merge patches: that of the specification's examples, and that of RFC 7396. */
const patchMediaTypes = ['application/json', 'application/merge-patch+json'] as const;

type PatchMediaType = (typeof patchMediaTypes)[number];

/** The address and credential of the travel API, and the limits for its use. */
export interface ClientSettings {
  /** The base URL, to which paths such as `/api/users` are added. */
  url: string;
  token: string;
  clock: Pick<Runtime, 'now' | 'wallClock' | 'wait'>;
  /** The time limit of a call that has none of its own, in milliseconds. */
  timeoutMs: number;
  /** The largest number of concurrent calls. */
  concurrency: number;
  /** The largest number of calls per second; undefined: no limit. */
  perSecond: number | undefined;
  /** The number of processes that share both limits; this client uses its part of them. Default: 1. */
  sharers?: () => number;
  /** The media type of the first PATCH; after a 415 the other one is used. */
  patchMediaType: PatchMediaType;
  /** Records the calls; undefined disables it. */
  recorder?: CallRecorder | undefined;
}

/** A request to the travel API. `path` appears in the log, so it must not contain personal data; ids are allowed. */
export interface TravelRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number>;
  /** The content of the envelope `{ data }`. */
  data?: object;
  timeoutMs?: number | undefined;
  cause?: CallCause | undefined;
  /**
   * True if a 403 or 404 counts only with the error code of the travel API (docs/architecture.md, Answers of the travel API).
   */
  needsErrorCode?: boolean;
  /** True for calls that are repeated all day: those that succeed are not recorded. */
  isPolling?: true;
}

/** The HTTP client for the travel API of one connection. */
export interface TravelClient {
  /**
   * Makes one attempt. Only a PATCH whose media type is refused (415) is sent again. `read` converts the response to
   * the expected value, or returns undefined if it cannot be parsed. The returned promise never rejects.
   */
  call<T>(request: TravelRequest, read: (body: Envelope) => T | undefined): Promise<TravelAnswer<T>>;
  /** The travel API's clock in epoch milliseconds, from the last `Date` header; undefined before the first one. */
  serverTime(): number | undefined;
  /** Closes all sockets. Calls under way end without a response. */
  close(): void;
}

/**
 * Creates the client for one connection. The time limit of a call includes the wait for a free slot, so that the call ends
 * before the lease under which it is made.
 */
export function travelClient(settings: ClientSettings): TravelClient {
  const { concurrency, perSecond, sharers, clock, timeoutMs } = settings;
  const adapter = httpAdapter(settings.url);
  const send = createSender(settings, adapter.send);
  const limit = createLimiter({ concurrency, perSecond, sharers, clock });
  const exchange = createExchange(settings.patchMediaType);
  let clockOffset: number | undefined;
  const exchangeInTime = async (request: TravelRequest, name: string) => {
    const limitMs = request.timeoutMs ?? timeoutMs;
    const deadline = AbortSignal.timeout(limitMs);
    let isSent = false;
    try {
      return await exchange(request, (type) =>
        limit(deadline, () => {
          isSent = true;
          return send(request, { type, deadline });
        }),
      );
    } catch (error) {
      return deadline.aborted ? toTimeoutFailure(name, limitMs, isSent) : toNetworkFailure(name, error);
    }
  };
  return {
    call: async (request, read) => {
      const name = `${request.method} ${request.path}`;
      const response = await exchangeInTime(request, name);
      if ('kind' in response) return response;
      const { data: sent, needsErrorCode } = request;
      const answer = toTravelAnswer(name, response, clock.wallClock(), { sent, needsErrorCode });
      const date = Date.parse(response.date ?? '');
      // Error pages may come from a gateway, which may have another clock: its time only counts while there is no other.
      const isReliable = answer.kind !== 'unavailable' || clockOffset === undefined;
      if (!Number.isNaN(date) && isReliable) clockOffset = date - clock.now();
      if (answer.kind !== 'ok') return answer;
      const value = read(answer.value);
      return value === undefined ? toUnreadableFailure(name) : { kind: 'ok', value };
    },
    serverTime: () => (clockOffset === undefined ? undefined : clock.now() + clockOffset),
    close: adapter.close,
  };
}

/** Sends one request. The media type is that of its body. */
type Send = (
  request: TravelRequest,
  options: { type: string; deadline: AbortSignal },
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
  return async (request, { type, deadline }) => {
    const { method, path, query, data, cause } = request;
    const body = data && { type, text: JSON.stringify({ data }) };
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
          ...(data && { 'Content-Type': type }),
          ...common,
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
  };
}

/** Sends a request with a body of a media type. */
type SendAs = (type: string) => Promise<HttpResponse>;

type Exchange = (request: TravelRequest, sendAs: SendAs) => Promise<HttpResponse>;

/**
 * Sends a PATCH again whose media type is refused (415), in the type that `Accept-Patch` names or else in the other one. A
 * refused request had no effect. Later requests use the type that was accepted.
 */
function createExchange(first: PatchMediaType = 'application/json'): Exchange {
  let patchType: string = first;
  return async (request, sendAs) => {
    if (request.method !== 'PATCH') return sendAs('application/json');
    const tried = patchType;
    const response = await sendAs(tried);
    if (response.status !== 415) return response;
    const other = otherPatchType(tried, response.acceptPatch);
    const second = await sendAs(other);
    if (second.status !== 415) patchType = other;
    return second;
  };
}

/** An accepted type may have parameters or a vendor prefix. A JSON patch (RFC 6902) is another format and does not count. */
function otherPatchType(tried: string, acceptPatch = ''): string {
  const accepted = acceptPatch.split(',').map((entry) => entry.trim());
  const isMergePatch = /^application\/(?:json|(?:[\w.-]+\.)?merge-patch\+json)\s*(?:;|$)/i;
  const named = accepted.find((type) => isMergePatch.test(type) && type !== tried);
  return named ?? patchMediaTypes.find((type) => type !== tried) ?? tried;
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

/** The paths of the travel API. `{id}` in the path of options is replaced by the id of the custom field. */
export interface TravelPaths {
  whoami: string;
  users: string;
  events: string;
  customFields: string;
  customFieldOptions: string;
  costCenters: string;
  billingProfiles: string;
  travelPolicies: string;
  scimUserMappings: string;
}

/** The paths of the embedded travel service; the specification fixes only those of whoami and users. */
export const defaultPaths: TravelPaths = {
  whoami: '/api/whoami',
  users: '/api/users',
  events: '/api/events',
  customFields: '/api/custom-fields',
  customFieldOptions: '/api/custom-fields/{id}/options',
  costCenters: '/api/cost-centers',
  billingProfiles: '/api/billing-profiles',
  travelPolicies: '/api/travel-policies',
  scimUserMappings: '/api/scim-user-mappings',
};
