import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLog } from '../../src/http/log.ts';
import { serverOptions, serveWithLimits, socketLimits } from '../../src/http/sockets.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { answerUnreadableRequest } from '../../src/scim/protocol/errors.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { rawExchange, requestText, unreadExchange } from '../fixtures/raw-http.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

/** The status codes of the responses in the received bytes, in order. */
const statusesIn = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

/** A time limit of requests that no pause of a busy machine exceeds between a connection and the request that is sent with it. */
const LATE_MS = 1_000;

describe('on the service', () => {
  const lines: JsonObject[] = [];
  let service: RunningService;
  let port: number;
  beforeAll(async () => {
    const log = createLog('info', parseLinesInto(lines));
    service = await startService({}, { background: false, log, limits: { requestMs: LATE_MS } });
    port = Number(new URL(service.url).port);
  });
  afterAll(() => service.close());
  beforeEach(() => {
    lines.length = 0;
  });

  const textOf = (method: string, target: string, headers: Record<string, string> = {}) => {
    const Authorization = `Bearer ${service.scimToken}`;
    return requestText({ method, target, headers: { Connection: 'keep-alive', Authorization, ...headers } });
  };
  const bodyOf = { 'Content-Type': 'application/scim+json', 'Content-Length': '100' };
  const short = '/scim/v2/Users?count=0';

  test.each([
    ['that is read before the response', short, 408],
    ['that is not read', '/healthz', 200],
  ])('a request whose body never arrives has one response (%s)', async (_title, target, status) => {
    expect(statusesIn(await rawExchange(port, textOf('GET', target, bodyOf)))).toEqual([status]);
  });

  test.each([1, 2, 5])('%d requests are answered before malformed bytes close the socket', async (count) => {
    const text = await rawExchange(port, `${textOf('GET', short).repeat(count)}junk\r\n\r\n`);
    expect(statusesIn(text)).toEqual(Array(count).fill(200));
    expect(text.match(/Connection: close/g)).toHaveLength(1);
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toContain('Connection: close');
  });

  test('a request with an unknown expectation waits for the responses before it', async () => {
    const odd = textOf('POST', '/scim/v2/Users', { Expect: 'the-unexpected', Connection: 'close' });
    expect(statusesIn(await rawExchange(port, textOf('GET', short) + odd))).toEqual([200, 417]);
    await eventually(async () => expect(lines.map(({ status }) => status)).toEqual([200, 417]));
  });
});

describe('on a server with a slow handler', () => {
  const held: ServerResponse[] = [];
  let faults = 0;
  const server = createServer(serverOptions({ ...socketLimits(10), requestMs: LATE_MS }));
  let port: number;
  beforeAll(async () => {
    serveWithLimits(server, socketLimits(10), {
      handle: (_request, response) => held.push(response),
      refuse: (_request, response) => response.writeHead(503).end(),
      refuseExpectation: (_request, response) => response.writeHead(417).end(),
      answerFault: answerUnreadableRequest(() => new Date()),
    });
    server.on('clientError', () => {
      faults += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => {
    held.length = 0;
    faults = 0;
  });

  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n';

  test.each([
    ['a body', 1, `${post}{`],
    ['a body', 3, `${post}{`],
    ['headers', 1, post.slice(0, -10)],
    ['headers', 3, post.slice(0, -10)],
  ])(
    'complete requests before %s that does not arrive are answered, and then the socket closes (%d)',
    async (_title, count, late) => {
      const exchange = rawExchange(port, get.repeat(count) + late);
      await eventually(async () => expect(faults).toBe(1));
      for (let answered = 0; answered < count; answered += 1) {
        await eventually(async () => expect(held).toHaveLength(answered + 1));
        held[answered]?.end(`answer ${answered}`);
      }
      const text = await exchange;
      expect(statusesIn(text)).toEqual(Array(count).fill(200));
      expect(text.match(/answer \d/g)).toEqual(
        Array.from({ length: count }, (_, index) => `answer ${index}`),
      );
      expect(held).toHaveLength(count);
    },
  );

  test('a response that has begun is never mixed with a 408 for the body of a later request', async () => {
    const client = unreadExchange(port, `${get}${post}{`);
    await eventually(async () => expect(held).toHaveLength(1));
    const isClosed = once(held[0] as ServerResponse, 'close');
    // More than the operating system keeps for a connection, so that the response does not end before the 408 is due.
    held[0]?.end(Buffer.alloc(32 * 1024 * 1024, 'x'));
    await isClosed;
    expect(faults).toBe(1);
    const received = await client.read();
    expect(statusesIn(received)).toEqual([200]);
    expect(received.endsWith('x')).toBe(true);
  });

  test('a request whose body does not arrive is answered 408', async () => {
    expect(statusesIn(await rawExchange(port, `${post}{`))).toEqual([408]);
  });
});
