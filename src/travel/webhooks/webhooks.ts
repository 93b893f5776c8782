import type { Router } from 'express';
import type { Surroundings } from '../collection.ts';
import type { Log } from '../ports.ts';
import { type Dispatcher, dispatcher } from './dispatcher.ts';
import type { PlaceKind } from './places.ts';
import type { DeliveryQueue, WebhookRecords } from './ports.ts';
import { webhookRoutes } from './routes.ts';
import type { SendingGround } from './send.ts';

/** What webhooks take of the world. */
export interface WebhookGround extends SendingGround {
  surroundings: Surroundings;
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
  const { store } = ground.surroundings;
  const delivering = dispatcher({ ...ground, store });
  const routes = webhookRoutes({ ...ground, store, ring: () => delivering.ring('', '') });
  return { ...delivering, routes };
}
