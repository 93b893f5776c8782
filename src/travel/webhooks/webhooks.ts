import { type Request, type Response, Router } from 'express';
import { forbidden, withoutQuery } from '../app.ts';
import { callerOf } from '../authentication.ts';
import { newSecret, recorded } from '../changes.ts';
import { existing, present, type Runtime, retrieve, type Target } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type Log, readOne } from '../ports.ts';
import { event } from '../resources/event.ts';
import { presentedAttempt, webhook, webhookDelivery } from '../resources/webhook.ts';
import { type AttemptGround, attemptDelivery, connections, type SendingGround } from './attempt.ts';
import { type Dispatcher, dispatcher, type PlaceKind } from './dispatcher.ts';
import type { DeliveryQueue, WebhookRecords } from './ports.ts';
import { webhookSecret } from './secret.ts';

/** What webhooks take of the world. */
export interface WebhookGround extends SendingGround {
  runtime: Runtime;
  queue: DeliveryQueue;
  records: WebhookRecords;
  random(): number;
  log: Log;
  /** How many are served at once; by default many. */
  places?: Record<PlaceKind, number>;
}

/** The webhooks of the travel service: their operations, and who delivers. */
export interface Webhooks extends Pick<Dispatcher, 'ring' | 'settle' | 'look' | 'run'> {
  routes: Router;
}

/** Puts together what delivers and what is asked for. */
export function webhooks(ground: WebhookGround): Webhooks {
  const { store } = ground.runtime;
  const delivering = dispatcher({ ...ground, store });
  const routes = webhookRoutes({ ...ground, store, ring: () => delivering.ring('', '') });
  return { ...delivering, routes };
}

/** "the old secret … for 24 hours": both sign, so that a receiver can be changed without a gap. */
const BOTH_SIGN_MS = 24 * 60 * 60_000;

/** What the operations on webhooks take of the world. */
export interface WebhookDesk extends AttemptGround {
  runtime: Runtime;
  records: WebhookRecords;
  /** Told when something is to be delivered. */
  ring(): void;
}

/** What one can do with a webhook besides what one can do with any resource. */
export function webhookRoutes(desk: WebhookDesk): Router {
  const router = Router();
  const post = (path: string, status: number, answer: (target: Target) => Promise<JsonObject>) => {
    router.post(path, withoutQuery, async (request, response) => {
      response.status(status).json({ data: await answer(targetOf(request, response)) });
    });
    router.all(path, forbidden);
  };
  post('/webhooks/:id/secret', 200, (target) => replaceSecret(desk, target));
  post('/webhooks/:id/test', 200, (target) => test(desk, target));
  post('/webhooks/:parentId/deliveries/:id/redeliver', 201, (target) => redeliver(desk, target));
  return router;
}

function targetOf({ params }: Request, response: Response): Target {
  const { parentId = '', id = '' } = params;
  return { parentId: String(parentId), id: String(id), caller: callerOf(response) };
}

async function replaceSecret({ runtime }: WebhookDesk, target: Target): Promise<JsonObject> {
  return recorded(runtime, [webhook.type], async (recorder) => {
    const stored = await existing(webhook, recorder.within, target);
    const lastEnds = runtime.now() + BOTH_SIGN_MS;
    const secret = await newSecret(webhookSecret, recorder, stored, lastEnds);
    return { ...(await present(webhook, stored, recorder.within)), ...secret };
  });
}

/** Tells what became of an event that is in no feed: that the webhook was updated, and that nothing changed. */
async function test(desk: WebhookDesk, target: Target): Promise<JsonObject> {
  const { runtime, store } = desk;
  const stored = await existing(webhook, store, target);
  const doc = {
    data: await present(webhook, stored, store),
    kind: 'webhook.updated',
    previousAttributes: {},
  };
  const made = {
    type: event.type,
    id: runtime.newId('A'),
    parentId: '',
    createdAt: runtime.now(),
    doc,
  };
  const open = connections();
  try {
    const { signal } = new AbortController();
    const url = String(stored.doc['url']);
    const sent = { id: made.id, ...(await present(event, made, store)) };
    const { attempt } = await attemptDelivery(
      desk,
      { webhookId: stored.id, url, connections: open, signal },
      sent,
    );
    return presentedAttempt({ ...attempt });
  } finally {
    open.close();
  }
}

async function redeliver(desk: WebhookDesk, target: Target): Promise<JsonObject> {
  const { runtime, store, records } = desk;
  const delivery = await existing(webhookDelivery, store, target);
  const to = await existing(webhook, store, { ...target, parentId: '', id: target.parentId });
  if (to.doc['disabled'] === true) throw new ApiError('conflict', 'The webhook is disabled.');
  const { eventId, kind } = delivery.doc;
  if (!(await readOne(store, event.type, String(eventId))))
    throw new ApiError('conflict', 'The event is not kept any more.');
  const id = runtime.newId('A');
  const asked = { webhookId: to.id, eventId: String(eventId), kind: String(kind) };
  await records.redeliver({ ...asked, id, createdAt: runtime.now() });
  desk.ring();
  return retrieve({ resource: webhookDelivery, runtime }, { ...target, id });
}
