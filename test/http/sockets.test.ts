import { connect, type Socket } from 'node:net';
import { createLog } from '../../src/http/log.ts';
import type { SocketLimits } from '../../src/http/sockets.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { rawExchange } from '../fixtures/raw-http.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

/** The log of all services of these tests. */
const lines: JsonObject[] = [];
const running: RunningService[] = [];
const open: Socket[] = [];
/** The complete service with the limits of production. */
let usual: Limited;
beforeAll(async () => {
  usual = await limited({});
  running.length = 0;
});
afterAll(() => usual.service.close());
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map((service) => service.close()));
  lines.length = 0;
});

type Limited = Awaited<ReturnType<typeof limited>>;

/** Starts the complete service with other limits. */
async function limited(limits: Partial<SocketLimits>, environment: Record<string, string> = {}) {
  const service = await startService(environment, {
    background: false,
    log: createLog('info', parseLinesInto(lines)),
    limits,
  });
  running.push(service);
  const port = Number(new URL(service.url).port);
  /** A request as text, with `Connection: keep-alive`. */
  const textOf = (method: string, target: string, headers: Record<string, string> = {}) => {
    const token = target.startsWith('/api') ? service.travelApiKey : service.scimToken;
    const all = Object.entries({ Host: 'localhost', Authorization: `Bearer ${token}`, ...headers });
    return `${method} ${target} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  };
  return { service, port, textOf, scim: scimClient(service.url, service.scimToken) };
}

/** A time limit that no pause of a busy machine between two turns of the event loop exceeds. */
const UNREAD_MS = 2_000;

const both = [['/scim/v2/Users?count=1'], ['/api/users?limit=1']];

/** The status codes of the responses in the received bytes, in order. */
const statusesIn = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

function opened(port: number): Promise<{ socket: Socket; received(): string; isClosed(): boolean }> {
  const socket = connect(port, '127.0.0.1');
  open.push(socket);
  let text = '';
  let isClosed = false;
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  const client = { socket, received: () => text, isClosed: () => isClosed };
  return new Promise((resolve) => socket.once('connect', () => resolve(client)));
}

/** Returns how many requests for SCIM resources the metrics count as refused. */
async function countRefused({ url }: RunningService): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const name = 'jetbridge_http_requests_total{area="scim",route="/scim/*",method="GET",status="503"} ';
  return Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.slice(name.length) ?? 0,
  );
}

describe('pipelined requests', () => {
  test.each(both)('wait for each other on their socket, up to 32 of them (%s)', async (target) => {
    const { port, textOf } = usual;
    const last = textOf('GET', '/healthz', { Connection: 'close' });
    const text = await rawExchange(port, textOf('GET', target).repeat(32) + last);
    expect(statusesIn(text)).toEqual(Array(33).fill(200));
    expect(text.endsWith('{"status":"ok"}')).toBe(true);
  });

  test('are handled in order, one at a time', async () => {
    const { port, textOf, scim } = usual;
    const post = (userName: string) => {
      const body = JSON.stringify({ userName });
      const headers = { 'Content-Type': 'application/scim+json', 'Content-Length': String(body.length) };
      return textOf('POST', '/scim/v2/Users', headers) + body;
    };
    // If requests were handled concurrently, only one of those with the same userName could get 409 from the other.
    const last = textOf('GET', '/scim/v2/Users?count=0', { Connection: 'close' });
    const text = await rawExchange(port, ['ada', 'ada', 'bob', 'ada'].map(post).join('') + last);
    expect(statusesIn(text)).toEqual([201, 409, 201, 409, 200]);
    expect((await scim.send('GET', '/Users?count=0')).body.totalResults).toBeGreaterThan(1);
  });

  test.each(both)(
    'beyond 32 are refused, and the socket closes after the earlier responses (%s)',
    async (target) => {
      const { port, textOf } = usual;
      const text = await rawExchange(port, textOf('GET', target).repeat(60));
      expect(statusesIn(text)).toEqual([...Array(33).fill(200), 503]);
      expect(text.split('HTTP/1.1 503')[1]).toMatch(/Connection: close/);
      expect(JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n')))).toMatchObject({ status: '503' });
    },
  );

  test('that are refused have the usual headers, a log line and a count in the metrics', async () => {
    const { port, service, textOf } = usual;
    const before = await countRefused(service);
    const text = await rawExchange(port, textOf('GET', '/scim/v2/Users?count=1').repeat(60));
    const [head = ''] = text.slice(text.indexOf('HTTP/1.1 503')).split('\r\n\r\n');
    expect(head.split('\r\n')).toEqual(
      expect.arrayContaining([
        'Cache-Control: no-store',
        'X-Content-Type-Options: nosniff',
        'Connection: close',
      ]),
    );
    const isRefused = ({ status }: JsonObject) => status === 503;
    await eventually(async () =>
      expect(lines.filter(isRefused)).toMatchObject([
        { method: 'GET', path: '/scim/v2/Users', query: ['count'] },
      ]),
    );
    expect(await countRefused(service)).toBe(before + 1);
  });

  test('in thousands make the service close the socket at once', async () => {
    const { port, service } = usual;
    const text = await rawExchange(port, 'GET / HTTP/1.1\r\n\r\n'.repeat(3000)).catch(() => '');
    expect(statusesIn(text).length).toBeLessThan(34);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });
});

test.each(both)(
  'the response to the last request of a socket has Connection: close, and then the socket closes (%s)',
  async (target) => {
    const { port, textOf } = await limited({ requests: 3 });
    const idle = await opened(port);
    const { socket, received, isClosed } = await opened(port);
    for (const count of [1, 2, 3]) {
      socket.write(textOf('GET', target));
      await eventually(async () => expect(statusesIn(received())).toHaveLength(count));
      expect(received().includes('Connection: close')).toBe(count === 3);
      if (count === 2) idle.socket.write(textOf('GET', target));
    }
    await eventually(async () => expect(isClosed()).toBe(true));
    // This socket was idle for longer, so the other one was not closed for being idle.
    expect(idle.isClosed()).toBe(false);
  },
);

// A client that does not read is in unread-responses.test.ts, and one of the whole service in the slow test of this name.
describe('a client that does not read', () => {
  test('is not disconnected while it still sends its request', async () => {
    const { port, textOf } = await limited({ unreadMs: UNREAD_MS });
    const { socket, received, isClosed } = await opened(port);
    const body = JSON.stringify({ userName: 'slow' });
    const headers = { 'Content-Type': 'application/scim+json', 'Content-Length': String(body.length) };
    // The second socket sends nothing and is closed first; by then the time limit of the request is over.
    socket.write(textOf('POST', '/scim/v2/Users', headers) + body.slice(0, 5));
    const silent = await opened(port);
    await eventually(async () => expect(silent.isClosed()).toBe(true));
    expect(isClosed()).toBe(false);
    socket.write(body.slice(5));
    await eventually(async () => expect(statusesIn(received())).toEqual([201]));
  });
});

describe('a request that does not arrive in time', () => {
  const bodies = [
    ['/scim/v2/Users', 'application/scim+json'],
    ['/api/users', 'application/json'],
  ];

  test.each(bodies)('is answered 408, and its connection closes (%s)', async (target, type = '') => {
    const { port, textOf } = await limited({ requestMs: 200 });
    const text = textOf('POST', target ?? '', { 'Content-Type': type, 'Content-Length': '100' });
    const answer = await rawExchange(port, `${text}{"a":`);
    expect(statusesIn(answer)).toEqual([408]);
    expect(answer).toContain('Connection: close');
    expect(answer).toContain('The request took too long to come.');
  });

  test.each(bodies)('is answered 408 even while chunks keep coming (%s)', async (target, type = '') => {
    const { port, textOf } = await limited({ requestMs: 200 });
    const { socket, received, isClosed } = await opened(port);
    socket.write(textOf('POST', target ?? '', { 'Content-Type': type, 'Transfer-Encoding': 'chunked' }));
    const chunks = setInterval(() => socket.write('1\r\n \r\n'), 10);
    await eventually(async () => expect(isClosed()).toBe(true));
    clearInterval(chunks);
    expect(statusesIn(received())).toEqual([408]);
  });
});

test('sockets beyond the limit are closed at once, and the open ones are served', async () => {
  const { port, textOf } = await limited({ connections: 2 });
  const [first, second] = [await opened(port), await opened(port)];
  const third = await opened(port);
  await eventually(async () => expect(third.isClosed()).toBe(true));
  for (const { socket, received } of [first, second]) {
    socket.write(textOf('GET', '/scim/v2/Users?count=1'));
    await eventually(async () => expect(statusesIn(received())).toEqual([200]));
  }
  first.socket.destroy();
  await eventually(async () => {
    const next = await opened(port);
    next.socket.write(textOf('GET', '/healthz', { Connection: 'close' }));
    await eventually(async () => expect(next.isClosed()).toBe(true));
    expect(statusesIn(next.received())).toEqual([200]);
  });
});

describe('a request with two Host headers is 400 (RFC 9112 §3.2)', () => {
  const second = ['Host: evil.example', 'host: localhost', 'HOST:localhost'];
  test.each(both.flatMap(([target]) => second.map((line) => [target, line])))(
    '%s and %s',
    async (target, line) => {
      const { port, textOf } = usual;
      const request = textOf('GET', target ?? '', { Connection: 'close' });
      expect(statusesIn(await rawExchange(port, request))).toEqual([200]);
      expect(statusesIn(await rawExchange(port, request.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`)))).toEqual(
        [400],
      );
    },
  );
});

describe('an idle socket', () => {
  const end = '{"status":"ok"}';

  test('is kept for longer than load balancers keep theirs', async () => {
    const { port, textOf } = usual;
    const { socket, received } = await opened(port);
    socket.write(textOf('GET', '/healthz'));
    await eventually(async () => expect(received().endsWith(end)).toBe(true));
    expect(received()).toMatch(/^Keep-Alive: timeout=75\r$/m);
  });

  test('is closed when its time is over', async () => {
    const { port, textOf } = await limited({ idleMs: 50 });
    const { socket, received, isClosed } = await opened(port);
    socket.write(textOf('GET', '/healthz'));
    await eventually(async () => expect(isClosed()).toBe(true));
    expect(received().endsWith(end)).toBe(true);
  });

  test('is not closed after a shorter limit', async () => {
    const { port, textOf } = await limited({ unreadMs: UNREAD_MS });
    const { socket, received, isClosed } = await opened(port);
    socket.write(textOf('GET', '/healthz'));
    await eventually(async () => expect(received().split(end)).toHaveLength(2));
    // The second socket sends nothing and is closed by the shorter limit, which by then is over for both.
    const silent = await opened(port);
    await eventually(async () => expect(silent.isClosed()).toBe(true));
    expect(isClosed()).toBe(false);
    socket.write(textOf('GET', '/healthz'));
    await eventually(async () => expect(received().split(end)).toHaveLength(3));
  });
});
