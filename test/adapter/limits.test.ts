import { createLimiter } from '../../src/adapter/http/client.ts';

/** A clock that a wait moves on, and the work that the limiter lets through. */
function machine(limits: { concurrency: number; perSecond: number | undefined }) {
  let time = 0;
  let sharers = 1;
  const started: number[] = [];
  const open: (() => void)[] = [];
  const limit = createLimiter({
    ...limits,
    sharers: () => sharers,
    clock: {
      now: () => time,
      wait: async (ms) => {
        time += ms;
      },
    },
  });
  return {
    started,
    open,
    setSharers: (count: number) => {
      sharers = count;
    },
    call: (isOpen = false) =>
      limit(AbortSignal.timeout(10_000), async () => {
        started.push(time);
        if (isOpen) await new Promise<void>((resolve) => open.push(resolve));
      }),
  };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('the limits of a connection', () => {
  test('per second are divided by the processes that share them', async () => {
    const { call, setSharers, started } = machine({ concurrency: 1, perSecond: 100 });
    setSharers(3);
    for (let calls = 0; calls < 34; calls += 1) await call();
    expect(started.filter((at) => at < 1_000)).toHaveLength(33);
    expect(started.at(-1)).toBe(1_000);
  });

  test('change with the number of processes, also for calls within the same second', async () => {
    const { call, setSharers, started } = machine({ concurrency: 1, perSecond: 10 });
    for (let calls = 0; calls < 10; calls += 1) await call();
    setSharers(5);
    await call();
    await call();
    await call();
    expect(started.slice(10)).toEqual([1_000, 1_000, 2_000]);
    setSharers(1);
    for (let calls = 0; calls < 8; calls += 1) await call();
    expect(started.at(-1)).toBe(2_000);
  });

  test('of concurrent calls are divided likewise', async () => {
    const { call, open, setSharers, started } = machine({ concurrency: 8, perSecond: undefined });
    setSharers(2);
    const calls = Array.from({ length: 8 }, () => call(true));
    await nextTurn();
    expect(started).toHaveLength(4);
    setSharers(8);
    open[0]?.();
    open[1]?.();
    open[2]?.();
    await nextTurn();
    expect(started).toHaveLength(4);
    setSharers(1);
    open[3]?.();
    await nextTurn();
    expect(started).toHaveLength(8);
    for (const end of open) end();
    await Promise.all(calls);
  });

  test('let each process make at least one call at a time, and one a second', async () => {
    const { call, setSharers, started } = machine({ concurrency: 2, perSecond: 2 });
    setSharers(50);
    await call();
    await call();
    expect(started).toEqual([0, 1_000]);
  });
});
