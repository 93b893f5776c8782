import { addressGroup } from '../../http/proxies.ts';
import { OperationError } from '../../operations/errors.ts';
import type { SignInFailures } from '../../store/credentials/sign-in-failures.ts';
import { type Client, FairQueue } from './fair-queue.ts';
import { type PasswordCosts, verifyPassword } from './passwords.ts';

/** Each check of a password takes a quarter of a second of CPU time, and one of the four threads of Node. */
const CHECKS = { running: 2, runningOfAddress: 1, waiting: 256, waitingOfAddress: 32 };

/** The networks from which a right password has come, the latest ones. Their checks go before those of a flood from elsewhere. */
const MAX_KNOWN_NETWORKS = 1_000;

/** The wait of the answer to the first refusal for a name; it doubles with each further one, up to the maximum. In milliseconds. */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/** The answers that wait at the same time: in all, and to one address. Further refusals are answered 429 at once. */
const MAX_WAITING = 200;
const MAX_WAITING_OF_ADDRESS = 20;

/**
 * Makes guessing slow without shutting anybody out: each password is checked, and a right one is answered at once, but the answer to a
 * wrong one waits (docs/decisions/0046). Names without an account are treated alike.
 */
export interface SignInLimit {
  /**
   * Returns true if the password has the hash, which an unknown name has not. Addresses take turns, and names within an address. Throws
   * 429 `tooManyAttempts` if too many passwords wait.
   */
  verify(client: Client, password: string, hash: string | undefined): Promise<boolean>;
  /** Counts a refusal, and waits before its answer. Throws 429 `tooManyAttempts` at once if too many answers wait. */
  delayRefusal(client: Client): Promise<void>;
}

/** Dependencies of the limit. */
export interface SignInLimitDeps {
  failures: SignInFailures;
  passwordCosts: PasswordCosts;
  clock: {
    /** Epoch milliseconds. */
    now(): number;
    /** Returns early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  /** Ends all waits when the service stops. */
  signal: AbortSignal;
}

/** Returns the limit of one process. The failures are counted in the database, for all processes. */
export function createSignInLimit({ failures, passwordCosts, clock, signal }: SignInLimitDeps): SignInLimit {
  const checks = new FairQueue(CHECKS);
  const known = new Set<string>();
  const waiting = new Map<string, number>();
  let allWaiting = 0;
  const addWaiting = (group: string, change: 1 | -1) => {
    allWaiting += change;
    const count = (waiting.get(group) ?? 0) + change;
    if (count > 0) waiting.set(group, count);
    else waiting.delete(group);
  };
  return {
    verify: async ({ name, address }, password, hash) => {
      const group = addressGroup(address);
      const client = { name, address, isPreferred: known.has(group) };
      const isRight = await checks.run(client, () => verifyPassword(password, hash, passwordCosts));
      if (isRight) addLatest(known, group);
      return isRight;
    },
    delayRefusal: async ({ name, address }) => {
      const group = addressGroup(address);
      const count = await failures.count(name, clock.now());
      const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(count - 1, 10));
      if (allWaiting >= MAX_WAITING || (waiting.get(group) ?? 0) >= MAX_WAITING_OF_ADDRESS)
        throw tooManyAttempts(waitMs);
      addWaiting(group, 1);
      // The wait goes on if the client hangs up, so that it cannot try again sooner.
      await clock.wait(waitMs, signal);
      addWaiting(group, -1);
    },
  };
}

function addLatest(known: Set<string>, group: string): void {
  known.delete(group);
  known.add(group);
  const [oldest = ''] = known;
  if (known.size > MAX_KNOWN_NETWORKS) known.delete(oldest);
}

function tooManyAttempts(waitMs: number): OperationError {
  const retryAfterS = Math.ceil(waitMs / 1000);
  const seconds = retryAfterS === 1 ? 'a second' : `${retryAfterS} seconds`;
  return new OperationError(
    'tooManyAttempts',
    `Too many failed attempts. Wait ${seconds} before the next one.`,
    {
      retryAfterS,
    },
  );
}
