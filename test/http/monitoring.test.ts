import { Gauge } from 'prom-client';
import { healthRoutes, measureProcess, metricsRoutes } from '../../src/http/monitoring.ts';
import { clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';
import { httpFixture } from '../fixtures/http.ts';

/** No check reaches its time limit. */
const wait = () => new Promise<void>(() => {});

async function statuses(isReady: () => Promise<boolean>): Promise<number[]> {
  const writes = { failure: () => undefined, probe: async () => undefined };
  const fixture = await httpFixture((app) =>
    app.use(healthRoutes({ isReady, wait, writes, conditions: async () => [] })),
  );
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${fixture.port}${path}`)).status;
  const found = [await get('/healthz'), await get('/readyz')];
  await fixture.close();
  return found;
}

test('a process that is ready answers 200 at /healthz and /readyz', async () => {
  expect(await statuses(async () => true)).toEqual([200, 200]);
});

test('a process that is not ready answers 200 at /healthz and 503 at /readyz', async () => {
  expect(await statuses(async () => false)).toEqual([200, 503]);
});

test('a readiness check that rejects means not ready', async () => {
  expect(await statuses(() => Promise.reject(new Error('no database')))).toEqual([200, 503]);
});

test('/metrics has the Prometheus format', async () => {
  const fixture = await httpFixture((app, metrics) => {
    measureProcess(metrics);
    app.use(metricsRoutes(metrics, clock()));
  });
  const response = await fetch(`http://127.0.0.1:${fixture.port}/metrics`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(await response.text()).toContain('process_resident_memory_bytes');
  await fixture.close();
});

test('/metrics is computed at most once a second, and each response is newer than its request', async () => {
  const time = clock();
  let computed = 0;
  const fixture = await httpFixture((app, metrics) => {
    new Gauge({
      name: 'computed',
      help: 'Counts the computations.',
      registers: [metrics.registry],
      collect() {
        computed += 1;
        this.set(computed);
      },
    });
    app.use(metricsRoutes(metrics, time));
  });
  const seen = async () => {
    const text = await (await fetch(`http://127.0.0.1:${fixture.port}/metrics`)).text();
    return Number(/^computed (\d+)$/m.exec(text)?.[1]);
  };
  const requests = () => fixture.lines.filter(({ path }) => path === '/metrics').length;
  expect(await seen()).toBe(1);
  const flood = Array.from({ length: 50 }, seen);
  // While these requests wait, others are answered, and nothing is computed.
  expect((await fetch(`http://127.0.0.1:${fixture.port}/nothing`)).status).toBe(404);
  expect([computed, requests()]).toEqual([1, 1]);
  time.advance(999);
  expect(computed).toBe(1);
  time.advance(1);
  // Requests of the flood that arrive after this wait for the next computation.
  await eventually(async () => {
    time.advance(1_000);
    expect(requests()).toBe(51);
  });
  const last = Math.max(...(await Promise.all(flood)));
  await fixture.close();
  expect(last).toBe(computed);
});

test('computations of /metrics never overlap', async () => {
  const time = clock();
  const ends: (() => void)[] = [];
  const fixture = await httpFixture((app, metrics) => {
    new Gauge({
      name: 'slow',
      help: 'Takes as long as the test says.',
      registers: [metrics.registry],
      collect: () => new Promise<void>((resolve) => ends.push(resolve)),
    });
    app.use(metricsRoutes(metrics, time));
  });
  const get = async () => (await fetch(`http://127.0.0.1:${fixture.port}/metrics`)).status;
  const isServed = async () => {
    time.advance(1_000);
    // A response to a later request shows that the earlier ones have arrived.
    expect((await fetch(`http://127.0.0.1:${fixture.port}/nothing`)).status).toBe(404);
  };
  const first = get();
  await eventually(async () => expect(ends).toHaveLength(1));
  const others: Promise<number>[] = [];
  for (let second = 0; second < 5; second += 1) {
    others.push(get());
    await isServed();
  }
  expect(ends).toHaveLength(1);
  ends[0]?.();
  expect(await first).toBe(200);
  await eventually(async () => expect(ends).toHaveLength(2));
  ends[1]?.();
  // Requests that arrived meanwhile share the next computation.
  expect(await Promise.all(others)).toEqual(Array(5).fill(200));
  expect(ends).toHaveLength(2);
  await fixture.close();
});

describe('while writes fail', () => {
  const reason = 'the disk is full';
  let failure: string | undefined;
  let found: string | undefined;
  const asked = async (path: string) => {
    const writes = { failure: () => failure, probe: async () => found };
    const fixture = await httpFixture((app) =>
      app.use(
        healthRoutes({ isReady: async () => true, writes, wait, conditions: async () => [{ kind: 'hold' }] }),
      ),
    );
    const response = await fetch(`http://127.0.0.1:${fixture.port}${path}`);
    await fixture.close();
    return [response.status, await response.json()];
  };

  test('a process is ready, because it can read, and says why writes fail', async () => {
    [failure, found] = [reason, reason];
    expect(await asked('/readyz')).toEqual([200, { status: 'ready', writes: 'failing', reason }]);
    expect(await asked('/readyz?require=reads')).toEqual([
      200,
      { status: 'ready', writes: 'failing', reason },
    ]);
  });

  test('a process is not ready for callers that require writes, even before the first write', async () => {
    [failure, found] = [undefined, reason];
    const expected = [503, { status: 'not ready', writes: 'failing', reason }];
    expect(await asked('/readyz?require=writes')).toEqual(expected);
    expect(await asked('/readyz?require=reads&require=writes')).toEqual(expected);
    expect(await asked('/readyz')).toEqual([200, { status: 'ready', writes: 'ok' }]);
  });

  test('the open conditions are listed only where they are asked for', async () => {
    [failure, found] = [reason, reason];
    const conditions = [{ kind: 'hold' }];
    expect(await asked('/readyz?verbose')).toEqual([
      200,
      { status: 'ready', writes: 'failing', reason, conditions },
    ]);
  });

  test('a process is ready for all callers when writes succeed again', async () => {
    [failure, found] = [undefined, undefined];
    expect(await asked('/readyz?require=writes')).toEqual([200, { status: 'ready', writes: 'ok' }]);
  });
});
