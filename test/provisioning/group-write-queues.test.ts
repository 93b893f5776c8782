import { MAX_WAIT_MS, MAX_WAITING, writeQueues } from '../../src/provisioning/groups/groups.ts';

const busy = { kind: 'unavailable' };
const abandoned = { kind: 'abandoned' };

/** Creates queues whose waits end when the test ends them. */
function fixture() {
  const ends: (() => void)[] = [];
  const waits: number[] = [];
  const queues = writeQueues({
    wait: (ms, signal) => {
      waits.push(ms);
      return new Promise((resolve) => {
        ends.push(resolve);
        signal?.addEventListener('abort', () => resolve());
      });
    },
  });
  return { ...queues, ends, waits };
}

/** Work that ends when the test ends it. */
function blockedWork(): { work: () => Promise<void>; end: () => void; isBegun: () => boolean } {
  let end = () => {};
  let isBegun = false;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = () => {
    isBegun = true;
    return ended;
  };
  return { work, end, isBegun: () => isBegun };
}

const waitOneTurn = async () => new Promise((resolve) => setImmediate(resolve));

test('work of one key runs one after the other in the order of its arrival', async () => {
  const { run } = fixture();
  const log: string[] = [];
  const step = (name: string) => async () => {
    log.push(`${name} begins`);
    await waitOneTurn();
    log.push(`${name} ends`);
    return name;
  };
  expect(await Promise.all(['a', 'b', 'c'].map((name) => run('key', step(name))))).toEqual(['a', 'b', 'c']);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('work of one key does not wait for work of another key', async () => {
  const { run } = fixture();
  const slow = blockedWork();
  const first = run('slow', slow.work);
  await run('other', async () => {});
  slow.end();
  await first;
});

test('work that fails rejects with its error and ends its turn', async () => {
  const { run } = fixture();
  const failing = run('key', async () => {
    throw new Error('broken');
  });
  const next = run('key', async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
});

test('a full queue refuses at once, and accepts more once a request gets its turn', async () => {
  const { run } = fixture();
  const first = blockedWork();
  const running = run('key', first.work);
  const waiting = Array.from({ length: MAX_WAITING }, () => run('key', async () => {}));
  await expect(run('key', async () => {})).rejects.toMatchObject(busy);
  await run('other', async () => {});
  first.end();
  await Promise.all([running, ...waiting]);
  await run('key', async () => {});
});

test('a request that waits too long is refused, and the others keep their places', async () => {
  const { run, ends, waits } = fixture();
  const first = blockedWork();
  const running = run('key', first.work);
  const impatient = blockedWork();
  const refused = run('key', impatient.work);
  const next = blockedWork();
  const later = run('key', next.work);
  expect(waits).toEqual([MAX_WAIT_MS, MAX_WAIT_MS]);
  ends[0]?.();
  await expect(refused).rejects.toMatchObject(busy);
  first.end();
  await running;
  next.end();
  await later;
  expect([impatient.isBegun(), next.isBegun()]).toEqual([false, true]);
});

test('work never begins if its client disconnects during the wait', async () => {
  const { run } = fixture();
  const first = blockedWork();
  const running = run('key', first.work);
  const client = new AbortController();
  const abandonedWork = blockedWork();
  const waiting = run('key', abandonedWork.work, client.signal);
  client.abort();
  await expect(waiting).rejects.toMatchObject(abandoned);
  const late = run('key', abandonedWork.work, client.signal);
  await expect(late).rejects.toMatchObject(abandoned);
  first.end();
  await running;
  await run('key', async () => {});
  expect(abandonedWork.isBegun()).toBe(false);
});

test('work that has begun continues if its client disconnects', async () => {
  const { run } = fixture();
  const client = new AbortController();
  const work = blockedWork();
  const running = run('key', work.work, client.signal);
  const begun = blockedWork();
  const next = run('key', begun.work, client.signal);
  work.end();
  await running;
  client.abort();
  begun.end();
  await next;
});
