import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import axios, { type AxiosInstance } from 'axios';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import type { TravelAnswer } from '../provisioning/travel-ports.ts';
import { answerOf, type Body, failureOf, overdue, type Reply, unreadable } from './answers.ts';

const TIMEOUT_MS = 10_000;
const AT_ONCE = 8;
/** A page of 100 travelers is well below 1 MB. */
const ANSWER_BYTES = 8_000_000;
/** Shorter than servers keep idle sockets (Node: 5 s), so that a request is seldom sent into one that is being closed. */
const IDLE_MS = 4_000;

/** The media types in which a merge patch is sent: that of the specification's examples, and that of RFC 7396. */
const patchMediaTypes = ['application/json', 'application/merge-patch+json'] as const;

type PatchMediaType = (typeof patchMediaTypes)[number];

/** Where the travel API is, and how it may be used. */
export interface ClientSettings {
  /** The base URL that paths such as `/api/users` are added to. */
  url: string;
  token: string;
  clock: Pick<Runtime, 'now' | 'wallClock' | 'wait'>;
  timeoutMs?: number;
  atOnce?: number;
  perSecond?: number | undefined;
  /** In which a PATCH is sent first; after a 415 another one is used. */
  patchMediaType?: PatchMediaType;
}

/** One request to the travel API. Ids may stand in `path`, but no personal data: it is named in the log. */
export interface TravelRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number>;
  /** Goes out in the envelope `{ data }`. */
  data?: object;
  timeoutMs?: number;
}

/** The one way out to the travel API. */
export interface TravelClient {
  /** Exactly one attempt; a PATCH whose media type is refused is sent once more, in another. `read` makes of the answer what was asked for, or undefined when it cannot be read. */
  call<T>(request: TravelRequest, read: (body: Body) => T | undefined): Promise<TravelAnswer<T>>;
  /** The travel API's present time in milliseconds, after the last `Date` header; undefined while none was seen. */
  serverTime(): number | undefined;
  /** Drops the idle connections. */
  close(): void;
}

/**
 * A client for one connection. A call's time begins when it is made: waiting for its turn counts, so that it ends
 * before the lease of whoever makes it.
 */
export function travelClient(settings: ClientSettings): TravelClient {
  const { atOnce = AT_ONCE, perSecond, clock, timeoutMs = TIMEOUT_MS } = settings;
  const agents = {
    httpAgent: new HttpAgent({ keepAlive: true, timeout: IDLE_MS }),
    httpsAgent: new HttpsAgent({ keepAlive: true, timeout: IDLE_MS }),
  };
  const http = axiosFor(settings, agents);
  const limit = limiter({ atOnce, perSecond, clock });
  const exchange = exchanger(settings.patchMediaType);
  let ahead: number | undefined;
  return {
    call: async (request, read) => {
      const name = `${request.method} ${request.path}`;
      const deadline = request.timeoutMs ?? timeoutMs;
      const signal = AbortSignal.timeout(deadline);
      let isSent = false;
      const sendAs: SendAs = (type) =>
        limit(signal, () => {
          isSent = true;
          return send(http, request, { type, signal });
        });
      const reply = await exchange(request, sendAs).catch((error: unknown) =>
        signal.aborted ? overdue(name, deadline, isSent) : failureOf(name, error),
      );
      if ('kind' in reply) return reply;
      const answer = answerOf(name, reply, clock.wallClock(), request.data);
      const date = Date.parse(reply.date ?? '');
      // A gateway that answers in place of the travel API has a clock of its own.
      if (!Number.isNaN(date) && answer.kind !== 'unavailable') ahead = date - clock.now();
      if (answer.kind !== 'ok') return answer;
      const value = read(answer.value);
      return value === undefined ? unreadable(name) : { kind: 'ok', value };
    },
    serverTime: () => (ahead === undefined ? undefined : clock.now() + ahead),
    close: () => {
      agents.httpAgent.destroy();
      agents.httpsAgent.destroy();
    },
  };
}

function axiosFor(
  { url, token }: ClientSettings,
  agents: { httpAgent: HttpAgent; httpsAgent: HttpsAgent },
): AxiosInstance {
  return axios.create({
    ...agents,
    baseURL: url.replace(/\/+$/, ''),
    headers: { Authorization: `Bearer ${token}`, Accept: 'application/json', 'User-Agent': 'jetbridge' },
    // The credential goes to the configured address and nowhere else: not after a redirect, nor through a proxy that the
    // environment happens to name.
    maxRedirects: 0,
    proxy: false,
    maxContentLength: ANSWER_BYTES,
    maxBodyLength: Number.POSITIVE_INFINITY,
    responseType: 'text',
    transformRequest: [],
    transformResponse: [],
    validateStatus: () => true,
  });
}

/** Sends the request of a call, with a body of this media type. */
type SendAs = (type: string) => Promise<Reply>;

type Exchange = (request: TravelRequest, sendAs: SendAs) => Promise<Reply>;

/**
 * Sends a PATCH whose media type is refused (415) once more: in the type that `Accept-Patch` names, or else in the other
 * one. Nothing was carried out by then. A type that is taken is used from then on.
 */
function exchanger(first: PatchMediaType = 'application/json'): Exchange {
  let patchType: string = first;
  return async (request, sendAs) => {
    if (request.method !== 'PATCH') return sendAs('application/json');
    const tried = patchType;
    const reply = await sendAs(tried);
    if (reply.status !== 415) return reply;
    const other = otherPatchType(tried, reply.acceptPatch);
    const second = await sendAs(other);
    if (second.status !== 415) patchType = other;
    return second;
  };
}

/** What the travel API takes may have parameters or a vendor's name; a JSON patch (RFC 6902) is another format. */
function otherPatchType(tried: string, acceptPatch = ''): string {
  const accepted = acceptPatch.split(',').map((entry) => entry.trim());
  const isMergePatch = /^application\/(?:json|(?:[\w.-]+\.)?merge-patch\+json)\s*(?:;|$)/i;
  const named = accepted.find((type) => isMergePatch.test(type) && type !== tried);
  return named ?? patchMediaTypes.find((type) => type !== tried) ?? tried;
}

async function send(
  http: AxiosInstance,
  request: TravelRequest,
  { type, signal }: { type: string; signal: AbortSignal },
): Promise<Reply> {
  const { method, path, query, data } = request;
  const response = await http.request<string>({
    method,
    url: path,
    signal,
    ...(query ? { params: query } : {}),
    ...(data ? { data: JSON.stringify({ data }), headers: { 'Content-Type': type } } : {}),
  });
  const header = (name: string): string | undefined => {
    const value: unknown = response.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    status: response.status,
    body: response.data,
    retryAfter: header('retry-after'),
    date: header('date'),
    acceptPatch: header('accept-patch'),
  };
}

/** How hard a travel API may be used. */
export interface Limits {
  /** Calls that may be on their way at the same time. */
  atOnce: number;
  /** Calls that may start within any second; undefined for no limit. */
  perSecond: number | undefined;
  clock: Pick<Runtime, 'now' | 'wait'>;
}

/** Does the work when its turn has come, first come first served; rejects with the signal's reason when that never comes. */
export type Limiter = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** One limiter serves all the calls of a connection. */
export function limiter(limits: Limits): Limiter {
  const turns = semaphore(limits.atOnce);
  const pace = pacer(limits);
  return async (signal, work) => {
    await turns.take(signal);
    try {
      await pace(signal);
      signal.throwIfAborted();
      return await work();
    } finally {
      turns.give();
    }
  };
}

function semaphore(size: number): { take(signal: AbortSignal): Promise<void>; give(): void } {
  let free = size;
  const waiting = new Set<() => void>();
  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        if (free > 0) {
          free -= 1;
          resolve();
          return;
        }
        const proceed = () => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = () => {
          waiting.delete(proceed);
          reject(signal.reason);
        };
        waiting.add(proceed);
        signal.addEventListener('abort', leave, { once: true });
      }),
    give: () => {
      const [next] = waiting;
      if (next === undefined) {
        free += 1;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}

/** Keeps the times of the last starts, so that the limit holds for any second and not only on average. */
function pacer({ perSecond, clock }: Limits): (signal: AbortSignal) => Promise<void> {
  const starts: number[] = [];
  return async (signal) => {
    if (perSecond === undefined) return;
    const oldest = starts.length < perSecond ? undefined : starts.shift();
    const now = clock.now();
    const at = oldest === undefined ? now : Math.max(now, oldest + 1_000);
    starts.push(at);
    if (at > now) await clock.wait(at - now, signal);
  };
}

/** Where the travel API keeps its collections; `{id}` stands for the custom field whose options are read. */
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

/** The paths of the embedded service; the specification fixes only those of whoami and users. */
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
