import type { Alarm } from './alarm.ts';
import type { Bases } from './basis.ts';
import type { Connection } from './connection.ts';
import type { Followed, Follower } from './feed.ts';
import type { Importer } from './import.ts';
import { GIVE_WAY_MS, type Pause } from './pause.ts';
import type { Agenda, Retention, Surroundings } from './ports.ts';
import type { Reconciler } from './reconcile.ts';
import type { RulesChanges } from './rules-change.ts';

/** How many identities of a connection are under way at once, and how often the agenda is looked at unasked. */
const AT_ONCE = 8;
const BATCH = 64;
const IDLE_MS = 1_000;
/** Rules and lookups are read anew this often; who was translated with older ones follows in batches. */
const RULES_MS = 60_000;
/** Changes come in crowds: so long they gather after a reading, to be one more. */
const GATHER_MS = 250;
const STALE_BATCH = 500;
const IMPORT_MS = 60 * 60_000;
/** How often old tombstones are looked for, how many end at once, and the rest between two parts. */
const RETENTION_MS = 60 * 60_000;
/** After a look that failed; nothing is urgent about it. */
const RETENTION_AGAIN_MS = 60_000;
const EXPIRED_AT_ONCE = 200;
const BREATH_MS = 50;
const DAY_MS = 24 * 60 * 60_000;
/** After an import that failed. */
const IMPORT_AGAIN_MS = 60_000;
/** A travel API without a feed is asked for one again after this. */
const FEED_AGAIN_MS = 60 * 60_000;
/** While the travel API does not answer, its feed is asked for less and less often, down to this. */
const FEED_REST_MS = 60_000;
/** After a fault of our own, such as a database that cannot be written: the first wait, doubled up to the longest. */
const FAULT_MS = 1_000;
const LONGEST_FAULT_MS = 10_000;

/** What happens without anybody asking. */
export interface Background {
  /** Lets the rules and lookups of all connections be read anew, soon; who is concerned is translated again. */
  refreshRules(): void;
  /** Lets the travelers of all connections be read anew, soon, and whatever was left open be taken up, as at a start. */
  importAgain(): void;
  /** Ends all loops; resolves when what was under way is done. */
  stop(): Promise<void>;
}

/** What working off the agenda takes. */
export interface WorkShop {
  agenda: Agenda;
  reconciler: Pick<Reconciler, 'attempt' | 'releaseUnkept'>;
  pauseOf(connection: Connection): Pause;
  surroundings: Surroundings;
}

/** What the background loops work with. */
interface BackgroundShop extends WorkShop {
  bases: Bases;
  rulesChanges: RulesChanges;
  connections: Connection[];
  importer: Importer;
  retention: Retention;
  alarmOf(connection: Connection): Alarm;
  /** Rung when everybody must be read before the hour is over. */
  importBellOf(connection: Connection): Alarm;
  /** Rung when rules or lookups have changed. */
  rulesBellOf(connection: Connection): Alarm;
  followerOf(connection: Connection, followRules: () => void): Follower | undefined;
}

/** Starts, for each connection, the loops that reconcile what is due, follow the rules, import, and end old tombstones. */
export function background(shop: BackgroundShop): Background {
  const stop = new AbortController();
  const loops = shop.connections.flatMap((connection) => {
    const follower = shop.followerOf(connection, () => shop.rulesBellOf(connection).ring());
    return [
      repeat(shop, stop.signal, () => turn(shop, connection, stop.signal)),
      repeat(shop, stop.signal, () => rulesTurn(shop, connection, stop.signal)),
      repeat(shop, stop.signal, () => importTurn(shop, { connection, follower }, stop.signal)),
      repeat(shop, stop.signal, () => retentionTurn(shop, connection, stop.signal)),
      ...(follower ? [followOn(shop, { connection, follower }, stop.signal)] : []),
    ];
  });
  return {
    refreshRules: () => {
      for (const connection of shop.connections) shop.rulesBellOf(connection).ring();
    },
    importAgain: () => {
      for (const connection of shop.connections) shop.importBellOf(connection).ring();
    },
    stop: async () => {
      stop.abort();
      for (const connection of shop.connections) shop.alarmOf(connection).ring();
      await Promise.all(loops);
    },
  };
}

/** Runs the turn over and over; a fault is logged and waited out, never the end of the loop. */
async function repeat(
  { surroundings }: BackgroundShop,
  signal: AbortSignal,
  task: () => Promise<void>,
): Promise<void> {
  let faults = 0;
  while (!signal.aborted) {
    try {
      await task();
      faults = 0;
    } catch (error) {
      if (!(error instanceof Unkept))
        surroundings.log.error({ err: error }, 'a background task failed; it is tried again');
      await surroundings.wait(Math.min(LONGEST_FAULT_MS, FAULT_MS * 2 ** Math.min(faults, 10)), signal);
      faults += 1;
    }
  }
}

/** A turn of the loop: what is due, or else a rest until something is. */
async function turn(shop: BackgroundShop, connection: Connection, signal: AbortSignal): Promise<void> {
  if ((await workOff(shop, connection, signal)) > 0) return;
  const idle = new AbortController();
  const rest = shop.surroundings.wait(IDLE_MS, AbortSignal.any([signal, idle.signal]));
  await Promise.race([shop.alarmOf(connection).rung(), rest]);
  idle.abort();
}

/** The store could not keep leases or outcomes. The reconciler has logged why. */
class Unkept extends Error {}

/** Attempts what is due at a connection now, several at once; answers how many. Rejects if the store keeps nothing. */
export async function workOff(shop: WorkShop, connection: Connection, signal?: AbortSignal): Promise<number> {
  if (!(await shop.reconciler.releaseUnkept())) throw new Unkept('outcomes could not be kept');
  const { now } = shop.surroundings;
  const heed = shop.pauseOf(connection);
  const due = heed.holds(now()) ? [] : await shop.agenda.due(now(), BATCH, [connection.id]);
  const queue = due.map(({ id }) => id);
  let attempts = 0;
  let unkept = 0;
  const lane = async (): Promise<void> => {
    for (let id = queue.shift(); id !== undefined && !signal?.aborted; id = queue.shift()) {
      // A few may have troubles of their own, such as a broken row; the others get their turn.
      if (unkept >= AT_ONCE || !heed.admits(now())) return;
      attempts += 1;
      const isProbe = heed.reason() !== undefined;
      if ((await shop.reconciler.attempt(connection, id)) === 'unkept') unkept += 1;
      if (isProbe) heed.ended(now());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (unkept > 0) throw new Unkept('leases or outcomes could not be kept');
  return attempts;
}

/** Rules and lookups as they are now, and a rest until they change or a minute is over. */
async function rulesTurn(shop: BackgroundShop, connection: Connection, signal: AbortSignal): Promise<void> {
  await followRules(shop, connection, signal);
  await shop.surroundings.wait(GATHER_MS, signal);
  await restUntil(shop, { bell: shop.rulesBellOf(connection), ms: RULES_MS - GATHER_MS }, signal);
}

async function followRules(shop: BackgroundShop, connection: Connection, signal: AbortSignal): Promise<void> {
  const basis = await shop.bases.refreshed(connection);
  if ('kind' in basis) return;
  if (!(await shop.rulesChanges.mayFollow(connection, basis, signal))) return;
  const now = shop.surroundings.now();
  let touched = STALE_BATCH;
  while (touched === STALE_BATCH) {
    touched = await shop.agenda.touchStale(connection.id, basis.version, STALE_BATCH, now);
    if (touched > 0) shop.alarmOf(connection).ring();
  }
}

interface Following {
  connection: Connection;
  follower: Follower;
}

/** An import, and a rest until the next. What happens from its beginning on, the feed tells. */
async function importTurn(
  shop: BackgroundShop,
  { connection, follower }: { connection: Connection; follower: Follower | undefined },
  signal: AbortSignal,
): Promise<void> {
  await follower?.begin();
  const pause = await importAll(shop, connection);
  await restUntil(shop, { bell: shop.importBellOf(connection), ms: pause }, signal);
}

/** Rests until the bell rings, or the time is over. */
async function restUntil(
  { surroundings }: BackgroundShop,
  { bell, ms }: { bell: Alarm; ms: number },
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const rest = surroundings.wait(ms, AbortSignal.any([signal, end.signal]));
  void rest.then(() => end.abort());
  await bell.rung(end.signal);
  end.abort();
}

/** Looks into the feed again and again; how often, depends on what the last look came to. */
async function followOn(
  shop: BackgroundShop,
  { connection, follower }: Following,
  signal: AbortSignal,
): Promise<void> {
  const everyMs = connection.feed?.everyMs ?? FEED_AGAIN_MS;
  let pause = everyMs;
  await repeat(shop, signal, async () => {
    await shop.surroundings.wait(pause, signal);
    if (signal.aborted || shop.pauseOf(connection).holds(shop.surroundings.now(), GIVE_WAY_MS)) return;
    const followed = await follower.follow();
    pause = restAfter(followed, { pause, everyMs });
    if (followed === 'lost') shop.importBellOf(connection).ring();
  });
}

function restAfter(followed: Followed, { pause, everyMs }: { pause: number; everyMs: number }): number {
  switch (followed) {
    case 'followed':
    case 'lost':
      return everyMs;
    case 'none':
      return FEED_AGAIN_MS;
    case 'unavailable':
      return Math.max(everyMs, Math.min(FEED_REST_MS, pause * 2));
  }
}

/** Answers how long to wait for the next. */
async function importAll(shop: BackgroundShop, connection: Connection): Promise<number> {
  const { log } = shop.surroundings;
  const imported = await shop.importer.run(connection);
  if ('kind' in imported) {
    log.warn(
      { connection: connection.id, failure: imported.kind },
      'the import failed; it is tried again in a minute',
    );
    return IMPORT_AGAIN_MS;
  }
  log.info({ connection: connection.id, read: imported.read }, 'imported the travelers');
  return IMPORT_MS;
}

/** Ends the tombstones that are older than the connection keeps them, in parts, and a rest until the next look. */
async function retentionTurn(
  shop: BackgroundShop,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  const { wait, log } = shop.surroundings;
  try {
    while ((await expireTombstones(shop, connection)) === EXPIRED_AT_ONCE && !signal.aborted)
      await wait(BREATH_MS, signal);
  } catch (error) {
    log.error({ err: error }, 'old tombstones could not be ended; it is tried again in a minute');
    await wait(RETENTION_AGAIN_MS, signal);
    return;
  }
  await wait(RETENTION_MS, signal);
}

async function expireTombstones(
  { retention, surroundings }: BackgroundShop,
  { id, tombstoneDays }: Connection,
): Promise<number> {
  const before = surroundings.wallClock() - tombstoneDays * DAY_MS;
  const bounds = { before, now: surroundings.now(), limit: EXPIRED_AT_ONCE };
  const expired = await retention.expireTombstones(id, bounds);
  if (expired > 0) surroundings.log.info({ connection: id, tombstones: expired }, 'old tombstones ended');
  return expired;
}
