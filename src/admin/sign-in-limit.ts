import { addressGroup } from '../http/proxies.ts';
import { AdminError } from './errors.ts';

const WINDOW_MS = 10 * 60_000;
/** Attempts for one name from one address, so that an attacker elsewhere shuts out nobody. */
const MAX_OF_NAME = 10;
/** Attempts from one address for all names; those that succeed do not count. */
const MAX_OF_ADDRESS = 50;
/** The number of counters is limited, so that they cannot fill the memory. The oldest goes first. */
const MAX_COUNTERS = 10_000;

/** Limits attempts to sign in. */
export interface SignInLimit {
  /** Counts an attempt before the password is checked. Throws 429 `tooManyAttempts`. */
  count(name: string, address: string): void;
  /** Forgets the attempts for a name, and the last one of the address, after a success. */
  reset(name: string, address: string): void;
}

/** Returns the limit of one process. `now` returns milliseconds of a monotonic clock. */
export function createSignInLimit(now: () => number): SignInLimit {
  // Ordered by the end of the window, because all windows have the same length.
  const counters = new Map<string, { attempts: number; endsAt: number }>();
  const countOne = (key: string, max: number) => {
    const at = now();
    for (const [oldest, { endsAt }] of counters) {
      if (endsAt > at && counters.size < MAX_COUNTERS) break;
      counters.delete(oldest);
    }
    const counter = counters.get(key) ?? { attempts: 0, endsAt: at + WINDOW_MS };
    counters.set(key, counter);
    counter.attempts += 1;
    if (counter.attempts <= max) return;
    const retryAfterS = Math.ceil((counter.endsAt - at) / 1000);
    const minutes = Math.ceil(retryAfterS / 60);
    const message = `Too many failed attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
    throw new AdminError('tooManyAttempts', message, { retryAfterS });
  };
  const nameKey = (name: string, address: string) => `${addressGroup(address)} ${name.toLowerCase()}`;
  return {
    count: (name, address) => {
      countOne(addressGroup(address), MAX_OF_ADDRESS);
      countOne(nameKey(name, address), MAX_OF_NAME);
    },
    reset: (name, address) => {
      const ofAddress = counters.get(addressGroup(address));
      if (ofAddress) ofAddress.attempts -= 1;
      counters.delete(nameKey(name, address));
    },
  };
}
