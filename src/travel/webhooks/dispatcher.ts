import { setMaxListeners } from 'node:events';
import { follow } from './disable.ts';
import { type DeliveryGround, workFor } from './lane.ts';
import { type PlaceKind, Places } from './places.ts';

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
