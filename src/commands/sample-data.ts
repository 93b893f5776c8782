import { setTimeout } from 'node:timers/promises';
import type { Settings } from '../config.ts';
import { isServed } from '../store/database.ts';
import { travelResources } from '../store/travel-resources.ts';
import { ApiError } from '../travel/errors.ts';
import { type Made, makeSampleData, SampleDataRefused } from '../travel/sample-data/sample-data.ts';
import { withDatabase } from './database.ts';
import { startBar } from './progress-bar.ts';
import type { Shell } from './shell.ts';
import { tableOf } from './table.ts';

/** What is asked for on the command line. */
export interface SampleDataOptions {
  users: number;
  trips: number;
  seed: number;
  /** A day in UTC, YYYY-MM-DD, at whose beginning the story ends; nothing said: today. */
  now?: string;
}

const DAY = 24 * 60 * 60_000;

/** Makes a company in the embedded travel service, beside a running server, and tells what there is to see. */
export function sampleData(shell: Shell, options: SampleDataOptions): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    if (settings.connections.every(({ travelApi }) => travelApi.url !== 'embedded')) {
      shell.complain('No connection uses the embedded travel service: sample data is made nowhere else.');
      return 1;
    }
    const { users, trips, seed, now } = options;
    const end = now === undefined ? Math.floor(Date.now() / DAY) * DAY : Date.parse(`${now}T00:00:00Z`);
    const bar = shell.isTerminal ? startBar('sample data', 'people and trips') : undefined;
    bar?.setTotal(users + trips);
    const ground = {
      store: travelResources(database),
      pause: pauses(settings.data),
      progress: () => bar?.increment(),
    };
    try {
      const made = await makeSampleData(ground, { users, trips, seed, now: end });
      bar?.stop();
      shell.print(summary(made, settings));
      return 0;
    } catch (error) {
      bar?.stop();
      if (!(error instanceof SampleDataRefused || error instanceof ApiError)) throw error;
      shell.complain(error.message);
      return 1;
    }
  });
}

/**
 * Whoever waits for SQLite's lock asks for it again after 25 ms at most while they have waited for 100 ms, and less and
 * less often after that. So beside a server the transactions are short, and what lies between them is not; else long.
 */
const BESIDE = { writes: 100, wait: 30 };
const ALONE = 1_000;
/** How long to believe that there is a server, or none, in ms. */
const BELIEF = 3_000;

function pauses(directory: string): () => Promise<number> {
  let served = false;
  let askAt = 0;
  return async () => {
    if (performance.now() >= askAt) {
      served = await isServed(directory);
      askAt = performance.now() + BELIEF;
    }
    await setTimeout(served ? BESIDE.wait : 0);
    return served ? BESIDE.writes : ALONE;
  };
}

const titles: Record<string, string> = {
  user: 'users',
  travelPolicy: 'travel policies',
  billingProfile: 'billing profiles',
  costCenter: 'cost centers',
  projectCode: 'project codes',
  customField: 'custom fields',
  customFieldOption: 'options of custom fields',
  tripProject: 'trip projects',
  billingOperation: 'billing operations',
  invoice: 'invoices',
  refund: 'refunds',
  dispute: 'disputes',
  event: 'events',
};

function summary({ company, domain, counts, ...examples }: Made, settings: Settings): string {
  const rows = Object.entries(titles).map(([type, title]) => [title, String(counts.get(type) ?? 0)]);
  const { tripProjectId, invoiceId } = examples;
  const scheme = settings.tls ? 'https' : 'http';
  const url = (settings.publicUrl ?? `${scheme}://${settings.host}:${settings.port}`).replace(/\/+$/, '');
  const paths = [
    'users?limit=5&sortBy=email',
    ...(tripProjectId === undefined ? [] : [`trip-projects/${tripProjectId}`]),
    ...(invoiceId === undefined ? [] : [`invoices/${invoiceId}/billing-operations?limit=5`]),
    'events?pageKind=cursor&limit=5&order=desc',
  ];
  const calls = paths.map((path) => `curl -H "Authorization: Bearer $TRAVEL_API_KEY" "${url}/api/${path}"`);
  return [
    `${company} is there, its addresses end with @${domain}.`,
    tableOf(['what', 'made'], rows),
    '\nWhat to try next, with an API key of the travel service ("jetbridge api-keys create" makes one):',
    ...calls,
  ].join('\n');
}
