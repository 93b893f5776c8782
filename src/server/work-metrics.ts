import type { HttpMetrics } from '../http/monitoring.ts';
import { feedReadAt, isFeedFollowed } from '../provisioning/import/feed-task.ts';
import { isIncompleteImport, lastImportOf } from '../provisioning/import/import.ts';
import type { PeopleSummaries } from '../store/identities/people-summaries.ts';
import type { BackgroundTasks, TaskKind } from '../store/queues/background-tasks.ts';
import type { Database } from '../store/sql/database.ts';
import { countAllDeliveries } from '../store/travel/delivery-counts.ts';
import { joinReads, registerGauge } from './gauges.ts';

interface WorkDeps {
  peopleSummaries: PeopleSummaries;
  tasks: Pick<BackgroundTasks, 'listStates'>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Registers the metrics of people who need something: how long the oldest change waits, and the kinds of findings. */
export function registerPeopleGauges(
  metrics: HttpMetrics,
  { peopleSummaries, now }: Omit<WorkDeps, 'tasks'>,
): void {
  const read = joinReads(peopleSummaries.read);
  registerGauge(metrics, {
    name: 'jetbridge_oldest_waiting_change_age_seconds',
    help: 'Age of the oldest change that is on its way to the travel service, by connection; 0 while none is.',
    labels: ['connection'],
    read: async () =>
      (await read()).map(({ connection, waitingSince }) => ({
        connection,
        count: waitingSince === undefined ? 0 : secondsBetween(waitingSince, now()),
      })),
  });
  registerGauge(metrics, {
    name: 'jetbridge_people_with_finding',
    help: 'People with a finding, by connection and the code of the finding; of more than 20,000 with findings, the first ones are counted.',
    labels: ['connection', 'code'],
    read: async () =>
      (await read()).flatMap(({ connection, findings }) =>
        [...findings].map(([code, count]) => ({ connection, code, count })),
      ),
  });
}

/** A metric of a saved state: its name, its help, and its value, of which there is no series while it is undefined. */
type StateGauge = [name: string, help: string, value: (state: unknown, now: number) => number | undefined];

const importGauges: StateGauge[] = [
  [
    'jetbridge_import_last_success_timestamp_seconds',
    'The end of the last import that has succeeded, by connection.',
    (state) => toSeconds(lastImportOf(state)?.at),
  ],
  [
    'jetbridge_import_duration_seconds',
    'The duration of the last import that has succeeded, by connection.',
    (state) => toSeconds(lastImportOf(state)?.ms),
  ],
  [
    'jetbridge_import_travelers',
    'The travelers that the last import has listed, by connection.',
    (state) => lastImportOf(state)?.read,
  ],
  [
    'jetbridge_import_incomplete',
    '1 while the last import of a connection saw too few of the known travelers to conclude that the others are gone, or its list ended early.',
    (state) => (isIncompleteImport(state) ? 1 : 0),
  ],
  [
    'jetbridge_import_maximum',
    'The number of travelers at which the last import of a connection has ended although the travel API lists more; no series otherwise.',
    (state) => lastImportOf(state)?.maximum,
  ],
];

const feedGauges: StateGauge[] = [
  [
    'jetbridge_feed_followed',
    '1 while the event feed of a connection is followed; 0 while its travel API has none, or its position is not known.',
    (state) => (isFeedFollowed(state) ? 1 : 0),
  ],
  [
    'jetbridge_feed_position_age_seconds',
    'Time since the event feed of a connection was last read to its end.',
    (state, now) => {
      const at = feedReadAt(state);
      return at === undefined ? undefined : secondsBetween(at, now);
    },
  ],
];

/** Registers the metrics of what was last read of the travel services: by imports, and in event feeds. */
export function registerReadingGauges(
  metrics: HttpMetrics,
  { tasks, now }: Omit<WorkDeps, 'peopleSummaries'>,
): void {
  const register = (kind: TaskKind, gauges: StateGauge[]) => {
    const readStates = joinReads(() => tasks.listStates(kind));
    for (const [name, help, value] of gauges)
      registerGauge(metrics, {
        ...{ name, help, labels: ['connection'] },
        read: async () =>
          (await readStates()).flatMap(({ connection, state }) => {
            const count = value(state, now());
            return count === undefined ? [] : [{ connection, count }];
          }),
      });
  };
  register('import', importGauges);
  register('feed', feedGauges);
}

/** Registers the metrics of the webhooks of the embedded travel service. */
export function registerWebhookGauges(metrics: HttpMetrics, database: Database, now: WorkDeps['now']): void {
  const read = joinReads(() => countAllDeliveries(database));
  registerGauge(metrics, {
    name: 'jetbridge_webhook_deliveries',
    help: 'Deliveries of the webhooks of the embedded travel service that are kept, by status.',
    labels: ['status'],
    read: async () => Object.entries((await read()).byStatus).map(([status, count]) => ({ status, count })),
  });
  registerGauge(metrics, {
    name: 'jetbridge_webhook_oldest_pending_age_seconds',
    help: 'Age of the oldest event that waits for its delivery to a webhook; 0 while none waits.',
    read: async () => {
      const { oldestPendingAt } = await read();
      return [{ count: oldestPendingAt === undefined ? 0 : secondsBetween(oldestPendingAt, now()) }];
    },
  });
  registerGauge(metrics, {
    name: 'jetbridge_webhooks_failing',
    help: 'Webhooks whose deliveries have failed since their last success.',
    read: async () => [{ count: (await read()).failingWebhooks }],
  });
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

function secondsBetween(start: number, end: number): number {
  return Math.max(0, end - start) / 1000;
}
