import {
  type DatabaseIntrospector,
  type DatabaseMetadataOptions,
  type DialectAdapter,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  type PostgresPoolClient,
  type PostgresQueryResult,
  sql,
  type TableMetadata,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { StoreUnavailable } from '../../model/unavailable.ts';
import type { Tables } from './tables.ts';

interface SessionOptions {
  /** Returns the error to throw in place of an error of PostgreSQL. */
  translate(error: unknown): unknown;
  /** Runs a statement, and runs it again if it lost against a concurrent transaction. */
  retry<T>(run: () => Promise<T>): Promise<T>;
  /** False: commits do not wait for the disk. */
  durable: boolean;
}

/** Returns a Kysely on a pool, which is closed by the one who opened it. */
export function kyselyOn(pool: Pool, options: SessionOptions): Kysely<Tables> {
  const connect = async () => {
    try {
      // Kysely passes a cursor only for queries that are streamed, which none is.
      return new Session(await pool.connect(), options) as unknown as PostgresPoolClient;
    } catch (error) {
      throw options.translate(error);
    }
  };
  return new Kysely<Tables>({ dialect: new SharedDialect({ pool: { connect, end: async () => {} } }) });
}

/** PostgreSQL behind a transaction pooler, with a database that may have other schemas. */
class SharedDialect extends PostgresDialect {
  override createAdapter(): DialectAdapter {
    return new RowLockAdapter();
  }

  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new OwnSchemaIntrospector(db);
  }
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

/** Shows the migrator the current schema only: another schema may have the tables of another program's migrator. */
class OwnSchemaIntrospector extends PostgresIntrospector {
  readonly #db: Kysely<unknown>;

  constructor(db: Kysely<unknown>) {
    super(db);
    this.#db = db;
  }

  override async getTables(options?: DatabaseMetadataOptions): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(this.#db);
    return (await super.getTables(options)).filter(({ schema }) => schema === rows[0]?.name);
  }
}

/** The use of a connection for one transaction, or for one statement outside of transactions. */
class Session {
  readonly #client: PoolClient;
  readonly #options: SessionOptions;
  #isInTransaction = false;
  #isBroken = false;

  constructor(client: PoolClient, options: SessionOptions) {
    this.#client = client;
    this.#options = options;
  }

  async query<Row>(text: string, parameters: readonly unknown[] = []): Promise<PostgresQueryResult<Row>> {
    if (text === 'begin') return this.#begin();
    const send = () => this.#client.query(text, parameters.map(withoutNul));
    try {
      // A transaction is repeated as a whole.
      const result = await (this.#isInTransaction ? send() : this.#options.retry(send));
      // PostgreSQL answers a commit without an error if a statement of the transaction has failed before.
      if (text === 'commit' && result.command !== 'COMMIT')
        throw new Error('The transaction was rolled back, because one of its statements had failed.');
      // PostgreSQL has these commands only, and the type of the rows follows from the query.
      return result as unknown as PostgresQueryResult<Row>;
    } catch (cause) {
      const error = this.#options.translate(cause);
      if (error instanceof StoreUnavailable || text === 'rollback') this.#isBroken = true;
      // The caller gets the error that led to the rollback.
      if (text === 'rollback') return noRows;
      throw error;
    }
  }

  /** The first statement of the transaction follows without waiting, in the same write to the socket, and fails if this one does. */
  #begin(): PostgresQueryResult<never> {
    this.#isInTransaction = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
    const text = this.#options.durable ? 'begin' : 'begin; set local synchronous_commit = off';
    this.#client.query(text).catch(() => {});
    return noRows;
  }

  release(): void {
    this.#client.release(this.#isBroken);
  }
}

const noRows: PostgresQueryResult<never> = { command: 'SELECT', rowCount: 0, rows: [] };

/**
 * PostgreSQL refuses NUL characters in text. They are refused in what is stored, so a search for them needs to find nothing: they are
 * replaced like unpaired surrogates.
 */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}
