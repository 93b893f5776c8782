import { addressGroup } from './proxies.ts';

/** Waits some milliseconds, or until aborted; never rejects. */
export interface Timer {
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

const MINUTE_MS = 60_000;

/** Runs the task every minute, and once more when aborted. */
export async function everyMinute(
  { wait }: Timer,
  signal: AbortSignal,
  task: () => Promise<void> | void,
): Promise<void> {
  while (!signal.aborted) {
    await wait(MINUTE_MS, signal);
    await task();
  }
}

/**
 * Limits the entries of a log that anyone can cause, in one minute: those of one address, and all. Further ones are only counted, by a
 * key, so that they neither fill the disk nor bury the others. Its memory is bounded by the limits, not by the number of addresses.
 */
export class MinuteQuota<Key> {
  readonly #limits: { ofAddress: number; all: number };
  readonly #kept = new Map<string, number>();
  #counted = new Map<Key, number>();
  #all = 0;

  constructor(limits: { ofAddress: number; all: number }) {
    this.#limits = limits;
  }

  /** Returns false if the entry is only counted. */
  admits(address: string, key: Key): boolean {
    const group = addressGroup(address);
    const ofAddress = this.#kept.get(group) ?? 0;
    if (ofAddress < this.#limits.ofAddress && this.#all < this.#limits.all) {
      this.#kept.set(group, ofAddress + 1);
      this.#all += 1;
      return true;
    }
    this.count(key);
    return false;
  }

  /** Counts an entry that is not kept. */
  count(key: Key): void {
    this.#counted.set(key, (this.#counted.get(key) ?? 0) + 1);
  }

  /** Begins the next minute. Returns the number of entries that were only counted, by key. */
  next(): ReadonlyMap<Key, number> {
    const counted = this.#counted;
    this.#counted = new Map();
    this.#kept.clear();
    this.#all = 0;
    return counted;
  }
}

/** The most characters of a text that a client without a valid credential has chosen, in any log. */
const MAX_STRANGER_TEXT = 200;

/** Cuts a text that anyone could have chosen, for a log. */
export function cutStrangerText(text: string): string {
  return text.length > MAX_STRANGER_TEXT ? `${text.slice(0, MAX_STRANGER_TEXT - 1)}…` : text;
}
