import { z } from 'zod';
import { hideUrlCredentials, redactWebhookUrl } from '../../http/redaction.ts';
import type { ExchangeQuery, KeptBody } from '../../log/exchange.ts';
import { apiKeys } from '../../store/credentials/credentials.ts';
import { createApiKey, listApiKeys } from '../../travel/api-keys.ts';
import { parseData } from '../../travel/app.ts';
import { create, patch, remove } from '../../travel/changes.ts';
import { type ListPage, list, type RequestTarget, type TravelDeps } from '../../travel/collection.ts';
import type { JsonObject } from '../../travel/json.ts';
import type { TravelReader } from '../../travel/ports.ts';
import { defineResource, type Resource } from '../../travel/resource.ts';
import { event, eventKinds } from '../../travel/resources/event.ts';
import { ADMIN_INDEX, user } from '../../travel/resources/user.ts';
import { webhook, webhookDelivery } from '../../travel/resources/webhook.ts';
import type { Handlers } from '../contract/operation.ts';
import {
  travelAttempt,
  type travelContract,
  travelDelivery,
  travelEvent,
  travelWebhook,
} from '../contract/travel.ts';
import { type AdminDeps, requireEmbedded } from '../deps.ts';
import { noSuch } from '../errors.ts';
import type { AdminContext } from '../router.ts';

const WEBHOOKS = 100;

type TravelHandlers = Handlers<typeof travelContract, AdminContext>;

/** Handles the API keys, webhooks, requests and events of the embedded travel service. */
export function travelHandlers(deps: AdminDeps): TravelHandlers {
  const service = () => requireEmbedded(deps);
  return {
    describeTravelService: async () => ({
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
    ...apiKeyHandlers(deps),
    ...webhookHandlers(service),
    listTravelRequests: ({ query: { failed, path, after, limit } }) =>
      listRequests(deps, {
        status: failed ? { from: 400, to: 599 } : undefined,
        ...{ pathBelow: path, before: after, limit },
      }),
    listTravelEvents: async ({ query }, { caller }) => {
      const { data, ...page } = await listNewest(event, service(), query);
      const events = z.array(travelEvent).parse(data);
      return { events: caller?.role === 'admin' ? events : events.map(withoutEventSecrets), ...page };
    },
  };
}

const MAX_ADMINS = 50;

async function listAdmins(store: TravelReader): Promise<string[]> {
  const { name, value } = ADMIN_INDEX;
  const admins = await store.find({ type: user.type, name, values: [value], limit: MAX_ADMINS });
  return admins.map(({ doc }) => String(doc['email'])).sort();
}

function apiKeyHandlers(deps: AdminDeps) {
  const keys = apiKeys(deps.database);
  return {
    listTravelApiKeys: async () => {
      const { travel } = requireEmbedded(deps);
      return { keys: await listApiKeys({ keys, reader: travel.store }) };
    },
    createTravelApiKey: async ({ body }, { note }) => {
      note(body);
      const { travel } = requireEmbedded(deps);
      const { store: reader, now, newId } = travel;
      const created = await createApiKey({ keys, reader, now, newId: () => newId('B') }, body);
      note({ id: created.id });
      return created;
    },
    revokeTravelApiKey: async ({ params: { id } }) => {
      const { travel } = requireEmbedded(deps);
      if (!(await keys.revoke(id, travel.now()))) throw noSuch('API key');
    },
  } satisfies Partial<TravelHandlers>;
}

const webhookWithSecret = travelWebhook.extend({ secret: z.string() });

function webhookHandlers(service: () => ReturnType<typeof requireEmbedded>) {
  const collection = () => ({ resource: webhook, deps: service().travel });
  return {
    listTravelWebhooks: async (_input, { caller }) => {
      const { data } = await listNewest(webhook, service(), { limit: WEBHOOKS });
      const webhooks = z.array(travelWebhook).parse(data);
      return { webhooks: caller?.role === 'admin' ? webhooks : webhooks.map(withoutSecrets) };
    },
    createTravelWebhook: async ({ body }, { note }) => {
      note(withoutSecrets(body));
      const made = await create(collection(), targetOf(''), parseData({ data: body }));
      const { secret, ...created } = webhookWithSecret.parse(made);
      note({ id: created.id });
      return { webhook: created, secret };
    },
    updateTravelWebhook: async ({ params: { id }, body }, { note }) => {
      note(withoutSecrets(body));
      return travelWebhook.parse(await patch(collection(), targetOf(id), parseData({ data: body })));
    },
    deleteTravelWebhook: async ({ params: { id } }) => {
      await remove(collection(), targetOf(id));
    },
    renewTravelWebhookSecret: async ({ params: { id } }) => {
      const { secret } = webhookWithSecret.parse(await service().webhooks.replaceSecret(targetOf(id)));
      return { secret };
    },
    listTravelDeliveries: async ({ params: { id }, query }) => {
      const { data, ...page } = await listNewest(webhookDelivery, service(), query, id);
      return { deliveries: z.array(travelDelivery).parse(data), ...page };
    },
    testTravelWebhook: async ({ params: { id } }) =>
      travelAttempt.parse(await service().webhooks.sendTestEvent(targetOf(id))),
    redeliverTravelEvent: async ({ params: { id, delivery } }) =>
      travelDelivery.parse(await service().webhooks.redeliver(targetOf(delivery, id))),
  } satisfies Partial<TravelHandlers>;
}

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

/** Names the callers by their email addresses; one who is gone has the id. */
async function listRequests(
  deps: AdminDeps,
  query: Pick<ExchangeQuery, 'status' | 'pathBelow' | 'before' | 'limit'>,
) {
  const { travel } = requireEmbedded(deps);
  const { exchanges, next } = await deps.exchanges.list({ ...query, direction: 'api' });
  const ids = [...new Set(exchanges.flatMap(({ userId }) => userId ?? []))];
  const users = await travel.store.read(ids.map((id) => ({ type: user.type, id })));
  const emails = new Map(users.map(({ id, doc }) => [id, String(doc['email'])]));
  const requests = exchanges.map(({ userId, ...exchange }) => ({
    ...exchange,
    status: exchange.status ?? 0,
    requestId: exchange.requestId ?? '-',
    user: userId === undefined ? undefined : (emails.get(userId) ?? userId),
    requestBody: toListedBody(exchange.requestBody),
    responseBody: toListedBody(exchange.responseBody),
  }));
  return { requests, next };
}

function toListedBody(body: KeptBody | undefined) {
  return body && { text: body.text, cut: body.isCut };
}
