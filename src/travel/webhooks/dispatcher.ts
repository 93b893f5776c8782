import { setMaxListeners } from 'node:events';
import { recorded } from '../changes.ts';
import type { Runtime } from '../collection.ts';
import { textOf } from '../json.ts';
import { readOne } from '../ports.ts';
import { webhook } from '../resources/webhook.ts';
import {
  type Attempted,
  type AttemptGround,
  attemptDelivery,
  type Connections,
  connections,
  eventOf,
  FAILING_MS,
  outcomeOf,
} from './attempt.ts';
import type { Delivery, DeliveryLease, DeliveryOutcome, DeliveryQueue } from './ports.ts';

/** So many webhooks are served at once. Most of it is waiting, which costs little more than a socket. */
const SIZES = { well: 256, failing: 64 };
/** How often the queues are looked at unasked. */
const IDLE_MS = 1_000;
/** Those who ring shortly after each other are served together. */
const GATHER_MS = 20;
/** After a fault of our own, such as a database that does not answer. */
const FAULT_MS = 5_000;
/** So long what is under way may go on when the service stops. */
const GRACE_MS = 3_000;

/** What the dispatcher works with. */
export interface DispatchGround extends DeliveryGround {
  places?: Record<PlaceKind, number>;
}

/** Delivers what is due to all webhooks, side by side. */
export interface Dispatcher {
  /** Something was changed, of which webhooks may have to be told. */
  ring(type: string, id: string): void;
  /** Begins to deliver what is due, as far as there are places; answers how much is under way. */
  look(): Promise<number>;
  /** Delivers what is due until nothing is. */
  settle(): Promise<void>;
  /** Looks whenever somebody rings, and now and then, until it is stopped. */
  run(): { stop(): Promise<void> };
}

interface Office {
  ground: DispatchGround;
  places: Places;
  /** Webhooks that were changed since the last look. */
  changed: Set<string>;
  /** Ends the rest of the loop. */
  bell: { signal: AbortSignal; ring(): void };
  /** Aborted when the service stops: nothing new is begun, and no wait goes on. */
  ending: AbortController;
  /** Ends at once what is under way. */
  cut: AbortController;
}

/** Makes a dispatcher; nothing happens before somebody looks. */
export function dispatcher(ground: DispatchGround): Dispatcher {
  const cut = new AbortController();
  const ending = new AbortController();
  // Everybody who is served listens for them.
  setMaxListeners(0, cut.signal, ending.signal);
  const office: Office = {
    ground,
    places: new Places(ground.places ?? SIZES),
    changed: new Set(),
    bell: newBell(),
    ending,
    cut,
  };
  return {
    ring: (type, id) => {
      if (type === 'webhook') office.changed.add(id);
      office.bell.ring();
    },
    look: () => look(office),
    settle: async () => {
      while ((await look(office)) > 0) await Promise.race(office.places.work);
    },
    run: () => {
      const looping = loop(office);
      return { stop: () => stop(office, looping) };
    },
  };
}

/** Once rung it stays so. Ending what has ended would make an error, stack and all, with every write. */
function newBell(): Office['bell'] {
  const rung = new AbortController();
  return {
    signal: rung.signal,
    ring: () => {
      if (!rung.signal.aborted) rung.abort();
    },
  };
}

async function loop(office: Office): Promise<void> {
  const { clock } = office.ground;
  const { signal } = office.ending;
  while (!signal.aborted) {
    office.bell = newBell();
    await look(office).catch((error: unknown) => fault(office, error));
    if (!signal.aborted) await clock.wait(IDLE_MS, office.bell.signal);
    if (!signal.aborted) await clock.wait(GATHER_MS, signal);
  }
}

async function look(office: Office): Promise<number> {
  const { ground, places, changed } = office;
  for (const id of [...changed]) {
    changed.delete(id);
    try {
      await follow(ground.queue, id, ground.clock.now());
    } catch (error) {
      changed.add(id);
      throw error;
    }
  }
  for (const kind of ['well', 'failing'] as const) {
    const free = places.free(kind);
    if (free <= 0 || office.ending.signal.aborted) continue;
    // Those who are served already may not have their lease yet.
    const limit = free + places.work.length;
    const due = await ground.queue.due({ now: ground.clock.now(), failing: kind === 'failing', limit });
    const unserved = due.filter((id) => !places.has(id));
    for (const id of unserved.slice(0, free)) places.take(kind, id, () => serve(office, id));
  }
  return places.work.length;
}

async function serve(office: Office, webhookId: string): Promise<void> {
  const ending = { isEnding: () => office.ending.signal.aborted, cut: office.cut.signal };
  try {
    await workFor(office.ground, webhookId, ending);
  } catch (error) {
    await fault(office, error);
  }
  office.bell.ring();
}

/** Logged and waited out, lest it is tried again without an end. */
async function fault({ ground, ending }: Office, error: unknown): Promise<void> {
  ground.log.error({ err: error }, 'delivering to webhooks failed; it is tried again');
  await ground.clock.wait(FAULT_MS, ending.signal);
}

async function stop(office: Office, looping: Promise<void>): Promise<void> {
  office.ending.abort();
  office.bell.ring();
  const over = new AbortController();
  const cutting = office.ground.clock.wait(GRACE_MS, over.signal).then(() => office.cut.abort());
  await Promise.all([looping, ...office.places.work]);
  over.abort();
  await cutting;
}

/** Longer than an attempt may take. */
const LEASE_MS = 60_000;
/** After so many deliveries, or so long, it is the turn of another webhook. */
const TURN = 100;
const TURN_MS = 2_000;
/** "410 Gone: … the sender should disable the endpoint" (Standard Webhooks, "Disabling endpoints") */
const GONE = 410;

/** What delivering takes of the world. */
export interface DeliveryGround extends AttemptGround {
  runtime: Runtime;
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
  const { queue, runtime, clock } = ground;
  const { now } = clock;
  const token = runtime.newId('B');
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
  const { queue, runtime, clock } = ground;
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
  if (attempted?.attempt.status === GONE || runtime.now() - failingSince >= FAILING_MS) {
    await disable(runtime, { id: webhookId, url });
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

/** Webhooks that fail have places of their own, lest they take those of the others. */
export type PlaceKind = 'well' | 'failing';

/** Who is served at the moment: at most so many of each kind, and each webhook once. */
export class Places {
  readonly #sizes: Record<PlaceKind, number>;
  readonly #served = new Map<string, { kind: PlaceKind; work: Promise<void> }>();

  constructor(sizes: Record<PlaceKind, number>) {
    this.#sizes = sizes;
  }

  /** All work that is under way. */
  get work(): Promise<void>[] {
    return [...this.#served.values()].map(({ work }) => work);
  }

  free(kind: PlaceKind): number {
    const taken = [...this.#served.values()].filter((one) => one.kind === kind).length;
    return this.#sizes[kind] - taken;
  }

  has(webhookId: string): boolean {
    return this.#served.has(webhookId);
  }

  /** Takes a place until the work is done, which never fails. */
  take(kind: PlaceKind, webhookId: string, begin: () => Promise<void>): void {
    const work = begin().finally(() => this.#served.delete(webhookId));
    this.#served.set(webhookId, { kind, work });
  }
}

const CANCELED_AT_ONCE = 500;

/** Disables a webhook, which is told as any change of it, unless it leads elsewhere by now. */
export async function disable(runtime: Runtime, { id, url }: { id: string; url: string }): Promise<void> {
  await recorded(runtime, [webhook.type], async (recorder) => {
    const stored = await readOne(recorder.within, webhook.type, id);
    if (stored?.doc['url'] === url)
      await recorder.replace(webhook, stored, { ...stored.doc, disabled: true });
  });
}

/** Makes what waits for a webhook follow a change of it; part by part, so that nobody waits long for it. */
export async function follow(queue: DeliveryQueue, id: string, now: number): Promise<void> {
  let canceled = CANCELED_AT_ONCE;
  while (canceled === CANCELED_AT_ONCE) canceled = await queue.follow(id, now, CANCELED_AT_ONCE);
}
