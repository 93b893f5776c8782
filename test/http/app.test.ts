import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { httpApp, redactLoggedPath, redactParameterNames, routeGroupOf } from '../../src/http/app.ts';
import { markRoutine, requestScopeOf } from '../../src/http/log.ts';
import { healthRoutes, httpMetrics } from '../../src/http/monitoring.ts';
import { socketLimits } from '../../src/http/sockets.ts';
import { StoreUnavailable } from '../../src/model/unavailable.ts';
import { createHttpServer } from '../../src/server/http-server.ts';
import { catalog } from '../../src/travel/catalog.ts';
import { buildOpenApi } from '../../src/travel/openapi/document.ts';
import { type HttpFixture, httpFixture } from '../fixtures/http.ts';
import { startService } from '../fixtures/service.ts';

let fixture: HttpFixture;
beforeEach(async () => {
  fixture = await httpFixture((app) => {
    app.get('/api/users/:id', (_request, response) => {
      requestScopeOf(response).notes.connection = 'default';
      response.json({ id: requestScopeOf(response).id });
    });
    app.get('/routine/:status', ({ params }, response) => {
      markRoutine(response);
      response.sendStatus(Number(params.status));
    });
    app.get('/broken', () => {
      throw new Error('at /secret/place');
    });
    app.get('/full', () => {
      throw new StoreUnavailable('the disk is full', { cause: new Error('database or disk is full') });
    });
    app.post('/json', express.json(), ({ body }, response) => {
      response.json(body);
    });
    app.get('/slow', (_request, response) => {
      response.write('begun');
    });
  });
});
afterEach(() => fixture.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${fixture.port}${path}`, { headers });

test('each request has one log line, without query values and personal data', async () => {
  await (await get('/api/users/ada@corp.example?filter=email&ada%40corp.example=2&page=2')).text();
  expect(fixture.lines).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      requestId: 'r1',
      method: 'GET',
      path: '/api/users/*',
      query: ['filter', '*'],
      status: 200,
      ms: expect.any(Number),
      address: '127.0.0.1',
      connection: 'default',
      msg: 'request',
    },
  ]);
});

test('routine requests are logged only when they fail', async () => {
  await (await get('/routine/200')).text();
  await (await get('/routine/503')).text();
  expect(fixture.lines.map(({ status }) => status)).toEqual([503]);
});

test('health checks are logged only when they fail', async () => {
  let isReady = true;
  const writes = { failure: () => undefined, probe: async () => undefined };
  const wait = () => new Promise<void>(() => {});
  const health = await httpFixture((app) => {
    app.use(healthRoutes({ isReady: async () => isReady, writes, wait, conditions: async () => [] }));
  });
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${health.port}${path}`).then((answer) => answer.text());
  for (const path of ['/healthz', '/readyz', '/readyz?require=writes']) await ask(path);
  isReady = false;
  await ask('/readyz');
  await health.close();
  expect(health.lines.map(({ path, status }) => [path, status])).toEqual([['/readyz', 503]]);
});

test("a request has an id: the client's, if that is harmless in a log", async () => {
  const answered = async (id?: string) => {
    const response = await get('/api/users/u1', id === undefined ? {} : { 'X-Request-Id': id });
    expect(await response.json()).toEqual({ id: response.headers.get('x-request-id') });
    return response.headers.get('x-request-id');
  };
  expect(await answered()).toBe('r1');
  expect(await answered('abc-1.2')).toBe('abc-1.2');
  expect(await answered('{"a":1}')).toBe('r2');
});

test('responses have no X-Powered-By header and no ETag of Express', async () => {
  const { headers } = await get('/api/users/u1');
  expect(headers.get('x-powered-by') ?? headers.get('etag')).toBeNull();
});

test('an unknown path is 404; an unexpected error is 500 with the reason only in the log', async () => {
  expect((await get('/nothing')).status).toBe(404);
  const response = await get('/broken');
  expect([response.status, await response.json()]).toEqual([500, { error: 'Something went wrong here.' }]);
  expect(fixture.lines[1]).toMatchObject({
    level: 50,
    err: { message: 'at /secret/place' },
    requestId: 'r2',
  });
  expect((await get('/api/users/%zz')).status).toBe(400);
});

test('an unavailable store is 503 with Retry-After', async () => {
  const response = await get('/full');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await response.json()).toEqual({ error: 'The database cannot be used at the moment; try again.' });
});

test('the log line of a request whose client disconnected has status 499', async () => {
  const disconnected = new Promise<void>((resolve) => {
    const sent = request({ port: fixture.port, path: '/slow' }, (response) => {
      response.once('data', () => sent.destroy());
    });
    sent
      .on('error', () => undefined)
      .on('close', resolve)
      .end();
  });
  await disconnected;
  while (fixture.lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(fixture.lines[0]).toMatchObject({ path: '/*', status: 499 });
});

test('requests are counted and timed by area, route, method and status, whatever ids they name', async () => {
  await (await get('/api/users/u2')).text();
  await (await get('/api/users/u1')).text();
  await (await get('/nothing-of-ours')).text();
  const text = await fixture.metrics.registry.metrics();
  const route = 'area="api",route="/api/users/:id",method="GET"';
  expect(text).toContain(`jetbridge_http_requests_total{${route},status="200"} 2`);
  expect(text).toContain(
    'jetbridge_http_requests_total{area="other",route="/*",method="GET",status="404"} 1',
  );
  expect(text).toContain(`jetbridge_http_request_duration_seconds_count{${route}} 2`);
});

test('route groups are a closed list', () => {
  expect(['/scim/v2/Users', '/api', '/healthz', '/nothing', '/', ''].map(routeGroupOf)).toEqual([
    'scim',
    'api',
    'healthz',
    'other',
    'other',
    'other',
  ]);
});

// Labels of UTF-8 in the Encoding Standard of the WHATWG (§4.2); JSON has no other encoding (RFC 8259 §8.1).
test.each([
  ['charset=utf8', 200],
  ['Charset = "UTF8"; q=1', 200],
  ['charset=unicode-1-1-utf-8', 200],
  ['charset=latin1', 415],
  ['charset=utf-9', 415],
])('JSON with the parameter %s is answered with %d', async (parameter, status) => {
  const headers = { 'Content-Type': `application/json; ${parameter}` };
  const url = `http://127.0.0.1:${fixture.port}/json`;
  expect((await fetch(url, { method: 'POST', headers, body: '{"a":"é"}' })).status).toBe(status);
});

test('a logged path contains the names of endpoints, and ids only if the request succeeded', () => {
  expect(redactLoggedPath('/scim/v2/Users/1f2e-4a', true)).toBe('/scim/v2/Users/1f2e-4a');
  expect(redactLoggedPath('/scim/v2/Users/1f2e-4a', false)).toBe('/scim/v2/Users/*');
  expect(redactLoggedPath('/scim/v2/Users/ada%40corp.example', true)).toBe('/scim/v2/Users/*');
  expect(redactLoggedPath(`/api/${'a'.repeat(65)}`, true)).toBe('/api/*');
  expect(redactLoggedPath('/SCIM/v2//users/', false)).toBe('/SCIM/v2//users/');
  expect(redactLoggedPath('/scim/v2/%55sers/x.php', false)).toBe('/scim/v2/*/*');
});

test('logged parameters are known names, each once', () => {
  expect(redactParameterNames(['filter', 'ada@corp.example', 'x', 'count', 'constructor', 'filter'])).toEqual(
    ['filter', '*', 'count'],
  );
});

const { paths } = buildOpenApi(catalog, undefined) as unknown as {
  paths: Record<string, Record<string, { parameters?: { name?: string; in?: string }[] }>>;
};

test.each([
  ...Object.keys(paths),
  ...['/scim/v2/.search', '/scim/v2/Groups', '/scim/v2/Schemas', '/scim/v2/ResourceTypes', '/oauth/token'],
  ...['/scim/v2/ServiceProviderConfig', '/scim/v2/Me', '/scim/v2/Bulk', '/healthz', '/readyz', '/metrics'],
])('no segment of the path %s is redacted', (path) => {
  expect(redactLoggedPath(path, false)).toBe(path.replace(/\{\w+\}/g, '*'));
});

test('no parameter that a service reads is redacted', () => {
  const described = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ parameters = [] }) => parameters),
  );
  const read = described.flatMap(({ name, in: place }) => (place === 'query' && name ? [name] : []));
  const searched = ['attributes', 'excludedAttributes', 'sortOrder', 'startIndex', 'count', 'cursor'];
  const names = [...new Set([...read, ...searched, 'filter', 'require'])];
  expect(names).toContain('pageKind');
  expect(redactParameterNames(names)).toEqual(names);
});

test('express finds each request and response of the server with the prototype of the app', async () => {
  const log = pino({ level: 'silent' });
  const { server, messageClasses } = createHttpServer(undefined, log, socketLimits(10));
  const deps = {
    log,
    metrics: httpMetrics(),
    newId: () => 'r1',
    now: () => performance.now(),
    messageClasses,
  };
  const prototypes: unknown[] = [];
  const addPrototypes = (...messages: object[]) =>
    prototypes.push(...messages.map((message) => Object.getPrototypeOf(message)));
  const app = httpApp(deps, (routes) => {
    routes.get('/', (received, response) => {
      addPrototypes(received, response);
      response.json({ protocol: received.protocol });
    });
  });
  server.on('request', (received, response) => {
    addPrototypes(received, response);
    app(received, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const body = await (await fetch(`http://127.0.0.1:${port}/`)).json();
  await new Promise((resolve) => server.close(resolve).closeAllConnections());
  expect(body).toEqual({ protocol: 'http' });
  expect(prototypes).toHaveLength(4);
  expect(prototypes[0]).toBe(app.request);
  expect(prototypes[1]).toBe(app.response);
  expect(prototypes[2]).toBe(app.request);
  expect(prototypes[3]).toBe(app.response);
});

describe('an unknown path', () => {
  const unknown = async (environment: Record<string, string>) => {
    const service = await startService(environment);
    const answers = await Promise.all(
      ['/nosuch', '/scim/Users'].map(async (path) => (await fetch(service.url + path)).json()),
    );
    await service.close();
    return answers.map((answer) => (answer as { error: string }).error);
  };

  it('is answered with what there is: SCIM, the admin page and the embedded travel service', async () => {
    const served =
      'SCIM 2.0 is at /scim/v2, the admin page at /admin, the travel service at /api, its description at /api/docs.';
    expect(await unknown({})).toEqual([
      `There is nothing at /nosuch. ${served}`,
      `There is nothing at /scim/Users. ${served}`,
    ]);
  });

  it('is answered without a travel service if there is none', async () => {
    const outside = { TRAVEL_API_URL: 'http://127.0.0.1:9', TRAVEL_API_KEY: 'a-key-of-the-travel-api' };
    const [nosuch] = await unknown(outside);
    expect(nosuch).toBe('There is nothing at /nosuch. SCIM 2.0 is at /scim/v2, the admin page at /admin.');
  });
});
