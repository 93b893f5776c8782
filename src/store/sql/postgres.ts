import { setTimeout } from 'node:timers/promises';
import { types } from 'node:util';
import { type Kysely, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { StoreUnavailable } from '../../model/unavailable.ts';
import { commonDatabase } from './common-database.ts';
import type { Database, RunTransaction } from './database.ts';
import { type DatabaseClock, type Dialect, postgres } from './dialect.ts';
import { ForeignTables, migrate, NoDatabase, UnknownSchema } from './migrate.ts';
import { kyselyOn } from './postgres-driver.ts';
import { DatabaseFault, displayUrl } from './postgres-faults.ts';
import type { Tables } from './tables.ts';

interface PostgresOptions {
  /** The maximum number of connections of this process. */
  connections?: number;
  clock?: DatabaseClock;
  /** If false, a database without tables of Jetbridge is refused. True by default. */
  mayCreate?: boolean;
}

/**
 * Opens a PostgreSQL database and migrates it. Any number of processes may do so at the same time. Throws a DatabaseFault if it
 * cannot be used, an UnknownSchema if another version made its schema, a ForeignTables if another program made tables, and a
 * NoDatabase if it has no tables and none may be created.
 */
export async function openPostgres(
  url: string,
  { connections = 10, clock = 'database', mayCreate = true }: PostgresOptions = {},
): Promise<Database> {
  const dialect = postgres(clock);
  const listeners: ((error: StoreUnavailable) => void)[] = [];
  const pool = openPool(url, connections);
  const translate = (error: unknown) => {
    const unavailable = dialect.toUnavailable(error);
    if (!unavailable) return error;
    const { message: operatorText } = new DatabaseFault(url, error);
    const described = new StoreUnavailable(unavailable.reason, { cause: toError(error), operatorText });
    for (const listener of listeners) listener(described);
    return described;
  };
  const retry = <T>(run: () => Promise<T>) => withRetries(dialect, run);
  const db = kyselyOn(pool, { translate, retry, durable: true });
  const relaxed = kyselyOn(pool, { translate, retry, durable: false });
  try {
    await requireUtf8(db);
    const place = { place: displayUrl(url), setting: 'DATABASE_URL' } as const;
    await migrateOnce(db, { dialect, ...place, mayCreate });
    const run: RunTransaction = (work, { durable = true, commitIf = () => true } = {}) =>
      retry(() => commitOrRollBack(durable ? db : relaxed, work, commitIf));
    return {
      ...(await commonDatabase({ db, dialect, run, listeners })),
      pool: () => ({
        used: pool.totalCount - pool.idleCount,
        ...{ idle: pool.idleCount, waiting: pool.waitingCount },
      }),
      // There is no log that this process could empty: vacuuming and archiving are settings of the server.
      emptyLog: async () => true,
      close: async () => {
        if (!pool.ending) await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    const isNamed = [UnknownSchema, ForeignTables, NoDatabase].some((named) => error instanceof named);
    throw isNamed ? error : new DatabaseFault(url, error);
  }
}

/** Other encodings lack characters of people's names, so that these people could not be stored. */
async function requireUtf8(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(db);
  const encoding = rows[0]?.server_encoding;
  if (encoding !== 'UTF8') throw new WrongEncoding(`its encoding is ${encoding}`);
}

/** Thrown if the encoding of a database is not UTF8. */
class WrongEncoding extends Error {
  readonly code = 'WRONG_ENCODING';
}

/**
 * The number of attempts to migrate. The migrator creates its own tables before it takes its lock, so processes that start
 * together may fail to create them.
 */
const MIGRATION_ATTEMPTS = 5;

async function migrateOnce(db: Kysely<Tables>, options: Parameters<typeof migrate>[1]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrate(db, options);
    } catch (error) {
      if (!options.dialect.isDuplicate(error) || attempt === MIGRATION_ATTEMPTS) throw error;
      await pause(attempt);
    }
  }
}

/** A request waits this long for a connection, in milliseconds, before it is answered 503. */
const CONNECT_MS = 5_000;
/** Time limit of a statement, in milliseconds. A connection through which no answer comes is then closed. */
const STATEMENT_MS = 30_000;
const IDLE_MS = 60_000;
/** Connections are renewed after this time, in seconds, so that they spread over the servers behind one address. */
const LIFETIME_S = 1_800;

function openPool(url: string, max: number): pg.Pool {
  const connectionString = withStrictTls(url);
  const pool = new pg.Pool({
    ...{ connectionString, max, types: valueTypes, application_name: 'jetbridge', Client: ClosingClient },
    // A statement is sent without waiting for the answers to those before it.
    pipeline: true,
    ...{ connectionTimeoutMillis: CONNECT_MS, query_timeout: STATEMENT_MS },
    ...{ idleTimeoutMillis: IDLE_MS, maxLifetimeSeconds: LIFETIME_S, keepAlive: true },
  });
  // A lost connection that is idle leaves the pool by itself; one that is in use fails its statement.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * `pg` takes `require` and `verify-ca` for `verify-full`, with a warning that its next version may check less. Here they stay as strict,
 * without the warning.
 */
function withStrictTls(url: string): string {
  return url.replace(/(?<=[?&]sslmode=)(require|verify-ca)(?=&|$)/g, 'verify-full');
}

/**
 * A client that closes its socket if it cannot connect. `pg` leaves the socket open if the client itself gives up, for example for
 * want of a password, and the process would run until the server closes it.
 */
class ClosingClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.Client> | undefined {
    if (!callback) return super.connect();
    super.connect((error: Error | null) => {
      if (error) this.connection.stream.destroy();
      callback(error);
    });
    return undefined;
  }
}

/** The pool uses this form, and keeps the client that it has made. */
type ConnectCallback = (error: Error | null) => void;

/** Counts, sums and times are below 2^53. */
const asNumber = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: (type, format) => (asNumber.has(type) ? Number : pg.types.getTypeParser(type, format)),
};

/** The number of runs after which a transaction is given up if it lost against concurrent ones each time. */
const ATTEMPTS = 10;

/** Runs a transaction or statement, and runs it again if it lost against a concurrent transaction. */
async function withRetries<T>(dialect: Dialect, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!dialect.isRetryable(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new StoreUnavailable('too many writes of the same rows', { cause: toError(error) });
      await pause(attempt);
    }
  }
}

/** Waits for a random time that grows with the attempts, so that the same transactions do not meet again. */
function pause(attempt: number): Promise<void> {
  return setTimeout(Math.random() * 5 * 2 ** Math.min(attempt, 6));
}

async function commitOrRollBack<T>(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<T>,
  commitIf: (result: T) => boolean,
): Promise<T> {
  const refused: { result: T }[] = [];
  try {
    return await db.transaction().execute(async (tx) => {
      const result = await work(tx);
      if (commitIf(result)) return result;
      refused.push({ result });
      throw new Rollback();
    });
  } catch (error) {
    const [first] = refused;
    if (first && error instanceof Rollback) return first.result;
    throw error;
  }
}

/** Thrown to roll a transaction back whose result is returned. */
class Rollback extends Error {}

function toError(error: unknown): Error {
  return types.isNativeError(error) ? error : new Error(String(error));
}
