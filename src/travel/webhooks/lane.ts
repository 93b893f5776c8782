import type { Surroundings } from '../collection.ts';
import { textOf } from '../json.ts';
import { readOne } from '../ports.ts';
import { webhook } from '../resources/webhook.ts';
import { type Attempted, type AttemptGround, attemptDelivery, eventOf } from './attempt.ts';
import { disable, follow } from './disable.ts';
import type { Delivery, DeliveryLease, DeliveryOutcome, DeliveryQueue } from './ports.ts';
import { FAILING_MS, outcomeOf } from './schedule.ts';
import { type Connections, connections } from './send.ts';

/** Longer than an attempt may take. */
const LEASE_MS = 60_000;
/** After so many deliveries, or so long, it is the turn of another webhook. */
const TURN = 100;
const TURN_MS = 2_000;
/** "410 Gone: … the sender should disable the endpoint" (Standard Webhooks, "Disabling endpoints") */
const GONE = 410;

/** What delivering takes of the world. */
export interface DeliveryGround extends AttemptGround {
  surroundings: Surroundings;
  queue: DeliveryQueue;
  /** From 0 to 1. */
  random(): number;
}

/** When to end: after the delivery that is under way, or at once. */
export interface Ending {
  isEnding(): boolean;
  cut: AbortSignal;
}

interface Lane extends Ending {
  webhookId: string;
  connections: Connections;
  /** Our lease as from now. */
  lease(): DeliveryLease;
}

/** Delivers what is due to one webhook, in order, one at a time, unless somebody else does. */
export async function workFor(ground: DeliveryGround, webhookId: string, ending: Ending): Promise<void> {
  const { queue, surroundings, clock } = ground;
  const { now } = clock;
  const token = surroundings.newId('B');
  const lease = () => ({ webhookId, token, until: now() + LEASE_MS });
  if (!(await queue.take(lease(), now()))) return;
  const lane = { ...ending, webhookId, lease, connections: connections() };
  const end = now() + TURN_MS;
  try {
    for (let served = 0; served < TURN && now() <= end && !ending.isEnding(); served++) {
      const delivery = await queue.next(webhookId, now());
      if (!delivery || !(await deliver(ground, lane, delivery))) return;
    }
  } finally {
    lane.connections.close();
    await queue.release({ webhookId, token }, now());
  }
}

/** False: there is nothing more to do here. */
async function deliver(ground: DeliveryGround, lane: Lane, delivery: Delivery): Promise<boolean> {
  const { queue, surroundings, clock } = ground;
  const { webhookId } = lane;
  const url = await endpointOf(ground, webhookId);
  if (url === undefined) {
    await follow(queue, webhookId, clock.now());
    return false;
  }
  const attempted = await attemptFor(ground, { ...lane, signal: lane.cut, url }, delivery);
  // Nobody knows what became of it, so it is sent again.
  if (lane.cut.aborted) return false;
  const outcome = outcomeFor(ground, delivery, attempted);
  const kept = await queue.finish(lane.lease(), delivery.id, outcome);
  if (kept === 'lost') return false;
  const { failingSince = Number.POSITIVE_INFINITY } = kept;
  if (attempted?.attempt.status === GONE || surroundings.now() - failingSince >= FAILING_MS) {
    await disable(surroundings, { id: webhookId, url });
    await follow(queue, webhookId, clock.now());
    return false;
  }
  return true;
}

async function endpointOf({ store }: DeliveryGround, webhookId: string): Promise<string | undefined> {
  const stored = await readOne(store, webhook.type, webhookId);
  return stored && stored.doc['disabled'] !== true ? textOf(stored.doc, 'url') : undefined;
}

/** Undefined: the event is not kept any more. */
async function attemptFor(
  ground: DeliveryGround,
  target: Parameters<typeof attemptDelivery>[1],
  { eventId }: Delivery,
): Promise<Attempted | undefined> {
  const event = await eventOf(ground.store, eventId);
  return event && attemptDelivery(ground, target, event);
}

function outcomeFor(
  { random, clock }: DeliveryGround,
  { attempts }: Delivery,
  attempted: Attempted | undefined,
): DeliveryOutcome {
  if (!attempted) {
    const gone = { at: clock.wallClock(), latencyMs: 0, error: 'the event is not kept any more' };
    return { status: 'failed', attempts: [...attempts, gone] };
  }
  const { attempt, retryAfter } = attempted;
  const all = [...attempts, attempt];
  if (attempt.status === GONE) return { status: 'failed', attempts: all };
  const outcome = outcomeOf(all, { retryAfter, random: random() });
  if (outcome.nextAttemptAt === undefined) return outcome;
  // Attempts are dated by the wall clock; what waits goes by the other.
  const ahead = clock.now() - clock.wallClock();
  return { ...outcome, nextAttemptAt: outcome.nextAttemptAt + ahead };
}
