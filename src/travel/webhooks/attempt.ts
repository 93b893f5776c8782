import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Webhook } from 'standardwebhooks';
import { errorCode, guardedLookup, PrivateAddressError, type Resolve } from '../../http/address-guard.ts';
import { serialize, type TravelDeps } from '../collection.ts';
import type { Log, StoredResource } from '../ports.ts';
import { event as eventResource } from '../resources/event.ts';
import type { Attempt, DeliveryOutcome, DeliveryQueue, WebhookRecords } from './ports.ts';

/** The dependencies of the delivery of webhooks. */
export interface WebhookDeps {
  travel: TravelDeps;
  queue: DeliveryQueue;
  records: WebhookRecords;
  clock: {
    /** Epoch milliseconds of a clock that does not jump, for waits. */
    now(): number;
    /** Epoch milliseconds of the wall clock, for signatures and stored times. */
    wallClock(): number;
    /** Returns early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  resolve: Resolve;
  /** If true, messages may be sent to private addresses. */
  allowPrivate: boolean;
  /** Returns a random number between 0 and 1. */
  random(): number;
  log: Log;
  /** The maximum number of webhooks that are served concurrently; the default is `SLOT_COUNTS`. */
  slots?: Record<'healthy' | 'failing', number>;
}

/** The receiver of an event. */
export interface Receiver {
  webhookId: string;
  url: string;
  connections: Connections;
  /** Aborts the attempt at once. */
  signal: AbortSignal;
}

/** An attempt and the Retry-After header of its response. */
export interface AttemptResult {
  attempt: Attempt;
  retryAfter: string | undefined;
}

/** Sends an event once. The body is the event as the API returns it, without an envelope. */
export async function attemptDelivery(
  deps: WebhookDeps,
  receiver: Receiver,
  event: StoredResource,
): Promise<AttemptResult> {
  const { clock, records, travel, log } = deps;
  const body = JSON.stringify(await serialize(eventResource, event, travel.store));
  const at = clock.wallClock();
  const began = clock.now();
  const secrets = await records.activeSecrets(receiver.webhookId, at);
  const message = { id: event.id, at, body };
  // An unsigned request is never sent.
  if (secrets.length === 0) log.error({ webhook: receiver.webhookId }, UNREADABLE_SECRET);
  const reply =
    secrets.length === 0
      ? { error: 'the secret cannot be read: make a new one' }
      : await postMessage(deps, receiver, { body, headers: signatureHeaders(message, secrets) });
  return toAttemptResult(reply, { at, latencyMs: Math.max(0, clock.now() - began) });
}

const UNREADABLE_SECRET =
  'the secret of a webhook cannot be read: JETBRIDGE_KEY or jetbridge.key is not the key that encrypted it';

/** Only 2xx is a success. Redirects are not followed, because their target has not been checked. */
function toAttemptResult(reply: Reply, attempt: Attempt): AttemptResult {
  if ('error' in reply) return { attempt: { ...attempt, error: reply.error }, retryAfter: undefined };
  const { status, retryAfter } = reply;
  if (status >= 200 && status <= 299) return { attempt: { ...attempt, status }, retryAfter };
  const isRedirect = status >= 300 && status <= 399;
  const error = isRedirect ? 'redirects are not followed' : `the endpoint answered ${status}`;
  return { attempt: { ...attempt, status, error }, retryAfter };
}

/** The message to sign. Its id is the same in repeated deliveries; `at` is in epoch milliseconds. */
export interface SignedMessage {
  id: string;
  at: number;
  body: string;
}

/** The headers of Standard Webhooks. Each active secret signs, so that a secret can be replaced without interruption. */
export function signatureHeaders({ id, at, body }: SignedMessage, secrets: string[]): Record<string, string> {
  const time = new Date(at);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(' '),
  };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * The delays after the first and each further failure, in milliseconds. The last one is used for all later failures.
 */
const RETRY_WAITS_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR];
/** Waits vary by this fraction, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** A delivery has failed for good this long after its first attempt, in milliseconds. */
const GIVE_UP_MS = 24 * HOUR;
/** Limit for the Retry-After of a receiver. */
const MAX_RETRY_AFTER_MS = 2 * HOUR;
/** A webhook is disabled if all attempts have failed for this long, in milliseconds. */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR;

/** Decides the state of a delivery after its last attempt. `retryAfter` is the response header, `random` is between 0 and 1. */
export function nextOutcome(
  attempts: Attempt[],
  { retryAfter, random }: { retryAfter: string | undefined; random: number },
): DeliveryOutcome {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (!first || !last) throw new Error('a delivery without an attempt has no outcome');
  if (last.error === undefined) return { status: 'succeeded', attempts };
  const endedAt = last.at + last.latencyMs;
  const wait = RETRY_WAITS_MS[Math.min(attempts.length, RETRY_WAITS_MS.length) - 1] ?? 0;
  const own = Math.round(wait * (1 - JITTER + 2 * JITTER * random));
  const nextAttemptAt = endedAt + Math.max(own, retryAfterMs(retryAfter, endedAt));
  if (nextAttemptAt > first.at + GIVE_UP_MS) return { status: 'failed', attempts };
  return { status: 'pending', attempts, nextAttemptAt };
}

/**
 * Parses Retry-After: "a non-negative decimal integer, representing time in seconds", or a date (RFC 9110 §10.2.3).
 * Anything else is 0.
 */
export function retryAfterMs(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const asked = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now;
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), MAX_RETRY_AFTER_MS);
}

/**
 * Standard Webhooks recommends "a reasonable timeout (15-30s)" at most; this one covers the whole attempt including the
 * name look-up.
 */
export const TIMEOUT_MS = 10_000;
/** At most this much of a response body, in bytes, is read and discarded, so that the connection can be reused. */
const MAX_BODY_BYTES = 16 * 1024;
/** Limit for interim responses (RFC 9110 §15.2): a receiver could send them without end and keep the process busy. */
const MAX_INTERIM = 10;

interface SignedRequest {
  headers: Record<string, string>;
  body: string;
}

/** The response, or the reason why there was none. */
type Reply = { status: number; retryAfter: string | undefined } | { error: string };

/** Connections to one receiver, kept alive between messages. */
export interface Connections {
  readonly plain: http.Agent;
  readonly secure: https.Agent;
  close(): void;
}

/** Creates the agents; connections open with the first message. */
export function openConnections(): Connections {
  const kept = { keepAlive: true, maxSockets: 1 };
  const plain = new http.Agent(kept);
  const secure = new https.Agent(kept);
  return {
    plain,
    secure,
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Sends a message and returns the response, or a failure after the time limit. Redirects are not followed. */
async function postMessage(deps: WebhookDeps, receiver: Receiver, message: SignedRequest): Promise<Reply> {
  const end = new AbortController();
  const stop = () => end.abort();
  receiver.signal.addEventListener('abort', stop);
  if (receiver.signal.aborted) stop();
  const late = deps.clock
    .wait(TIMEOUT_MS, end.signal)
    .then((): Reply => ({ error: `no complete answer within ${TIMEOUT_MS / 1000} seconds` }));
  try {
    return await Promise.race([postUntilFresh(deps, { ...receiver, signal: end.signal }, message), late]);
  } finally {
    stop();
    receiver.signal.removeEventListener('abort', stop);
  }
}

/** Retries on a new connection if the receiver closed a kept-alive connection while the message was sent. */
async function postUntilFresh(deps: WebhookDeps, receiver: Receiver, message: SignedRequest): Promise<Reply> {
  for (;;) {
    const { reply, isStale } = await postOnce(deps, receiver, message);
    if (!isStale || receiver.signal.aborted) return reply;
  }
}

function postOnce(
  { resolve, allowPrivate }: WebhookDeps,
  { url, connections: { plain, secure }, signal }: Receiver,
  { headers: signature, body }: SignedRequest,
): Promise<{ reply: Reply; isStale: boolean }> {
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Jetbridge-Webhooks',
    ...signature,
  };
  return new Promise((done) => {
    const fail = (error: unknown, request?: ClientRequest) => {
      const isStale = request?.reusedSocket === true && isReset(error);
      done({ reply: { error: failureText(error) }, isStale });
    };
    try {
      const to = new URL(url);
      const isSecure = to.protocol === 'https:';
      const options = { method: 'POST', headers, signal, lookup: guardedLookup(to, resolve, allowPrivate) };
      const request = isSecure
        ? https.request(to, { ...options, agent: secure })
        : http.request(to, { ...options, agent: plain });
      request.on('error', (error) => fail(error, request));
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM) request.destroy(new TooManyInterimError(MAX_INTERIM));
      });
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: answered } = response;
        drain(response, () =>
          done({ reply: { status, retryAfter: answered['retry-after'] }, isStale: false }),
        );
      });
      request.end(body);
    } catch (error) {
      fail(error);
    }
  });
}

/** Reads a limited part of the body; however it ends, the status has already been received. */
function drain(response: IncomingMessage, done: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) response.destroy();
  });
  response.on('error', done).on('close', done);
}

function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(errorCode(error));
}

/** The receiver sent too many interim responses and no final one. */
class TooManyInterimError extends Error {
  constructor(limit: number) {
    super(`more than ${limit} interim (1xx) answers came before the final one`);
    this.name = 'TooManyInterim';
  }
}

const failureTexts = new Map([
  ['ENOTFOUND', 'the host is not known'],
  ['ENODATA', 'the host is not known'],
  ['EAI_AGAIN', 'the name servers do not answer'],
  ['ETIMEOUT', 'the name servers do not answer'],
  ['ESERVFAIL', 'the name servers do not answer'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'the connection was closed without an answer'],
  ['EPIPE', 'the connection was closed without an answer'],
  ['ETIMEDOUT', 'the host cannot be reached'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the host cannot be reached'],
]);

/**
 * The reason of a failed attempt for the delivery history. It tells an admin what to mend and reveals nothing about our
 * network.
 */
export function failureText(error: unknown): string {
  if (error instanceof PrivateAddressError) return 'the host leads to a private address';
  if (error instanceof TooManyInterimError) return error.message;
  const code = errorCode(error);
  const known = failureTexts.get(code);
  if (known) return known;
  if (code.startsWith('HPE_')) return 'the answer is no HTTP';
  if (/CERT|SSL|TLS|ISSUER|SIGNATURE|EPROTO/.test(code))
    return `the certificate or the encryption is not accepted (${code})`;
  return code === '' ? 'the request failed' : `the request failed (${code})`;
}
