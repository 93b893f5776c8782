import type { Log, TravelStore } from './ports.ts';
import { EVENT_DAYS } from './resources/event.ts';
import type { WebhookRecords } from './webhooks/ports.ts';

const DAY_MS = 24 * 60 * 60_000;
/** The history of a webhook is kept as long as what it was told. */
const DELIVERY_DAYS = EVENT_DAYS;
const EVERY_MS = 60_000;
/** So much is done at once, and between two parts others have their turn. */
const BATCH = 200;
const PAUSE_MS = 20;

/** Something that has to be done now and then. */
export interface Job {
  name: string;
  everyMs: number;
  /** Does a part of it; true: there is more to do. */
  run(): Promise<boolean>;
}

/** What the jobs work on. */
export interface CleanupDeps {
  store: TravelStore;
  records: WebhookRecords;
  /** Epoch milliseconds. */
  now(): number;
}

/** Everything that the travel service does by itself, besides delivering. */
export function cleanupJobs({ store, records, now }: CleanupDeps): Job[] {
  const removing = (name: string, removed: () => Promise<number>): Job => ({
    name,
    everyMs: EVERY_MS,
    run: async () => (await removed()) === BATCH,
  });
  return [
    removing('old events', () => store.deleteOlderThan('event', now() - EVENT_DAYS * DAY_MS, BATCH)),
    removing('old deliveries', () => records.deleteOldDeliveries(now() - DELIVERY_DAYS * DAY_MS, BATCH)),
    removing('secrets that were replaced', () => records.deleteEndedSecrets(now(), BATCH)),
  ];
}

/** Does the jobs, each at its pace, until it is stopped; one that fails is logged, and has its turn again. */
export function runJobs(
  jobs: Job[],
  { wait, log }: { wait(ms: number, signal?: AbortSignal): Promise<void>; log: Log },
): { stop(): Promise<void> } {
  const end = new AbortController();
  const loop = async ({ name, everyMs, run }: Job) => {
    while (!end.signal.aborted) {
      try {
        while ((await run()) && !end.signal.aborted) await wait(PAUSE_MS, end.signal);
      } catch (error) {
        log.error({ err: error, job: name }, 'a job in the background failed; it is tried again');
      }
      await wait(everyMs, end.signal);
    }
  };
  const loops = jobs.map(loop);
  return {
    stop: async () => {
      end.abort();
      await Promise.all(loops);
    },
  };
}
