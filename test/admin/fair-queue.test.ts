import { type Client, FairQueue } from '../../src/admin/sign-in/fair-queue.ts';

/** A queue whose tasks end when the test says so, and the clients whose tasks were started, in order. */
function queueOf(limits: { waiting?: number; waitingOfAddress?: number }) {
  const queue = new FairQueue({
    running: 1,
    runningOfAddress: 1,
    waiting: 100,
    waitingOfAddress: 10,
    ...limits,
  });
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const add = ({ address, name }: Client) =>
    queue.run({ address, name }, () => {
      started.push(`${address} ${name}`);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  /** Ends the running task, until none is left. */
  const drain = async () => {
    await new Promise(setImmediate);
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      await new Promise(setImmediate);
    }
  };
  return { add, started, drain };
}

test('addresses take turns, and so do the names of an address', async () => {
  const { add, started, drain } = queueOf({});
  const all = ['a', 'a', 'a', 'b'].map((name) => add({ address: '10.0.0.1', name }));
  all.push(add({ address: '10.0.0.2', name: 'c' }));
  await drain();
  await Promise.all(all);
  expect(started).toEqual(['10.0.0.1 a', '10.0.0.1 b', '10.0.0.2 c', '10.0.0.1 a', '10.0.0.1 a']);
});

test('a full line refuses the newest task of its most frequent name, and a full queue one of its longest line', async () => {
  const { add, started, drain } = queueOf({ waiting: 4, waitingOfAddress: 3 });
  const results: Promise<string>[] = [];
  const tasks: [string, string][] = [
    ['10.0.0.1', 'running'],
    ['10.0.0.1', 'flood'],
    ['10.0.0.1', 'flood'],
    ['10.0.0.1', 'flood'],
    ['10.0.0.1', 'ada'],
    ['10.0.0.2', 'bob'],
    ['10.0.0.3', 'eve'],
  ];
  for (const [address, name] of tasks)
    results.push(
      add({ address, name }).then(
        () => 'done',
        (error: { code: string }) => error.code,
      ),
    );
  await drain();
  expect(await Promise.all(results)).toEqual([
    ...['done', 'done', 'tooManyAttempts', 'tooManyAttempts'],
    ...['done', 'done', 'done'],
  ]);
  expect(started).toContain('10.0.0.1 ada');
});
