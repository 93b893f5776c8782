import type { ReportedHolds } from '../../store/queues/hold-alarms.ts';
import type { Runtime } from '../runtime-ports.ts';
import { type AlarmCause, type AlarmCount, alarmCauses } from './holds.ts';

/** Interval of comparing the counts with the last reported ones, in milliseconds. */
const CHECK_MS = 1_000;
/** A growing count is reported at most this often, in milliseconds. */
const AGAIN_MS = 10 * 60_000;
/**
 * A hold is reported as cleared only after this many checks in a row without it, because it disappears for a moment
 * during each reconciliation.
 */
const CHECKS_WITHOUT = 3;
/** Delay after a failure to count, in milliseconds. */
const FAULT_MS = 5_000;

/** What has happened to the number of people about whom an operator is alarmed. */
type Step = 'opened' | 'grew' | 'cleared';

/** An alert about held changes, or about travelers that may differ from the answers of the travel API, without personal data. */
export interface HoldAlert {
  type: `${'hold' | AlarmCause}.${Step}`;
  /** In epoch milliseconds. */
  at: number;
  hold: AlarmCount;
}

/** Sends alerts to the operator. `send` returns at once and never fails; delivery continues in the background. */
export interface Alerts {
  send(alert: HoldAlert): void;
}

interface HoldAlarmsDeps {
  /** Counts the people about whom an operator is alarmed. */
  holds: { countHolds(): Promise<AlarmCount[]> };
  reportedHolds: ReportedHolds;
  alerts: Alerts;
  runtime: Pick<Runtime, 'now' | 'wait' | 'log'>;
}

/** The last report about one cause at one connection, by this replica or another. */
interface ReportedHold {
  hold: AlarmCount;
  at: number;
  checksWithout: number;
}

export type HoldAlarms = ReturnType<typeof holdAlarms>;

/** Starts the loop that logs and sends an alert when changes become held, when their count grows, and when none is left. */
export function holdAlarms(deps: HoldAlarmsDeps) {
  const stop = new AbortController();
  const reported = new Map<string, ReportedHold>();
  const ended = watch(deps, reported, stop.signal);
  return {
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

async function watch(
  deps: HoldAlarmsDeps,
  reported: Map<string, ReportedHold>,
  signal: AbortSignal,
): Promise<void> {
  const { holds, runtime } = deps;
  let isFailing = false;
  let isLoaded = false;
  while (!signal.aborted) {
    try {
      if (!isLoaded) await loadReported(deps, reported);
      isLoaded = true;
      await reportChanges(deps, reported, await holds.countHolds());
      isFailing = false;
    } catch (error) {
      if (!isFailing) runtime.log.error({ err: error }, 'the held changes could not be counted; retrying');
      isFailing = true;
    }
    await runtime.wait(isFailing ? FAULT_MS : CHECK_MS, signal);
  }
}

/** Loads the holds that were reported before the start, so that they are not reported as new again. */
async function loadReported(
  { reportedHolds }: HoldAlarmsDeps,
  reported: Map<string, ReportedHold>,
): Promise<void> {
  for (const { hold, at } of await reportedHolds.list())
    reported.set(`${hold.connection} ${hold.cause}`, { hold, at, checksWithout: 0 });
}

async function reportChanges(
  deps: HoldAlarmsDeps,
  reported: Map<string, ReportedHold>,
  counts: AlarmCount[],
): Promise<void> {
  const { reportedHolds, runtime } = deps;
  const now = runtime.now();
  const current = new Map(counts.map((count) => [`${count.connection} ${count.cause}`, count]));
  for (const [key, count] of current) {
    const last = reported.get(key);
    if (!last) {
      if (await reportedHolds.open(count, now)) raiseAlarm(deps, 'opened', count);
      reported.set(key, { hold: count, at: now, checksWithout: 0 });
    } else if (count.count > last.hold.count && Math.abs(now - last.at) >= AGAIN_MS) {
      if (await reportedHolds.grow(count, now, AGAIN_MS)) raiseAlarm(deps, 'grew', count);
      reported.set(key, { hold: count, at: now, checksWithout: 0 });
    } else {
      const least = Math.min(count.count, last.hold.count);
      reported.set(key, { ...last, hold: { ...count, count: least }, checksWithout: 0 });
    }
  }
  for (const [key, last] of reported) {
    if (current.has(key)) continue;
    const checksWithout = last.checksWithout + 1;
    reported.set(key, { ...last, checksWithout });
    if (checksWithout < CHECKS_WITHOUT) continue;
    if (await reportedHolds.clear(last.hold)) raiseAlarm(deps, 'cleared', { ...last.hold, count: 0 });
    reported.delete(key);
  }
}

const messages = {
  hold: {
    opened: 'changes are held until an admin decides: see "npx jetbridge holds list"',
    grew: 'more changes are held until an admin decides: see "npx jetbridge holds list"',
    cleared: 'no changes are held for this cause any more',
  },
  unclearAnswer: {
    opened:
      'a gateway may answer in place of the travel API (403 or 404 without an error code): see "npx jetbridge doctor"',
    grew: 'a gateway may answer in place of the travel API for more people: see "npx jetbridge doctor"',
    cleared: 'the travel API answers for all people again',
  },
  notArchived: {
    opened:
      'the travel API accepts deactivations, and travelers stay active: see "npx jetbridge people --finding notApplied"',
    grew: 'more travelers stay active after a deactivation: see "npx jetbridge people --finding notApplied"',
    cleared: 'no traveler stays active after a deactivation any more',
  },
  importMaximum: {
    opened:
      'an import has ended at its maximum: check the travel API, or raise import.maximum in the settings',
    grew: 'an import has ended at a higher maximum: check the travel API, or raise import.maximum in the settings',
    cleared: 'imports end before their maximum again',
  },
} satisfies Record<'hold' | AlarmCause, Record<Step, string>>;

function raiseAlarm({ alerts, runtime }: HoldAlarmsDeps, step: Step, hold: AlarmCount): void {
  const kind = alarmCauses.find((cause) => cause === hold.cause) ?? 'hold';
  const level = step === 'cleared' ? 'info' : 'error';
  runtime.log[level]({ ...hold, since: new Date(hold.since).toISOString() }, messages[kind][step]);
  alerts.send({ type: `${kind}.${step}`, at: runtime.now(), hold });
}
