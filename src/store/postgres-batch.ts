import type { Connection, Submittable } from 'pg';

/** A statement with its parameters in the form in which they are sent. */
export interface Statement {
  text: string;
  /** The name under which a connection prepares the statement. Empty if it is parsed at each use. */
  name: string;
  values: (string | null)[];
}

export interface StatementResult {
  /** The first word of the command tag, such as SELECT. */
  command: string;
  /** The number of rows that the statement has returned or changed. */
  count: number;
  rows: Row[];
}

type Row = Record<string, unknown>;

/** Returns the function that converts the text of a value of a type. */
export type ParserOf = (type: number) => (text: string) => unknown;

interface Column {
  name: string;
  parse: (text: string) => unknown;
}

/** The statements that each connection has prepared, with their columns once they are known. */
const preparedOf = new WeakMap<Connection, Map<string, Column[] | undefined>>();

/**
 * Statements that are sent in one write, with one Sync at the end. Without a BEGIN, PostgreSQL runs them as one transaction, which the
 * Sync commits: if one of them fails, those after it do not run, and those before it are rolled back.
 *
 * The queries of `pg` cost more than twice the CPU: each is a write of its own, and the columns of a prepared statement are
 * described again at each use.
 */
export class StatementBatch implements Submittable {
  /** Called once. `pg` replaces it by a function that also stops the timer of the batch. */
  callback: (error: unknown, results: StatementResult[]) => void;
  readonly #statements: Statement[];
  readonly #parserOf: ParserOf;
  readonly #results: StatementResult[] = [];
  #prepared = new Map<string, Column[] | undefined>();
  /** The names of the statements that are being parsed. */
  #parsing: string[] = [];
  /** The columns and rows of the statement that is being executed. */
  #columns: Column[] | undefined;
  #rows: Row[] = [];

  constructor(
    statements: Statement[],
    parserOf: ParserOf,
    callback: (error: unknown, results: StatementResult[]) => void,
  ) {
    this.#statements = statements;
    this.#parserOf = parserOf;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    this.#prepared = preparedOf.get(connection) ?? new Map();
    preparedOf.set(connection, this.#prepared);
    connection.stream.cork();
    for (const statement of this.#statements) this.#send(connection, statement);
    connection.sync();
    connection.stream.uncork();
    if (this.#parsing.length > 0) this.#rememberParsed(connection);
    this.#columns = this.#knownColumns();
  }

  #send(connection: Connection, { text, name, values }: Statement): void {
    if (!this.#prepared.has(name) && !(name !== '' && this.#parsing.includes(name))) {
      connection.parse({ text, name, types: [] }, true);
      this.#parsing.push(name);
    }
    connection.bind({ statement: name, values }, true);
    if (!this.#prepared.get(name)) connection.describe({ type: 'P' }, true);
    connection.execute({}, true);
  }

  /** A statement is prepared once it is parsed, also if it then fails and is rolled back. */
  #rememberParsed(connection: Connection): void {
    const names = this.#parsing;
    const remember = () => {
      const name = names.shift();
      if (name) this.#prepared.set(name, undefined);
    };
    connection.on('parseComplete', remember);
    connection.once('readyForQuery', () => connection.off('parseComplete', remember));
  }

  /** The name of the statement that is being executed. */
  get #name(): string {
    return this.#statements[this.#results.length]?.name ?? '';
  }

  #knownColumns(): Column[] | undefined {
    return this.#prepared.get(this.#name);
  }

  #saveColumns(columns: Column[]): void {
    this.#columns = columns;
    if (this.#name !== '') this.#prepared.set(this.#name, columns);
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#saveColumns(fields.map(({ name, dataTypeID }) => ({ name, parse: this.#parserOf(dataTypeID) })));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: Row = {};
    this.#columns?.forEach(({ name, parse }, index) => {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    });
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    // The server describes no columns of a statement without rows.
    if (!this.#columns) this.#saveColumns([]);
    const words = text.split(' ');
    this.#results.push({ command: words[0] ?? '', count: Number(words.at(-1)) || 0, rows: this.#rows });
    this.#rows = [];
    this.#columns = this.#knownColumns();
  }

  handleError(error: unknown): void {
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }
}
