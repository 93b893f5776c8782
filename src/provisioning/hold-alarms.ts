import type { Runtime } from './runtime-ports.ts';
import type { HoldCount, Holds } from './store-ports.ts';

/** How often the counts are compared with what was told last. */
const CHECK_MS = 1_000;
/** A growing number is told at most this often. */
const AGAIN_MS = 10 * 60_000;
/** A hold is over after so many checks without it: between two attempts at a person nothing is held for a moment. */
const CHECKS_WITHOUT = 3;
/** After a failure to count. */
const FAULT_MS = 5_000;

/** News about what waits for an admin, without personal data. */
export interface HoldAlert {
  type: 'hold.opened' | 'hold.grew' | 'hold.cleared';
  /** In epoch milliseconds. */
  at: number;
  hold: HoldCount;
}

/** Tells the operator. Returns at once and never fails: delivery goes on in the background. */
export interface Alerts {
  send(alert: HoldAlert): void;
}

/** Runs until it is stopped. */
export interface HoldAlarms {
  stop(): Promise<void>;
}

interface Deps {
  holds: Pick<Holds, 'countHolds'>;
  alerts: Alerts;
  runtime: Pick<Runtime, 'now' | 'wait' | 'log'>;
}

/** What was told last about one cause at one connection. */
interface Told {
  hold: HoldCount;
  at: number;
  checksWithout: number;
}

/** Raises an alarm, in the log and by an alert, when people become held, when they become more, and when none is left. */
export function holdAlarms(deps: Deps): HoldAlarms {
  const stop = new AbortController();
  const told = new Map<string, Told>();
  const ended = watch(deps, told, stop.signal);
  return {
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

async function watch(deps: Deps, told: Map<string, Told>, signal: AbortSignal): Promise<void> {
  const { holds, runtime } = deps;
  let isFailing = false;
  while (!signal.aborted) {
    try {
      compare(deps, told, await holds.countHolds());
      isFailing = false;
    } catch (error) {
      if (!isFailing) runtime.log.error({ err: error }, 'what is held could not be counted');
      isFailing = true;
    }
    await runtime.wait(isFailing ? FAULT_MS : CHECK_MS, signal);
  }
}

function compare(deps: Deps, told: Map<string, Told>, counts: HoldCount[]): void {
  const now = deps.runtime.now();
  const present = new Map(counts.map((count) => [`${count.connection} ${count.cause}`, count]));
  for (const [key, count] of present) {
    const last = told.get(key);
    if (!last) {
      raise(deps, 'hold.opened', count);
      told.set(key, { hold: count, at: now, checksWithout: 0 });
    } else if (count.count > last.hold.count && Math.abs(now - last.at) >= AGAIN_MS) {
      raise(deps, 'hold.grew', count);
      told.set(key, { hold: count, at: now, checksWithout: 0 });
    } else {
      const least = Math.min(count.count, last.hold.count);
      told.set(key, { ...last, hold: { ...count, count: least }, checksWithout: 0 });
    }
  }
  for (const [key, last] of told) {
    if (present.has(key)) continue;
    const checksWithout = last.checksWithout + 1;
    told.set(key, { ...last, checksWithout });
    if (checksWithout < CHECKS_WITHOUT) continue;
    raise(deps, 'hold.cleared', { ...last.hold, count: 0 });
    told.delete(key);
  }
}

const messages = {
  'hold.opened': 'changes are held until an admin decides: see "jetbridge holds list"',
  'hold.grew': 'more changes are held until an admin decides: see "jetbridge holds list"',
  'hold.cleared': 'nothing is held for this cause any more',
} satisfies Record<HoldAlert['type'], string>;

function raise({ alerts, runtime }: Deps, type: HoldAlert['type'], hold: HoldCount): void {
  runtime.log.error({ ...hold, since: new Date(hold.since).toISOString() }, messages[type]);
  alerts.send({ type, at: runtime.now(), hold });
}
