import { createLimiter } from '../../src/adapter/http/client.ts';
import { steadyClock } from '../../src/server/runtime.ts';

const DAY_MS = 24 * 60 * 60_000;

/** A wall clock that can be set, and a monotonic clock. */
function machine() {
  const time = { wall: Date.UTC(2026, 10, 20, 10), monotonic: 12_345.678 };
  return {
    now: steadyClock(
      () => time.wall,
      () => time.monotonic,
    ),
    pass: (ms: number) => {
      time.wall += ms;
      time.monotonic += ms;
    },
    setWallClock: (byMs: number) => {
      time.wall += byMs;
    },
  };
}

describe('the clock of the process', () => {
  it('starts at the time of the wall clock, in whole milliseconds', () => {
    expect(machine().now()).toBe(Date.UTC(2026, 10, 20, 10));
  });

  it.each([DAY_MS, -DAY_MS])('advances evenly when the wall clock is set by %d ms', (byMs) => {
    const { now, pass, setWallClock } = machine();
    const begun = now();
    pass(1_000);
    setWallClock(byMs);
    pass(500);
    expect(now() - begun).toBe(1_500);
  });

  it.each([DAY_MS, -DAY_MS])(
    'keeps the rate limit of calls when the wall clock is set by %d ms',
    async (byMs) => {
      const { now, pass, setWallClock } = machine();
      const waits: number[] = [];
      const wait = async (ms: number) => {
        waits.push(ms);
        pass(ms);
      };
      const limit = createLimiter({ concurrency: 1, perSecond: 2, clock: { now, wait } });
      const call = () => limit(AbortSignal.timeout(10_000), async () => {});
      await call();
      await call();
      setWallClock(byMs);
      await call();
      await call();
      expect(waits).toEqual([1_000]);
    },
  );
});
