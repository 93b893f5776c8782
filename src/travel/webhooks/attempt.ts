import { present } from '../collection.ts';
import type { JsonObject } from '../json.ts';
import type { Log, TravelReading } from '../ports.ts';
import { event } from '../resources/event.ts';
import type { Attempt, WebhookRecords } from './ports.ts';
import { type Connections, type Reply, type SendingGround, send } from './send.ts';
import { type Message, signatureHeaders } from './signature.ts';

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
