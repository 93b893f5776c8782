import { type RawBuilder, sql } from 'kysely';
import type { SortKey } from '../provisioning/list-ports.ts';

/** How the rows of a list are read as one text. */
export interface JoinedColumns<Row> {
  /** The lists in the order of this column are read so. It contains numbers. */
  order: string;
  /** The columns and `key_value`, as texts without control characters. */
  texts: RawBuilder<unknown>[];
  /** Converts the texts of one row. */
  toRow(texts: string[]): { key: SortKey; row: Row };
}

/** Characters that JSON texts and numbers do not contain. */
const COLUMN_END = '\u001f';
const ROW_END = '\u001e';

/**
 * Returns a statement that returns the rows of another one as one text, in their order.
 *
 * An answer of PostgreSQL arrives in pieces of 8 KB, and the pieces of concurrent answers alternate. Rows that are converted as they
 * arrive wait for the last one of their page, so that they survive scavenges: V8 copies them twice, and keeps them until the next full
 * collection. The bytes of one text are outside of V8's heap until all of them have arrived.
 */
export function joinRows(
  { texts }: Pick<JoinedColumns<unknown>, 'texts'>,
  rows: RawBuilder<unknown>,
): RawBuilder<JoinedRows> {
  return sql`
    select array_to_string(array(
      select concat_ws(${sql.lit(COLUMN_END)}, ${sql.join(texts)}) from (${rows}) as listed
    ), ${sql.lit(ROW_END)}) as joined`;
}

/** The row of a statement of `joinRows`. */
export interface JoinedRows {
  joined: string;
}

/** Converts the row of a statement of `joinRows` to the rows that it contains. */
export function splitRows<Row>(
  { toRow }: JoinedColumns<Row>,
  { joined }: JoinedRows,
): { key: SortKey; row: Row }[] {
  return joined === '' ? [] : joined.split(ROW_END).map((row) => toRow(row.split(COLUMN_END)));
}

/** Returns a column of text as JSON, because the text may contain control characters. */
export function toJsonText(column: string): RawBuilder<unknown> {
  return sql`coalesce(to_json(${sql.ref(column)})::text, '')`;
}

/** Reads a text of `toJsonText`. Parsing takes longer than taking the quotes away, and few texts have escaped characters. */
export function fromJsonText(json: string): string {
  return json.includes('\\') ? String(JSON.parse(json)) : json.slice(1, -1);
}
