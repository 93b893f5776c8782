import { AdminError } from '../admin/errors.ts';
import type {
  TravelCollection,
  TravelPageQuery,
  TravelRequestQuery,
  TravelService,
  TravelServiceDeps,
} from '../admin/handlers/travel.ts';
import type { Settings } from '../config/settings.ts';
import type { ExchangeLog, KeptBody } from '../log/exchange.ts';
import { apiKeys } from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import { createApiKey, listApiKeys } from '../travel/api-keys.ts';
import { parseData } from '../travel/app.ts';
import { create, patch, remove } from '../travel/changes.ts';
import { type ListPage, list, type RequestTarget } from '../travel/collection.ts';
import { ApiError } from '../travel/errors.ts';
import type { JsonObject } from '../travel/json.ts';
import type { TravelReader } from '../travel/ports.ts';
import { event, eventKinds } from '../travel/resources/event.ts';
import { ADMIN_INDEX, user } from '../travel/resources/user.ts';
import { webhook, webhookDelivery } from '../travel/resources/webhook.ts';
import { redactUrl } from './check-settings.ts';
import type { EmbeddedTravel } from './embedded.ts';

/** Returns the dependencies of the operations of the admin page on the travel service. */
export function travelParts(
  { connections }: Settings,
  {
    database,
    exchanges,
    embedded,
  }: { database: Database; exchanges: ExchangeLog; embedded: EmbeddedTravel | undefined },
): TravelServiceDeps {
  return {
    embedded: embedded && travelService(database, exchanges, embedded),
    others: connections.flatMap(({ id, travelApi: { url } }) =>
      url === 'embedded' ? [] : [{ connection: id, url: redactUrl(url) }],
    ),
  };
}

function travelService(
  database: Database,
  exchanges: ExchangeLog,
  { travel, webhooks }: EmbeddedTravel,
): TravelService {
  const { store, now, newId } = travel;
  const keys = apiKeys(database);
  const hooks = { resource: webhook, deps: travel };
  return {
    listAdmins: () => listAdmins(store),
    listApiKeys: () => listApiKeys({ keys, reader: store }),
    createApiKey: (key) =>
      withAdminErrors(() => createApiKey({ keys, reader: store, now, newId: () => newId('B') }, key)),
    revokeApiKey: (id) => keys.revoke(id, now()),
    list: (collection, query) => withAdminErrors(() => listPage(travel, collection, query)),
    eventKinds,
    // The same checks as those of the travel API, which also announces the changes by events.
    createWebhook: (body) => withAdminErrors(() => create(hooks, targetOf(''), parseData({ data: body }))),
    updateWebhook: (id, body) => withAdminErrors(() => patch(hooks, targetOf(id), parseData({ data: body }))),
    deleteWebhook: async (id) => {
      await withAdminErrors(() => remove(hooks, targetOf(id)));
    },
    renewWebhookSecret: (id) => withAdminErrors(() => webhooks.replaceSecret(targetOf(id))),
    testWebhook: (id) => withAdminErrors(() => webhooks.sendTestEvent(targetOf(id))),
    redeliver: (webhookId, id) => withAdminErrors(() => webhooks.redeliver(targetOf(id, webhookId))),
    listRequests: (query) => listRequests(exchanges, store, query),
  };
}

/** No user of the travel service is the caller: admins of the page need not be among them. */
function targetOf(id: string, parentId = ''): RequestTarget {
  return { id, parentId, caller: '' };
}

const MAX_ADMINS = 50;

async function listAdmins(store: TravelReader): Promise<string[]> {
  const { name, value } = ADMIN_INDEX;
  const admins = await store.find({ type: user.type, name, values: [value], limit: MAX_ADMINS });
  return admins.map(({ doc }) => String(doc['email'])).sort();
}

async function listPage(
  deps: EmbeddedTravel['travel'],
  collection: TravelCollection,
  { limit, after, status }: TravelPageQuery,
): Promise<{ data: unknown[]; next?: string }> {
  const isDeliveries = typeof collection === 'object';
  const resource = isDeliveries ? webhookDelivery : collection === 'events' ? event : webhook;
  const filter = status === undefined ? {} : { status };
  const target = targetOf('', isDeliveries ? collection.deliveriesOf : '');
  return newestFirst({ limit, after }, (query) =>
    list({ resource: { ...resource, cursor: true }, deps }, target, { ...query, ...filter }),
  );
}

/**
 * Reads a cursor page, the newest resources first. Unlike offsets, a cursor stays right while resources are added. The travel
 * API offers cursors for some resources only, but the store has them for all: a caller passes the resource with `cursor`.
 */
export async function newestFirst(
  { limit, after }: Pick<TravelPageQuery, 'limit' | 'after'>,
  read: (query: Record<string, string>) => Promise<ListPage>,
): Promise<{ data: JsonObject[]; next?: string }> {
  const { data, meta } = await read({
    ...{ limit: String(limit), order: 'desc', pageKind: 'cursor' },
    ...(after === undefined ? {} : { after }),
  });
  const next = meta['nextAfter'];
  return { data, ...(typeof next === 'string' ? { next } : {}) };
}

async function listRequests(
  log: ExchangeLog,
  reader: TravelReader,
  { statuses: status, path: pathBelow, after: before, limit }: TravelRequestQuery,
) {
  const { exchanges, next } = await log.list({ direction: 'api', status, pathBelow, before, limit });
  const ids = [...new Set(exchanges.flatMap(({ userId }) => userId ?? []))];
  const users = await reader.read(ids.map((id) => ({ type: user.type, id })));
  const emails = new Map(users.map(({ id, doc }) => [id, String(doc['email'])]));
  const requests = exchanges.map(({ at, ms, method, path, credential, ...exchange }) => ({
    ...{ time: at, ms, method, path, credential, status: exchange.status ?? 0 },
    requestId: exchange.requestId ?? '-',
    user: exchange.userId === undefined ? undefined : (emails.get(exchange.userId) ?? exchange.userId),
    requestBody: toListedBody(exchange.requestBody),
    responseBody: toListedBody(exchange.responseBody),
  }));
  return { requests, next };
}

function toListedBody(body: KeptBody | undefined) {
  return body && { text: body.text, cut: body.isCut };
}

/** Converts the errors of the travel service. Those of the store are known to the admin API. */
export async function withAdminErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ApiError ? toAdminError(error) : error;
  }
}

function toAdminError(error: ApiError): AdminError {
  const { code, message, invalid } = error;
  switch (code) {
    case 'notFound':
      return new AdminError('notFound', message);
    case 'conflict':
    case 'forbidden':
      return new AdminError('conflict', message);
    case 'badRequest':
    case 'invalidParam':
    case 'validationFailed':
      return new AdminError('invalid', message, { faults: invalid.map(toFault) });
    case 'internalError':
      return new AdminError('internalError', undefined, { cause: error });
  }
}

/** A message of the travel API begins with the field in quotes, which the page shows above it. */
function toFault({ field, message }: ApiError['invalid'][number]) {
  return { field, message: message.replace(`"${field}" `, '') };
}
