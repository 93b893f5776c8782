import { type Request, type Response, Router } from 'express';
import { refuseMethod, refuseQueryParameters } from '../app.ts';
import { callerId } from '../authentication.ts';
import { issueSecret, withRecorder } from '../changes.ts';
import {
  type RequestTarget,
  requireLocked,
  requireResource,
  retrieve,
  serialize,
  type TravelDeps,
} from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type Log, readResource } from '../ports.ts';
import { event } from '../resources/event.ts';
import { serializeAttempt, webhook, webhookDelivery, webhookSecret } from '../resources/webhook.ts';
import { type AttemptDeps, attemptDelivery, openConnections, type SendDeps } from './attempt.ts';
import { createDispatcher, type Dispatcher, type SlotKind } from './dispatcher.ts';
import type { DeliveryQueue, WebhookRecords } from './ports.ts';

/** Dependencies for creating the webhooks. */
export interface WebhookDeps extends SendDeps {
  travel: TravelDeps;
  queue: DeliveryQueue;
  records: WebhookRecords;
  random(): number;
  log: Log;
  /** The maximum number of webhooks that are served concurrently; the default is `SLOT_COUNTS`. */
  slots?: Record<SlotKind, number>;
}

/** The webhooks of the travel service: the routes of their operations, and the dispatcher. */
export interface Webhooks extends Pick<Dispatcher, 'notify' | 'deliverAllDue' | 'dispatchDue' | 'run'> {
  routes: Router;
  /** Makes a new secret for a webhook, and returns the webhook with it. Throws `notFound`. */
  replaceSecret(target: RequestTarget): Promise<JsonObject>;
  /** Sends a test event to a webhook and returns the attempt. Throws `notFound`. */
  sendTestEvent(target: RequestTarget): Promise<JsonObject>;
  /** Queues the event of a delivery once more and returns the new delivery. Throws `notFound` or `conflict`. */
  redeliver(target: RequestTarget): Promise<JsonObject>;
}

/** Creates the dispatcher and the routes that notify it. */
export function createWebhooks(deps: WebhookDeps): Webhooks {
  const { store } = deps.travel;
  const dispatcher = createDispatcher({ ...deps, store });
  const routeDeps = { ...deps, store, notifyDispatcher: () => dispatcher.notify('', '') };
  return {
    ...dispatcher,
    routes: createWebhookRouter(routeDeps),
    replaceSecret: (target) => replaceWebhookSecret(routeDeps, target),
    sendTestEvent: (target) => sendTestEvent(routeDeps, target),
    redeliver: (target) => redeliverEvent(routeDeps, target),
  };
}

/** "the old secret … for 24 hours": both sign, so that a receiver can be changed without interruption. */
const OLD_SECRET_MS = 24 * 60 * 60_000;

/** Dependencies of the webhook routes. */
export interface WebhookRouteDeps extends AttemptDeps {
  travel: TravelDeps;
  records: WebhookRecords;
  /** Called when a delivery has been queued. */
  notifyDispatcher(): void;
}

/** Creates the routes of the additional webhook operations. */
export function createWebhookRouter(deps: WebhookRouteDeps): Router {
  const router = Router({ caseSensitive: true });
  const post = (path: string, status: number, answer: (target: RequestTarget) => Promise<JsonObject>) => {
    router.post(path, refuseQueryParameters, async (request, response) => {
      response.status(status).json({ data: await answer(targetOf(request, response)) });
    });
    router.all(path, refuseMethod);
  };
  post('/webhooks/:id/secret', 200, (target) => replaceWebhookSecret(deps, target));
  post('/webhooks/:id/test', 200, (target) => sendTestEvent(deps, target));
  post('/webhooks/:parentId/deliveries/:id/redeliver', 201, (target) => redeliverEvent(deps, target));
  return router;
}

function targetOf({ params }: Request, response: Response): RequestTarget {
  const { parentId = '', id = '' } = params;
  return { parentId: String(parentId), id: String(id), caller: callerId(response) };
}

async function replaceWebhookSecret(
  { travel }: WebhookRouteDeps,
  target: RequestTarget,
): Promise<JsonObject> {
  return withRecorder(travel, [], async (recorder) => {
    const stored = await requireLocked(webhook, recorder.transaction, target);
    const lastEnds = travel.now() + OLD_SECRET_MS;
    const secret = await issueSecret(webhookSecret, recorder, stored, lastEnds);
    return { ...(await serialize(webhook, stored, recorder.transaction)), ...secret };
  });
}

/** Sends an event that is in no feed, `webhook.updated` without a change, and returns the attempt. */
async function sendTestEvent(deps: WebhookRouteDeps, target: RequestTarget): Promise<JsonObject> {
  const { travel, store } = deps;
  const stored = await requireResource(webhook, store, target);
  const doc = {
    data: await serialize(webhook, stored, store),
    kind: 'webhook.updated',
    previousAttributes: {},
  };
  const made = {
    type: event.type,
    id: travel.newId('A'),
    parentId: '',
    createdAt: travel.now(),
    doc,
  };
  const open = openConnections();
  try {
    const { signal } = new AbortController();
    const url = String(stored.doc['url']);
    const sent = { id: made.id, ...(await serialize(event, made, store)) };
    const { attempt } = await attemptDelivery(
      deps,
      { webhookId: stored.id, url, connections: open, signal },
      sent,
    );
    return serializeAttempt({ ...attempt });
  } finally {
    open.close();
  }
}

async function redeliverEvent(deps: WebhookRouteDeps, target: RequestTarget): Promise<JsonObject> {
  const { travel, store, records } = deps;
  const delivery = await requireResource(webhookDelivery, store, target);
  const to = await requireResource(webhook, store, { ...target, parentId: '', id: target.parentId });
  if (to.doc['disabled'] === true) throw new ApiError('conflict', 'The webhook is disabled.');
  const { eventId, kind } = delivery.doc;
  if (!(await readResource(store, event.type, String(eventId))))
    throw new ApiError('conflict', 'The event is not kept any more.');
  const id = travel.newId('A');
  const asked = { webhookId: to.id, eventId: String(eventId), kind: String(kind) };
  await records.redeliver({ ...asked, id, createdAt: travel.now() });
  deps.notifyDispatcher();
  return retrieve({ resource: webhookDelivery, deps: travel }, { ...target, id });
}
