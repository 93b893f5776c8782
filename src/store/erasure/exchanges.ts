import type { ExpressionBuilder } from 'kysely';
import type { Database } from '../database.ts';
import { type ExchangeKeys, openBodies, openEntries, type SegmentRow, sealParts } from '../exchange-log.ts';
import { encodeSegment, type StoredExchange } from '../exchange-segments.ts';
import { redactPath } from '../request-log.ts';
import type { Tables } from '../tables.ts';
import type { NameMatcher } from './matchers.ts';

/** The person to look for in the log of exchanges. */
export interface ExchangedPerson {
  /** The SCIM ids of the person: the exchanges about them are erased as a whole. */
  ids: readonly string[];
  /** Recognizes the person in the other exchanges of a connection: these lose their bodies, and the person in their path. */
  matcherFor(connection: string): NameMatcher;
  /** Receives the number of exchanges that were looked at since the last call. */
  onRead?(count: number): void;
}

/** Segments per read. With long bodies they are some megabytes. */
const SEGMENTS_AT_ONCE = 20;

/** Counts the exchanges that name the person. Segments that no key decrypts are not counted. */
export async function countExchanges(
  { db }: Database,
  keys: ExchangeKeys,
  person: ExchangedPerson,
): Promise<number> {
  let count = 0;
  for await (const segments of readSegments(db, 0)) {
    for (const row of segments) {
      count += redactSegment(row, keys, person)?.count ?? 0;
      person.onRead?.(row.count);
    }
  }
  return count;
}

/**
 * Erases the person from the exchanges after a position. Deletes segments that no key decrypts, because they may be about
 * the person. Returns the position of the last exchange that was read.
 */
export async function redactExchanges(
  database: Database,
  keys: ExchangeKeys,
  { person, after = 0 }: { person: ExchangedPerson; after?: number | undefined },
): Promise<{ last: number }> {
  let last = after;
  for await (const segments of readSegments(database.db, after)) {
    for (const row of segments) {
      last = row.last;
      let current: FullRow | undefined = row;
      while (current && !(await redactRow(database, keys, { row: current, person })))
        current = await readSegment(database.db, last);
      person.onRead?.(row.count);
    }
  }
  return { last };
}

/**
 * Erases the person from a segment. Returns false, and changes nothing, if another erasure has changed the segment since it was
 * read: the entries are then another text, because each encryption gives another one.
 */
async function redactRow(
  { transaction }: Database,
  keys: ExchangeKeys,
  { row, person }: { row: FullRow; person: ExchangedPerson },
): Promise<boolean> {
  const redacted = redactSegment(row, keys, person);
  if (redacted?.count === 0) return true;
  const parts = redacted && sealParts(await encodeSegment(redacted.exchanges), row.last, keys[0]);
  return transaction(async (tx) => {
    const asRead = (segment: ExpressionBuilder<Tables, 'exchange_segment'>) =>
      segment.and([segment('last', '=', row.last), segment('entries', '=', row.entries)]);
    const write = parts
      ? tx.updateTable('exchange_segment').set(parts).where(asRead).returning('last')
      : tx.deleteFrom('exchange_segment').where(asRead).returning('last');
    const written = await write.execute();
    if (written.length === 0) return false;
    const people = tx.deleteFrom('exchange_person').where('last', '=', row.last);
    if (parts && person.ids.length > 0) await people.where('person', 'in', [...person.ids]).execute();
    return true;
  });
}

function readSegment(db: Database['db'], last: number): Promise<FullRow | undefined> {
  return selectSegments(db).where('last', '=', last).executeTakeFirst();
}

function selectSegments(db: Database['db']) {
  return db.selectFrom('exchange_segment').select(['last', 'connection_id', 'count', 'entries', 'bodies']);
}

type FullRow = SegmentRow & { bodies: string | null };

async function* readSegments(db: Database['db'], after: number): AsyncGenerator<FullRow[]> {
  let last = after;
  for (;;) {
    const rows: FullRow[] = await selectSegments(db)
      .where('last', '>', last)
      .orderBy('last')
      .limit(SEGMENTS_AT_ONCE)
      .execute();
    const end = rows.at(-1);
    if (!end) return;
    last = end.last;
    yield rows;
  }
}

/** Returns the exchanges of a segment without the person, and how many differ. Undefined if no key decrypts them. */
function redactSegment(
  row: FullRow,
  keys: ExchangeKeys,
  person: ExchangedPerson,
): { exchanges: (StoredExchange | undefined)[]; count: number } | undefined {
  const entries = openEntries(row, keys);
  const bodies = openBodies(row, keys);
  if (!entries || !bodies) return undefined;
  let count = 0;
  const own = { ids: person.ids, matcher: person.matcherFor(row.connection_id) };
  const exchanges = entries.map((entry, index) => {
    const before = entry && { ...entry, ...bodies.get(index) };
    const after = before && redactExchange(before, own);
    if (after !== before) count += 1;
    return after;
  });
  return { exchanges, count };
}

function redactExchange(
  exchange: StoredExchange,
  { ids, matcher }: Pick<ExchangedPerson, 'ids'> & { matcher: NameMatcher },
): StoredExchange | undefined {
  if (exchange.person !== undefined && ids.includes(exchange.person)) return undefined;
  const { path, requestBody, responseBody, responseHeaders } = exchange;
  const { location, ...otherHeaders } = responseHeaders;
  const kept = redactPath(path, { matcher });
  const isNamed =
    [requestBody, responseBody].some((body) => body && matcher.matchesJson(body.text)) ||
    (location !== undefined && redactPath(location, { matcher }) !== location);
  if (kept === path && !isNamed) return exchange;
  const { requestBody: _request, responseBody: _response, ...rest } = exchange;
  return { ...rest, path: kept, responseHeaders: otherHeaders };
}
