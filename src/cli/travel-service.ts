import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Settings } from '../config/settings.ts';
import { createSampleData, type SampleCompany, SampleDataRefused } from '../sample-data/sample-data.ts';
import { foldCase } from '../schema/case-fold.ts';
import { type Database, isDirectoryInUse } from '../store/database.ts';
import { requestLog } from '../store/request-log.ts';
import { travelStore } from '../store/travel-writes.ts';
import { catalog } from '../travel/catalog.ts';
import { ApiError } from '../travel/errors.ts';
import { buildOpenApi } from '../travel/openapi/document.ts';
import type { LoggedRequest, RequestLogQuery, TravelReader } from '../travel/ports.ts';
import { withDatabase } from './connections.ts';
import { type Action, escapeLine, formatTable, jsonLine, type Shell, startProgressBar } from './output.ts';

/** So many trips in thirteen months are as many as one person can make. */
const TRIPS_EACH = 100;

/** The command that makes a company in the embedded travel service. */
export function addSampleDataCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('sample-data')
    .description('make a company with people, trips and invoices in the embedded travel service')
    .option('--users <number>', 'how many people', wholeNumberBetween(1, 1_000_000), 200)
    .option('--trips <number>', 'how many trips, in thirteen months', wholeNumberBetween(0, 100_000), 500)
    .option(
      '--seed <number>',
      'which company: the same seed makes the same',
      wholeNumberBetween(0, 2 ** 31),
      1,
    )
    .option('--now <day>', 'the day on which the story ends, YYYY-MM-DD; default: today', parseDay)
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
export function makeSampleCompany(shell: Shell, options: SampleDataOptions): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    if (settings.connections.every(({ travelApi }) => travelApi.url !== 'embedded')) {
      shell.printError('No connection uses the embedded travel service: sample data is made nowhere else.');
      return 1;
    }
    const { users, trips, seed, now } = options;
    const end = now === undefined ? Math.floor(Date.now() / DAY) * DAY : Date.parse(`${now}T00:00:00Z`);
    const bar = shell.isTerminal ? startProgressBar('sample data', 'people and trips') : undefined;
    bar?.setTotal(users + trips);
    const ground = {
      store: travelStore(database),
      pause: pauseBetweenTransactions(settings.data),
      progress: () => bar?.increment(),
    };
    try {
      const made = await createSampleData(ground, { users, trips, seed, now: end });
      bar?.stop();
      shell.print(summaryText(made, settings));
      return 0;
    } catch (error) {
      bar?.stop();
      if (!(error instanceof SampleDataRefused || error instanceof ApiError)) throw error;
      shell.printError(error.message);
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

function pauseBetweenTransactions(directory: string): () => Promise<number> {
  let served = false;
  let askAt = 0;
  return async () => {
    if (performance.now() >= askAt) {
      served = await isDirectoryInUse(directory);
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

function summaryText({ company, domain, counts, ...examples }: SampleCompany, settings: Settings): string {
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
    formatTable(['what', 'made'], rows),
    '\nWhat to try next, with an API key of the travel service ("jetbridge api-keys create" makes one):',
    ...calls,
  ].join('\n');
}

/** The longest path that a table shows whole. */
const PATH = 80;
const PAGE = 200;

/** What an administrator looks for in the request log. */
export interface RequestFlags extends Pick<RequestLogQuery, 'since' | 'path'> {
  status?: RequestLogQuery['statuses'];
  /** An email address, or an id. */
  user?: string;
  limit: number;
  json?: true;
}

/** Prints the newest requests to the embedded travel service that are as asked for; works beside a running server. */
export function showRequests(shell: Shell, asked: RequestFlags): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    const reading = travelStore(database);
    const { since, path, status: statuses, user, limit } = asked;
    const userId = user === undefined ? undefined : await findUserId(reading, user);
    if (user !== undefined && userId === undefined) {
      shell.printError(
        `There is no user with the address ${escapeLine(user)}. Of one who was deleted, give the id.`,
      );
      return 1;
    }
    const query = { since, path, statuses, userId };
    const { requests, isAll } = await newestRequests(database, { query, limit });
    if (asked.json) for (const request of requests) shell.print(requestLine(request));
    else if (requests.length > 0) shell.print(await requestTable(reading, requests));
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

/** A page may hold fewer than there are, so it is asked on until there are enough or no more. */
async function newestRequests(
  database: Database,
  { query, limit }: { query: Omit<RequestLogQuery, 'limit'>; limit: number },
): Promise<{ requests: LoggedRequest[]; isAll: boolean }> {
  const log = requestLog(database);
  const requests: LoggedRequest[] = [];
  let after: string | undefined;
  do {
    // One more than is shown tells whether there are more.
    const size = Math.min(PAGE, limit + 1 - requests.length);
    const page = await log.list({ ...query, limit: size, after });
    requests.push(...page.requests);
    after = page.next;
  } while (after !== undefined && requests.length <= limit);
  return { requests: requests.slice(0, limit), isAll: requests.length <= limit };
}

function requestLine({ time, ...request }: LoggedRequest): string {
  return jsonLine({ time: new Date(time).toISOString(), ...request });
}

async function requestTable(reading: TravelReader, requests: LoggedRequest[]): Promise<string> {
  const ids = [...new Set(requests.flatMap(({ userId }) => userId ?? []))];
  const users = await reading.read(ids.map((id) => ({ type: 'user', id })));
  const names = new Map(users.map(({ id, doc }) => [id, String(doc['email'])]));
  const rows = requests.map(({ time, status, ms, method, path, userId, requestId }) => [
    new Date(time).toISOString().slice(0, 19).replace('T', ' '),
    String(status),
    String(ms),
    method,
    path.length > PATH ? `${path.slice(0, PATH)}…` : path,
    userId === undefined ? '-' : (names.get(userId) ?? userId),
    requestId,
  ]);
  return formatTable(['time (UTC)', 'status', 'ms', 'method', 'path', 'user', 'request id'], rows);
}

/** Prints the contract of the travel service, for programs that make clients and checks of it. */
export async function printOpenapi({ environment, print }: Shell): Promise<0> {
  print(JSON.stringify(buildOpenApi(catalog, environment['PUBLIC_URL']), null, 2));
  return 0;
}
