/** The number of positions that one memory holds. Each is some hundred bytes. */
const MAX_POSITIONS = 1000;
/**
 * The time for which a position is used, in milliseconds. Rows that are inserted or deleted before it meanwhile shift the page:
 * the reader that remembered it gets every row once, as with a cursor, while any other reader of this offset gets a page
 * that is off by those rows.
 */
const MAX_AGE_MS = 60_000;

/**
 * Remembers where pages of long lists ended. A client that reads a list by offset, page by page, then continues at a
 * key, and the database does not skip all earlier rows for each page. Without a remembered position a page is found by
 * OFFSET.
 */
export class PageMemory<Key> {
  /** The positions by list and offset, the least recently remembered first. */
  readonly #positions = new Map<string, { key: Key; until: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Remembers the key of the last row before an offset. `list` identifies the list with its filter and its order. */
  remember(list: string, offset: number, key: Key): void {
    const place = placeOf(list, offset);
    this.#positions.delete(place);
    this.#positions.set(place, { key, until: this.#now() + MAX_AGE_MS });
    if (this.#positions.size <= MAX_POSITIONS) return;
    const [oldest = ''] = this.#positions.keys();
    this.#positions.delete(oldest);
  }

  /** Returns the key of the last row before an offset, if the page that ends there was read within the last minute. */
  recall(list: string, offset: number): Key | undefined {
    const position = this.#positions.get(placeOf(list, offset));
    return position && position.until > this.#now() ? position.key : undefined;
  }
}

function placeOf(list: string, offset: number): string {
  return `${offset} ${list}`;
}
