import { type Request, type Response, Router } from 'express';
import { refuseOtherMethods } from '../app.ts';
import { callerId } from '../authentication/authentication.ts';
import { catalog } from '../catalog.ts';
import { issueSecret, withRecorder } from '../changes.ts';
import { type RequestTarget, requireLocked, requireResource, retrieve, serialize } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { documentedOf } from '../openapi/bodies.ts';
import { exampleEvent } from '../openapi/events.ts';
import { readResource } from '../ports.ts';
import { idempotency } from '../requests/idempotency.ts';
import { parseParameters, type Query, refuseAllParameters } from '../requests/pagination.ts';
import { event } from '../resources/event.ts';
import {
  serializeAttempt,
  testParameters,
  webhook,
  webhookDelivery,
  webhookSecret,
} from '../resources/webhook.ts';
import { attemptDelivery, openConnections, type WebhookDeps } from './attempt.ts';
import { createDispatcher } from './dispatcher.ts';

/** The webhooks of the travel service: the routes of their operations, and the dispatcher. */
export type Webhooks = ReturnType<typeof createWebhooks>;

/** Creates the dispatcher and the additional operations, with their routes. */
export function createWebhooks(deps: WebhookDeps) {
  const dispatcher = createDispatcher(deps);
  const redeliver = async (target: RequestTarget): Promise<JsonObject> => {
    const id = await redeliverEvent(deps, target);
    dispatcher.notify('', '');
    return retrieve({ resource: webhookDelivery, deps: deps.travel }, { ...target, id });
  };
  const routes = Router({ caseSensitive: true });
  const runOnce = idempotency(deps.travel);
  const post = (
    path: string,
    status: number,
    answer: (target: RequestTarget, query: Query) => Promise<JsonObject>,
  ) => {
    routes.post(path, async (request, response) => {
      const data = await runOnce(request, response, async (keep) => {
        const answered = await answer(targetOf(request, response), request.query);
        // These operations can be repeated without harm, so a crash before their answer is kept needs no care.
        if (keep) await deps.travel.store.write([], (transaction) => keep(transaction, answered, true));
        return answered;
      });
      response.status(status).json({ data });
    });
    routes.all(path, refuseOtherMethods('POST'));
  };
  post('/webhooks/:id/secret', 200, (target, query) => {
    refuseAllParameters(query);
    return replaceWebhookSecret(deps, target);
  });
  post('/webhooks/:id/test', 200, (target, query) => {
    const { kind } = parseParameters(testParameters, query);
    return sendTestEvent(deps, target, kind);
  });
  post('/webhooks/:parentId/deliveries/:id/redeliver', 201, (target, query) => {
    refuseAllParameters(query);
    return redeliver(target);
  });
  return { ...dispatcher, routes };
}

/** "the old secret … for 24 hours": both sign, so that a receiver can be changed without interruption. */
const OLD_SECRET_MS = 24 * 60 * 60_000;

function targetOf({ params }: Request, response: Response): RequestTarget {
  const { parentId = '', id = '' } = params;
  return { parentId: String(parentId), id: String(id), caller: callerId(response) };
}

function replaceWebhookSecret({ travel }: WebhookDeps, target: RequestTarget): Promise<JsonObject> {
  return withRecorder(travel, [], async (recorder) => {
    const stored = await requireLocked(webhook, recorder.transaction, target);
    const lastEnds = travel.now() + OLD_SECRET_MS;
    const secret = await issueSecret(webhookSecret, recorder, stored, lastEnds);
    return { ...(await serialize(webhook, stored, recorder.transaction)), ...secret };
  });
}

/** Sends an event that is in no feed, with an example or, without a kind, the webhook as it is, and returns the attempt. */
async function sendTestEvent(deps: WebhookDeps, target: RequestTarget, kind?: string): Promise<JsonObject> {
  const { travel } = deps;
  const stored = await requireResource(webhook, travel.store, target);
  const itself = { data: await serialize(webhook, stored, travel.store), kind: 'webhook.updated' };
  const sent = {
    type: event.type,
    id: travel.newId('A'),
    parentId: '',
    createdAt: travel.now(),
    doc:
      kind === undefined ? { ...itself, previousAttributes: {} } : exampleEvent(kind, documentedOf(catalog)),
  };
  const { signal } = new AbortController();
  const connections = openConnections();
  try {
    const receiver = { webhookId: stored.id, url: String(stored.doc['url']), connections, signal };
    const { attempt } = await attemptDelivery(deps, receiver, sent);
    return serializeAttempt({ ...attempt });
  } finally {
    connections.close();
  }
}

/** Queues the event of a delivery once more, and returns the id of the new delivery. */
async function redeliverEvent({ travel, records }: WebhookDeps, target: RequestTarget): Promise<string> {
  const { store } = travel;
  const delivery = await requireResource(webhookDelivery, store, target);
  const to = await requireResource(webhook, store, { ...target, parentId: '', id: target.parentId });
  if (to.doc['disabled'] === true) throw new ApiError('conflict', 'The webhook is disabled.');
  const { eventId, kind } = delivery.doc;
  if (!(await readResource(store, event.type, String(eventId))))
    throw new ApiError('conflict', 'The event is not kept any more.');
  const id = travel.newId('A');
  const asked = { webhookId: to.id, eventId: String(eventId), kind: String(kind) };
  await records.redeliver({ ...asked, id, createdAt: travel.now() });
  return id;
}
