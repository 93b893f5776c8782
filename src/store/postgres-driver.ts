import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type DatabaseMetadataOptions,
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
  type TableMetadata,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { ReadBoth } from './database.ts';
import { type ParserOf, type Statement, StatementBatch, type StatementResult } from './postgres-batch.ts';
import { JoinedReads } from './postgres-reads.ts';
import type { StatementNames } from './statement-names.ts';
import type { Tables } from './tables.ts';
import { StoreUnavailable } from './unavailable.ts';

interface DriverOptions {
  pool: Pool;
  /** Returns the error to throw in place of an error of PostgreSQL. */
  translate(error: unknown): unknown;
  names: StatementNames;
  parserOf: ParserOf;
  /** False: a commit does not wait for the disk. */
  durable: boolean;
  /** Runs a statement, and runs it again if it lost against a concurrent transaction. */
  retry<T>(run: () => Promise<T>): Promise<T>;
}

/** A Kysely whose transactions begin in the message of their first statement, and what runs a batch in one message. */
interface Sessions {
  db: Kysely<Tables>;
  batch<Row>(queries: readonly CompiledQuery<Row>[]): Promise<QueryResult<Row>[]>;
  readBoth: ReadBoth;
}

export function createSessions(options: DriverOptions): Sessions {
  const driver = new PostgresDriver(options);
  const dialect = {
    createDriver: () => driver,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new RowLockAdapter(),
    createIntrospector: (db: Kysely<unknown>): DatabaseIntrospector => new OwnSchemaIntrospector(db),
  };
  const executor = new DirectExecutor(driver, options.retry);
  return {
    db: new Kysely<Tables>({ config: { dialect }, dialect, driver, executor }),
    batch: (queries) => driver.withConnection((connection) => connection.executeBatch(queries)),
    readBoth: <First, Second>(first: CompiledQuery<First>, second: CompiledQuery<Second>) =>
      driver.withConnection(async (connection) => {
        const results = await connection.executeReads([first, second]);
        // The types of the rows follow from the queries.
        return results as [QueryResult<First>, QueryResult<Second>];
      }),
  };
}

/**
 * Executes a query outside of a transaction without the promises of Kysely's own executor, which Kysely uses inside of transactions and
 * with plugins. Short reads share a message. Each other statement is a transaction of its own, which may be repeated.
 */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #driver: PostgresDriver;
  readonly #reads: JoinedReads;
  readonly #retry: DriverOptions['retry'];

  constructor(driver: PostgresDriver, retry: DriverOptions['retry']) {
    super(new PostgresQueryCompiler(), new RowLockAdapter(), new DefaultConnectionProvider(driver));
    this.#driver = driver;
    this.#retry = retry;
    this.#reads = new JoinedReads((queries) =>
      driver.withConnection((connection) => connection.executeReads(queries)),
    );
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const joined = this.#reads.join(query);
    // The type of the rows follows from the query.
    if (joined) return joined as Promise<QueryResult<Row>>;
    return this.#retry(() =>
      this.#driver.withConnection((connection) => connection.executeQuery<Row>(query)),
    );
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

  async withConnection<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.acquireConnection();
    try {
      return await work(connection);
    } finally {
      connection.release();
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
  #transaction: 'none' | 'unsent' | 'open' | 'failed' = 'none';
  #isBroken = false;

  constructor(client: PoolClient, options: DriverOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** The statements that begin a transaction are sent with its first statement. */
  begin(): void {
    this.#transaction = 'unsent';
  }

  async commit(): Promise<void> {
    if (this.#transaction === 'unsent') return;
    const [committed] = await this.#execute([this.#statement('commit')]);
    // PostgreSQL answers a commit without an error if a statement of the transaction has failed before.
    if (committed?.command !== 'COMMIT')
      throw new Error('The transaction was rolled back, because one of its statements had failed.');
  }

  async rollBack(): Promise<void> {
    if (this.#transaction === 'unsent') return;
    // The caller gets the error that led to the rollback. A connection that cannot roll back is not used again.
    await this.#execute([this.#statement('rollback')]).catch(() => {
      this.#isBroken = true;
    });
  }

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const beginning = this.#transaction === 'unsent' ? this.#beginning() : [];
    if (beginning.length > 0) this.#transaction = 'open';
    const results = await this.#execute([...beginning, this.#statement(text, parameters)]);
    return toQueryResult<Row>(results.at(-1));
  }

  /** Executes statements in a transaction of their own, which the end of the message commits. */
  async executeBatch<Row>(queries: readonly CompiledQuery<Row>[]): Promise<QueryResult<Row>[]> {
    const beginning = this.#options.durable ? [] : [this.#statement(ASYNCHRONOUS_COMMIT)];
    const statements = queries.map(({ sql: text, parameters }) => this.#statement(text, parameters));
    const results = await this.#execute([...beginning, ...statements]);
    return results.slice(beginning.length).map(toQueryResult<Row>);
  }

  /** Executes statements that only read. */
  async executeReads(queries: readonly CompiledQuery[]): Promise<QueryResult<unknown>[]> {
    const statements = queries.map(({ sql: text, parameters }) => this.#statement(text, parameters));
    return (await this.#execute(statements)).map(toQueryResult);
  }

  // biome-ignore lint/correctness/useYield: Kysely requires the method, and no query is streamed.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Queries are not streamed.');
  }

  release(): void {
    this.#client.release(this.#isBroken);
  }

  #statement(text: string, parameters: readonly unknown[] = []): Statement {
    return { text, name: this.#options.names.nameOf(text) ?? '', values: parameters.map(toParameter) };
  }

  /** Returns the statements that begin a transaction. */
  #beginning(): Statement[] {
    const begin = this.#statement('begin');
    return this.#options.durable ? [begin] : [begin, this.#statement(ASYNCHRONOUS_COMMIT)];
  }

  async #execute(statements: Statement[]): Promise<StatementResult[]> {
    try {
      return await this.#send(statements);
    } catch (cause) {
      if (this.#transaction !== 'failed' && this.#options.names.isNameFault(cause)) {
        // Nothing has run. The name stays taken on this connection, so the connection is given up.
        this.#isBroken = true;
        if (this.#transaction === 'none')
          return this.#execute(statements.map((statement) => ({ ...statement, name: '' })));
      }
      if (this.#transaction !== 'none') this.#transaction = 'failed';
      const error = this.#options.translate(cause);
      if (error instanceof StoreUnavailable) this.#isBroken = true;
      throw error;
    }
  }

  #send(statements: Statement[]): Promise<StatementResult[]> {
    return new Promise((resolve, reject) => {
      const settle = (error: unknown, results: StatementResult[]) =>
        error ? reject(error) : resolve(results);
      this.#client.query(new StatementBatch(statements, this.#options.parserOf, settle));
    });
  }
}

/** Keeps the commit of the transaction from waiting for the disk. `set local` warns unless a BEGIN has been executed. */
const ASYNCHRONOUS_COMMIT = "select set_config('synchronous_commit', 'off', true)";

function toQueryResult<Row>(result: StatementResult | undefined): QueryResult<Row> {
  // The type of the rows follows from the query.
  const rows = (result?.rows ?? []) as Row[];
  if (!result || !changing.has(result.command)) return { rows };
  return { rows, numAffectedRows: BigInt(result.count) };
}

/**
 * Converts a parameter to text. PostgreSQL refuses NUL characters in text. They are refused in what is stored, so a search for them
 * needs to find nothing: they are replaced like unpaired surrogates.
 */
function toParameter(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') return String(value);
  return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}

const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);
