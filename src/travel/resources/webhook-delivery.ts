import { z } from 'zod';
import { dateTime, oneOf, text } from '../fields.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { defineResource } from '../resource.ts';
import { deliveryStatuses } from '../webhooks/ports.ts';
import { eventKinds } from './event.ts';

/** One try to reach the endpoint of a webhook. */
export const attempt = z
  .strictObject({
    at: dateTime,
    error: text.optional().meta({ description: 'Why the event does not count as delivered' }),
    latencyMs: z.int().meta({ description: 'Until the answer was there, or the attempt failed' }),
    status: z.int().optional().meta({ description: 'Of the answer, if there was one' }),
  })
  .meta({ id: 'WebhookAttempt' });

/** What became of an event that a webhook selected. */
export const webhookDelivery = defineResource({
  type: 'webhookDelivery',
  path: 'deliveries',
  idForm: 'A',
  schema: z
    .strictObject({
      attempts: z.array(attempt).meta({ description: 'The oldest first' }),
      eventId: text,
      kind: oneOf(eventKinds),
      nextAttemptAt: dateTime.optional(),
      status: oneOf(deliveryStatuses),
    })
    .meta({ description: 'The way of an event to a webhook' }),
  operations: ['list', 'retrieve'],
  cursor: true,
  sortBy: [],
  filters: ['status'],
  parent: { type: 'webhook', path: 'webhooks', outlived: true },
  rules: { present: async (resources) => resources.map(({ doc }) => presented(doc)) },
  example: {
    attempts: [{ at: '2026-11-20T12:00:01Z', latencyMs: 83, status: 204 }],
    eventId: '5d3b0a1c9e8f7a6b5c4d3e30',
    kind: 'invoice.created',
    status: 'succeeded',
  },
});

/** Kept times are numbers. */
function presented({ attempts, nextAttemptAt, ...doc }: JsonObject): JsonObject {
  const tried = (Array.isArray(attempts) ? attempts : []).filter(isObject).map(presentedAttempt);
  const next = nextAttemptAt === undefined ? {} : { nextAttemptAt: seconds(nextAttemptAt) };
  return { attempts: tried, ...doc, ...next };
}

/** An attempt as it is answered. */
export function presentedAttempt({ at = 0, ...rest }: JsonObject): JsonObject {
  return { at: seconds(at), ...rest };
}

function seconds(time: Json): string {
  return `${new Date(Number(time)).toISOString().slice(0, 19)}Z`;
}
