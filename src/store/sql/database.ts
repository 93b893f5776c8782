import type { Kysely, Transaction } from 'kysely';
import type { StoreUnavailable } from '../../model/unavailable.ts';
import type { ConnectionScopes, Scope } from '../connection-scopes.ts';
import type { Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/** An open database. */
export interface Database {
  /** For reads, and for single statements outside of a transaction. */
  db: Kysely<Tables>;
  dialect: Dialect;
  /**
   * Runs work in a transaction, and commits it unless the work fails or `commitIf` refuses its result. The work awaits only its
   * own queries and, if it takes long, `yieldToEventLoop`: on SQLite nothing else reads or writes meanwhile.
   */
  transaction: RunTransaction;
  /** Calls the listener with the duration of each transaction in milliseconds, failed ones included. */
  onTransaction(listener: (ms: number) => void): void;
  /** Returns the connections of this process to a database server, and how much work waits for one; undefined without a server. */
  pool?: () => { used: number; idle: number; waiting: number };
  /** The connections of the database, as far as this process knows. */
  scopes: ConnectionScopes;
  /** Returns the key under which all rows of a connection are stored. Throws for a connection that does not exist. */
  scopeOf(connection: string): Scope;
  /** True for a violation of any unique constraint. */
  isDuplicate(error: unknown): boolean;
  /** Calls the listener for every disk fault. The caller of the failed query gets the error too. */
  onUnavailable(listener: (error: StoreUnavailable) => void): void;
  /** Commits a meaningless write. Rejects while the database cannot be written. */
  probeWrite(): Promise<void>;
  /**
   * Copies the write-ahead log into the database file and truncates the log, so that no deleted page stays in it.
   * Returns false while a reader still uses the log.
   */
  emptyLog(): Promise<boolean>;
  /** Resolves if the database can be read; rejects otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Runs work in a transaction and returns its result. The work may run several times, of which only the last is committed. */
export type RunTransaction = <T>(
  work: (tx: Transaction<Tables>) => Promise<T>,
  options?: TransactionOptions<T>,
) => Promise<T>;

export interface TransactionOptions<T> {
  /**
   * False: the commit does not wait for the disk. After a crash of the process it is still there; after a power
   * failure it may be lost with those that followed. Use it for records that can be created again: waiting for the
   * disk is most of the cost of a write. True by default.
   */
  durable?: boolean;
  /** Returns false to roll the transaction back; the result is returned nevertheless. */
  commitIf?: (result: T) => boolean;
}
