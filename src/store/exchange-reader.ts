import type { Kysely } from 'kysely';
import type {
  ExchangeLog,
  ExchangeQuery,
  ExchangeWithBodies,
  LoggedExchange,
} from '../provisioning/exchange-ports.ts';
import type { ExchangeSource, RecordedExchange } from '../replay/exchanges.ts';
import type { Database } from './database.ts';
import {
  type ExchangeReadKeys,
  hasRowByPerson,
  isReadMethod,
  openBodies,
  openEntries,
  readBodyWindows,
  type SegmentRow,
} from './exchange-log.ts';
import type { KeptBodies, StoredExchange } from './exchange-segments.ts';
import { yieldToEventLoop } from './queries.ts';
import type { Tables } from './tables.ts';

/** The log of exchanges as people and recordings read it. */
export interface ExchangeReader extends ExchangeLog, Pick<ExchangeSource, 'read'> {}

/**
 * Returns the reading side of the log of a database. Segments that no key decrypts are left out; `onUnreadable` is called with each,
 * and again if it is read again.
 */
export function exchangeReader(
  { db }: Pick<Database, 'db'>,
  keys: ExchangeReadKeys,
  onUnreadable: (segment: UnreadableSegment) => void = () => {},
): ExchangeReader {
  const opener: SegmentOpener = {
    entriesOf: (row) => {
      const entries = openEntries(row, keys);
      if (!entries) onUnreadable(row);
      return entries ?? [];
    },
    bodiesOf: (row) => openBodies(row, keys),
  };
  return {
    list: (query) => listExchanges(db, opener, query),
    get: (position) => readExchange(db, opener, Number(position)),
    readBodyWindows: (now) => readBodyWindows(db, now),
    read: (connection, { from, limit }) => readRequests(db, opener, { connection, from, limit }),
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

/** A segment that no key decrypts: the position of its last exchange, and the number of its exchanges. */
export type UnreadableSegment = Pick<SegmentRow, 'last' | 'count'>;

/** Decrypts segments. One that no key decrypts has no entries and no bodies. */
interface SegmentOpener {
  entriesOf(row: SegmentRow): (StoredExchange | undefined)[];
  bodiesOf(row: SegmentRow): Map<number, KeptBodies> | undefined;
}

/** The largest number of segments that one statement reads, and that one page looks at. */
const SEGMENTS_AT_ONCE = 20;
const MAX_SEGMENTS = 1_000;
/** The number of exchanges that are looked at without a pause, about, and that one page looks at. */
const EXCHANGES_AT_ONCE = 500;
const MAX_SCANNED = 5_000;

const entryColumns = ['last', 'connection_id', 'count', 'entries'] as const;

async function listExchanges(
  db: Kysely<Tables>,
  opener: SegmentOpener,
  query: ExchangeQuery,
): ReturnType<ExchangeLog['list']> {
  const before = query.before === undefined ? undefined : Number(query.before);
  const newest = await readHead(db);
  const range = await findRange(db, query);
  const last = before === undefined ? newest : await findLastOfSegment(db, before - 1);
  const segments = readSegments(db, query, { from: range.from, to: Math.min(last, range.to) });
  return { ...(await collect(segments, opener, { ...query, before })), head: String(newest) };
}

/** Collects the wanted exchanges of segments, up to the limits of a page. */
async function collect(
  segments: AsyncIterable<SegmentRow>,
  opener: SegmentOpener,
  { before, ...query }: Omit<ExchangeQuery, 'before'> & { before: number | undefined },
): Promise<Omit<Awaited<ReturnType<ExchangeLog['list']>>, 'head'>> {
  const exchanges: LoggedExchange[] = [];
  let [looked, scanned, unpaused] = [0, 0, 0];
  for await (const row of segments) {
    for (const exchange of newestFirst(row, opener, before)) {
      if (!isWanted(exchange, query)) continue;
      if (exchanges.length === query.limit) return { exchanges, next: exchanges.at(-1)?.position };
      exchanges.push(exchange);
    }
    [looked, scanned, unpaused] = [looked + 1, scanned + row.count, unpaused + row.count];
    if (looked >= MAX_SEGMENTS || scanned >= MAX_SCANNED)
      return { exchanges, next: String(row.last - row.count + 1) };
    if (unpaused < EXCHANGES_AT_ONCE) continue;
    await yieldToEventLoop();
    unpaused = 0;
  }
  return { exchanges, next: undefined };
}

/** Reads the segments of a range that may contain wanted exchanges, the newest first. */
async function* readSegments(
  db: Kysely<Tables>,
  query: ExchangeQuery,
  { from, to }: SegmentRange,
): AsyncGenerator<SegmentRow> {
  let upTo = to;
  for (;;) {
    const rows = await selectSegments(db, query, { from, to: upTo }).limit(SEGMENTS_AT_ONCE).execute();
    yield* rows;
    const oldest = rows.at(-1);
    if (!oldest || rows.length < SEGMENTS_AT_ONCE) return;
    upTo = oldest.last - oldest.count;
  }
}

/** Returns the position of the newest exchange; 0 for an empty log. */
async function readHead(db: Kysely<Tables>): Promise<number> {
  const { last } = await db
    .selectFrom('exchange_segment')
    .select(({ fn }) => fn.max<number | null>('last').as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** Returns the last position of the segment with this position, or the highest number. */
async function findLastOfSegment(db: Kysely<Tables>, position: number): Promise<number> {
  const row = await db
    .selectFrom('exchange_segment')
    .select(({ fn }) => fn.min<number | null>('last').as('last'))
    .where('last', '>=', position)
    .executeTakeFirstOrThrow();
  return row.last ?? Number.MAX_SAFE_INTEGER;
}

/** The positions of the last exchanges of segments, both included. */
interface SegmentRange {
  from: number;
  to: number;
}

/** The longest time between the beginning of an exchange and its place in the log, with the difference of clocks. */
const MAX_DELAY_MS = 10 * 60_000;

/**
 * Finds the range of segments that a query looks at, so that one of a short time in the past does not look at every
 * segment since then.
 */
async function findRange(
  db: Kysely<Tables>,
  { since, until, after = '0' }: ExchangeQuery,
): Promise<SegmentRange> {
  const range = { from: Number(after) + 1, to: Number.MAX_SAFE_INTEGER };
  if (since !== undefined) {
    const earlier = await findNearest(db, '<', since - MAX_DELAY_MS);
    range.from = Math.max(range.from, earlier ?? 0);
  }
  if (until !== undefined) range.to = (await findNearest(db, '>=', until + MAX_DELAY_MS)) ?? range.to;
  return range;
}

/** Returns the place of the segment whose end is the nearest one before a time, or at a time or later. */
async function findNearest(db: Kysely<Tables>, side: '<' | '>=', time: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('exchange_segment')
    .select('last')
    .where('ended_at', side, time)
    .orderBy('ended_at', side === '<' ? 'desc' : 'asc')
    .limit(1)
    .executeTakeFirst();
  return row?.last;
}

/** Selects the segments of a range that may contain wanted exchanges, the newest first. */
function selectSegments(db: Kysely<Tables>, query: ExchangeQuery, { from, to }: SegmentRange) {
  const { connection, person, since, until } = query;
  return db
    .selectFrom('exchange_segment')
    .select(entryColumns)
    .where('last', '>=', from)
    .where('last', '<=', to)
    .$if(connection !== undefined, (all) => all.where('connection_id', '=', connection ?? ''))
    .$if(person !== undefined && !isReadMethod(query.method), (all) =>
      all.where('last', 'in', (row) =>
        row
          .selectFrom('exchange_person')
          .select('exchange_person.last')
          .where('person', '=', person ?? ''),
      ),
    )
    .$if(since !== undefined, (all) => all.where('ended_at', '>=', since ?? 0))
    .$if(until !== undefined, (all) => all.where('began_at', '<', until ?? 0))
    .orderBy('last', 'desc');
}

/** Selects the first segment that ends at a time or later: those before it need not be looked at. */
function selectFirstSince(db: Kysely<Tables>, since: number) {
  return db
    .selectFrom('exchange_segment as later')
    .select(({ fn }) => fn.min<number | null>('later.last').as('last'))
    .where('later.ended_at', '>=', since);
}

function* newestFirst(
  row: SegmentRow,
  opener: SegmentOpener,
  before = Number.MAX_SAFE_INTEGER,
): Generator<LoggedExchange> {
  const entries = opener.entriesOf(row);
  const first = firstOf(row);
  for (let index = Math.min(entries.length, before - first) - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry) yield toLogged(row, entry, first + index);
  }
}

/** Returns the position of the first exchange of a segment. */
function firstOf({ last, count }: Pick<SegmentRow, 'last' | 'count'>): number {
  return last - count + 1;
}

function toLogged({ connection_id }: SegmentRow, entry: StoredExchange, position: number): LoggedExchange {
  return { ...entry, connection: connection_id || undefined, position: String(position) };
}

function isWanted(exchange: LoggedExchange, query: ExchangeQuery): boolean {
  const { direction, method, person, requestId, pathPrefix, since = 0, until = Infinity, after = 0 } = query;
  return (
    Number(exchange.position) > Number(after) &&
    isOfStatus(exchange, query) &&
    isOfDirection(exchange, direction) &&
    (method === undefined || exchange.method === method.toUpperCase()) &&
    (person === undefined || (exchange.person === person && isFindable(exchange, method))) &&
    (requestId === undefined || exchange.requestId === requestId) &&
    (pathPrefix === undefined || exchange.path.toLowerCase().startsWith(pathPrefix.toLowerCase())) &&
    exchange.at >= since &&
    exchange.at < until
  );
}

function isOfDirection({ direction }: StoredExchange, wanted: ExchangeQuery['direction']): boolean {
  if (wanted === undefined || typeof wanted === 'string') return (wanted ?? direction) === direction;
  return wanted.includes(direction);
}

function isOfStatus({ status }: StoredExchange, { status: wanted, isFailed }: ExchangeQuery): boolean {
  if (isFailed && status !== undefined && status < 400) return false;
  return !wanted || (status !== undefined && status >= wanted.from && status <= wanted.to);
}

/** The rows by person lead to segments that also have other exchanges of the person, by chance. */
function isFindable(exchange: StoredExchange, method: string | undefined): boolean {
  return isReadMethod(method) || hasRowByPerson(exchange);
}

async function readExchange(
  db: Kysely<Tables>,
  { entriesOf, bodiesOf }: SegmentOpener,
  position: number,
): Promise<ExchangeWithBodies | undefined> {
  if (!Number.isSafeInteger(position)) return undefined;
  const row = await db
    .selectFrom('exchange_segment')
    .select([...entryColumns, 'bodies'])
    .where('last', '>=', position)
    .orderBy('last')
    .limit(1)
    .executeTakeFirst();
  const index = row ? position - firstOf(row) : -1;
  // A negative index: the segment with the position has been deleted.
  const entry = row && index >= 0 ? entriesOf(row)[index] : undefined;
  if (!row || !entry) return undefined;
  return { ...toLogged(row, entry, position), ...withAllBodies(bodiesOf(row)?.get(index)) };
}

function withAllBodies({ requestBody, responseBody }: KeptBodies = {}) {
  return { requestBody, responseBody };
}

interface RequestPage {
  connection: string;
  from: { since: number } | { after: string };
  limit: number;
}

async function readRequests(
  db: Kysely<Tables>,
  { entriesOf, bodiesOf }: SegmentOpener,
  { connection, from, limit }: RequestPage,
): ReturnType<ExchangeReader['read']> {
  const exchanges: RecordedExchange[] = [];
  const since = 'since' in from ? from.since : 0;
  let position = 'since' in from ? await findStart(db, since) : Number(from.after);
  for (;;) {
    const rows = await db
      .selectFrom('exchange_segment')
      .select([...entryColumns, 'bodies'])
      .where('connection_id', '=', connection)
      .where('last', '>', position)
      .orderBy('last')
      .limit(SEGMENTS_AT_ONCE)
      .execute();
    for (const row of rows) {
      const bodies = bodiesOf(row);
      for (const [index, entry] of entriesOf(row).entries()) {
        if (firstOf(row) + index <= position) continue;
        if (exchanges.length === limit) return { exchanges, position: String(position) };
        position = firstOf(row) + index;
        if (entry?.direction === 'scim' && entry.at >= since)
          exchanges.push(toRecorded(connection, entry, bodies?.get(index)));
      }
      position = row.last;
    }
    if (rows.length < SEGMENTS_AT_ONCE) return { exchanges, position: String(position) };
  }
}

/** Returns a position before all exchanges since a time; the end of the log if there are none yet. */
async function findStart(db: Kysely<Tables>, since: number): Promise<number> {
  const { last } = await selectFirstSince(db, since).executeTakeFirstOrThrow();
  const row = await db
    .selectFrom('exchange_segment')
    .select(['last', 'count'])
    .$if(last !== null, (all) => all.where('last', '=', last ?? 0))
    .orderBy('last', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return 0;
  return last === null ? row.last : row.last - row.count;
}

/** Returns an exchange as recordings need it: the path below the base URL, and no body in place of a truncated one. */
export function toRecorded(
  connection: string,
  { at, method, path, requestHeaders, status, responseHeaders }: StoredExchange,
  { requestBody, responseBody }: KeptBodies = {},
): RecordedExchange {
  return {
    ...{ at, connection, method, requestHeaders, responseHeaders },
    path: path.replace(/^\/+scim\/+v2\/*(?=\/|$)/i, ''),
    status: status ?? 499,
    ...(requestBody && !requestBody.isCut ? { requestBody: requestBody.text } : {}),
    ...(responseBody && !responseBody.isCut ? { responseBody: responseBody.text } : {}),
  };
}
