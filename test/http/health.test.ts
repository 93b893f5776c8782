import { healthRoutes } from '../../src/http/health.ts';
import { measureProcess, metricsRoutes } from '../../src/http/metrics.ts';
import { httpHouse } from '../support/http-house.ts';

async function statuses(isReady: () => Promise<boolean>): Promise<number[]> {
  const house = await httpHouse((app) =>
    app.use(healthRoutes({ isReady, writes: { failure: () => undefined, probe: async () => undefined } })),
  );
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${house.port}${path}`)).status;
  const found = [await get('/healthz'), await get('/readyz')];
  await house.close();
  return found;
}

test('a process that can work is alive and ready', async () => {
  expect(await statuses(async () => true)).toEqual([200, 200]);
});

test('a process that cannot work yet is alive, not ready', async () => {
  expect(await statuses(async () => false)).toEqual([200, 503]);
});

test('a check that fails means not ready', async () => {
  expect(await statuses(() => Promise.reject(new Error('no database')))).toEqual([200, 503]);
});

test('/metrics is for Prometheus', async () => {
  const house = await httpHouse((app, metrics) => {
    measureProcess(metrics);
    app.use(metricsRoutes(metrics));
  });
  const response = await fetch(`http://127.0.0.1:${house.port}/metrics`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(await response.text()).toContain('process_resident_memory_bytes');
  await house.close();
});
