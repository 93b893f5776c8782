import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isPrivateHost } from '../../http/address-guard.ts';
import { checked, dateTime, flag, oneOf, text } from '../declaration/fields.ts';
import { type Change, type DeclaredSecret, defineResource } from '../declaration/resource.ts';
import type { FieldFault } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { fieldFault } from '../requests/validation.ts';
import { deliveryStatuses } from '../webhooks/ports.ts';
import { eventKinds } from './event.ts';

const LONGEST_URL = 2048;

const url = checked(
  'url',
  `must be an http or https URL without credentials, at most ${LONGEST_URL} characters long`,
  isReceiverUrl,
).meta({
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
  maxLength: LONGEST_URL,
  examples: ['https://example.com/travel'],
});

/**
 * The number of bytes of a secret, "between 24 bytes (192 bits) and 64 bytes (512 bits)" (Standard Webhooks, "Signature
 * scheme").
 */
const BYTES = 32;

/** The secret that signs a webhook's requests; "base64 encoded, prefixed with whsec_" (Standard Webhooks). */
export const webhookSecret: DeclaredSecret = {
  field: 'secret',
  example: `whsec_${Buffer.from('not a secret, but an example of it').subarray(0, BYTES).toString('base64')}`,
  make: () => `whsec_${randomBytes(BYTES).toString('base64')}`,
};

/** The resource of webhooks, "which deliver events to an application endpoint" (specification). */
export const webhook = defineResource({
  type: 'webhook',
  path: 'webhooks',
  idForm: 'A',
  schema: z
    .strictObject({
      description: text.optional(),
      disabled: flag,
      events: z
        .array(oneOf(eventKinds))
        // A client that removes the last kind wants no events, but an absent list means all kinds.
        .refine((kinds) => kinds.length > 0, {
          error: 'must name at least one kind: leave it out for every kind, or set "disabled" for none',
          params: { code: 'required' },
        })
        .optional()
        .meta({ minItems: 1, description: 'The kinds of events to deliver; if left out, every kind' }),
      url,
    })
    .meta({ description: 'An endpoint of an application, to which events are delivered' }),
  secret: webhookSecret,
  events: ['created', 'updated', 'deleted'],
  rules: {
    check: async ({ wanted, privateReceivers }) => ({
      doc: withoutRepeats(wanted),
      invalid: privateReceivers ? [] : privateReceiverFaults(wanted),
    }),
    index: ({ doc }) => selectedKinds(doc).map((value) => ({ name: 'kind', value })),
  },
  example: {
    description: 'Tells the expense tool of new invoices',
    events: ['invoice.created', 'invoice.updated'],
    url: 'https://expenses.example.com/travel-events',
  },
});

function isReceiverUrl(given: string): boolean {
  // Refuses input that the URL parser would silently correct, because it is likely a mistake.
  if (given.length > LONGEST_URL || !/^https?:\/\/[^\s\\]+$/i.test(given) || !URL.canParse(given))
    return false;
  const { username, password } = new URL(given);
  return username === '' && password === '';
}

function withoutRepeats(wanted: Change['wanted']): JsonObject {
  const { events } = wanted;
  return Array.isArray(events) ? { ...wanted, events: [...new Set<Json>(events)] } : wanted;
}

function privateReceiverFaults(wanted: JsonObject): FieldFault[] {
  if (!isPrivateHost(new URL(String(wanted['url'])).hostname)) return [];
  return [fieldFault('url', ['url'], wanted, 'must not lead to a private address')];
}

/** The index entries by which events find webhooks; a disabled webhook has none. */
function selectedKinds({ disabled, events }: JsonObject): string[] {
  if (disabled === true) return [];
  return Array.isArray(events) ? events.map(String) : ['*'];
}

/** The query parameters of a test. */
export const testParameters = z.strictObject({
  kind: z
    .enum(eventKinds, { error: `one of ${eventKinds.join(', ')}` })
    .optional()
    .describe('The kind of event to send, by default `webhook.updated`.'),
});

/** One attempt to reach the endpoint of a webhook. */
export const attempt = z
  .strictObject({
    at: dateTime,
    error: text.optional().meta({ description: 'Why the event does not count as delivered' }),
    latencyMs: z.int().meta({ description: 'Milliseconds until the response, or until the attempt failed' }),
    status: z.int().optional().meta({ description: 'The HTTP status of the response, if there was one' }),
  })
  .meta({ id: 'WebhookAttempt', examples: [{ at: '2026-11-20T12:00:01Z', latencyMs: 83, status: 204 }] });

/** The delivery of an event to a webhook, with its attempts. */
export const webhookDelivery = defineResource({
  type: 'webhookDelivery',
  path: 'deliveries',
  idForm: 'A',
  schema: z
    .strictObject({
      attempts: z.array(attempt).meta({ description: 'The attempts, the oldest first' }),
      eventId: text,
      kind: oneOf(eventKinds),
      nextAttemptAt: dateTime.optional(),
      status: oneOf(deliveryStatuses),
    })
    .meta({ description: 'The delivery of an event to a webhook' }),
  isReadOnly: true,
  cursor: true,
  filters: ['status'],
  parent: { type: 'webhook', path: 'webhooks', outlived: true },
  rules: { serialize: async (resources) => resources.map(({ doc }) => serializeDelivery(doc)) },
  example: {
    attempts: [{ at: '2026-11-20T12:00:01Z', latencyMs: 83, status: 204 }],
    eventId: '5d3b0a1c9e8f7a6b5c4d3e30',
    kind: 'invoice.created',
    status: 'succeeded',
  },
});

/** Times are stored as numbers. */
function serializeDelivery({ attempts, nextAttemptAt, ...doc }: JsonObject): JsonObject {
  const tried = (Array.isArray(attempts) ? attempts : []).filter(isJsonObject).map(serializeAttempt);
  const next = nextAttemptAt === undefined ? {} : { nextAttemptAt: seconds(nextAttemptAt) };
  return { attempts: tried, ...doc, ...next };
}

/** An attempt in response form. */
export function serializeAttempt({ at = 0, ...rest }: JsonObject): JsonObject {
  return { at: seconds(at), ...rest };
}

function seconds(time: Json): string {
  return `${new Date(Number(time)).toISOString().slice(0, 19)}Z`;
}
