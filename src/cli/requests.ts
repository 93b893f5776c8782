import {
  bridgeDirections,
  type ExchangeDirection,
  type ExchangeLog,
  type ExchangeQuery,
  type KeptBody,
  type LoggedExchange,
} from '../log/exchange.ts';
import { exchangeReader } from '../log/search.ts';
import { findPeople } from '../provisioning/people/explain-person.ts';
import { searchedNames } from '../provisioning/people/identity-names.ts';
import { foldCase } from '../schema/case-fold.ts';
import type { Database } from '../store/sql/database.ts';
import { travelStore } from '../store/travel/travel-writes.ts';
import { choiceOption, parseCount, parseStatusRange, parseTime, refuseUnknownCommands } from './arguments.ts';
import type { CliCommand } from './command.ts';
import { findConnections, type OpenedDatabase, withDatabase } from './database.ts';
import { Refused } from './exit-code.ts';
import { escapeLine, printJson, printTable, type Shell, toIsoTime } from './output.ts';

const directions = [...bridgeDirections, 'api'] satisfies ExchangeDirection[];

/** The flags of `requests list`. */
export interface RequestFlags {
  direction?: ExchangeDirection;
  method?: string;
  path?: string;
  /** Epoch milliseconds. */
  since?: number;
  status?: { from: number; to: number };
  connection?: string;
  /** A userName, an email address, a SCIM id or a travel user id. */
  person?: string;
  /** An email address or an id of the embedded travel service. */
  user?: string;
  limit: number;
  json?: true;
}

/** Adds the commands `requests list`, which is the default, and `requests show`. */
export function addRequestsCommands(program: CliCommand): void {
  const requests = program
    .command('requests')
    .description(
      'the requests of identity providers, the calls to travel APIs, and the requests to the embedded one',
    );
  refuseUnknownCommands(requests);
  addListCommand(requests);
  addShowCommand(requests);
}

function addListCommand(requests: CliCommand): void {
  requests
    .command('list', { isDefault: true })
    .description('list them, newest first')
    .option('--since <time>', 'e.g. 15m, 2h, 7d, or 2026-11-20T08:00:00Z', parseTime)
    .option('--connection <id>', 'only this connection')
    .option('--person <person>', 'only about this person: userName, email address, SCIM id or travel user id')
    .addOption(
      choiceOption(
        '--direction <direction>',
        'scim: of identity providers; oauth: for access tokens; travel: calls to travel APIs; api: to the embedded travel service',
        directions,
      ),
    )
    .option('--method <method>', 'e.g. PATCH')
    .option('--status <status>', 'e.g. 404, or 4xx for the whole class', parseStatusRange)
    .option('--path <path>', 'that path and those below it, e.g. /api/users')
    .option('--user <email>', 'the user of the embedded travel service; an email address or an id')
    .option('--limit <number>', 'the number of requests', parseCount, 50)
    .option('--json', 'one JSON object for each request, bodies included')
    .examples(
      'requests list --since 1h --status 5xx',
      'requests list --person ada@corp.example --direction scim',
      'requests list --user admin@jetbridge.local --json',
    )
    .runs(showRequests);
}

function addShowCommand(requests: CliCommand): void {
  requests
    .command('show')
    .description('show requests with their headers and bodies')
    .argument('<id>', 'an id of the list, or an X-Request-Id for a request and all calls that it caused')
    .option('--json', 'one JSON object for each request')
    .examples('requests show 1042', 'requests show 5b0c6d2e-6a4f-4f0e-9b1d-2c3d4e5f6a7b')
    .runs(showRequest);
}

/** Prints the newest matching requests. Works while a server runs. */
export function showRequests(shell: Shell, flags: RequestFlags): Promise<0 | 1> {
  return withDatabase(shell, async (opened) => {
    const query = await toQuery(opened, flags);
    const log = exchangeReader(opened.database);
    const { limit, json } = flags;
    // One request more than is shown tells whether there are more.
    const found = await readRequests(log, query, limit + 1);
    const shown = found.slice(0, limit);
    if (json) printJson(shell, ...shown.map(requestJson));
    else if (shown.length > 0) await printRequests(shell, opened, shown);
    if (shown.length === 0) shell.printError('There are no such requests.');
    if (found.length > limit) shell.printError(`These are the newest ${limit}; --limit shows more.`);
  });
}

/** Prints requests with headers and bodies. Returns 1 if there is none with that id. */
export function showRequest(shell: Shell, id: string, { json }: { json?: true }): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const log = exchangeReader(database);
    const one = /^\d+$/.test(id) ? await log.get(id) : undefined;
    const found = one ? [one] : await readRequests(log, { requestId: id, hidesOwnCalls: true }, Infinity);
    const oldestFirst = found.sort((a, b) => a.at - b.at);
    if (found.length === 0)
      throw new Refused(`There is no request ${escapeLine(id)}; "npx jetbridge requests" lists them.`);
    if (json) printJson(shell, ...oldestFirst.map(requestJson));
    else shell.print(oldestFirst.map(requestText).join('\n\n'));
  });
}

const PAGE_SIZE = 200;

/** Reads matching requests, the newest first, up to a number. */
async function readRequests(
  log: Pick<ExchangeLog, 'list'>,
  query: Omit<ExchangeQuery, 'limit'>,
  limit: number,
): Promise<LoggedExchange[]> {
  const found: LoggedExchange[] = [];
  let before: string | undefined;
  do {
    const page = await log.list({ ...query, before, limit: Math.min(PAGE_SIZE, limit - found.length) });
    found.push(...page.exchanges);
    before = page.next;
  } while (before !== undefined && found.length < limit);
  return found;
}

/**
 * Finds the connection, person and user that the flags name. Throws if one of them is unknown. The bridge's own calls of the embedded
 * travel service are in the log twice: unless the direction is `api`, only as travel calls.
 */
async function toQuery(
  { database, store }: OpenedDatabase,
  { connection, person, user, status, since, path: pathBelow, method, direction }: RequestFlags,
): Promise<Omit<ExchangeQuery, 'limit'>> {
  const connections = findConnections(database, connection);
  const query: Omit<ExchangeQuery, 'limit'> = { connection, status, since, pathBelow, method, direction };
  query.hidesOwnCalls = direction !== 'api';
  if (person !== undefined) {
    const [identity, ...others] = await findPeople(store, connections, person);
    if (others.length > 0)
      throw new Refused(`${escapeLine(person)} names several people: give the SCIM id, or --connection.`);
    // The log may have requests about people who are gone.
    query.person = identity ? { id: identity.id, names: searchedNames(identity) } : { id: person, names: [] };
    query.direction ??= bridgeDirections;
  }
  if (user !== undefined) {
    query.userId = await findUserId(database, user);
    if (query.userId === undefined)
      throw new Refused(
        `There is no user with the address ${escapeLine(user)}. Of one who was deleted, give the id.`,
      );
  }
  return query;
}

async function findUserId(database: Database, user: string): Promise<string | undefined> {
  if (!user.includes('@')) return user;
  const values = [foldCase(user)];
  const [found] = await travelStore(database).find({ type: 'user', name: 'email', values });
  return found?.id;
}

/** The longest path that the table shows whole, in characters. */
const PATH_LENGTH = 80;

async function printRequests(
  shell: Shell,
  opened: OpenedDatabase,
  requests: LoggedExchange[],
): Promise<void> {
  const names = await readNames(opened, requests);
  const rows = requests.map((request) => {
    const { at, direction, status, error, ms, method, path, person, userId } = request;
    return [
      new Date(at).toISOString().slice(0, 19).replace('T', ' '),
      direction,
      status === undefined ? (error ?? '-') : String(status),
      String(Math.round(ms)),
      method,
      path.length > PATH_LENGTH ? `${path.slice(0, PATH_LENGTH)}…` : path,
      names.get(person ?? userId ?? '') ?? person ?? userId ?? '-',
      idOf(request),
    ];
  });
  const head = ['time (UTC)', 'direction', 'status', 'ms', 'method', 'path', 'person or user', 'id'];
  printTable(shell, head, rows);
  shell.printError('"npx jetbridge requests show ID" shows headers and bodies.');
}

/** Returns the userNames of people and the addresses of users, by id. */
async function readNames(
  { database, store: { identities } }: OpenedDatabase,
  requests: LoggedExchange[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const { connection, person } of requests) {
    if (connection === undefined || person === undefined || names.has(person)) continue;
    const known = database.scopes.has(connection) ? await identities.findById(connection, person) : undefined;
    names.set(person, String(known?.desired.userName ?? person));
  }
  const ids = [...new Set(requests.flatMap(({ userId }) => userId ?? []))];
  const users = await travelStore(database).read(ids.map((id) => ({ type: 'user', id })));
  for (const { id, doc } of users) names.set(id, String(doc['email']));
  return names;
}

/** The id by which `requests show` finds a request. */
function idOf({ direction, position, requestId }: LoggedExchange): string {
  return direction === 'api' ? (requestId ?? position) : position;
}

function requestJson(exchange: LoggedExchange): object {
  const { position: _position, at, requestHeaders, responseHeaders, ...request } = exchange;
  return {
    ...{ id: idOf(exchange), time: toIsoTime(at), ...request },
    // Of requests to the embedded travel service the log keeps no headers.
    ...(request.direction === 'api' ? {} : { requestHeaders, responseHeaders }),
    requestBody: bodyJson(request.requestBody),
    responseBody: bodyJson(request.responseBody),
  };
}

function bodyJson(body: KeptBody | undefined) {
  return body && { text: body.text, cut: body.isCut };
}

/** Formats a request with its headers and bodies. */
function requestText(request: LoggedExchange): string {
  const { at, ms, method, path, status, error, direction, connection, person, requestId } = request;
  const facts: [label: string, text: string | undefined][] = [
    ['time', `${toIsoTime(at)}, ${ms} ms`],
    ['direction', direction],
    ['connection', connection],
    ['person', person],
    ['request id', requestId],
    ['error', error],
  ];
  return [
    escapeLine(`${method} ${path} → ${status ?? 'no response'}`),
    ...facts.flatMap(([label, text]) =>
      text === undefined ? [] : [`  ${label.padEnd(12)}${escapeLine(text)}`],
    ),
    ...headerLines('request', request.requestHeaders),
    ...bodyLines('request', request.requestBody),
    ...headerLines('response', request.responseHeaders),
    ...bodyLines('response', request.responseBody),
  ].join('\n');
}

function headerLines(part: string, headers: Record<string, string>): string[] {
  const lines = Object.entries(headers).map(([name, value]) => escapeLine(`    ${name}: ${value}`));
  return lines.length === 0 ? [] : [`  ${part} headers`, ...lines];
}

function bodyLines(part: string, body: KeptBody | undefined): string[] {
  if (!body) return [];
  const lines = bodyText(body.text)
    .split('\n')
    .map((line) => `    ${escapeLine(line)}`);
  return [`  ${part} body${body.isCut ? ' (its beginning)' : ''}`, ...lines];
}

/** JSON is indented; anything else stays as it is. */
function bodyText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
