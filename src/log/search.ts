import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { ExchangeSource, RecordedExchange } from '../replay/exchanges.ts';
import type { Database } from '../store/sql/database.ts';
import { yieldToEventLoop } from '../store/sql/queries.ts';
import type { Tables } from '../store/sql/tables.ts';
import {
  BRIDGE_CREDENTIAL,
  type ExchangeLog,
  type ExchangePage,
  type ExchangeQuery,
  type LoggedExchange,
  type SoughtPerson,
} from './exchange.ts';
import { briefColumns, decodeBriefExchange, decodeExchange } from './exchange-row.ts';
import { readBodyWindows, readHead } from './exchange-store.ts';
import type { LogReadKeys } from './keys.ts';

/** The log of exchanges as people and recordings read it. */
export interface ExchangeReader extends ExchangeLog, Pick<ExchangeSource, 'read'> {}

/** A database, the keys of its log, and a listener. */
interface Reading {
  db: Kysely<Tables>;
  keys: LogReadKeys;
  /** Called with the position of each exchange that no key decrypts. Such exchanges are left out. */
  onUnreadable(position: number): void;
}

/** Returns the reading side of the log of a database. */
export function exchangeReader(
  { db }: Pick<Database, 'db'>,
  keys: LogReadKeys,
  onUnreadable: Reading['onUnreadable'] = () => {},
): ExchangeReader {
  const reading = { db, keys, onUnreadable };
  const searchInTurn = limitConcurrency(MAX_SEARCHES);
  return {
    list: (query) => searchInTurn(() => listExchanges(reading, query)),
    get: (position) => readExchange(reading, Number(position)),
    readBodyWindows: (now) => readBodyWindows(db, now),
    read: (connection, { from, limit }) =>
      searchInTurn(() => readRequests(reading, { connection, from, limit })),
    keepReadBodies: async (connection, until) => {
      await db
        .updateTable('connection')
        .set({ read_bodies_until: until })
        .where('id', '=', connection)
        .where((row) => row.or([row('read_bodies_until', 'is', null), row('read_bodies_until', '<', until)]))
        .execute();
    },
  };
}

/** Searches of one process that run at once. The others wait, so that they do not take the database from provisioning. */
const MAX_SEARCHES = 2;
/** The number of positions that one statement looks at, and the statements of one page. Others run between two of them. */
const STEP = 1_000;
const MAX_STEPS = 5;

/** Returns a function that runs at most so many works at once. */
function limitConcurrency(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running === limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** Positions from `after`, which is left out, to `upTo`. */
interface Range {
  after: number;
  upTo: number;
}

async function listExchanges(reading: Reading, query: ExchangeQuery): Promise<ExchangePage> {
  const head = await readHead(reading.db);
  const range = await findRange(reading.db, query);
  const end = Math.min(head, range.upTo, Number(query.before ?? Infinity) - 1);
  // A query that an index answers is one step.
  const step = query.person || query.requestId !== undefined ? Infinity : STEP;
  const exchanges: LoggedExchange[] = [];
  const page = (next: string | undefined) => ({ exchanges, next, head: String(head) });
  for (let [upTo, steps] = [end, 1]; upTo > range.after; steps += 1) {
    const after = Math.max(range.after, upTo - step);
    const limit = query.limit + 1 - exchanges.length;
    const found = await readMatching(reading, { query, range: { after, upTo }, limit });
    // One more than the page has shows that there is another one.
    const isFull = found.length === limit;
    exchanges.push(...(isFull ? found.slice(0, -1) : found).flatMap(({ exchange }) => exchange ?? []));
    if (isFull) return page(String(found.at(-2)?.position ?? upTo + 1));
    upTo = after;
    if (steps === MAX_STEPS && upTo > range.after) return page(String(upTo + 1));
    await yieldToEventLoop();
  }
  return page(undefined);
}

/** The longest time between the beginning of an exchange and its place in the log, with the difference of clocks. */
const MAX_DELAY_MS = 10 * 60_000;

/** Finds the range that a query looks at, so that one of a short time in the past does not look at everything since then. */
async function findRange(db: Kysely<Tables>, { since, until, after = '0' }: ExchangeQuery): Promise<Range> {
  const oldest = await db
    .selectFrom('exchange')
    .select('position')
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  const earlier = since === undefined ? undefined : await findNearest(db, '<', since - MAX_DELAY_MS);
  const later = until === undefined ? undefined : await findNearest(db, '>=', until + MAX_DELAY_MS);
  return {
    after: Math.max(Number(after), (oldest?.position ?? 1) - 1, earlier ?? 0),
    upTo: later ?? Infinity,
  };
}

/** Returns the position of the last exchange that began before a time, or of the first one that began at that time or later. */
async function findNearest(db: Kysely<Tables>, side: '<' | '>=', time: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('exchange')
    .select('position')
    .where('at', side, time)
    .orderBy('at', side === '<' ? 'desc' : 'asc')
    .limit(1)
    .executeTakeFirst();
  return row?.position;
}

interface Selection {
  query: Omit<ExchangeQuery, 'limit'>;
  range: Range;
  limit: number;
  /** `desc`: the newest ones, the newest first. */
  order?: 'asc' | 'desc';
}

/** Reads matching exchanges of a range. Those that no key decrypts have a position only. */
async function readMatching(
  reading: Reading,
  { query, range, limit, order = 'desc' }: Selection,
): Promise<{ position: number; exchange: LoggedExchange | undefined }[]> {
  const matching = reading.db
    .selectFrom('exchange')
    .where('position', '>', range.after)
    .where('position', '<=', Math.min(range.upTo, Number.MAX_SAFE_INTEGER))
    .where((row) => row.and(conditionsOf(row, query, reading.keys)))
    .orderBy('position', order)
    .limit(limit);
  if (query.isBrief) {
    const rows = await matching.select(briefColumns).execute();
    return rows.map((row) => ({ position: row.position, exchange: decodeBriefExchange(row) }));
  }
  const rows = await matching.selectAll().execute();
  return rows.map((row) => ({ position: row.position, exchange: readRow(reading, row) }));
}

function readRow({ keys, onUnreadable }: Reading, row: Tables['exchange']): LoggedExchange | undefined {
  const exchange = decodeExchange(row, keys);
  if (!exchange) onUnreadable(row.position);
  return exchange;
}

type Row = ExpressionBuilder<Tables, 'exchange'>;

function conditionsOf(row: Row, query: Selection['query'], keys: LogReadKeys): Expression<SqlBool>[] {
  const { connection, person, direction, method, status, isFailed, pathPrefix, pathBelow } = query;
  const { userId, requestId, hidesOwnCalls, hidesPolls, since, until } = query;
  const conditions: (Expression<SqlBool> | undefined | false)[] = [
    connection !== undefined && row('connection_id', '=', connection),
    person && row('position', 'in', positionsAbout(row, person, keys)),
    direction !== undefined && row('direction', 'in', [direction].flat()),
    method !== undefined && row('method', '=', method.toUpperCase()),
    status && row.and([row('status', '>=', status.from), row('status', '<=', status.to)]),
    isFailed && row.or([row('status', 'is', null), row('status', '>=', 400)]),
    pathPrefix !== undefined && beginsWith(row, pathPrefix.toLowerCase()),
    pathBelow !== undefined && isBelow(row, pathBelow.toLowerCase().replace(/\/+$/, '')),
    userId !== undefined && row('user_id', '=', userId),
    requestId !== undefined && row('request_id', '=', requestId),
    hidesOwnCalls &&
      row.or([
        row('direction', '<>', 'api'),
        row('credential', 'is', null),
        row('credential', '<>', BRIDGE_CREDENTIAL),
      ]),
    hidesPolls &&
      row.or([
        row('direction', '<>', 'travel'),
        row('person', 'is not', null),
        row('request_id', 'is not', null),
        row('status', 'is', null),
        row('status', '>=', 400),
      ]),
    since !== undefined && row('at', '>=', since),
    until !== undefined && row('at', '<', until),
  ];
  return conditions.filter((condition) => condition !== undefined && condition !== false);
}

/** Selects the positions of the exchanges that are about a person, or whose query asks for the person. */
function positionsAbout(row: Row, { id, names }: SoughtPerson, keys: LogReadKeys) {
  const hashes = keys.flatMap((key) => [id, ...names].map(key.hash));
  return row
    .selectFrom('exchange as own')
    .select('own.position')
    .where('own.person', '=', id)
    .union(
      row
        .selectFrom('exchange_name')
        .select('exchange_name.position')
        .where('name', 'in', hashes.length > 0 ? hashes : [''])
        .where('asked', '=', 1),
    );
}

/** Paths are percent-encoded, so that the database folds the same letters as JavaScript. */
function beginsWith(row: Row, prefix: string): Expression<SqlBool> {
  return sql<boolean>`substr(lower(${row.ref('path')}), 1, ${prefix.length}) = ${prefix}`;
}

function isBelow(row: Row, path: string): Expression<SqlBool> {
  return row.or([sql<boolean>`lower(${row.ref('path')}) = ${path}`, beginsWith(row, `${path}/`)]);
}

async function readExchange(reading: Reading, position: number): Promise<LoggedExchange | undefined> {
  if (!Number.isSafeInteger(position)) return undefined;
  const row = await reading.db
    .selectFrom('exchange')
    .selectAll()
    .where('position', '=', position)
    .executeTakeFirst();
  return row && readRow(reading, row);
}

interface RequestPage {
  connection: string;
  from: { since: number } | { after: string };
  limit: number;
}

/** Reads SCIM requests in the order in which they were logged. */
async function readRequests(
  reading: Reading,
  { connection, from, limit }: RequestPage,
): ReturnType<ExchangeReader['read']> {
  const head = await readHead(reading.db);
  const since = 'since' in from ? from.since : 0;
  let position = 'since' in from ? (await findRange(reading.db, { since, limit })).after : Number(from.after);
  const exchanges: RecordedExchange[] = [];
  const query = { connection, direction: 'scim', since } as const;
  while (position < head && exchanges.length < limit) {
    const range = { after: position, upTo: Math.min(head, position + STEP) };
    const wanted = limit - exchanges.length;
    const found = await readMatching(reading, { query, range, limit: wanted, order: 'asc' });
    exchanges.push(...found.flatMap(({ exchange }) => exchange ?? []).map(toRecorded));
    position = found.length === wanted ? (found.at(-1)?.position ?? range.upTo) : range.upTo;
    await yieldToEventLoop();
  }
  return { exchanges, position: String(position) };
}

/** Returns an exchange as recordings need it: the path below the base URL, and no body in place of a truncated one. */
export function toRecorded(exchange: LoggedExchange): RecordedExchange {
  const { at, connection = '', method, path, requestHeaders, status, responseHeaders } = exchange;
  const { requestBody, responseBody } = exchange;
  return {
    ...{ at, connection, method, requestHeaders, responseHeaders },
    path: path.replace(/^\/+scim\/+v2\/*(?=\/|$)/i, ''),
    status: status ?? 499,
    ...(requestBody && !requestBody.isCut ? { requestBody: requestBody.text } : {}),
    ...(responseBody && !responseBody.isCut ? { responseBody: responseBody.text } : {}),
  };
}
