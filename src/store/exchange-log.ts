import type { Kysely } from 'kysely';
import type {
  ExchangeLog,
  ExchangeQuery,
  ExchangeWithBodies,
  LoggedExchange,
} from '../provisioning/exchange-ports.ts';
import type { Database } from './database.ts';
import type { ByteEncryption } from './encryption.ts';
import {
  decodeBodies,
  decodeEntries,
  encodeSegment,
  type KeptBodies,
  type SegmentParts,
  type StoredExchange,
} from './exchange-segments.ts';
import { takeFeedNumbers } from './sequences.ts';
import type { Tables } from './tables.ts';

/** Decrypts the log with the key that encrypts it, and with the one before if the settings still have it. */
export type ExchangeKeys = [current: ByteEncryption, ...previous: ByteEncryption[]];

/** Exchanges of one connection; undefined for requests without a valid token. */
export interface ExchangeSegment {
  connection: string | undefined;
  exchanges: StoredExchange[];
}

/** The log of exchanges, as the running service writes it. */
export interface ExchangeStore {
  /** Writes all segments or none. Not synced at once: a power failure may lose the last entries. */
  append(segments: readonly ExchangeSegment[]): Promise<void>;
  /** Deletes up to `limit` segments whose exchanges all began before a time. Returns the number of deleted segments. */
  deleteOlderThan(before: number, limit: number): Promise<number>;
  /** Returns the connections whose reads are kept with their bodies, each with the end of that time. */
  readBodyWindows(now: number): Promise<Map<string, number>>;
}

/** Returns the writing side of the log of a database. */
export function exchangeStore({ db, transaction }: Database, encryption: ByteEncryption): ExchangeStore {
  return {
    append: async (segments) => {
      const encoded = await Promise.all(segments.map(({ exchanges }) => encodeSegment(exchanges)));
      await transaction((tx) => insertSegments(tx, { segments, encoded, encryption }), { durable: false });
    },
    deleteOlderThan: (before, limit) =>
      transaction(
        async (tx) => {
          const oldest = tx
            .selectFrom('exchange_segment')
            .select('last')
            .where('ended_at', '<', before)
            .orderBy('ended_at')
            .limit(limit);
          const { numDeletedRows } = await tx
            .deleteFrom('exchange_segment')
            .where('last', 'in', oldest)
            .executeTakeFirstOrThrow();
          return Number(numDeletedRows);
        },
        { durable: false },
      ),
    readBodyWindows: async (now) => {
      const rows = await db
        .selectFrom('connection')
        .select(['id', 'read_bodies_until as until'])
        .where('read_bodies_until', '>', now)
        .execute();
      return new Map(rows.map(({ id, until }) => [id, until ?? 0]));
    },
  };
}

interface EncodedSegments {
  segments: readonly ExchangeSegment[];
  encoded: readonly SegmentParts[];
  encryption: ByteEncryption;
}

/**
 * Takes the positions from a locked row, so that a reader never skips a segment that is committed late: those with
 * higher positions are committed later.
 */
async function insertSegments(
  tx: Kysely<Tables>,
  { segments, encoded, encryption }: EncodedSegments,
): Promise<void> {
  const total = segments.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  let last = (await takeFeedNumbers(tx, FEED, total)) - 1;
  for (const [index, { connection, exchanges }] of segments.entries()) {
    const parts = encoded[index];
    if (!parts) continue;
    last += exchanges.length;
    const times = exchanges.map(({ at }) => at);
    await tx
      .insertInto('exchange_segment')
      .values({
        ...{ last, connection_id: connection ?? '', count: exchanges.length },
        ...{ began_at: Math.min(...times), ended_at: Math.max(...times) },
        ...sealParts(parts, last, encryption),
      })
      .execute();
    const people = [...new Set(exchanges.filter(hasRowByPerson).flatMap(({ person }) => person ?? []))];
    const position = last;
    if (people.length > 0)
      await tx
        .insertInto('exchange_person')
        .values(people.map((person) => ({ person, last: position })))
        .execute();
  }
}

/** The name of the feed from which exchanges take their positions. */
const FEED = 'exchange';

/** Encrypts the parts of the segment at a position. */
export function sealParts(
  { entries, bodies }: SegmentParts,
  last: number,
  encryption: ByteEncryption,
): { entries: string; bodies: string | null } {
  return {
    entries: encryption.encryptBytes(entries, `exchanges/${last}`).toString('base64'),
    bodies: bodies ? encryption.encryptBytes(bodies, `exchange-bodies/${last}`).toString('base64') : null,
  };
}

/** SCIM reads that succeeded have no row by person: a row for each would cost more than the rest of its entry. */
function hasRowByPerson({ direction, method, status = 0 }: StoredExchange): boolean {
  return direction === 'travel' || !isReadMethod(method) || status >= 400;
}

/** A row of a segment that is read. */
export interface SegmentRow {
  last: number;
  connection_id: string;
  count: number;
  entries: string;
  bodies?: string | null;
}

/** Decrypts the exchanges of a segment. Undefined if no key does. */
export function openEntries(
  { last, entries }: SegmentRow,
  keys: ExchangeKeys,
): (StoredExchange | undefined)[] | undefined {
  const part = openPart(entries, `exchanges/${last}`, keys);
  return part && decodeEntries(part);
}

/** Decrypts the bodies of a segment, by the index of their exchange. Undefined if no key does. */
export function openBodies(
  { last, bodies }: SegmentRow,
  keys: ExchangeKeys,
): Map<number, KeptBodies> | undefined {
  if (!bodies) return new Map();
  const part = openPart(bodies, `exchange-bodies/${last}`, keys);
  return part && decodeBodies(part);
}

function openPart(text: string, place: string, keys: ExchangeKeys): Buffer | undefined {
  const sealed = Buffer.from(text, 'base64');
  for (const key of keys) {
    const part = key.decryptBytes(sealed, place);
    if (part) return part;
  }
  return undefined;
}

/** A SCIM request of a recording, as `ExchangeSource` of `src/replay` declares it. */
interface RecordedRequest {
  at: number;
  connection: string;
  method: string;
  path: string;
  requestHeaders: Record<string, string>;
  requestBody?: string;
  status: number;
  responseHeaders: Record<string, string>;
  responseBody?: string;
}

/** The log of exchanges as people and recordings read it. */
export interface ExchangeReader extends ExchangeLog {
  /** Reads the SCIM requests of a connection, the oldest first (`ExchangeSource` of `src/replay`). */
  read(
    connection: string,
    page: { from: { since: number } | { after: string }; limit: number },
  ): Promise<{ exchanges: RecordedRequest[]; position: string }>;
}

/** Returns the reading side of the log of a database. Segments that no key decrypts are left out. */
export function exchangeReader({ db }: Pick<Database, 'db'>, keys: ExchangeKeys): ExchangeReader {
  return {
    list: (query) => listExchanges(db, keys, query),
    get: (position) => readExchange(db, keys, Number(position)),
    read: (connection, { from, limit }) => readRequests(db, keys, { connection, from, limit }),
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

/** The number of segments that a query decrypts at once, and the numbers that one page looks at. */
const SEGMENTS_AT_ONCE = 20;
const MAX_SEGMENTS = 1_000;
const MAX_SCANNED = 20_000;

const entryColumns = ['last', 'connection_id', 'count', 'entries'] as const;

async function listExchanges(
  db: Kysely<Tables>,
  keys: ExchangeKeys,
  query: ExchangeQuery,
): ReturnType<ExchangeLog['list']> {
  const { limit } = query;
  const exchanges: LoggedExchange[] = [];
  const before = query.before === undefined ? undefined : Number(query.before);
  let upTo = await findLastOfSegment(db, before);
  let scanned = 0;
  for (let segments = 0; segments < MAX_SEGMENTS && scanned < MAX_SCANNED; segments += SEGMENTS_AT_ONCE) {
    const rows = await selectSegments(db, query, upTo).limit(SEGMENTS_AT_ONCE).execute();
    for (const row of rows) {
      for (const exchange of newestFirst(row, keys, before)) {
        if (!isWanted(exchange, query)) continue;
        if (exchanges.length === limit) return { exchanges, next: exchanges.at(-1)?.position };
        exchanges.push(exchange);
      }
      scanned += row.count;
      upTo = row.last - row.count;
    }
    if (rows.length < SEGMENTS_AT_ONCE) return { exchanges, next: undefined };
  }
  return { exchanges, next: String(upTo + 1) };
}

/** Returns the last position of the segment with this position, or the highest number. */
async function findLastOfSegment(db: Kysely<Tables>, position: number | undefined): Promise<number> {
  if (position === undefined) return Number.MAX_SAFE_INTEGER;
  const row = await db
    .selectFrom('exchange_segment')
    .select(({ fn }) => fn.min<number | null>('last').as('last'))
    .where('last', '>=', position)
    .executeTakeFirstOrThrow();
  return row.last ?? Number.MAX_SAFE_INTEGER;
}

/** Selects the segments up to a position that may contain wanted exchanges, the newest first. */
function selectSegments(db: Kysely<Tables>, query: ExchangeQuery, upTo: number) {
  const { connection, person, since, until } = query;
  return db
    .selectFrom('exchange_segment')
    .select(entryColumns)
    .where('last', '<=', upTo)
    .$if(connection !== undefined, (all) => all.where('connection_id', '=', connection ?? ''))
    .$if(person !== undefined && !isReadMethod(query.method), (all) =>
      all.where('last', 'in', (row) =>
        row
          .selectFrom('exchange_person')
          .select('exchange_person.last')
          .where('person', '=', person ?? ''),
      ),
    )
    .$if(since !== undefined, (all) =>
      all.where('ended_at', '>=', since ?? 0).where('last', '>=', selectFirstSince(db, since ?? 0)),
    )
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

function isReadMethod(method: string | undefined): boolean {
  return method?.toUpperCase() === 'GET' || method?.toUpperCase() === 'HEAD';
}

function* newestFirst(
  row: SegmentRow,
  keys: ExchangeKeys,
  before = Number.MAX_SAFE_INTEGER,
): Generator<LoggedExchange> {
  const entries = openEntries(row, keys) ?? [];
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
  const { direction, method, person, requestId, status, pathPrefix, since = 0, until = Infinity } = query;
  const isOfStatus =
    !status ||
    (exchange.status !== undefined && exchange.status >= status.from && exchange.status <= status.to);
  return (
    isOfStatus &&
    (direction === undefined || exchange.direction === direction) &&
    (method === undefined || exchange.method === method.toUpperCase()) &&
    (person === undefined || (exchange.person === person && isFindable(exchange, method))) &&
    (requestId === undefined || exchange.requestId === requestId) &&
    (pathPrefix === undefined || exchange.path.toLowerCase().startsWith(pathPrefix.toLowerCase())) &&
    exchange.at >= since &&
    exchange.at < until
  );
}

/** The rows by person lead to segments that also have other exchanges of the person, by chance. */
function isFindable(exchange: StoredExchange, method: string | undefined): boolean {
  return isReadMethod(method) || hasRowByPerson(exchange);
}

async function readExchange(
  db: Kysely<Tables>,
  keys: ExchangeKeys,
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
  const entry = row && openEntries(row, keys)?.[index];
  if (!row || !entry) return undefined;
  return { ...toLogged(row, entry, position), ...withAllBodies(openBodies(row, keys)?.get(index)) };
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
  keys: ExchangeKeys,
  { connection, from, limit }: RequestPage,
): ReturnType<ExchangeReader['read']> {
  const exchanges: RecordedRequest[] = [];
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
      const bodies = openBodies(row, keys);
      for (const [index, entry] of (openEntries(row, keys) ?? []).entries()) {
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

/** The path is given below the base URL, and a truncated body as none. */
function toRecorded(
  connection: string,
  { at, method, path, requestHeaders, status, responseHeaders }: StoredExchange,
  { requestBody, responseBody }: KeptBodies = {},
): RecordedRequest {
  return {
    ...{ at, connection, method, requestHeaders, responseHeaders },
    path: path.replace(/^\/+scim\/+v2\/*(?=\/|$)/i, ''),
    status: status ?? 499,
    ...(requestBody && !requestBody.isCut ? { requestBody: requestBody.text } : {}),
    ...(responseBody && !responseBody.isCut ? { responseBody: responseBody.text } : {}),
  };
}
