import { Webhook } from 'standardwebhooks';
import { present } from '../collection.ts';
import type { JsonObject } from '../json.ts';
import type { Log, TravelReading } from '../ports.ts';
import { event } from '../resources/event.ts';
import type { Attempt, DeliveryOutcome, WebhookRecords } from './ports.ts';
import { type Connections, type Reply, type SendingGround, send } from './send.ts';

/** What an attempt takes of the world. */
export interface AttemptGround extends SendingGround {
  store: TravelReading;
  records: Pick<WebhookRecords, 'secrets'>;
  log: Log;
}

/** What to send where. */
export interface Target {
  webhookId: string;
  url: string;
  connections: Connections;
  signal: AbortSignal;
}

/** An attempt, and what of the answer counts for the next one. */
export interface Attempted {
  attempt: Attempt;
  retryAfter: string | undefined;
}

/** Sends an event, once. The body is the event as it is retrieved, without an envelope. */
export async function attemptDelivery(
  ground: AttemptGround,
  target: Target,
  event: JsonObject & { id: string },
): Promise<Attempted> {
  const { now, wallClock } = ground.clock;
  const at = wallClock();
  const began = now();
  const secrets = await ground.records.secrets(target.webhookId, at);
  const message = { id: event.id, at, body: JSON.stringify(event) };
  const reply =
    secrets.length === 0
      ? unreadable(ground, target)
      : await sendSigned(ground, target, { message, secrets });
  return judged(reply, { at, latencyMs: Math.max(0, now() - began) });
}

/** Nothing is sent unsigned. */
function unreadable({ log }: AttemptGround, { webhookId }: Target): Reply {
  log.error(
    { webhook: webhookId },
    'the secret of a webhook cannot be read: JETBRIDGE_KEY or jetbridge.key is not the one it was made with',
  );
  return { error: 'the secret cannot be read: make a new one' };
}

function sendSigned(
  ground: AttemptGround,
  { url, connections, signal }: Target,
  { message, secrets }: { message: Message; secrets: string[] },
): Promise<Reply> {
  const { body } = message;
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Jetbridge-Webhooks',
    ...signatureHeaders(message, secrets),
  };
  return send(ground, { url, connections, signal, headers, body });
}

/** The event as it is retrieved; undefined: it is older than events are kept. */
export async function eventOf(
  store: TravelReading,
  id: string,
): Promise<(JsonObject & { id: string }) | undefined> {
  const [stored] = await store.read([{ type: event.type, id }]);
  return stored && { id, ...(await present(event, stored, store)) };
}

/** "2xx" is a success; "3xx" is none: a redirect may lead where nobody looked. */
function judged(reply: Reply, attempt: Attempt): Attempted {
  if ('error' in reply) return { attempt: { ...attempt, error: reply.error }, retryAfter: undefined };
  const { status, retryAfter } = reply;
  if (status >= 200 && status <= 299) return { attempt: { ...attempt, status }, retryAfter };
  const isRedirect = status >= 300 && status <= 399;
  const error = isRedirect ? 'redirects are not followed' : `the endpoint answered ${status}`;
  return { attempt: { ...attempt, status, error }, retryAfter };
}

/** What is signed: the id by which receivers recognise doubles, and the time in epoch milliseconds. */
export interface Message {
  id: string;
  at: number;
  body: string;
}

/** The headers of Standard Webhooks; signed with each secret, so that one can be replaced without an interruption. */
export function signatureHeaders({ id, at, body }: Message, secrets: string[]): Record<string, string> {
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
const WAITS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR];
/** By how much of it a wait is shortened or prolonged, so that what failed together does not come back together. */
const JITTER = 0.2;
/** A delivery is tried this long, counted from its first attempt. */
const TRIED_MS = 24 * HOUR;
/** A receiver may ask for more time, up to this. */
const LONGEST_ASKED_MS = 2 * HOUR;
/** No wait is longer than this: the longest of the list, prolonged, or what a receiver asks for. */
export const LONGEST_WAIT_MS = Math.max((WAITS.at(-1) ?? 0) * (1 + JITTER), LONGEST_ASKED_MS);
/** A webhook that fails this long, without one success, is disabled. */
export const FAILING_MS = 5 * 24 * HOUR;

/** What becomes of a delivery after its last attempt. `retryAfter` is the header of the answer, `random` from 0 to 1. */
export function outcomeOf(
  attempts: Attempt[],
  { retryAfter, random }: { retryAfter: string | undefined; random: number },
): DeliveryOutcome {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (!first || !last) throw new Error('a delivery without an attempt has no outcome');
  if (last.error === undefined) return { status: 'succeeded', attempts };
  const endedAt = last.at + last.latencyMs;
  const wait = WAITS[Math.min(attempts.length, WAITS.length) - 1] ?? 0;
  const own = Math.round(wait * (1 - JITTER + 2 * JITTER * random));
  const nextAttemptAt = endedAt + Math.max(own, askedFor(retryAfter, endedAt));
  if (nextAttemptAt > first.at + TRIED_MS) return { status: 'failed', attempts };
  return { status: 'pending', attempts, nextAttemptAt };
}

/** "a non-negative decimal integer, representing time in seconds", or a date (RFC 9110 §10.2.3); anything else asks for nothing. */
function askedFor(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  const asked = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now;
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_ASKED_MS);
}
