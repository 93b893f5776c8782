import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Settings } from '../config/settings.ts';
import { createSampleData, type SampleCompany, SampleDataRefused } from '../sample-data/sample-data.ts';
import { foldCase } from '../schema/case-fold.ts';
import type { Database } from '../store/database.ts';
import { type DatabaseLocation, isInUse } from '../store/open-database.ts';
import { requestLog } from '../store/request-log.ts';
import { travelStore } from '../store/travel-writes.ts';
import { catalog } from '../travel/catalog.ts';
import { ApiError } from '../travel/errors.ts';
import { buildOpenApi } from '../travel/openapi/document.ts';
import type { LoggedRequest, RequestLogQuery, TravelReader } from '../travel/ports.ts';
import { parseCount, parseStatusRange, parseTime } from './arguments.ts';
import { withDatabase } from './connections.ts';
import { examples } from './help.ts';
import {
  type Action,
  escapeLine,
  formatTable,
  jsonLine,
  printJson,
  printTable,
  type Shell,
  startProgress,
} from './output.ts';

/** The maximum number of trips per person: more do not fit into the thirteen months. */
const TRIPS_EACH = 100;

/** Adds the command `sample-data`. */
export function addSampleDataCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('sample-data')
    .description('create a company with people, trips and invoices in the embedded travel service')
    .option('--users <number>', 'the number of people', wholeNumberBetween(1, 1_000_000), 200)
    .option('--trips <number>', 'the number of trips in thirteen months', wholeNumberBetween(0, 100_000), 500)
    .option('--seed <number>', 'the same seed creates the same company', wholeNumberBetween(0, 2 ** 31), 1)
    .option('--now <day>', 'the last day of the simulated time, YYYY-MM-DD; default: today', parseDay)
    .option('--json', 'one JSON object')
    .addHelpText('after', examples('sample-data', 'sample-data --users 1000 --trips 3000 --seed 7'))
    .action(
      action(async (options: SampleDataOptions, command: Command) => {
        const { users, trips } = options;
        if (trips > users * TRIPS_EACH) {
          return command.error(
            `error: ${trips} trips are too many for ${users === 1 ? 'one person' : `${users} people`}: at most ${TRIPS_EACH} each`,
          );
        }
        return makeSampleCompany(shell, options);
      }),
    );
}

function wholeNumberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
    return number;
  };
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

const DAY = 24 * 60 * 60_000;

/** Creates a company in the embedded travel service and prints what it contains. Works while a server runs. */
export function makeSampleCompany(shell: Shell, options: SampleDataOptions): Promise<0 | 1> {
  const work = async (database: Database, settings: Settings) => {
    if (settings.connections.every(({ travelApi }) => travelApi.url !== 'embedded')) {
      shell.printError('No connection uses the embedded travel service: sample data is made nowhere else.');
      return 1;
    }
    const { users, trips, seed, now } = options;
    const end = now === undefined ? Math.floor(Date.now() / DAY) * DAY : Date.parse(`${now}T00:00:00Z`);
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
    try {
      const company = await createSampleData(deps, { users, trips, seed, now: end });
      progress.stop();
      if (options.json) printJson(shell, { ...company, counts: Object.fromEntries(company.counts) });
      else shell.print(summaryText(company, { settings, columns: shell.columns }));
      return 0;
    } catch (error) {
      progress.stop();
      if (!(error instanceof SampleDataRefused || error instanceof ApiError)) throw error;
      shell.printError(error.message);
      return 1;
    }
  };
  return withDatabase(shell, work, { mayCreate: true });
}

/**
 * A connection that waits for SQLite's lock retries every 25 ms at most during the first 100 ms, then less and less often. While a
 * server runs, transactions are therefore short, with pauses (in milliseconds) that are longer than that; else they are long.
 */
const WITH_SERVER = { writes: 100, pauseMs: 30 };
const WITHOUT_SERVER = { writes: 1_000, pauseMs: 0 };
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
    formatTable(['what', 'made'], rows, columns),
    '\nWhat to try next, with an API key of the travel service ("npx jetbridge api-keys create" makes one):',
    ...calls,
  ].join('\n');
}

/** The longest path that the table shows whole, in characters. */
const PATH_LENGTH = 80;
const PAGE_SIZE = 200;

/** The flags of `requests`. */
export interface RequestFlags extends Pick<RequestLogQuery, 'since' | 'path'> {
  status?: RequestLogQuery['statuses'];
  /** An email address or a travel user id. */
  user?: string;
  limit: number;
  json?: true;
}

/** Adds the command `requests`. */
export function addRequestsCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('requests')
    .description('list the requests to the embedded travel service, newest first')
    .option('--since <time>', 'e.g. 15m, 2h, 7d, or 2026-11-20T08:00:00Z', parseTime)
    .option('--status <status>', 'e.g. 404, or 4xx for the whole class', parseStatusRange)
    .option('--path <path>', 'that path and those below it, e.g. /api/users')
    .option('--user <email>', 'the user on whose behalf; an email address or an id')
    .option('--limit <number>', 'the number of requests', parseCount, 50)
    .option('--json', 'one JSON object for each request, bodies included')
    .addHelpText(
      'after',
      examples('requests --since 1h --status 5xx', 'requests --user ada@corp.example --json'),
    )
    .action(action((options: RequestFlags) => showRequests(shell, options)));
}

/** Prints the newest matching requests to the embedded travel service. Works while a server runs. */
export function showRequests(shell: Shell, flags: RequestFlags): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    const reading = travelStore(database);
    const { since, path, status: statuses, user, limit } = flags;
    const userId = user === undefined ? undefined : await findUserId(reading, user);
    if (user !== undefined && userId === undefined) {
      shell.printError(
        `There is no user with the address ${escapeLine(user)}. Of one who was deleted, give the id.`,
      );
      return 1;
    }
    const query = { since, path, statuses, userId };
    const { requests, isAll } = await newestRequests(database, { query, limit });
    if (flags.json) for (const request of requests) shell.print(requestLine(request));
    else if (requests.length > 0) await printRequests(shell, reading, requests);
    if (requests.length === 0) shell.printError('There are no such requests.');
    if (!isAll) shell.printError(`These are the newest ${limit}; --limit shows more.`);
    return 0;
  });
}

async function findUserId(reading: TravelReader, user: string): Promise<string | undefined> {
  if (!user.includes('@')) return user;
  const [found] = await reading.find({ type: 'user', name: 'email', values: [foldCase(user)] });
  return found?.id;
}

/** Reads pages until there are enough requests or no more, because a page may be shorter than its limit. */
async function newestRequests(
  database: Database,
  { query, limit }: { query: Omit<RequestLogQuery, 'limit'>; limit: number },
): Promise<{ requests: LoggedRequest[]; isAll: boolean }> {
  const log = requestLog(database);
  const requests: LoggedRequest[] = [];
  let after: string | undefined;
  do {
    // Read one request more than is shown, to find out whether there are more.
    const size = Math.min(PAGE_SIZE, limit + 1 - requests.length);
    const page = await log.list({ ...query, limit: size, after });
    requests.push(...page.requests);
    after = page.next;
  } while (after !== undefined && requests.length <= limit);
  return { requests: requests.slice(0, limit), isAll: requests.length <= limit };
}

function requestLine({ time, ...request }: LoggedRequest): string {
  return jsonLine({ time: new Date(time).toISOString(), ...request });
}

async function printRequests(shell: Shell, reading: TravelReader, requests: LoggedRequest[]): Promise<void> {
  const ids = [...new Set(requests.flatMap(({ userId }) => userId ?? []))];
  const users = await reading.read(ids.map((id) => ({ type: 'user', id })));
  const names = new Map(users.map(({ id, doc }) => [id, String(doc['email'])]));
  const rows = requests.map(({ time, status, ms, method, path, userId, requestId }) => [
    new Date(time).toISOString().slice(0, 19).replace('T', ' '),
    String(status),
    String(ms),
    method,
    path.length > PATH_LENGTH ? `${path.slice(0, PATH_LENGTH)}…` : path,
    userId === undefined ? '-' : (names.get(userId) ?? userId),
    requestId,
  ]);
  printTable(shell, ['time (UTC)', 'status', 'ms', 'method', 'path', 'user', 'request id'], rows);
}

/** Adds the command `openapi`. */
export function addOpenapiCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('openapi')
    .description('print the contract of the embedded travel service as OpenAPI 3.1')
    .addHelpText('after', examples('openapi > travel-openapi.json'))
    .action(action(() => printOpenapi(shell)));
}

/** Prints the OpenAPI document of the travel service, for client generators and validators. */
export async function printOpenapi({ environment, print }: Shell): Promise<0> {
  print(JSON.stringify(buildOpenApi(catalog, environment['PUBLIC_URL']), null, 2));
  return 0;
}
