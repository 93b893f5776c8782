import express from 'express';
import { createLog } from '../../src/http/log.ts';
import { httpMetrics } from '../../src/http/monitoring.ts';
import { openLoopbackServer } from '../../src/server/http-server.ts';
import { ask } from '../fixtures/plain-and-tls.ts';

test('the loopback server listens on 127.0.0.1, speaks plain HTTP, and serves what is mounted only', async () => {
  const travel = express().use((request, response) => {
    response.json({ path: request.path });
  });
  const log = createLog('silent');
  const deps = { log, metrics: httpMetrics(), newId: () => 'r', now: () => 0 };
  const server = await openLoopbackServer(deps, (app) => app.use('/api', travel));
  try {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await ask(`${server.url}/api/users`)).toMatchObject({ status: 200, body: { path: '/users' } });
    for (const path of ['/', '/scim/v2/Users', '/oauth/token', '/metrics', '/healthz', '/readyz', '/apis'])
      expect(await ask(`${server.url}${path}`)).toMatchObject({ status: 404 });
  } finally {
    await server.close();
  }
});
