import type { Kysely } from 'kysely';
import type { Database } from '../store/sql/database.ts';
import { compiledInsert, yieldToEventLoop } from '../store/sql/queries.ts';
import { takeFeedNumbers } from '../store/sql/sequences.ts';
import type { ExchangeNameTable, ExchangeTable, Tables } from '../store/sql/tables.ts';
import type { StoredExchange } from './exchange.ts';
import { decodeExchange, encodeExchange } from './exchange-row.ts';
import type { LogKey, LogKeys } from './keys.ts';
import { namesInExchange } from './names.ts';

/** The bounds of the log: exchanges from before a time (epoch milliseconds) are deleted, and the oldest beyond a number. */
export interface LogBounds {
  before: number;
  maxEntries: number;
}

/** The log of exchanges, as the running service writes it. */
export interface ExchangeStore {
  /** Writes all exchanges or none. Not synced at once: a power failure may lose the last ones. */
  append(exchanges: readonly StoredExchange[]): Promise<void>;
  /** Looks at the oldest `limit` exchanges, and deletes those beyond the bounds. Returns their number. */
  deleteOld(bounds: LogBounds, limit: number): Promise<number>;
  /** Returns the connections whose reads are kept with their bodies, each with the end of that time. */
  readBodyWindows(now: number): Promise<Map<string, number>>;
}

/** Returns the writing side of the log of a database. */
export function exchangeStore({ db, transaction }: Database, key: LogKey): ExchangeStore {
  return {
    append: async (exchanges) => {
      const hash = onceEach(key.hash);
      const named = exchanges.map((exchange) => ({ exchange, names: hashedNames(exchange, hash) }));
      await transaction(
        async (tx) => {
          // The numbers come from a locked row. One that is taken later is committed later, so a reader skips none.
          const first = await takeFeedNumbers(tx, FEED, exchanges.length);
          const rows = named.map(({ exchange }, index) => encodeExchange(exchange, first + index, key));
          await insertExchanges(tx, rows);
          const nameRows = named.flatMap(({ names }, index) => toNameRows(names, first + index));
          await insertNames(tx, nameRows);
        },
        { durable: false },
      );
    },
    deleteOld: (bounds, limit) => transaction((tx) => deleteOld(tx, bounds, limit), { durable: false }),
    readBodyWindows: (now) => readBodyWindows(db, now),
  };
}

/** The name of the feed from which exchanges take their positions. */
const FEED = 'exchange';

const insertExchanges = compiledInsert((db, rows: ExchangeTable[]) => db.insertInto('exchange').values(rows));

const insertNames = compiledInsert((db, rows: ExchangeNameTable[]) =>
  db.insertInto('exchange_name').values(rows),
);

type Hash = LogKey['hash'];

/** Hashes each name only once: a request, its response and the calls that it causes contain the same names. */
function onceEach(hash: Hash): Hash {
  const known = new Map<string, string>();
  return (name) => {
    const hashed = known.get(name) ?? hash(name);
    known.set(name, hashed);
    return hashed;
  };
}

/** Returns the hashes of the names in an exchange. Two spellings of a name have one hash. */
function hashedNames(exchange: StoredExchange, hash: Hash): Map<string, boolean> {
  const hashes = new Map<string, boolean>();
  for (const [name, isAsked] of namesInExchange(exchange)) {
    const hashed = hash(name);
    hashes.set(hashed, isAsked || hashes.get(hashed) === true);
  }
  return hashes;
}

function toNameRows(names: Map<string, boolean>, position: number): ExchangeNameTable[] {
  return [...names].map(([name, isAsked]) => ({ position, name, asked: isAsked ? 1 : 0 }));
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
  const rows = await db
    .selectFrom('connection')
    .select(['id', 'read_bodies_until as until'])
    .where('read_bodies_until', '>', now)
    .execute();
  return new Map(rows.map(({ id, until }) => [id, until ?? 0]));
}

/** True if the log contains anything. */
export async function hasExchanges(db: Kysely<Tables>): Promise<boolean> {
  return (await readHead(db)) > 0;
}

/** True if one of the keys has encrypted the newest exchange, or the log is empty. */
export async function isNewestExchangeReadable(
  db: Kysely<Tables>,
  keys: readonly LogKey[],
): Promise<boolean> {
  const newest = await db
    .selectFrom('exchange')
    .select('key_id')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest === undefined || keys.some(({ id }) => id === newest.key_id);
}

/** Exchanges that are encrypted anew in one transaction. */
const REENCRYPTED = 200;

/**
 * Encrypts the exchanges of the previous keys with the present one, and hashes the names in them anew. Returns the number of these
 * exchanges. May run beside a server, and again after an interruption.
 */
export async function reencryptExchanges(
  { db, transaction }: Database,
  [current, ...previous]: LogKeys,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  let last = 0;
  while (!signal.aborted && previous.length > 0) {
    const rows = await db
      .selectFrom('exchange')
      .selectAll()
      .where('position', '>', last)
      .orderBy('position')
      .limit(REENCRYPTED)
      .execute();
    last = rows.at(-1)?.position ?? 0;
    if (last === 0) break;
    const old = rows.filter(({ key_id }) => previous.some(({ id }) => id === key_id));
    await transaction(
      async (tx) => {
        for (const row of old) await replaceExchange(tx, row, decodeExchange(row, previous), current);
      },
      { durable: false },
    );
    count += old.length;
    await yieldToEventLoop();
  }
  return count;
}

/** Replaces an exchange and the names in it, unless the row has changed since it was read. */
export async function replaceExchange(
  tx: Kysely<Tables>,
  { position, content }: Pick<ExchangeTable, 'position' | 'content'>,
  exchange: StoredExchange | undefined,
  key: LogKey,
): Promise<void> {
  if (!exchange) return;
  const replaced = await tx
    .updateTable('exchange')
    .set(encodeExchange(exchange, position, key))
    .where('position', '=', position)
    .where('content', '=', content)
    .returning('position')
    .execute();
  if (replaced.length === 0) return;
  await tx.deleteFrom('exchange_name').where('position', '=', position).execute();
  await insertNames(tx, toNameRows(hashedNames(exchange, key.hash), position));
}
