import { z } from 'zod';
import { hideUrlCredentials, redactWebhookUrl } from '../../http/redaction.ts';
import { parseData } from '../../travel/app.ts';
import { create, patch, remove } from '../../travel/changes.ts';
import { type ListPage, list, type RequestTarget, type TravelDeps } from '../../travel/collection.ts';
import { defineResource, type Resource } from '../../travel/declaration/resource.ts';
import type { JsonObject } from '../../travel/json.ts';
import type { TravelReader } from '../../travel/ports.ts';
import { event, eventKinds } from '../../travel/resources/event.ts';
import { ADMIN_INDEX, user } from '../../travel/resources/user.ts';
import { webhook, webhookDelivery } from '../../travel/resources/webhook.ts';
import { requireEmbedded, type ServiceDeps } from '../deps.ts';
import { type Operations, serviceOperation } from '../operation.ts';
import { id, next, optionalInteger, optionalText, optionalTime, time, travelPage } from '../schemas.ts';

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

const webhookMembers = {
  url: z.string(),
  description: z.string().max(1_000, 'has at most 1,000 characters'),
  events: z.array(z.string().max(100)).max(200),
  disabled: z.boolean(),
};

const tag = 'Travel service';

/** The embedded travel service as its developers need it. Without it, all operations but the first answer 404. */
export const travelOperations = {
  describeTravelService: serviceOperation(
    {
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
    async (_input, deps) => ({
      embedded: deps.embedded !== undefined,
      others: deps.connections
        .filter(({ settings: { travelApi } }) => travelApi.url !== 'embedded')
        .map(({ settings: { id, travelApi } }) => ({
          connection: id,
          url: hideUrlCredentials(travelApi.url),
        })),
      admins: deps.embedded ? await listAdmins(deps.embedded.travel.store) : [],
      eventKinds: deps.embedded ? [...eventKinds] : [],
    }),
  ),
  listTravelWebhooks: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/webhooks', tag, access: 'viewer' },
      summary: 'List the webhooks, newest first, at most 100',
      result: z.object({ webhooks: z.array(travelWebhook) }),
      errors: ['notFound'],
    },
    async (_input, deps, { caller }) => {
      const { data } = await listNewest(webhook, requireEmbedded(deps), { limit: WEBHOOKS });
      const webhooks = z.array(travelWebhook).parse(data);
      return { webhooks: caller?.role === 'admin' ? webhooks : webhooks.map(withoutSecrets) };
    },
  ),
  createTravelWebhook: serviceOperation(
    {
      ...{ method: 'post', path: '/travel/webhooks', tag, access: 'admin' },
      summary: 'Create a webhook, whose secret is shown once',
      body: z.strictObject(webhookMembers).partial({ description: true, events: true, disabled: true }),
      result: z.object({
        webhook: travelWebhook,
        secret: z.string().describe('Signs the requests to the endpoint (Standard Webhooks)'),
      }),
      errors: ['notFound', 'conflict'],
    },
    async ({ body }, deps, { note }) => {
      note(withoutSecrets(body));
      const made = await create(webhooksOf(deps), targetOf(''), parseData({ data: body }));
      const { secret, ...created } = webhookWithSecret.parse(made);
      note({ id: created.id });
      return { webhook: created, secret };
    },
  ),
  updateTravelWebhook: serviceOperation(
    {
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
    async ({ params: { id }, body }, deps, { note }) => {
      note(withoutSecrets(body));
      return travelWebhook.parse(await patch(webhooksOf(deps), targetOf(id), parseData({ data: body })));
    },
  ),
  deleteTravelWebhook: serviceOperation(
    {
      ...{ method: 'delete', path: '/travel/webhooks/{id}', tag, access: 'admin' },
      summary: 'Delete a webhook with its deliveries',
      errors: ['conflict'],
    },
    async ({ params: { id } }, deps) => {
      await remove(webhooksOf(deps), targetOf(id));
    },
  ),
  renewTravelWebhookSecret: serviceOperation(
    {
      ...{ method: 'post', path: '/travel/webhooks/{id}/secret', tag, access: 'admin' },
      summary: 'Make a new secret for a webhook, which is shown once. The one before signs for 24 hours too',
      result: z.object({ secret: z.string() }),
    },
    async ({ params: { id } }, deps) => {
      const { secret } = webhookWithSecret.parse(
        await requireEmbedded(deps).webhooks.replaceSecret(targetOf(id)),
      );
      return { secret };
    },
  ),
  listTravelDeliveries: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/webhooks/{id}/deliveries', tag, access: 'viewer' },
      summary: 'List the deliveries of a webhook, newest first',
      query: z.strictObject({ status: deliveryStatus.optional(), ...travelPage }),
      result: z.object({ deliveries: z.array(travelDelivery), next }),
    },
    async ({ params: { id }, query }, deps) => {
      const { data, ...page } = await listNewest(webhookDelivery, requireEmbedded(deps), query, id);
      return { deliveries: z.array(travelDelivery).parse(data), ...page };
    },
  ),
  testTravelWebhook: serviceOperation(
    {
      ...{ method: 'post', path: '/travel/webhooks/{id}/test', tag, access: 'admin' },
      summary: 'Send a test event to a webhook and return the attempt',
      result: travelAttempt,
    },
    async ({ params: { id } }, deps) =>
      travelAttempt.parse(await requireEmbedded(deps).webhooks.sendTestEvent(targetOf(id))),
  ),
  redeliverTravelEvent: serviceOperation(
    {
      ...{
        ...{ method: 'post', path: '/travel/webhooks/{id}/deliveries/{delivery}/redeliver', tag },
        access: 'admin',
      },
      summary: 'Deliver the event of a delivery once more, as a new delivery',
      result: travelDelivery,
      errors: ['conflict'],
    },
    async ({ params: { id, delivery } }, deps) =>
      travelDelivery.parse(await requireEmbedded(deps).webhooks.redeliver(targetOf(delivery, id))),
  ),
  listTravelEvents: serviceOperation(
    {
      ...{ method: 'get', path: '/travel/events', tag, access: 'viewer' },
      summary: 'List the events, newest first',
      query: z.strictObject(travelPage),
      result: z.object({ events: z.array(travelEvent), next }),
      errors: ['notFound'],
    },
    async ({ query }, deps, { caller }) => {
      const { data, ...page } = await listNewest(event, requireEmbedded(deps), query);
      const events = z.array(travelEvent).parse(data);
      return { events: caller?.role === 'admin' ? events : events.map(withoutEventSecrets), ...page };
    },
  ),
} satisfies Operations;

const WEBHOOKS = 100;

/** The collection of webhooks of the embedded travel service. */
function webhooksOf(deps: ServiceDeps) {
  return { resource: webhook, deps: requireEmbedded(deps).travel };
}

const MAX_ADMINS = 50;

async function listAdmins(store: TravelReader): Promise<string[]> {
  const { name, value } = ADMIN_INDEX;
  const admins = await store.find({ type: user.type, name, values: [value], limit: MAX_ADMINS });
  return admins.map(({ doc }) => String(doc['email'])).sort();
}

const webhookWithSecret = travelWebhook.extend({ secret: z.string() });

/** A webhook for the audit log and for viewers. Its URL often contains the secret of the receiver. */
function withoutSecrets<T extends { url?: string | undefined }>(given: T): T {
  return given.url === undefined ? given : { ...given, url: redactWebhookUrl(given.url) };
}

/** An event for viewers: those of webhooks have their URLs. */
function withoutEventSecrets(given: z.infer<typeof travelEvent>): z.infer<typeof travelEvent> {
  if (!given.kind.startsWith('webhook.')) return given;
  const { data, previousAttributes } = given;
  return {
    ...given,
    data: withoutSecrets(data),
    ...(previousAttributes && { previousAttributes: withoutSecrets(previousAttributes) }),
  };
}

/** Returns the address of a resource. No user of the travel service is the caller: admins of the page need not be among them. */
export function targetOf(id: string, parentId = ''): RequestTarget {
  return { id, parentId, caller: '' };
}

interface NewestQuery {
  status?: string | undefined;
  /** The `next` of the page before. */
  after?: string | undefined;
  limit: number;
}

/** Reads a page of a resource, the newest first. The travel API has cursors for some resources only, but the store has them for all. */
export function listNewest(
  resource: Resource,
  { travel }: { travel: TravelDeps },
  { status, ...page }: NewestQuery,
  parentId?: string,
): Promise<{ data: JsonObject[]; next?: string }> {
  const filter = status === undefined ? {} : { status };
  const collection = { resource: defineResource({ ...resource, cursor: true }), deps: travel };
  return newestFirst(page, (query) => list(collection, targetOf('', parentId), { ...query, ...filter }));
}

/** Reads a cursor page, the newest resources first. Unlike offsets, a cursor stays right while resources are added. */
export async function newestFirst(
  { limit, after }: NewestQuery,
  read: (query: Record<string, string>) => Promise<ListPage>,
): Promise<{ data: JsonObject[]; next?: string }> {
  const { data, meta } = await read({
    ...{ limit: String(limit), order: 'desc', pageKind: 'cursor' },
    ...(after === undefined ? {} : { after }),
  });
  const next = meta['nextAfter'];
  return { data, ...(typeof next === 'string' ? { next } : {}) };
}
