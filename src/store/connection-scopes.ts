import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from './sql/tables.ts';

/** The key under which all rows of a connection are stored: its travel account, and its id. */
export interface Scope {
  account: string;
  connection: string;
}

/** The key of an identity or group. */
export interface ScopedId extends Scope {
  id: string;
}

/** The condition that a row belongs to a connection. In a join, `table` says whose row. */
export function inScope({ account, connection }: Scope, table?: string): RawBuilder<SqlBool> {
  const column = (name: string) => sql.ref(table === undefined ? name : `${table}.${name}`);
  return sql`${column('account')} = ${account} and ${column('connection_id')} = ${connection}`;
}

/** The condition that two columns, named with their tables, are equal in rows of the same connection. */
export function equalInScope(one: string, other: string): RawBuilder<SqlBool> {
  const [table, otherTable] = [one, other].map((column) => column.split('.')[0]);
  const pairs = [
    [one, other],
    ...['account', 'connection_id'].map((name) => [`${table}.${name}`, `${otherTable}.${name}`]),
  ];
  return sql`${sql.join(
    pairs.map(([left = '', right = '']) => sql`${sql.ref(left)} = ${sql.ref(right)}`),
    sql` and `,
  )}`;
}

/** The columns that put a row into a scope. */
export function scopeColumns({ account, connection }: Scope): { account: string; connection_id: string } {
  return { account, connection_id: connection };
}

/**
 * The scopes of all connections, in memory, because every statement needs one. A process reads them once, when it opens the database:
 * it serves the connections and accounts of its settings.
 */
export class ConnectionScopes {
  readonly #scopes = new Map<string, Scope>();

  of(connection: string): Scope {
    const scope = this.#scopes.get(connection);
    if (!scope) throw new Error(`There is no connection ${connection}.`);
    return scope;
  }

  has(connection: string): boolean {
    return this.#scopes.has(connection);
  }

  /** Returns the ids of all connections, sorted. */
  ids(): string[] {
    return [...this.#scopes.keys()].toSorted();
  }

  add(scope: Scope): void {
    this.#scopes.set(scope.connection, scope);
  }

  remove(connection: string): void {
    this.#scopes.delete(connection);
  }
}

/** Reads the scopes of all connections. */
export async function readScopes(db: Kysely<Tables>): Promise<ConnectionScopes> {
  const scopes = new ConnectionScopes();
  const rows = await db.selectFrom('connection').select(['account', 'id']).execute();
  for (const { account, id } of rows) scopes.add({ account, connection: id });
  return scopes;
}
