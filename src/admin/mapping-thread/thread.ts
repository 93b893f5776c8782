import { Worker } from 'node:worker_threads';
import type { Runtime } from '../../model/runtime-ports.ts';
import { OperationError } from '../../operations/errors.ts';
import type {
  MappingTasks,
  StoredReads,
  TaskContext,
  Tasks,
} from '../../operations/mappings/mapping-tasks.ts';

/** The limits of the thread. */
export interface ThreadLimits {
  /**
   * The thread is terminated if a task takes longer, in milliseconds. The time in which the thread loads its program does not count: it says
   * nothing about the mapping.
   */
  taskMs: number;
  /** A task that cannot begin within this time is refused, in milliseconds. */
  waitMs: number;
  /** The memory of the thread, in MB. A task that needs more ends, and the process goes on. */
  memoryMb: number;
}

/** `waitMs` is below what browsers and proxies wait for a response. */
const defaultLimits: ThreadLimits = { taskMs: 10_000, waitMs: 15_000, memoryMb: 256 };

/** The number of tasks that may wait. Each holds a mapping of up to 500,000 characters. */
const MAX_WAITING = 10;
/** The number of tasks of one caller that may wait: the page asks for a check and a preview at once. */
const MAX_WAITING_OF_CALLER = 3;
/** The thread ends if it has had no task for this time, in milliseconds: it takes some 40 MB. */
const IDLE_MS = 60_000;

/** Computes with the mappings of admins: one task at a time, in a thread, so that all other requests are served meanwhile. */
export interface MappingThread extends MappingTasks {
  /**
   * Runs a task. Throws an `OperationError` if it cannot begin in time (`busy`) or takes too long (`tooCostly`). A signal that is aborted
   * ends it.
   */
  run: MappingTasks['run'];
  /** Ends the thread. */
  close(): Promise<void>;
}

interface ThreadDeps {
  /** The file of the compiled `worker.ts`; without it every task is refused. */
  program: string | undefined;
  limits?: Partial<ThreadLimits> | undefined;
  wait: Runtime['wait'];
}

/** Creates the thread, which starts with its first task. */
export function mappingThread({ program, wait, ...given }: ThreadDeps): MappingThread {
  const limits = { ...defaultLimits, ...given.limits };
  const turns = createTurns(limits.waitMs, wait);
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const begin = (file: string): Worker => {
    if (thread) return thread;
    const started = startThread(file, limits);
    started.once('exit', () => {
      if (thread === started) thread = undefined;
    });
    thread = started;
    return started;
  };
  const end = async () => {
    clearTimeout(idle);
    const ended = thread;
    thread = undefined;
    await ended?.terminate();
  };
  return {
    run: async (name, input, context) => {
      if (program === undefined)
        throw new OperationError('unavailable', 'This process computes no mappings.');
      await turns.take(context);
      clearTimeout(idle);
      try {
        const result = await runTask(begin(program), { name, input } as Task, {
          ...context,
          wait,
          ...limits,
        });
        idle = setTimeout(() => void end(), IDLE_MS).unref();
        return result as Tasks[typeof name]['result']; // The thread returns the result of the task that it was given.
      } catch (error) {
        // It may still be at work.
        await end();
        throw error;
      } finally {
        turns.giveBack();
      }
    },
    close: end,
  };
}

function startThread(program: string, { memoryMb }: ThreadLimits): Worker {
  const thread = new Worker(program, {
    execArgv: [...process.execArgv, '--enable-source-maps'],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  // Without a listener, an error of the thread would end the process.
  thread.on('error', () => {});
  thread.unref();
  return thread;
}

type Task = { [Name in keyof Tasks]: { name: Name; input: Tasks[Name]['input'] } }[keyof Tasks];

/** A message to the thread: a task, or the answer to a read. */
export type ToThread =
  | { [Name in keyof Tasks]: { kind: 'task'; name: Name; input: Tasks[Name]['input'] } }[keyof Tasks]
  | { kind: 'answer'; id: number; value: unknown };

/**
 * A message from the thread: the begin of the task, a read of the database, or the end of the task. `max`: the size that its result exceeds, in
 * characters.
 */
export type FromThread =
  | { kind: 'began' }
  | { kind: 'read'; id: number; name: keyof StoredReads; values: unknown[] }
  | { kind: 'result'; value: unknown }
  | { kind: 'tooLarge'; max: number }
  | { kind: 'failed'; error: unknown };

/** Resolves with the result of a task. Rejects if it fails, takes too long, or nobody waits for it any more. */
async function runTask(
  thread: Worker,
  task: Task,
  { reads, signal, wait, taskMs }: TaskContext & Pick<ThreadLimits, 'taskMs'> & Pick<ThreadDeps, 'wait'>,
): Promise<unknown> {
  const over = new AbortController();
  const post = (message: ToThread) => thread.postMessage(message);
  try {
    return await new Promise((resolve, reject) => {
      const onMessage = (message: FromThread) => {
        if (message.kind === 'began') void wait(taskMs, over.signal).then(() => reject(tooCostly(taskMs)));
        else if (message.kind === 'result') resolve(message.value);
        else if (message.kind === 'failed') reject(message.error);
        else if (message.kind === 'tooLarge') reject(tooLarge(message.max));
        else
          readStored(reads, message).then((value) => post({ kind: 'answer', id: message.id, value }), reject);
      };
      const onError = (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuchMemory(error) : error);
      const onExit = () => reject(new Error('the thread has ended'));
      thread.on('message', onMessage).once('error', onError).once('exit', onExit);
      over.signal.addEventListener('abort', () =>
        thread.off('message', onMessage).off('error', onError).off('exit', onExit),
      );
      onAbort(signal, () => reject(new OperationError('busy', 'The caller does not wait any more.')));
      post({ kind: 'task', ...task });
    });
  } finally {
    over.abort();
  }
}

/** Reads what the thread asks for. */
async function readStored(
  reads: StoredReads,
  { name, values }: Extract<FromThread, { kind: 'read' }>,
): Promise<unknown> {
  // The thread passes the values of the function with this name.
  const find = reads[name] as (...values: unknown[]) => Promise<unknown>;
  return find(...values);
}

function tooCostly(ms: number): OperationError {
  const message = `Computing with this mapping takes more than ${ms / 1_000} s. Use fewer or smaller patterns.`;
  return new OperationError('tooCostly', message);
}

function tooLarge(max: number): OperationError {
  const message = `The result of this mapping is larger than ${max / 1_000_000} MB. Use shorter texts, or a person with fewer values.`;
  return new OperationError('tooCostly', message);
}

function tooMuchMemory(cause: Error): OperationError {
  const message = 'Computing with this mapping takes too much memory. Use fewer or shorter texts.';
  return new OperationError('tooCostly', message, { cause });
}

type Caller = Pick<TaskContext, 'caller' | 'signal'>;

interface Turns {
  /** Resolves when it is the caller's turn. Throws `busy`. */
  take(caller: Caller): Promise<void>;
  giveBack(): void;
}

/** Lets one task at a time go on: the first of another caller than the last one, else the first. */
function createTurns(waitMs: number, wait: Runtime['wait']): Turns {
  let isTaken = false;
  let last = '';
  const waiting = new Set<{ caller: string; begin: () => void }>();
  return {
    take: async ({ caller, signal }) => {
      if (!isTaken) {
        isTaken = true;
        last = caller;
        return;
      }
      const own = [...waiting].filter((one) => one.caller === caller);
      if (waiting.size >= MAX_WAITING || own.length >= MAX_WAITING_OF_CALLER) throw busy();
      const begun = new AbortController();
      await new Promise<void>((resolve, reject) => {
        const begin = () => {
          begun.abort();
          resolve();
        };
        const waiter = { caller, begin };
        const giveUp = () => {
          begun.abort();
          if (waiting.delete(waiter)) reject(busy());
        };
        waiting.add(waiter);
        onAbort(signal, giveUp);
        void wait(waitMs, begun.signal).then(giveUp);
      });
    },
    giveBack: () => {
      const [first, ...others] = waiting;
      const next = [first, ...others].find((one) => one && one.caller !== last) ?? first;
      if (!next) {
        isTaken = false;
        return;
      }
      waiting.delete(next);
      last = next.caller;
      next.begin();
    },
  };
}

function busy(): OperationError {
  return new OperationError('busy', undefined, { retryAfterS: 5 });
}

function onAbort(signal: AbortSignal, action: () => void): void {
  if (signal.aborted) action();
  else signal.addEventListener('abort', action, { once: true });
}
