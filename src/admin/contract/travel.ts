import { z } from 'zod';
import type { Contract } from './operation.ts';
import { id, name, next, optionalInteger, optionalText, optionalTime, time, travelPage } from './schemas.ts';

const apiKey = z
  .object({
    id,
    name: z.string(),
    email: z.string().describe('The admin of the travel service on whose behalf it calls'),
    createdAt: time,
    lastUsedAt: optionalTime,
    revokedAt: optionalTime,
  })
  .meta({ id: 'TravelApiKey', description: 'A key of an integration that calls the travel API' });
export type TravelApiKey = z.input<typeof apiKey>;

export const travelWebhook = z
  .object({
    id,
    createdAt: time,
    url: z.string(),
    description: optionalText,
    disabled: z.boolean(),
    events: z.array(z.string()).optional().describe('Absent: every kind'),
  })
  .meta({ id: 'TravelWebhook' });
export type TravelWebhook = z.input<typeof travelWebhook>;

export const travelAttempt = z
  .object({
    at: time,
    latencyMs: z.int(),
    status: optionalInteger.describe('The status of the response, if there was one'),
    error: optionalText.describe('The reason for which the event does not count as delivered'),
  })
  .meta({ id: 'TravelAttempt', description: 'One attempt to reach the endpoint of a webhook' });
export type TravelAttempt = z.input<typeof travelAttempt>;

const deliveryStatus = z.enum(['pending', 'succeeded', 'failed', 'canceled']);

export const travelDelivery = z
  .object({
    id,
    createdAt: time,
    eventId: z.string(),
    kind: z.string(),
    status: deliveryStatus,
    nextAttemptAt: optionalTime,
    attempts: z.array(travelAttempt),
  })
  .meta({ id: 'TravelDelivery', description: 'The delivery of an event to a webhook' });
export type TravelDelivery = z.input<typeof travelDelivery>;

export const travelEvent = z
  .object({
    id,
    createdAt: time,
    kind: z.string(),
    data: z.record(z.string(), z.unknown()).describe('The resource after the change'),
    previousAttributes: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'TravelEvent' });
export type TravelEvent = z.input<typeof travelEvent>;

const body = z.object({ text: z.string(), cut: z.boolean().describe('True if only the beginning is kept') });

const request = z
  .object({
    requestId: z.string(),
    at: time,
    ms: z.number(),
    method: z.string(),
    path: z.string(),
    status: z.int(),
    user: optionalText.describe('The email address of the caller, or the id'),
    credential: optionalText,
    requestBody: body.optional(),
    responseBody: body.optional(),
  })
  .meta({ id: 'TravelRequest', description: 'A request to the travel API' });
export type TravelRequest = z.input<typeof request>;

const webhookMembers = {
  url: z.string(),
  description: z.string().max(1_000, 'has at most 1,000 characters'),
  events: z.array(z.string().max(100)).max(200),
  disabled: z.boolean(),
};

const tag = 'Travel service';

/** The embedded travel service as its developers need it. Without it, all operations but the first answer 404. */
export const travelContract = {
  describeTravelService: {
    ...{ method: 'get', path: '/travel', tag, access: 'viewer' },
    summary: 'Tell whether the embedded travel service is in use, or where the others are',
    result: z.object({
      embedded: z.boolean(),
      others: z.array(z.object({ connection: z.string(), url: z.string() })),
      admins: z
        .array(z.string())
        .describe('Email addresses of admins of the embedded service, to whom keys can belong'),
      eventKinds: z.array(z.string()).describe('The kinds of events that a webhook can select'),
    }),
  },
  listTravelApiKeys: {
    ...{ method: 'get', path: '/travel/api-keys', tag, access: 'viewer' },
    summary: 'List the API keys, oldest first',
    result: z.object({ keys: z.array(apiKey) }),
    errors: ['notFound'],
  },
  createTravelApiKey: {
    ...{ method: 'post', path: '/travel/api-keys', tag, access: 'admin' },
    summary: 'Create an API key that is shown once',
    body: z.strictObject({ name, email: z.email('must be an email address').max(320) }),
    result: z.object({ id, key: z.string() }),
    errors: ['notFound', 'conflict'],
  },
  revokeTravelApiKey: {
    ...{ method: 'delete', path: '/travel/api-keys/{id}', tag, access: 'admin' },
    summary: 'Revoke an API key',
  },
  listTravelWebhooks: {
    ...{ method: 'get', path: '/travel/webhooks', tag, access: 'viewer' },
    summary: 'List the webhooks, newest first, at most 100',
    result: z.object({ webhooks: z.array(travelWebhook) }),
    errors: ['notFound'],
  },
  createTravelWebhook: {
    ...{ method: 'post', path: '/travel/webhooks', tag, access: 'admin' },
    summary: 'Create a webhook, whose secret is shown once',
    body: z.strictObject(webhookMembers).partial({ description: true, events: true, disabled: true }),
    result: z.object({
      webhook: travelWebhook,
      secret: z.string().describe('Signs the requests to the endpoint (Standard Webhooks)'),
    }),
    errors: ['notFound', 'conflict'],
  },
  updateTravelWebhook: {
    ...{ method: 'patch', path: '/travel/webhooks/{id}', tag, access: 'admin' },
    summary: 'Change a webhook. Members that are left out stay; null removes one',
    body: z
      .strictObject({
        ...webhookMembers,
        description: webhookMembers.description.nullable(),
        events: webhookMembers.events.nullable().describe('null: every kind'),
      })
      .partial(),
    result: travelWebhook,
    errors: ['conflict'],
  },
  deleteTravelWebhook: {
    ...{ method: 'delete', path: '/travel/webhooks/{id}', tag, access: 'admin' },
    summary: 'Delete a webhook with its deliveries',
    errors: ['conflict'],
  },
  renewTravelWebhookSecret: {
    ...{ method: 'post', path: '/travel/webhooks/{id}/secret', tag, access: 'admin' },
    summary: 'Make a new secret for a webhook, which is shown once. The one before signs for 24 hours too',
    result: z.object({ secret: z.string() }),
  },
  listTravelDeliveries: {
    ...{ method: 'get', path: '/travel/webhooks/{id}/deliveries', tag, access: 'viewer' },
    summary: 'List the deliveries of a webhook, newest first',
    query: z.strictObject({ status: deliveryStatus.optional(), ...travelPage }),
    result: z.object({ deliveries: z.array(travelDelivery), next }),
  },
  testTravelWebhook: {
    ...{ method: 'post', path: '/travel/webhooks/{id}/test', tag, access: 'admin' },
    summary: 'Send a test event to a webhook and return the attempt',
    result: travelAttempt,
  },
  redeliverTravelEvent: {
    ...{
      ...{ method: 'post', path: '/travel/webhooks/{id}/deliveries/{delivery}/redeliver', tag },
      access: 'admin',
    },
    summary: 'Deliver the event of a delivery once more, as a new delivery',
    result: travelDelivery,
    errors: ['conflict'],
  },
  listTravelRequests: {
    ...{ method: 'get', path: '/travel/requests', tag, access: 'viewer' },
    summary: 'List the requests to the travel API, newest first. A page can be short although others follow',
    query: z.strictObject({
      failed: z.enum(['true']).optional().describe('Only statuses from 400'),
      path: z
        .string()
        .max(300)
        .regex(/^\/\P{Cc}*$/u, 'must begin with / and have no control characters')
        .optional()
        .describe('This path and those below it, e.g. `/api/users`'),
      after: travelPage.after
        .unwrap()
        .regex(/^\d{1,15}$/, 'is not the end of a page')
        .optional(),
      limit: travelPage.limit,
    }),
    result: z.object({ requests: z.array(request), next }),
    errors: ['notFound'],
  },
  listTravelEvents: {
    ...{ method: 'get', path: '/travel/events', tag, access: 'viewer' },
    summary: 'List the events, newest first',
    query: z.strictObject(travelPage),
    result: z.object({ events: z.array(travelEvent), next }),
    errors: ['notFound'],
  },
} as const satisfies Contract;
