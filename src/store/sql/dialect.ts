import { types } from 'node:util';
import {
  type Expression,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { StoreUnavailable } from '../../model/unavailable.ts';
import type { ColumnTypes } from '../migrations/columns.ts';
import type { Tables } from './tables.ts';

/** Everything that differs between the databases, apart from opening them. Only this file knows which one is in use. */
export interface Dialect {
  name: 'sqlite' | 'postgres';
  columnTypes: ColumnTypes;
  /** True if several processes may serve from one database. */
  isShared: boolean;
  /** The number of counters of each list, so that concurrent writers seldom wait for each other. */
  counterSlots: number;
  /**
   * Locks the selected rows until the end of the transaction; other transactions that lock or change them wait. SQLite
   * has one writer at a time, so that its transactions need no row locks.
   */
  lockRows: Lock;
  /** Like `lockRows`, but other transactions may insert rows that refer to the selected ones. */
  lockValues: Lock;
  /**
   * Keeps the selected rows from being deleted or locked by other transactions until the end of this one. Others may
   * select them likewise, and may change other columns than those of keys.
   */
  shareRows: Lock;
  /** Keeps other transactions from changing the selected rows until the end of this one. Others may select them likewise. */
  shareValues: Lock;
  /**
   * The time for comparisons between processes, in epoch milliseconds: the database's clock where several processes
   * write to the database, otherwise the given time.
   */
  now(given: number): Expression<number>;
  /** Selects one row if there is a table with this name, otherwise none. */
  selectTable(name: string): RawBuilder<unknown>;
  /** Selects the names of all tables and views, except those of an extension of PostgreSQL. */
  selectTables: RawBuilder<{ name: string }>;
  /** Begins a transaction whose reads all see the database as it was at the first one, while others write. */
  beginSnapshot: string;
  /** Updates the statistics by which the database chooses indexes. SQLite chooses without. */
  updateStatistics(db: Kysely<Tables>, tables: (keyof Tables)[]): Promise<void>;
  /** True for a violation of any unique constraint. */
  isDuplicate(error: unknown): boolean;
  /** True for a violation of any foreign key. */
  isReferenceViolation(error: unknown): boolean;
  /** True if the same transaction may succeed when it is run again: it lost against a concurrent one. */
  isRetryable(error: unknown): boolean;
  /** The error to throw instead, if the database refuses work for an external reason that ends. */
  toUnavailable(error: unknown): StoreUnavailable | undefined;
}

/** Returns the query with a clause that locks the selected rows. */
export type Lock = <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
) => SelectQueryBuilder<DB, TB, Row>;

/** SQLite compares text by code point, and its integers have 64 bits. */
export const sqlite: Dialect = {
  name: 'sqlite',
  isShared: false,
  columnTypes: { orderedText: 'text', bigint: 'integer', keyOnly: 'without rowid' },
  counterSlots: 1,
  lockRows: (query) => query,
  lockValues: (query) => query,
  shareRows: (query) => query,
  shareValues: (query) => query,
  now: (given) => sql.val(given),
  selectTable: (name) => sql`select 1 from sqlite_master where type = 'table' and name = ${name}`,
  selectTables: sql`select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'`,
  beginSnapshot: 'begin',
  updateStatistics: async () => {},
  isDuplicate: (error) => hasMessage(error, 'UNIQUE constraint failed'),
  isReferenceViolation: (error) => hasMessage(error, 'FOREIGN KEY constraint failed'),
  isRetryable: () => false,
  toUnavailable: (error) => {
    if (!types.isNativeError(error)) return undefined;
    const fault = diskFaults.find(([message]) => hasMessage(error, message));
    return fault && new StoreUnavailable(fault[1], { cause: error });
  },
};

/** Disk faults that end when the disk is repaired: the message of SQLite, and the reason shown to the operator. */
const diskFaults: [message: string, reason: string][] = [
  ['database or disk is full', 'the disk is full'],
  ['disk I/O error', 'the disk is full, a limit on the size of files is reached, or the disk fails'],
  ['attempt to write a readonly database', 'the database may only be read'],
  ['unable to open database file', 'a file of the database cannot be opened or made'],
];

/** A time some milliseconds after another, as an SQL expression; null if their number is null. */
export function timeAfter(time: Expression<number>, ms: number | null): Expression<number> {
  // PostgreSQL would otherwise take the parameter for an integer of 32 bits.
  return sql<number>`${time} + cast(${ms} as bigint)`;
}

/**
 * The condition that a stored time has come. A time further away than the longest delay counts as well: the clock was ahead when it was
 * stored, or was set back since (docs/decisions/0044).
 */
export function isDue(time: Expression<unknown>, now: Expression<number>, longestMs: number) {
  return sql<SqlBool>`(${time} <= ${now} or ${time} > ${timeAfter(now, longestMs)})`;
}

/** Compares the message, since some errors of `@photostructure/sqlite` have no error code. */
export function hasMessage(error: unknown, text: string): boolean {
  return types.isNativeError(error) && error.message.includes(text);
}

/** The clock that times are compared with: the database's, or the time that callers give, for tests with a clock of their own. */
export type DatabaseClock = 'database' | 'given';

/** PostgreSQL, whose rows several processes write at once. */
export function postgres(clock: DatabaseClock): Dialect {
  return {
    name: 'postgres',
    isShared: true,
    columnTypes: { orderedText: 'text collate "C"', bigint: 'bigint', keyOnly: '' },
    counterSlots: 8,
    lockRows: (query) => query.forUpdate(),
    lockValues: (query) => query.forNoKeyUpdate(),
    shareRows: (query) => query.forKeyShare(),
    shareValues: (query) => query.forShare(),
    now: (given) =>
      clock === 'given'
        ? sql<number>`${given}::bigint`
        : sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
    selectTable: (name) => sql`select 1 where to_regclass(${name}) is not null`,
    selectTables: sql`
      select relname as name from pg_class
        where relnamespace = to_regnamespace(quote_ident(current_schema()))
          and relkind in ('r', 'p', 'v', 'm', 'f')
          and not exists (
            select from pg_depend
              where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')`,
    beginSnapshot: 'begin isolation level repeatable read, read only',
    updateStatistics: async (db, tables) => {
      await sql`analyze ${sql.join(tables.map((table) => sql.table(table)))}`.execute(db);
    },
    isDuplicate: (error) => codeOf(error) === '23505',
    isReferenceViolation: (error) => codeOf(error) === '23503',
    isRetryable: (error) => retryable.includes(codeOf(error)),
    toUnavailable: (error) => {
      if (!types.isNativeError(error)) return undefined;
      const code = codeOf(error);
      const fault =
        serverFaults.find(([prefix]) => code.startsWith(prefix)) ??
        networkFaults.find(([part]) => code === part || error.message.includes(part));
      return fault && new StoreUnavailable(fault[1], { cause: error });
    },
  };
}

/** Serialization failures and deadlocks. */
const retryable = ['40001', '40P01'];

/** Error codes of PostgreSQL, or their beginnings, that end without a change here, and the reason shown to the operator. */
const serverFaults: [code: string, reason: string][] = [
  ['08', 'the connection to the database was lost'],
  ['25006', 'the database may only be read'],
  ['28', 'the database refuses the user or the password'],
  ['3D000', 'the database does not exist'],
  ['53100', 'the disk of the database is full'],
  ['53300', 'the database has too many connections'],
  ['53', 'the database is short of memory or another resource'],
  ['57014', 'the database cancelled a statement'],
  ['57P', 'the database stops or starts'],
  ['58', 'the database cannot use its files'],
];

/** Error codes of the operating system, and parts of the messages of `pg`, which have no code. */
const networkFaults: [codeOrPart: string, reason: string][] = [
  ['ECONNREFUSED', 'the database accepts no connections'],
  ['ENOTFOUND', 'the host of the database is unknown'],
  ['EAI_AGAIN', 'the host of the database is unknown'],
  ['ENOENT', 'the database accepts no connections'],
  ['ECONNRESET', 'the connection to the database was lost'],
  ['EPIPE', 'the connection to the database was lost'],
  ['ETIMEDOUT', 'the database does not answer'],
  ['EHOSTUNREACH', 'the database cannot be reached'],
  ['ENETUNREACH', 'the database cannot be reached'],
  ['timeout exceeded when trying to connect', 'all connections to the database are in use'],
  ['Connection terminated due to connection timeout', 'the database does not answer'],
  ['Query read timeout', 'the database does not answer'],
  ['Connection terminated', 'the connection to the database was lost'],
  ['Client has encountered a connection error', 'the connection to the database was lost'],
  ['Client was closed', 'the connection to the database was lost'],
];

/** The error code of PostgreSQL or of the operating system; empty if there is none. */
function codeOf(error: unknown): string {
  return types.isNativeError(error) && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
