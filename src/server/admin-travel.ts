import { AdminError } from '../admin/errors.ts';
import type {
  TravelCollection,
  TravelPageQuery,
  TravelRequestQuery,
  TravelService,
  TravelServiceDeps,
} from '../admin/handlers/travel.ts';
import type { Settings } from '../config/settings.ts';
import { apiKeys } from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import { requestLog } from '../store/request-log.ts';
import { createApiKey, listApiKeys } from '../travel/api-keys.ts';
import { list } from '../travel/collection.ts';
import { ApiError } from '../travel/errors.ts';
import type { TravelReader } from '../travel/ports.ts';
import { event } from '../travel/resources/event.ts';
import { ADMIN_INDEX, user } from '../travel/resources/user.ts';
import { webhook, webhookDelivery } from '../travel/resources/webhook.ts';
import { redactUrl } from './check-settings.ts';
import type { EmbeddedTravel } from './embedded.ts';

/** Returns what the operations of the admin page on the travel service need. */
export function travelParts(
  { connections }: Settings,
  { database, embedded }: { database: Database; embedded: EmbeddedTravel | undefined },
): TravelServiceDeps {
  return {
    embedded: embedded && travelService(database, embedded),
    others: connections.flatMap(({ id, travelApi: { url } }) =>
      url === 'embedded' ? [] : [{ connection: id, url: redactUrl(url) }],
    ),
  };
}

function travelService(database: Database, { travel, webhooks }: EmbeddedTravel): TravelService {
  const { store, now, newId } = travel;
  const keys = apiKeys(database);
  const targetOf = (id: string, parentId = '') => ({ id, parentId, caller: '' });
  return {
    listAdmins: () => listAdmins(store),
    listApiKeys: () => listApiKeys({ keys, reader: store }),
    createApiKey: (key) =>
      withAdminErrors(() => createApiKey({ keys, reader: store, now, newId: () => newId('B') }, key)),
    revokeApiKey: (id) => keys.revoke(id, now()),
    list: (collection, query) => withAdminErrors(() => listPage(travel, collection, query)),
    testWebhook: (id) => withAdminErrors(() => webhooks.sendTestEvent(targetOf(id))),
    redeliver: (webhookId, id) => withAdminErrors(() => webhooks.redeliver(targetOf(id, webhookId))),
    listRequests: (query) => listRequests(database, store, query),
  };
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
  const query = {
    ...{ limit: String(limit), order: 'desc' },
    ...(resource.cursor ? { pageKind: 'cursor' } : {}),
    ...(after === undefined ? {} : { after }),
    ...(status === undefined ? {} : { status }),
  };
  const parentId = isDeliveries ? collection.deliveriesOf : '';
  const { data, meta } = await list({ resource, deps }, { parentId, id: '', caller: '' }, query);
  const next = meta['nextAfter'];
  return { data, ...(typeof next === 'string' ? { next } : {}) };
}

async function listRequests(database: Database, reader: TravelReader, query: TravelRequestQuery) {
  const { requests, next } = await requestLog(database).list(query);
  const ids = [...new Set(requests.flatMap(({ userId }) => userId ?? []))];
  const users = await reader.read(ids.map((id) => ({ type: user.type, id })));
  const emails = new Map(users.map(({ id, doc }) => [id, String(doc['email'])]));
  return {
    requests: requests.map(({ userId, ...request }) => ({
      ...request,
      user: userId === undefined ? undefined : (emails.get(userId) ?? userId),
    })),
    next,
  };
}

/** Converts the errors of the travel service. Those of the store are known to the admin API. */
async function withAdminErrors<T>(work: () => Promise<T>): Promise<T> {
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
      return new AdminError('invalid', message, { faults: invalid });
    case 'internalError':
      return new AdminError('internalError', undefined, { cause: error });
  }
}
