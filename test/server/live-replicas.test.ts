import type { Heartbeat } from '../../src/provisioning/replica-ports.ts';
import { joinReplicas } from '../../src/server/live-replicas.ts';
import { sharedClock } from '../../src/server/runtime.ts';

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** Runs timers until the next heartbeat has ended. */
async function nextHeartbeat(): Promise<void> {
  await jest.advanceTimersByTimeAsync(5_000);
}

describe('a replica', () => {
  let next: Heartbeat | Error;
  let beats: string[];
  const left: string[] = [];
  const replicas = {
    heartbeat: async (id: string) => {
      beats.push(id);
      if (next instanceof Error) throw next;
      return next;
    },
    leave: async (id: string) => void left.push(id),
  };
  beforeEach(() => {
    jest.useFakeTimers();
    next = { alive: 1, died: 0, time: 0 };
    beats = [];
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const join = () => joinReplicas({ replicas, clock: sharedClock(() => 0), log: silent, isReplica: true });

  it('knows the number of live replicas from its last heartbeat, which it repeats every five seconds', async () => {
    next = { alive: 2, died: 0, time: 0 };
    const live = await join();
    expect(live.count()).toBe(2);
    next = { alive: 3, died: 0, time: 0 };
    await jest.advanceTimersByTimeAsync(4_999);
    expect(live.count()).toBe(2);
    await jest.advanceTimersByTimeAsync(1);
    expect([live.count(), new Set(beats).size]).toEqual([3, 1]);
    await live.stop();
    expect(left.at(-1)).toBe(beats[0]);
    await nextHeartbeat();
    expect(beats).toHaveLength(2);
  });

  it('uses the last known number while the database does not answer', async () => {
    next = { alive: 3, died: 0, time: 0 };
    const live = await join();
    next = new Error('the database is down');
    await nextHeartbeat();
    expect(live.count()).toBe(3);
    next = { alive: 2, died: 0, time: 0 };
    await nextHeartbeat();
    expect(live.count()).toBe(2);
    await live.stop();
  });

  it('learns when another one has died', async () => {
    const live = await join();
    let deaths = 0;
    live.onDeath(() => {
      deaths += 1;
    });
    await nextHeartbeat();
    expect(deaths).toBe(0);
    next = { alive: 1, died: 1, time: 0 };
    await nextHeartbeat();
    expect(deaths).toBe(1);
    await live.stop();
  });
});
