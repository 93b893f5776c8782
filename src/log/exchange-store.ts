import type { Kysely } from 'kysely';
import { decodeOrKeep } from '../http/redaction.ts';
import type { StoredExchange } from '../model/exchange.ts';
import type { Database } from '../store/sql/database.ts';
import { compiledInsert, compiledQuery, toJson } from '../store/sql/queries.ts';
import { caseFoldedKey } from '../store/sql/search-keys.ts';
import { takeFeedNumbers } from '../store/sql/sequences.ts';
import type { ExchangeTable, Tables } from '../store/sql/tables.ts';

/** The bounds of the log: exchanges from before a time (epoch milliseconds) are deleted, and the oldest beyond a number. */
export interface LogBounds {
  before: number;
  maxEntries: number;
}

export type ExchangeStore = ReturnType<typeof exchangeStore>;

/** The log of exchanges of a database, as the running service writes it. */
export function exchangeStore({ db, transaction }: Database) {
  return {
    /** Writes all exchanges or none. Not synced at once: a power failure may lose the last ones. */
    append: (exchanges: readonly StoredExchange[]): Promise<void> =>
      transaction(
        async (tx) => {
          // The numbers come from a locked row. One that is taken later is committed later, so a reader skips none.
          const first = await takeFeedNumbers(tx, FEED, exchanges.length);
          const rows = exchanges.map((exchange, index) => toRow(exchange, first + index));
          await insertExchanges(tx, rows);
        },
        { durable: false },
      ),
    /** Looks at the oldest `limit` exchanges, and deletes those beyond the bounds. Returns their number. */
    deleteOld: (bounds: LogBounds, limit: number): Promise<number> =>
      transaction((tx) => deleteOld(tx, bounds, limit), { durable: false }),
    readBodyWindows: (now: number) => readBodyWindows(db, now),
  };
}

/** The name of the feed from which exchanges take their positions. */
const FEED = 'exchange';

const insertExchanges = compiledInsert((db, rows: ExchangeTable[]) => db.insertInto('exchange').values(rows));

function toRow(exchange: StoredExchange, position: number): ExchangeTable {
  const { requestHeaders, responseHeaders, requestBody, responseBody } = exchange;
  const { at, ms, direction, method, path } = exchange;
  return {
    ...{ position, at, ms, direction },
    connection_id: exchange.connection ?? '',
    person: exchange.person ?? null,
    sought: soughtKey(path),
    user_id: exchange.userId ?? null,
    credential: exchange.credential ?? null,
    request_id: exchange.requestId ?? null,
    ...{ method, path, status: exchange.status ?? null, error: exchange.error ?? null },
    request: toJson({ headers: requestHeaders, body: requestBody }),
    response: toJson({ headers: responseHeaders, body: responseBody }),
  };
}

const ADDRESS = /[^\s"<>()[\]\\,;:=&/]{1,64}@[^\s"<>()[\]\\,;:&/]{1,255}/;
/** A value that a filter compares with. */
const COMPARED_VALUE = /\beq\s+"([^"]+)"/i;

/** Returns the key of the name for which a request searches: an address in its path or query, or the value of its filter. */
function soughtKey(url: string): string | null {
  const [path = '', ...query] = url.split('?');
  if (query.length === 0 && !/@|%40/.test(path)) return null;
  const texts = [decodeOrKeep(path), ...new URLSearchParams(query.join('?')).values()];
  const name =
    texts.map((text) => ADDRESS.exec(text)?.[0]).find(Boolean) ??
    texts.map((text) => COMPARED_VALUE.exec(text)?.[1]).find(Boolean);
  return name === undefined ? null : caseFoldedKey(name);
}

/** The oldest entries are looked at alone: a search for expired ones would read the whole log if there are none. */
async function deleteOld(
  tx: Kysely<Tables>,
  { before, maxEntries }: LogBounds,
  limit: number,
): Promise<number> {
  const oldest = tx.selectFrom('exchange').select(['position', 'at']).orderBy('position').limit(limit);
  const last = (await readHead(tx)) - maxEntries;
  const { numDeletedRows } = await tx
    .deleteFrom('exchange')
    .where('position', 'in', (one) =>
      one
        .selectFrom(oldest.as('oldest'))
        .select('position')
        .where((row) => row.or([row('at', '<', before), row('position', '<=', last)])),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Returns the position of the newest exchange; 0 for an empty log. */
export async function readHead(db: Kysely<Tables>): Promise<number> {
  const { head } = await db
    .selectFrom('exchange')
    .select(({ fn }) => fn.max<number | null>('position').as('head'))
    .executeTakeFirstOrThrow();
  return head ?? 0;
}

/** Returns the connections whose reads are kept with their bodies, each with the end of that time. */
export async function readBodyWindows(db: Kysely<Tables>, now: number): Promise<Map<string, number>> {
  const { rows } = await selectWindows(db, { now });
  return new Map(rows.map(({ id, until }) => [id, until ?? 0]));
}

const selectWindows = compiledQuery((db, { now }: { now: number }) =>
  db
    .selectFrom('connection')
    .select(['id', 'read_bodies_until as until'])
    .where('read_bodies_until', '>', now),
);
