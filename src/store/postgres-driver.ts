import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely';
import type { Pool, PoolClient, QueryConfig, QueryResult as QueryResultOfPg } from 'pg';
import type { StatementNames } from './statement-names.ts';
import { StoreUnavailable } from './unavailable.ts';

interface DriverOptions {
  pool: Pool;
  /** The statements that begin a transaction. */
  begin: string;
  /** Returns the error to throw in place of an error of PostgreSQL. */
  translate(error: unknown): unknown;
  names: StatementNames;
}

/**
 * Kysely's dialect for PostgreSQL, with connections that pipeline: a statement is sent without waiting for the answer to the one
 * before. The beginning of a transaction therefore costs no round trip.
 */
export function postgresDialect(options: DriverOptions): Dialect {
  return {
    createDriver: () => new PostgresDriver(options),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new RowLockAdapter(),
    createIntrospector: (db: Kysely<unknown>): DatabaseIntrospector => new PostgresIntrospector(db),
  };
}

/** Migrations of processes that start together wait on a row, because a transaction pooler does not support advisory locks. */
class RowLockAdapter extends PostgresAdapter {
  override async acquireMigrationLock(
    db: Kysely<unknown>,
    { lockTable, lockRowId }: { lockTable: string; lockRowId: string },
  ): Promise<void> {
    await sql`select id from ${sql.table(lockTable)} where id = ${lockRowId} for update`.execute(db);
  }

  /** The end of the transaction releases the lock. */
  override async releaseMigrationLock(): Promise<void> {}
}

class PostgresDriver implements Driver {
  readonly #options: DriverOptions;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#options.pool.connect(), this.#options);
    } catch (error) {
      throw this.#options.translate(error);
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    connection.begin();
  }

  commitTransaction(connection: PostgresConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: PostgresConnection): Promise<void> {
    return connection.rollBack();
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  /** The pool is shared by several drivers, and closed by the one who opened it. */
  async destroy(): Promise<void> {}
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #options: DriverOptions;
  #isInTransaction = false;
  /** True after an error, until the end of the transaction. */
  #hasFailed = false;
  #isBroken = false;

  constructor(client: PoolClient, options: DriverOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Does not wait for the answer: if the statement fails, the connection is broken, and the next statement fails as well. */
  begin(): void {
    this.#isInTransaction = true;
    this.#send({ text: this.#options.begin }).catch(() => {});
  }

  async commit(): Promise<void> {
    const { command } = await this.#send({ text: 'commit' });
    // PostgreSQL answers a commit without an error if a statement of the transaction has failed before.
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back, because one of its statements had failed.');
  }

  async rollBack(): Promise<void> {
    // The caller gets the error that led to the rollback. A connection that cannot roll back is not used again.
    await this.#send({ text: 'rollback' }).catch(() => {
      this.#isBroken = true;
    });
  }

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const name = this.#options.names.nameOf(text);
    const query = { text, values: parameters.map(toParameter), ...(name ? { name } : {}) };
    const { command, rowCount, rows } = await this.#send(query);
    return changing.has(command) ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
  }

  // biome-ignore lint/correctness/useYield: Kysely requires the method, and no query is streamed.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Queries are not streamed.');
  }

  release(): void {
    this.#client.release(this.#isBroken);
  }

  async #send(query: QueryConfig): Promise<QueryResultOfPg> {
    try {
      return await this.#client.query(query);
    } catch (cause) {
      const isFirst = !this.#hasFailed;
      this.#hasFailed = true;
      if (query.name !== undefined && isFirst && this.#options.names.isNameFault(cause)) {
        // The statement has not run. Its name stays taken on this connection, so the connection is given up.
        this.#isBroken = true;
        if (!this.#isInTransaction) return this.#send({ text: query.text, values: query.values ?? [] });
      }
      const error = this.#options.translate(cause);
      if (error instanceof StoreUnavailable) this.#isBroken = true;
      throw error;
    }
  }
}

/**
 * PostgreSQL refuses NUL characters in text. They are refused in what is stored, so a search for them needs to find nothing: they
 * are replaced like unpaired surrogates.
 */
function toParameter(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}

const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);
