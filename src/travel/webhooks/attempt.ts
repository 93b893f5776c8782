import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Webhook } from 'standardwebhooks';
import { serialize } from '../collection.ts';
import type { JsonObject } from '../json.ts';
import type { Log, TravelReader } from '../ports.ts';
import { event } from '../resources/event.ts';
import { errorCode, failureText, guardedLookup, type Resolve, TooManyInterimError } from './address-guard.ts';
import type { Attempt, DeliveryOutcome, WebhookRecords } from './ports.ts';

/** What an attempt takes of the world. */
export interface AttemptDeps extends SendDeps {
  store: TravelReader;
  records: Pick<WebhookRecords, 'activeSecrets'>;
  log: Log;
}

/** What to send where. */
export interface DeliveryTarget {
  webhookId: string;
  url: string;
  connections: Connections;
  signal: AbortSignal;
}

/** An attempt, and what of the answer counts for the next one. */
export interface AttemptResult {
  attempt: Attempt;
  retryAfter: string | undefined;
}

/** Sends an event, once. The body is the event as it is retrieved, without an envelope. */
export async function attemptDelivery(
  deps: AttemptDeps,
  target: DeliveryTarget,
  event: JsonObject & { id: string },
): Promise<AttemptResult> {
  const { now, wallClock } = deps.clock;
  const at = wallClock();
  const began = now();
  const secrets = await deps.records.activeSecrets(target.webhookId, at);
  const message = { id: event.id, at, body: JSON.stringify(event) };
  const reply =
    secrets.length === 0
      ? missingSecretReply(deps, target)
      : await sendSigned(deps, target, { message, secrets });
  return toAttemptResult(reply, { at, latencyMs: Math.max(0, now() - began) });
}

/** Nothing is sent unsigned. */
function missingSecretReply({ log }: AttemptDeps, { webhookId }: DeliveryTarget): Reply {
  log.error(
    { webhook: webhookId },
    'the secret of a webhook cannot be read: JETBRIDGE_KEY or jetbridge.key is not the one it was made with',
  );
  return { error: 'the secret cannot be read: make a new one' };
}

function sendSigned(
  deps: AttemptDeps,
  { url, connections, signal }: DeliveryTarget,
  { message, secrets }: { message: SignedMessage; secrets: string[] },
): Promise<Reply> {
  const { body } = message;
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Jetbridge-Webhooks',
    ...signatureHeaders(message, secrets),
  };
  return postMessage(deps, { url, connections, signal, headers, body });
}

/** The event as it is retrieved; undefined: it is older than events are kept. */
export async function readEvent(
  store: TravelReader,
  id: string,
): Promise<(JsonObject & { id: string }) | undefined> {
  const [stored] = await store.read([{ type: event.type, id }]);
  return stored && { id, ...(await serialize(event, stored, store)) };
}

/** "2xx" is a success; "3xx" is none: a redirect may lead where nobody looked. */
function toAttemptResult(reply: Reply, attempt: Attempt): AttemptResult {
  if ('error' in reply) return { attempt: { ...attempt, error: reply.error }, retryAfter: undefined };
  const { status, retryAfter } = reply;
  if (status >= 200 && status <= 299) return { attempt: { ...attempt, status }, retryAfter };
  const isRedirect = status >= 300 && status <= 399;
  const error = isRedirect ? 'redirects are not followed' : `the endpoint answered ${status}`;
  return { attempt: { ...attempt, status, error }, retryAfter };
}

/** What is signed: the id by which receivers recognise doubles, and the time in epoch milliseconds. */
export interface SignedMessage {
  id: string;
  at: number;
  body: string;
}

/** The headers of Standard Webhooks; signed with each secret, so that one can be replaced without an interruption. */
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

/** How long to wait after each failure; the last one again and again. */
const RETRY_WAITS_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR];
/** By how much of it a wait is shortened or prolonged, so that what failed together does not come back together. */
const JITTER = 0.2;
/** A delivery is tried this long, counted from its first attempt. */
const GIVE_UP_MS = 24 * HOUR;
/** A receiver may ask for more time, up to this. */
const MAX_RETRY_AFTER_MS = 2 * HOUR;
/** No wait is longer than this: the longest of the list, prolonged, or what a receiver asks for. */
export const MAX_WAIT_MS = Math.max((RETRY_WAITS_MS.at(-1) ?? 0) * (1 + JITTER), MAX_RETRY_AFTER_MS);
/** A webhook that fails this long, without one success, is disabled. */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR;

/** What becomes of a delivery after its last attempt. `retryAfter` is the header of the answer, `random` from 0 to 1. */
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

/** "a non-negative decimal integer, representing time in seconds", or a date (RFC 9110 §10.2.3); anything else asks for nothing. */
function retryAfterMs(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const asked = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now;
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), MAX_RETRY_AFTER_MS);
}

/** "a reasonable timeout (15-30s)" is the most that Standard Webhooks asks for; here it is for everything, the name look-up included. */
const TIMEOUT_MS = 10_000;
/** So much of an answer is read, so that the connection can be used again; nobody looks at it. */
const MAX_BODY_BYTES = 16 * 1024;
/** Interim answers (RFC 9110 §15.2) may come in any number, and reading them takes the time of the whole process. */
const MAX_INTERIM = 10;

/** What sending takes of the world. */
export interface SendDeps {
  clock: {
    /** Epoch milliseconds, by a clock that does not jump: for what waits. */
    now(): number;
    /** Epoch milliseconds, by the wall clock: for what is signed, kept and read. */
    wallClock(): number;
    /** Ends early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  resolve: Resolve;
  /** True: private addresses, too. */
  allowPrivate: boolean;
}

/** A message on its way to one receiver. */
export interface OutgoingMessage {
  url: string;
  headers: Record<string, string>;
  body: string;
  connections: Connections;
  /** Ends it at once. */
  signal: AbortSignal;
}

/** What came back: the status and what the answer asks for, or why there was none. */
export type Reply = { status: number; retryAfter: string | undefined } | { error: string };

/** Connections to one receiver, kept open from message to message. */
export interface Connections {
  readonly plain: http.Agent;
  readonly secure: https.Agent;
  close(): void;
}

/** Opens nothing yet. */
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

/** Posts a message and answers what came back in time. Redirects are not followed. */
export async function postMessage(deps: SendDeps, posting: OutgoingMessage): Promise<Reply> {
  const end = new AbortController();
  const stop = () => end.abort();
  posting.signal.addEventListener('abort', stop);
  if (posting.signal.aborted) stop();
  const late = deps.clock
    .wait(TIMEOUT_MS, end.signal)
    .then((): Reply => ({ error: `no complete answer transaction ${TIMEOUT_MS / 1000} seconds` }));
  try {
    return await Promise.race([postUntilFresh(deps, posting, end.signal), late]);
  } finally {
    stop();
    posting.signal.removeEventListener('abort', stop);
  }
}

/** A connection that was kept may have been closed by the receiver while the message went out: then a new one is tried. */
async function postUntilFresh(deps: SendDeps, posting: OutgoingMessage, signal: AbortSignal): Promise<Reply> {
  for (;;) {
    const { reply, isStale } = await postOnce(deps, posting, signal);
    if (!isStale || signal.aborted) return reply;
  }
}

function postOnce(
  { resolve, allowPrivate }: SendDeps,
  { url, headers, body, connections: { plain, secure } }: OutgoingMessage,
  signal: AbortSignal,
): Promise<{ reply: Reply; isStale: boolean }> {
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

/** The status counts; of the body only so much is read, however long it is and however it ends. */
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
