import { z } from 'zod';
import { redactWebhookUrl } from '../../http/redaction.ts';
import type { Handlers } from '../contract/operation.ts';
import { toTime } from '../contract/schemas.ts';
import {
  travelAttempt,
  type travelContract,
  travelDelivery,
  travelEvent,
  travelWebhook,
} from '../contract/travel.ts';
import { AdminError } from '../errors.ts';
import type { AdminContext } from '../router.ts';

/** Dependencies of the operations on the travel service. */
export interface TravelServiceDeps {
  /** Undefined if no connection uses the embedded service. */
  embedded: TravelService | undefined;
  /** The connections that use another travel service, each with its URL. */
  others: { connection: string; url: string }[];
}

/** The operations of the embedded travel service that the admin page offers. Its faults are thrown as `AdminError`. */
export interface TravelService {
  /** Returns the email addresses of some active admins. */
  listAdmins(): Promise<string[]>;
  /** Lists the API keys, also revoked ones. Times are epoch milliseconds. */
  listApiKeys(): Promise<TravelKey[]>;
  createApiKey(key: { email: string; name: string }): Promise<{ id: string; key: string }>;
  /** False if there is no such key, or it was revoked before. */
  revokeApiKey(id: string): Promise<boolean>;
  /** Returns a page of resources as the travel API answers it, the newest first. */
  list(collection: TravelCollection, query: TravelPageQuery): Promise<{ data: unknown[]; next?: string }>;
  /** The kinds of events that a webhook can select. */
  eventKinds: readonly string[];
  /** Returns the webhook as the travel API answers it, with its secret. */
  createWebhook(webhook: object): Promise<unknown>;
  /** Applies a merge patch, and returns the webhook as the travel API answers it. */
  updateWebhook(id: string, patch: object): Promise<unknown>;
  deleteWebhook(id: string): Promise<void>;
  /** Returns the webhook as the travel API answers it, with its new secret. */
  renewWebhookSecret(id: string): Promise<unknown>;
  /** Returns the attempt as the travel API answers it. */
  testWebhook(id: string): Promise<unknown>;
  /** Returns the new delivery as the travel API answers it. */
  redeliver(webhookId: string, deliveryId: string): Promise<unknown>;
  listRequests(query: TravelRequestQuery): Promise<{ requests: TravelRequest[]; next: string | undefined }>;
}

interface TravelKey {
  id: string;
  name: string;
  email: string;
  createdAt: number;
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
}

/** A collection of the travel API; that of deliveries belongs to a webhook. */
export type TravelCollection = 'webhooks' | 'events' | { deliveriesOf: string };

/** Selects a page of a collection. */
export interface TravelPageQuery {
  status?: string | undefined;
  after?: string | undefined;
  limit: number;
}

/** Selects requests of the request log. */
export interface TravelRequestQuery {
  statuses: { from: number; to: number } | undefined;
  path: string | undefined;
  after: string | undefined;
  limit: number;
}

interface TravelRequest {
  requestId: string;
  /** Epoch milliseconds. */
  time: number;
  ms: number;
  method: string;
  path: string;
  status: number;
  /** The email address of the caller, or the id of one who is gone. */
  user: string | undefined;
  credential: string | undefined;
  requestBody: { text: string; cut: boolean } | undefined;
  responseBody: { text: string; cut: boolean } | undefined;
}

const WEBHOOKS = 100;

/** Handles the API keys, webhooks, requests and events of the embedded travel service. */
export function travelHandlers(deps: TravelServiceDeps): Handlers<typeof travelContract, AdminContext> {
  const service = () => requireEmbedded(deps);
  return {
    describeTravelService: async () => ({
      embedded: deps.embedded !== undefined,
      others: deps.others,
      admins: (await deps.embedded?.listAdmins()) ?? [],
      eventKinds: [...(deps.embedded?.eventKinds ?? [])],
    }),
    listTravelApiKeys: async () => ({ keys: (await service().listApiKeys()).map(toApiKey) }),
    createTravelApiKey: async ({ body }, { note }) => {
      note(body);
      const created = await service().createApiKey(body);
      note({ id: created.id });
      return created;
    },
    revokeTravelApiKey: async ({ params: { id } }) => {
      if (!(await service().revokeApiKey(id)))
        throw new AdminError('notFound', 'There is no such API key, or it was revoked before.');
    },
    ...webhookHandlers(service),
    listTravelRequests: async ({ query: { failed, path, after, limit } }) => {
      const statuses = failed ? { from: 400, to: 599 } : undefined;
      const { requests, next } = await service().listRequests({ statuses, path, after, limit });
      return { requests: requests.map(({ time, ...one }) => ({ ...one, at: toTime(time) })), next };
    },
    listTravelEvents: async ({ query }, { caller }) => {
      const { data, ...page } = await service().list('events', query);
      const events = z.array(travelEvent).parse(data);
      return { events: caller?.role === 'admin' ? events : events.map(withoutEventSecrets), ...page };
    },
  };
}

function webhookHandlers(
  service: () => TravelService,
): Pick<Handlers<typeof travelContract, AdminContext>, WebhookOperation> {
  return {
    listTravelWebhooks: async (_input, { caller }) => {
      const { data } = await service().list('webhooks', { limit: WEBHOOKS });
      const webhooks = z.array(travelWebhook).parse(data);
      return { webhooks: caller?.role === 'admin' ? webhooks : webhooks.map(withoutSecrets) };
    },
    createTravelWebhook: async ({ body }, { note }) => {
      note(withoutSecrets(body));
      const { secret, ...webhook } = webhookWithSecret.parse(await service().createWebhook(body));
      note({ id: webhook.id });
      return { webhook, secret };
    },
    updateTravelWebhook: async ({ params: { id }, body }, { note }) => {
      note(withoutSecrets(body));
      return travelWebhook.parse(await service().updateWebhook(id, body));
    },
    deleteTravelWebhook: async ({ params: { id } }) => service().deleteWebhook(id),
    renewTravelWebhookSecret: async ({ params: { id } }) => {
      const { secret } = webhookWithSecret.parse(await service().renewWebhookSecret(id));
      return { secret };
    },
    listTravelDeliveries: async ({ params: { id }, query }) => {
      const { data, ...page } = await service().list({ deliveriesOf: id }, query);
      return { deliveries: z.array(travelDelivery).parse(data), ...page };
    },
    testTravelWebhook: async ({ params: { id } }) => travelAttempt.parse(await service().testWebhook(id)),
    redeliverTravelEvent: async ({ params: { id, delivery } }) =>
      travelDelivery.parse(await service().redeliver(id, delivery)),
  };
}

/** A webhook for the audit log and for viewers. Its URL often contains the secret of the receiver. */
function withoutSecrets<T extends { url?: string | undefined }>(webhook: T): T {
  return webhook.url === undefined ? webhook : { ...webhook, url: redactWebhookUrl(webhook.url) };
}

/** An event for viewers: those of webhooks have their URLs. */
function withoutEventSecrets(event: z.infer<typeof travelEvent>): z.infer<typeof travelEvent> {
  if (!event.kind.startsWith('webhook.')) return event;
  const { data, previousAttributes } = event;
  return {
    ...event,
    data: withoutSecrets(data),
    ...(previousAttributes && { previousAttributes: withoutSecrets(previousAttributes) }),
  };
}

type WebhookOperation =
  | 'listTravelWebhooks'
  | 'createTravelWebhook'
  | 'updateTravelWebhook'
  | 'deleteTravelWebhook'
  | 'renewTravelWebhookSecret'
  | 'listTravelDeliveries'
  | 'testTravelWebhook'
  | 'redeliverTravelEvent';

const webhookWithSecret = travelWebhook.extend({ secret: z.string() });

function requireEmbedded({ embedded }: TravelServiceDeps): TravelService {
  if (embedded) return embedded;
  throw new AdminError('notFound', 'No connection uses the embedded travel service.');
}

function toApiKey({ id, name, email, createdAt, lastUsedAt, revokedAt }: TravelKey) {
  return {
    ...{ id, name, email },
    createdAt: toTime(createdAt),
    lastUsedAt: toTime(lastUsedAt),
    revokedAt: toTime(revokedAt),
  };
}
