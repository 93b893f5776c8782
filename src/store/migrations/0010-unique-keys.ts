import { HASH_PREFIX } from '../search-keys.ts';

/** A row whose unique key changes. */
export interface RowWithNewKey {
  /** Tells the row from all others of its table. */
  name: string;
  createdAt: number;
  key: string;
}

/** How the unique keys of one table are read and written. */
interface KeyColumn<Row extends RowWithNewKey> {
  write(row: Row, key: string): Promise<void>;
  /** Whether another row within the same bounds has the key of this one. */
  isTaken(row: Row): Promise<boolean>;
}

/**
 * Gives rows their new unique keys. All of them first get keys that no text has, so that none is in another's way.
 *
 * NFC tells more texts apart than NFKC, so two rows hardly ever come to have the same key: it takes letters that are
 * composed in one text only after compatibility folding, such as a full-width J with a caron. Then the eldest row gets the
 * key, and the others keep the one that no text has: they stay readable by their ids, and the next write that repeats the
 * name is refused as a duplicate.
 */
export async function assignUniqueKeys<Row extends RowWithNewKey>(
  rows: Row[],
  { write, isTaken }: KeyColumn<Row>,
): Promise<void> {
  for (const row of rows) await write(row, `${HASH_PREFIX}${row.name}`);
  for (const row of rows.toSorted((one, other) => one.createdAt - other.createdAt)) {
    if (!(await isTaken(row))) await write(row, row.key);
  }
}

/** The form in which texts were compared before. */
export function former(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
