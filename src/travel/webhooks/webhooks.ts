import type { Router } from 'express';
import type { Runtime } from '../collection.ts';
import type { Log } from '../ports.ts';
import { type Dispatcher, dispatcher, type PlaceKind } from './dispatcher.ts';
import type { DeliveryQueue, WebhookRecords } from './ports.ts';
import { webhookRoutes } from './routes.ts';
import type { SendingGround } from './send.ts';

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
