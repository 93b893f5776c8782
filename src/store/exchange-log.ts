import type { Kysely } from 'kysely';
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

/** The keys that decrypt the log; none if the key file is missing. */
export type ExchangeReadKeys = readonly ByteEncryption[];

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

/** True if the log contains anything. */
export async function hasExchanges(db: Kysely<Tables>): Promise<boolean> {
  return (await db.selectFrom('exchange_segment').select('last').limit(1).executeTakeFirst()) !== undefined;
}

/** True if a key decrypts the newest part of the log, or the log is empty. After a change of the key, older parts may need another. */
export async function isNewestSegmentReadable(db: Kysely<Tables>, keys: ExchangeReadKeys): Promise<boolean> {
  const newest = await db
    .selectFrom('exchange_segment')
    .select(['last', 'connection_id', 'count', 'entries'])
    .orderBy('last', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest === undefined || openEntries(newest, keys) !== undefined;
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
    readBodyWindows: (now) => readBodyWindows(db, now),
  };
}

/** Returns the connections whose reads are kept with their bodies, each with the end of that time. */
export async function readBodyWindows(db: Kysely<Tables>, now: number): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('connection')
    .select(['id', 'read_bodies_until as until'])
    .where('read_bodies_until', '>', now)
    .execute();
  return new Map(rows.map(({ id, until }) => [id, until ?? 0]));
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

export function isReadMethod(method: string | undefined): boolean {
  return method?.toUpperCase() === 'GET' || method?.toUpperCase() === 'HEAD';
}

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
export function hasRowByPerson({ direction, method, status = 0 }: StoredExchange): boolean {
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
  keys: ExchangeReadKeys,
): (StoredExchange | undefined)[] | undefined {
  const part = openPart(entries, `exchanges/${last}`, keys);
  return part && decodeEntries(part);
}

/** Decrypts the bodies of a segment, by the index of their exchange. Undefined if no key does. */
export function openBodies(
  { last, bodies }: SegmentRow,
  keys: ExchangeReadKeys,
): Map<number, KeptBodies> | undefined {
  if (!bodies) return new Map();
  const part = openPart(bodies, `exchange-bodies/${last}`, keys);
  return part && decodeBodies(part);
}

function openPart(text: string, place: string, keys: ExchangeReadKeys): Buffer | undefined {
  const sealed = Buffer.from(text, 'base64');
  for (const key of keys) {
    const part = key.decryptBytes(sealed, place);
    if (part) return part;
  }
  return undefined;
}
