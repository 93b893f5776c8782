import { wait } from '../../src/server/runtime.ts';
import { joinReplicas, sharedClock } from '../../src/store/queues/live-replicas.ts';
import type { Beat, Heartbeat } from '../../src/store/queues/replicas.ts';

/** The time by the clock of the database. */
const DATABASE_TIME = 1_750_000_000_000;

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** Runs timers until the next heartbeat has ended. */
async function nextHeartbeat(): Promise<void> {
  await jest.advanceTimersByTimeAsync(5_000);
}

describe('a replica', () => {
  let next: Heartbeat | Error;
  let beats: string[];
  const left: string[] = [];
  let served: (string[] | 'reset')[];
  let isSetBack: boolean;
  const replicas = {
    heartbeat: async (id: string, { connections, onSetBack }: Beat) => {
      if (isSetBack) await onSetBack?.(DATABASE_TIME);
      beats.push(id);
      served.push(connections);
      if (next instanceof Error) throw next;
      return next;
    },
    time: async () => DATABASE_TIME,
    reset: async () => void served.push('reset'),
    leave: async (id: string) => void left.push(id),
  };
  const common = { replicas, wait, log: silent };
  beforeEach(() => {
    jest.useFakeTimers();
    next = { alive: 1, died: 0, time: 0 };
    beats = [];
    served = [];
    isSetBack = false;
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const join = (role: 'replica' | 'only' | 'command' = 'replica') =>
    joinReplicas({ ...common, clock: sharedClock(() => 0), connections: ['okta'], role });

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

  it('learns once that the clock was set back', async () => {
    const times: number[] = [];
    const onSetBack = async (time: number) => void times.push(time);
    const clock = sharedClock(() => 0);
    const live = await joinReplicas({ ...common, clock, connections: [], onSetBack, role: 'replica' });
    await nextHeartbeat();
    expect(times).toEqual([]);
    isSetBack = true;
    await nextHeartbeat();
    isSetBack = false;
    for (let beat = 0; beat < 4; beat += 1) await nextHeartbeat();
    expect(times).toEqual([DATABASE_TIME]);
    await live.stop();
  });

  it('records at once that it serves other connections, and repeats that with each heartbeat', async () => {
    const live = await join();
    await live.recordServed('demo', true);
    expect(served).toEqual([['okta'], ['okta', 'demo']]);
    await nextHeartbeat();
    expect(served.at(-1)).toEqual(['okta', 'demo']);
    await live.recordServed('demo', false);
    expect(served.at(-1)).toEqual(['okta']);
    await live.stop();
  });

  it('that is the only process records once what it serves, in place of a process that died', async () => {
    const live = await join('only');
    await nextHeartbeat();
    expect(served).toEqual(['reset', ['okta']]);
    await live.recordServed('demo', true);
    expect(served.at(-1)).toEqual(['okta', 'demo']);
    await live.stop();
    expect(left.at(-1)).toBe(beats[0]);
  });

  it('uses the clock of the database if it is a command, too', async () => {
    const clock = sharedClock(() => DATABASE_TIME + 600_000);
    await joinReplicas({ ...common, clock, connections: ['okta'], role: 'command' });
    expect(clock.now()).toBe(DATABASE_TIME);
  });

  it('is not recorded if it is a command', async () => {
    const live = await join('command');
    await live.recordServed('okta', true);
    await live.stop();
    expect([served, live.count()]).toEqual([[], 1]);
  });
});

describe('the clock that replicas share', () => {
  it('follows the clock of the database, however the machine is set', () => {
    let machine = 1_000_000;
    const { now, follow } = sharedClock(() => machine);
    const asked = () => ({ from: now(), to: now() });
    follow(5_000_000, asked());
    expect(now()).toBe(5_000_000);
    machine += 250;
    expect(now()).toBe(5_000_250);
    follow(4_000_000, asked());
    expect(now()).toBe(4_000_000);
  });

  it('stays as it is for a time that may be its own, and for small differences', () => {
    const { now, follow } = sharedClock(() => 1_000);
    follow(1_400, { from: 1_000, to: 1_500 });
    follow(960, { from: 1_000, to: 1_000 });
    follow(1_040, { from: 1_000, to: 1_000 });
    expect(now()).toBe(1_000);
  });
});
