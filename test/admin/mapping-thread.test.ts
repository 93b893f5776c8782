import { join } from 'node:path';
import { type MappingThread, mappingThread } from '../../src/admin/mapping-thread/thread.ts';
import type { StoredReads } from '../../src/operations/mappings/mapping-tasks.ts';

/** A wait of the thread: `end` lets its time pass. */
interface Wait {
  ms: number;
  end(): void;
}

let waits: Wait[];
let thread: MappingThread;
beforeEach(() => {
  waits = [];
  thread = threadWith('thread-program.cjs');
});
afterEach(() => thread.close());

const TASK_MS = 1_000;
const WAIT_MS = 2_000;

function threadWith(program: string): MappingThread {
  return mappingThread({
    program: join(__dirname, '../fixtures', program),
    limits: { taskMs: TASK_MS, waitMs: WAIT_MS, memoryMb: 32 },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        waits.push({ ms, end: resolve });
        signal?.addEventListener('abort', () => resolve());
      }),
  });
}

const reads: StoredReads = Object.assign(Object.create(null), {
  findById: async (...values: string[]) => ({ faults: values, warnings: [] }),
});

/** Each task is one of another caller, unless the test says so. */
let callers = 0;

/** Runs a task of the program `thread-program.cjs`. Returns its result, or the code or message of its error. */
async function run(
  text: string,
  signal = new AbortController().signal,
  caller = `caller ${callers}`,
): Promise<unknown> {
  callers += 1;
  try {
    return await thread.run('check', { text, connection: 'default' }, { caller, reads, signal });
  } catch (error) {
    const { code, message, retryAfterS } = Object(error);
    return retryAfterS === undefined ? (code ?? message) : [code, retryAfterS];
  }
}

const done = { faults: [], warnings: [] };

/** Lets the time of a wait pass. */
function pass(ms: number): void {
  for (const wait of waits.filter((one) => one.ms === ms)) wait.end();
}

test('a task that does not end is terminated at its deadline, and the next one is computed', async () => {
  const endless = run('loop');
  await atWork();
  pass(TASK_MS);
  expect(await endless).toBe('tooCostly');
  expect(await run('answer')).toEqual(done);
});

test('while the thread loads its program, the deadline of the task has not begun', async () => {
  const caller = new AbortController();
  thread = threadWith('loading-program.cjs');
  const running = run('answer', caller.signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect(waits).toEqual([]);
  caller.abort();
  expect(await running).toBe('busy');
});

/** Resolves when the running task has its deadline. */
async function atWork(): Promise<void> {
  while (!waits.some(({ ms }) => ms === TASK_MS)) await new Promise((resolve) => setImmediate(resolve));
}

test('tasks are computed one at a time: the second waits for the first', async () => {
  const order: string[] = [];
  const endless = run('loop').then(() => order.push('first'));
  await atWork();
  const second = run('answer').then(() => order.push('second'));
  pass(TASK_MS);
  await Promise.all([endless, second]);
  expect(order).toEqual(['first', 'second']);
});

test('a task that cannot begin in time is refused, and told when to try again', async () => {
  const endless = run('loop');
  await atWork();
  const second = run('answer');
  pass(WAIT_MS);
  expect(await second).toEqual(['busy', 5]);
  pass(TASK_MS);
  await endless;
});

test('of the tasks that wait the eleventh is refused at once', async () => {
  const endless = run('loop');
  await atWork();
  const waiting = Array.from({ length: 10 }, () => run('answer'));
  expect(await run('answer')).toEqual(['busy', 5]);
  pass(TASK_MS);
  await endless;
  expect(await Promise.all(waiting)).toEqual(Array(10).fill(done));
});

test('a caller with many tasks does not keep others from theirs', async () => {
  const never = new AbortController().signal;
  const endless = run('loop', never, 'greedy');
  await atWork();
  const order: string[] = [];
  const many = ['one', 'two', 'three'].map((name) =>
    run('answer', never, 'greedy').then(() => order.push(name)),
  );
  expect(await run('answer', never, 'greedy')).toEqual(['busy', 5]);
  const other = run('answer', never, 'other').then(() => order.push('other'));
  pass(TASK_MS);
  expect(await endless).toBe('tooCostly');
  await Promise.all([...many, other]);
  expect(order).toEqual(['other', 'one', 'two', 'three']);
});

test('a caller that closes the connection ends its task, and gives up its turn', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const running = run('loop', first.signal);
  await atWork();
  const waiting = run('loop', second.signal);
  second.abort();
  expect(await waiting).toEqual(['busy', 5]);
  first.abort();
  expect(await running).toBe('busy');
  expect(await run('answer')).toEqual(done);
});

test.each([
  ['throws', 'throw', 'a fault of the program'],
  ['fails', 'fail', 'a fault of the task'],
  ['needs too much memory', 'fill', 'tooCostly'],
])('a task that %s ends alone, and the next one is computed', async (_title, text, fault) => {
  expect(await run(text)).toBe(fault);
  expect(await run('answer')).toEqual(done);
});

test('a task reads the database through the main thread', async () => {
  expect(await run('read')).toEqual({ faults: ['c1', 'i1'], warnings: [] });
});
