import { addressGroup } from '../../http/proxies.ts';
import { OperationError } from '../../operations/errors.ts';

/** The largest numbers of tasks of a queue. */
export interface QueueLimits {
  /** Tasks that run at the same time: in all, and of one address. */
  running: number;
  runningOfAddress: number;
  /** Tasks that wait for that: in all, and of one address. */
  waiting: number;
  waitingOfAddress: number;
}

/** The client that a task is for: its address, and the name that it has given. */
export interface Client {
  address: string;
  name: string;
  /** True for an address that others do not delay: its tasks go before theirs, and are refused after theirs. */
  isPreferred?: boolean;
}

/** The tasks of one address. */
interface Line {
  isPreferred: boolean;
  running: number;
  waiting: WaitingTask[];
  /** The name whose task was started last. */
  lastName: string | undefined;
}

interface WaitingTask {
  name: string;
  start(): void;
  refuse(): void;
}

/**
 * Runs tasks a few at a time. Addresses take turns, and so do the names within an address: a client that sends many requests delays the
 * others by a task or two. Beyond the limits the newest task of the most frequent client is refused.
 */
export class FairQueue {
  readonly #limits: QueueLimits;
  /** The lines by address, the one whose turn is next first. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  #waiting = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Runs a task when it is its turn. Throws 429 `tooManyAttempts` if it is refused instead. */
  async run<T>({ address, name, isPreferred = false }: Client, task: () => Promise<T>): Promise<T> {
    const group = addressGroup(address);
    await new Promise<void>((start, fail) => {
      const refuse = () => fail(new OperationError('tooManyAttempts', undefined, { retryAfterS: RETRY_S }));
      this.#enqueue(group, { name, start, refuse }, isPreferred);
      this.#startNext();
    });
    try {
      return await task();
    } finally {
      this.#end(group);
      this.#startNext();
    }
  }

  #enqueue(group: string, task: WaitingTask, isPreferred: boolean): void {
    const line = this.#lines.get(group) ?? { isPreferred, running: 0, waiting: [], lastName: undefined };
    line.isPreferred = isPreferred;
    this.#lines.set(group, line);
    line.waiting.push(task);
    this.#waiting += 1;
    const { waiting, waitingOfAddress } = this.#limits;
    if (line.waiting.length > waitingOfAddress) this.#refuseOne(line);
    else if (this.#waiting > waiting) this.#refuseOne(longestOf([...this.#lines.values()]));
  }

  #refuseOne({ waiting }: Line): void {
    const [refused] = waiting.splice(newestOfMostFrequent(waiting), 1);
    this.#waiting -= 1;
    refused?.refuse();
  }

  #startNext(): void {
    const lines = [...this.#lines];
    const inOrder = [true, false].flatMap((first) => lines.filter(([, line]) => line.isPreferred === first));
    for (const [group, line] of inOrder) {
      if (this.#running >= this.#limits.running) return;
      if (line.running >= this.#limits.runningOfAddress || line.waiting.length === 0) continue;
      const other = line.waiting.findIndex(({ name }) => name !== line.lastName);
      const [next] = line.waiting.splice(Math.max(0, other), 1);
      this.#waiting -= 1;
      this.#running += 1;
      line.running += 1;
      line.lastName = next?.name;
      // The turn of the address comes again after those of all others.
      this.#lines.delete(group);
      this.#lines.set(group, line);
      next?.start();
    }
  }

  #end(group: string): void {
    this.#running -= 1;
    const line = this.#lines.get(group);
    if (!line) return;
    line.running -= 1;
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(group);
  }
}

/** A queue that is full has room again after some tasks. */
const RETRY_S = 2;

/** Returns the longest of the lines that are not preferred, or of all if nothing waits in these. */
function longestOf(lines: Line[]): Line {
  const others = lines.filter(({ isPreferred, waiting }) => !isPreferred && waiting.length > 0);
  const candidates = others.length > 0 ? others : lines;
  return candidates.reduce((one, other) => (other.waiting.length > one.waiting.length ? other : one));
}

/** Returns the place of the last task of the name that waits most often. */
function newestOfMostFrequent(waiting: WaitingTask[]): number {
  const counts = new Map<string, number>();
  for (const { name } of waiting) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return waiting.findLastIndex(({ name }) => counts.get(name) === most);
}
