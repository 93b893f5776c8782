import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import axios, { type AxiosInstance } from 'axios';
import type { Surroundings, TravelAnswer } from '../bridge/ports.ts';
import { answerOf, type Body, failureOf, overdue, type Reply, unreadable } from './answers.ts';
import { text } from './fields.ts';
import { limiter } from './limiter.ts';

const TIMEOUT_MS = 10_000;
const AT_ONCE = 8;
/** A page of 100 travelers is well below 1 MB. */
const ANSWER_BYTES = 8_000_000;
/** Shorter than servers keep idle sockets (Node: 5 s), so that a request is seldom sent into one that is being closed. */
const IDLE_MS = 4_000;

/** Where the travel API is, and how it may be used. */
export interface ClientSettings {
  /** The base URL that paths such as `/api/users` are added to. */
  url: string;
  token: string;
  clock: Pick<Surroundings, 'now' | 'wait'>;
  timeoutMs?: number;
  atOnce?: number;
  perSecond?: number | undefined;
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
  /** Exactly one attempt. `read` makes of the answer what was asked for, or undefined when it cannot be read. */
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
  let ahead: number | undefined;
  return {
    call: async (request, read) => {
      const name = `${request.method} ${request.path}`;
      const deadline = request.timeoutMs ?? timeoutMs;
      const signal = AbortSignal.timeout(deadline);
      const reply = await limit(signal, () => send(http, request, signal)).catch((error: unknown) =>
        signal.aborted ? overdue(name, deadline) : failureOf(name, error),
      );
      if ('kind' in reply) return reply;
      const answer = answerOf(name, reply, clock.now());
      // A gateway that answers in place of the travel API has a clock of its own.
      if (reply.date !== undefined && answer.kind !== 'unavailable') ahead = reply.date - clock.now();
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

async function send(http: AxiosInstance, request: TravelRequest, signal: AbortSignal): Promise<Reply> {
  const { method, path, query, data } = request;
  const response = await http.request<string>({
    method,
    url: path,
    signal,
    ...(query ? { params: query } : {}),
    ...(data ? { data: JSON.stringify({ data }), headers: { 'Content-Type': 'application/json' } } : {}),
  });
  const { headers } = response;
  const date = Date.parse(text(headers.date) ?? '');
  return {
    status: response.status,
    body: response.data,
    retryAfter: text(headers['retry-after']),
    date: Number.isNaN(date) ? undefined : date,
  };
}
