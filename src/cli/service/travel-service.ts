import { setTimeout } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import type { Settings } from '../../config/settings.ts';
import {
  createSampleData,
  endOfSimulation,
  SAMPLE_COMPANY,
  type SampleCompany,
  SampleDataRefused,
} from '../../sample-data/sample-data.ts';
import { type DatabaseLocation, isInUse } from '../../store/sql/open-database.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import { catalog } from '../../travel/catalog.ts';
import { ApiError } from '../../travel/errors.ts';
import { buildOpenApi } from '../../travel/openapi/document.ts';
import type { CliCommand } from '../command.ts';
import { type OpenedDatabase, withDatabase } from '../database.ts';
import { Refused, WrongUse } from '../exit-code.ts';
import { wholeNumber } from '../terminal/arguments.ts';
import { formatTable, printJson, type Shell, startProgress } from '../terminal/output.ts';

/** The maximum number of trips per person: more do not fit into the thirteen months. */
const TRIPS_EACH = 100;

/** Defines the command `sample-data`. */
export function defineSampleDataCommand(command: CliCommand): void {
  command
    .option('--users <number>', 'the number of people', wholeNumber(1, 1_000_000), SAMPLE_COMPANY.users)
    .option(
      '--trips <number>',
      'the number of trips in thirteen months',
      wholeNumber(0, 100_000),
      SAMPLE_COMPANY.trips,
    )
    .option(
      '--seed <number>',
      'the same seed creates the same company',
      wholeNumber(0, 2 ** 31),
      SAMPLE_COMPANY.seed,
    )
    .option('--now <day>', 'the last day of the simulated time, YYYY-MM-DD; default: today', parseDay)
    .option('--json', 'one JSON object')
    .examples('sample-data', 'sample-data --users 1000 --trips 3000 --seed 7')
    .runs(async (shell, options: SampleDataOptions) => {
      const { users, trips } = options;
      if (trips > users * TRIPS_EACH) {
        throw new WrongUse(
          `${trips} trips are too many for ${users === 1 ? 'one person' : `${users} people`}: at most ${TRIPS_EACH} each`,
        );
      }
      return makeSampleCompany(shell, options);
    });
}

function parseDay(text: string): string {
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse accepts 30 February as 1 March, so compare the parsed day with the text.
  if (!/^20\d\d-/.test(text) || Number.isNaN(time) || !new Date(time).toISOString().startsWith(text))
    throw new InvalidArgumentError('must be a day of this century such as 2026-11-20.');
  // Refuse a future day: the times of the event feed never decrease, so today's events would get that day as their
  // time.
  if (time > Date.now()) throw new InvalidArgumentError('must not be a day that is still to come.');
  return text;
}

/** The flags of `sample-data`. */
export interface SampleDataOptions {
  users: number;
  trips: number;
  seed: number;
  /** The day, YYYY-MM-DD in UTC, at whose beginning the simulated time ends; default: today. */
  now?: string;
  json?: true;
}

/** Creates a company in the embedded travel service and prints what it contains. Works while a server runs. */
export function makeSampleCompany(shell: Shell, options: SampleDataOptions): Promise<0 | 1> {
  const work = async ({ database, settings }: OpenedDatabase) => {
    if (settings.connections.every(({ travelApi }) => travelApi.url !== 'embedded'))
      throw new Refused('No connection uses the embedded travel service: sample data is made nowhere else.');
    const { users, trips, seed, now } = options;
    const end = now === undefined ? endOfSimulation(Date.now()) : Date.parse(`${now}T00:00:00Z`);
    const progress = startProgress(shell, 'sample data', 'people and trips');
    let made = 0;
    const deps = {
      store: travelStore(database),
      pause: pauseBetweenTransactions(settings),
      progress: () => {
        made += 1;
        progress.update(made, users + trips);
      },
    };
    const company = await createSampleData(deps, { users, trips, seed, now: end })
      .catch((error: unknown) => {
        const isRefusal = error instanceof SampleDataRefused || error instanceof ApiError;
        throw isRefusal ? new Refused(error.message) : error;
      })
      .finally(progress.stop);
    if (options.json) printJson(shell, { ...company, counts: Object.fromEntries(company.counts) });
    else shell.print(summaryText(company, { settings, columns: shell.columns }));
  };
  return withDatabase(shell, work, { mayCreate: true });
}

/**
 * A connection that waits for SQLite's lock retries every 25 ms at most during the first 100 ms, then less and less often. While a
 * server runs, transactions are therefore short, with pauses (in milliseconds) that are longer than that; else they are long.
 */
const WITH_SERVER = { writes: 100, pauseMs: 30 };
const WITHOUT_SERVER = { writes: 5_000, pauseMs: 0 };
/** Interval at which the command checks whether a server is running, in milliseconds. */
const SERVER_CHECK_MS = 3_000;

function pauseBetweenTransactions(location: DatabaseLocation): () => Promise<number> {
  let pace = WITHOUT_SERVER;
  let checkAt = 0;
  return async () => {
    if (performance.now() >= checkAt) {
      pace = (await isInUse(location)) ? WITH_SERVER : WITHOUT_SERVER;
      checkAt = performance.now() + SERVER_CHECK_MS;
    }
    await setTimeout(pace.pauseMs);
    return pace.writes;
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

function summaryText(
  { company, domain, counts, ...made }: SampleCompany,
  { settings, columns }: { settings: Settings; columns: number | undefined },
): string {
  const rows = Object.entries(titles).map(([type, title]) => [title, String(counts.get(type) ?? 0)]);
  const { tripProjectId, invoiceId } = made;
  const url = (settings.publicUrl ?? localUrl(settings)).replace(/\/+$/, '');
  const paths = [
    'users?limit=5&sortBy=email',
    ...(tripProjectId === undefined ? [] : [`trip-projects/${tripProjectId}`]),
    ...(invoiceId === undefined ? [] : [`invoices/${invoiceId}/billing-operations?limit=5`]),
    'events?pageKind=cursor&limit=5&order=desc',
  ];
  const calls = paths.map((path) => `curl -H "Authorization: Bearer $TRAVEL_API_KEY" "${url}/api/${path}"`);
  return [
    `${company} is there, its addresses end with @${domain}.`,
    formatTable(['what', 'made'], rows, columns),
    '\nWhat to try next, with an API key of the travel service ("npx jetbridge api-keys create" makes one):',
    ...calls,
  ].join('\n');
}

/** The address of a server with these settings on this machine. */
function localUrl({ tls, host, port }: Settings): string {
  const isAny = host === '::' || host === '0.0.0.0';
  const name = isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${name}:${port}`;
}

/** Defines the command `openapi`. */
export function defineOpenapiCommand(command: CliCommand): void {
  command.examples('openapi > travel-openapi.json').runs(printOpenapi);
}

/** Prints the OpenAPI document of the travel service, for client generators and validators. */
export async function printOpenapi({ environment, print }: Shell): Promise<0> {
  print(JSON.stringify(buildOpenApi(catalog, environment['PUBLIC_URL']), null, 2));
  return 0;
}
