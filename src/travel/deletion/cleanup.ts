import type { Log, TravelStore } from '../ports.ts';
import { ANSWER_KEPT_MS } from '../requests/idempotency.ts';
import { EVENT_DAYS } from '../resources/event.ts';
import type { WebhookRecords } from '../webhooks/ports.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Deliveries are kept as long as the events that they deliver. */
const DELIVERY_DAYS = EVENT_DAYS;
const EVERY_MS = 60_000;
/** The number of rows that one transaction removes. Between two transactions, other work can use the database. */
const BATCH = 200;
const PAUSE_MS = 20;

/** A recurring background task. */
export interface CleanupJob {
  name: string;
  everyMs: number;
  /** Runs one batch and returns whether more is left to do. */
  run(): Promise<boolean>;
}

/** Dependencies of the cleanup jobs. */
export interface CleanupDeps {
  store: TravelStore;
  records: WebhookRecords;
  /** Epoch milliseconds. */
  now(): number;
}

/** The jobs that delete old events, old deliveries, ended secrets and old answers. */
export function cleanupJobs({ store, records, now }: CleanupDeps): CleanupJob[] {
  const removing = (name: string, removed: () => Promise<number>): CleanupJob => ({
    name,
    everyMs: EVERY_MS,
    run: async () => (await removed()) === BATCH,
  });
  return [
    removing('old events', () => store.deleteOlderThan('event', now() - EVENT_DAYS * DAY_MS, BATCH)),
    removing('old deliveries', () => records.deleteOldDeliveries(now() - DELIVERY_DAYS * DAY_MS, BATCH)),
    removing('old answers', () => store.deleteOldAnswers(now() - ANSWER_KEPT_MS, BATCH)),
    removing('secrets that were replaced', () => records.deleteEndedSecrets(now(), BATCH)),
  ];
}

/** Runs each job at its interval until it is stopped. A job that fails is logged and runs again after the interval. */
export function runCleanupJobs(
  jobs: CleanupJob[],
  { wait, log }: { wait(ms: number, signal?: AbortSignal): Promise<void>; log: Log },
): { stop(): Promise<void> } {
  const end = new AbortController();
  const loop = async ({ name, everyMs, run }: CleanupJob) => {
    while (!end.signal.aborted) {
      try {
        while ((await run()) && !end.signal.aborted) await wait(PAUSE_MS, end.signal);
      } catch (error) {
        log.error({ err: error, job: name }, 'a cleanup job failed; retrying');
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
