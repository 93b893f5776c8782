import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Settings } from '../config/settings.ts';
import { type Made, makeSampleData, SampleDataRefused } from '../sample-data/sample-data.ts';
import { isServed } from '../store/database.ts';
import { travelResources } from '../store/travel-resources.ts';
import { ApiError } from '../travel/errors.ts';
import { withDatabase } from './database.ts';
import type { Action, Shell } from './exit.ts';
import { startBar, tableOf } from './output.ts';

/** So many trips in thirteen months are as many as one person can make. */
const TRIPS_EACH = 100;

/** The command that makes a company in the embedded travel service. */
export function addSampleData(program: Command, shell: Shell, action: Action): void {
  program
    .command('sample-data')
    .description('make a company with people, trips and invoices in the embedded travel service')
    .option('--users <number>', 'how many people', within(1, 1_000_000), 200)
    .option('--trips <number>', 'how many trips, in thirteen months', within(0, 100_000), 500)
    .option('--seed <number>', 'which company: the same seed makes the same', within(0, 2 ** 31), 1)
    .option('--now <day>', 'the day on which the story ends, YYYY-MM-DD; default: today', day)
    .action(
      action(async (options: SampleDataOptions, command: Command) => {
        const { users, trips } = options;
        if (trips > users * TRIPS_EACH) {
          return command.error(
            `error: ${trips} trips are too many for ${users === 1 ? 'one person' : `${users} people`}: at most ${TRIPS_EACH} each`,
          );
        }
        return sampleData(shell, options);
      }),
    );
}

function within(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
    return number;
  };
}

function day(text: string): string {
  const time = Date.parse(`${text}T00:00:00Z`);
  // 30 February is read as 1 March: what was read must say what was written.
  if (!/^20\d\d-/.test(text) || Number.isNaN(time) || !new Date(time).toISOString().startsWith(text))
    throw new InvalidArgumentError('must be a day of this century such as 2026-11-20.');
  // The feed never goes back: whatever happens after a story of tomorrow would bear its dates.
  if (time > Date.now()) throw new InvalidArgumentError('must not be a day that is still to come.');
  return text;
}

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
