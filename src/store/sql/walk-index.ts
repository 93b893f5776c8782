import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { inScope, type Scope } from '../connection-scopes.ts';
import { yieldToEventLoop } from './queries.ts';
import type { TextRange } from './search-keys.ts';
import type { Tables } from './tables.ts';

/** The index entries that one statement compares. Other statements run between two of them. */
const STEP = 5_000;

/** An index, whose entries a walk compares. */
export interface WalkedIndex {
  table: 'identity' | 'identity_email' | 'scim_group' | 'group_member';
  id: string;
  key: string;
  range: TextRange;
  /** The condition of a partial index. */
  of?: RawBuilder<unknown>;
  matches: RawBuilder<unknown>;
}

/**
 * Yields the ids of the entries of an index that match, step by step. Each statement has one condition for either end of its range: of two, SQLite
 * may begin at the farther one.
 */
export async function* walkIndex(
  db: Kysely<Tables>,
  scope: Scope,
  { table, id, key, range, of = sql`1 = 1`, matches }: WalkedIndex,
): AsyncGenerator<string[], void, undefined> {
  const keyColumn = sql.ref(key);
  for (let after: string | undefined = range.from; after !== undefined; ) {
    const following: RawBuilder<unknown> = sql`
      from ${sql.table(table)} where ${inScope(scope)} and ${of} and ${keyColumn} > ${after}`;
    const end = sql<{ key: string }>`
      select ${keyColumn} as key ${following} and ${keyColumn} < ${range.to}
      order by ${keyColumn} limit 1 offset ${sql.lit(STEP - 1)}`;
    const upTo: string | undefined = (await end.execute(db)).rows[0]?.key;
    const last: RawBuilder<SqlBool> =
      upTo === undefined ? sql`${keyColumn} < ${range.to}` : sql`${keyColumn} <= ${upTo}`;
    const { rows } = await sql<{ id: string }>`
      select ${sql.ref(id)} as id ${following} and ${last} and (${matches}) order by ${keyColumn}`.execute(
      db,
    );
    await yieldToEventLoop();
    yield rows.map((row) => row.id);
    after = upTo;
  }
}
