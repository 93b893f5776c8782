import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type LookupFunction,
  type Server,
  type Socket,
} from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { AxiosHeaders, type AxiosResponse } from 'axios';
import { httpAdapter } from '../../src/adapter/http/http-adapter.ts';
import { certificateFiles } from '../fixtures/certificate.ts';

/** Functions that close servers and clients after each test. */
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts a server on a free port of 127.0.0.1 and returns the port. */
async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function httpUrl(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(answer))}`;
}

/** The URL of a server that writes bytes; `answer` is called with the number of the request on its connection. */
async function tcpUrl(answer: (socket: Socket, request: number) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    let requests = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      requests += 1;
      answer(socket, requests);
    });
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

interface Sent {
  method?: string;
  path?: string;
  params?: Record<string, string | number>;
  headers?: Record<string, string>;
  data?: string;
  signal?: AbortSignal;
}

/** Makes the function that sends requests to an URL, on sockets of its own that stay open. */
function sender(
  baseUrl: string,
  connect?: Parameters<typeof httpAdapter>[1],
): (sent?: Sent) => Promise<AxiosResponse> {
  const adapter = httpAdapter(baseUrl, connect);
  cleanups.push(adapter.close);
  return ({ path = '/', method = 'GET', headers = {}, ...rest } = {}) =>
    adapter.send({ ...rest, method, url: path, headers: new AxiosHeaders(headers) });
}

describe('a request', () => {
  test('has the method, headers and body of the configuration, and a path below the base URL', async () => {
    const seen: unknown[] = [];
    const url = await httpUrl(({ method, url, headers }, response) => {
      seen.push([method, url, headers['content-type'], headers['content-length'], headers.host]);
      response.end();
    });
    const send = sender(`${url}/travel//`);
    await send({ path: '/api/users' });
    await send({ method: 'POST', path: '/api/users', headers: { 'Content-Type': 'text/x' }, data: '"é"' });
    const host = new URL(url).host;
    expect(seen).toEqual([
      ['GET', '/travel/api/users', undefined, undefined, host],
      ['POST', '/travel/api/users', 'text/x', '4', host],
    ]);
  });

  test.each([
    [
      '/users',
      { emails: 'a+b@x.example,c@x.example', limit: 2 },
      '/users?emails=a%2Bb%40x.example,c%40x.example&limit=2',
    ],
    ['/users?kind=1', { limit: 2 }, '/users?kind=1&limit=2'],
    ['/users/a%2Fb', undefined, '/users/a%2Fb'],
    ['/cost centers/été', undefined, '/cost%20centers/%C3%A9t%C3%A9'],
  ])('to %s with the parameters %j has the target %s', async (path, params, target) => {
    const targets: unknown[] = [];
    const url = await httpUrl((request, response) => {
      targets.push(request.url);
      response.end();
    });
    await sender(url)({ path, ...(params ? { params } : {}) });
    expect(targets).toEqual([target]);
  });

  test('with a user name and a password in the URL is authenticated by them', async () => {
    const url = await httpUrl(({ headers }, response) => response.end(headers.authorization));
    const { data } = await sender(url.replace('http://', 'http://ad%40a:se:cret@'))();
    expect(data).toBe(`Basic ${Buffer.from('ad@a:se:cret').toString('base64')}`);
  });

  test('is sent over TLS to an https URL, and its certificate is verified', async () => {
    const files = await certificateFiles();
    cleanups.push(files.remove);
    const server = createTlsServer(
      { cert: readFileSync(files.cert), key: readFileSync(files.key) },
      (_, response) => response.end('secure'),
    );
    const url = `https://127.0.0.1:${await listen(server)}`;
    expect(await sender(url, { ca: files.pem })()).toMatchObject({ data: 'secure' });
    await expect(sender(url)()).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  test('reuses an open socket', async () => {
    const ports = new Set<unknown>();
    const url = await httpUrl(({ socket }, response) => {
      ports.add(socket.remotePort);
      response.end('x');
    });
    const send = sender(url);
    for (const _ of [1, 2, 3]) await send();
    expect(ports.size).toBe(1);
  });
});

describe('a response', () => {
  test('is returned with its status, headers and text', async () => {
    const url = await httpUrl((_, response) => {
      response.writeHead(418, 'Teapot', { 'X-One': '1' });
      response.end('text');
    });
    const response = await sender(url)();
    expect(response).toMatchObject({
      status: 418,
      statusText: 'Teapot',
      data: 'text',
      headers: { 'x-one': '1' },
    });
  });

  test('is returned if it is a redirect, which is not followed', async () => {
    const paths: unknown[] = [];
    const url = await httpUrl((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(await sender(url)()).toMatchObject({ status: 307, headers: { location: '/elsewhere' }, data: '' });
    expect(paths).toEqual(['/']);
  });

  test('is UTF-8, also where a character is split between two packets, without a byte order mark', async () => {
    const [first, second] = [Buffer.from('\uFEFFa\u20AC').subarray(0, 5), Buffer.from('\u20AC').subarray(1)];
    const url = await httpUrl((_, response) => {
      response.write(first, () => setImmediate(() => response.end(second)));
    });
    expect((await sender(url)()).data).toBe('a\u20AC');
  });

  test.each<[string, (body: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZip', gzipSync],
    ['deflate', deflateSync],
    ['Deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['identity', (body) => body],
  ])('with the content coding %s is decoded', async (coding, encode) => {
    const bodies = [encode(Buffer.from('a\u20ACb')), Buffer.alloc(0), encode(Buffer.alloc(0))];
    const url = await httpUrl((_, response) => {
      response.setHeader('content-encoding', coding);
      response.end(bodies.shift());
    });
    const send = sender(url);
    expect([(await send()).data, (await send()).data, (await send()).data]).toEqual(['a\u20ACb', '', '']);
  });

  test.each(['gzip', 'deflate', 'br'])(
    'whose content coding is not %s as it says is refused',
    async (coding) => {
      const url = await httpUrl((_, response) => {
        response.setHeader('content-encoding', coding);
        response.end('{"data":{}}');
      });
      await expect(sender(url)()).rejects.toMatchObject({ code: expect.stringMatching(/^(Z_|ERR_)/) });
    },
  );

  const large = Buffer.alloc(8_000_001, 'x');
  test.each<[string, Record<string, string>, Buffer]>([
    ['with its length', { 'content-length': String(large.length) }, large],
    ['in chunks', {}, large],
    ['compressed', { 'content-encoding': 'gzip' }, gzipSync(large)],
  ])('of more than 8 MB is refused, %s', async (_title, headers, body) => {
    const url = await httpUrl((_, response) => response.writeHead(200, headers).end(body));
    await expect(sender(url)()).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) });
  });

  test('of 8 MB is accepted', async () => {
    const url = await httpUrl((_, response) => response.end(large.subarray(1)));
    expect((await sender(url)()).data).toHaveLength(8_000_000);
  });
});

describe('a request fails', () => {
  test('if the connection is refused', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    await expect(sender(`http://127.0.0.1:${port}`)()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('if the name of the host is unknown', async () => {
    const lookup = (name: string, _options: object, callback: (error: Error, address: string) => void) =>
      callback(Object.assign(new Error(`no address for ${name}`), { code: 'ENOTFOUND' }), '');
    await expect(sender('http://travel.example', { lookup })()).rejects.toMatchObject({
      code: 'ENOTFOUND',
      message: 'no address for travel.example',
    });
  });

  test.each([
    ['before a response', '', 'ECONNRESET'],
    ['in the headers', 'HTTP/1.1 200 OK\r\nContent-Len', 'ECONNRESET'],
    ['in a body with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"data"', 'ERR_BAD_RESPONSE'],
    [
      'in a body in chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"d',
      'ERR_BAD_RESPONSE',
    ],
  ])('if the connection is closed %s', async (_title, text, code) => {
    const url = await tcpUrl((socket) => socket.end(text));
    await expect(sender(url)()).rejects.toMatchObject({ code });
  });

  test.each([
    ['not HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['HTTP with a malformed body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
  ])('if the response is %s', async (_title, text) => {
    const url = await tcpUrl((socket) => socket.write(text));
    await expect(sender(url)()).rejects.toMatchObject({ code: 'ERR_BAD_RESPONSE' });
  });

  test('if the response is a 100 (Continue), which undici does not accept, but not if it is another interim one', async () => {
    const interim = ['103 Early Hints', '100 Continue'];
    const url = await tcpUrl((socket) => {
      socket.write(`HTTP/1.1 ${interim.shift()}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
    });
    const send = sender(url);
    expect((await send()).data).toBe('ok');
    await expect(send()).rejects.toMatchObject({ code: 'ERR_BAD_RESPONSE', message: 'bad response' });
  });

  test('if the server closes the open socket on which it is sent, and the next one uses another socket', async () => {
    const url = await tcpUrl((socket, request) => {
      if (request > 1) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const send = sender(url);
    await send();
    await expect(send({ method: 'POST', data: '{}' })).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await send()).data).toBe('ok');
  });

  test('if it was canceled before; nothing is sent', async () => {
    let requests = 0;
    const url = await httpUrl((_, response) => {
      requests += 1;
      response.end();
    });
    const send = sender(url);
    await expect(send({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ERR_CANCELED' });
    await send();
    expect(requests).toBe(1);
  });

  test('if it is canceled while it waits for its socket; nothing is sent', async () => {
    const controller = new AbortController();
    let requests = 0;
    const url = await httpUrl((_, response) => {
      requests += 1;
      response.end('x');
    });
    const found: (() => void)[] = [];
    const lookup: LookupFunction = (_name, _options, callback) => {
      found.push(() => callback(null, [{ address: '127.0.0.1', family: 4 }]));
      if (found.length > 1) for (const continueConnecting of found) continueConnecting();
      else controller.abort();
    };
    const send = sender(url.replace('127.0.0.1', 'travel.example'), { lookup });
    await expect(send({ signal: controller.signal })).rejects.toMatchObject({ code: 'ERR_CANCELED' });
    expect((await send()).data).toBe('x');
    expect(requests).toBe(1);
  });

  test.each([
    ['before the headers', ''],
    ['in the headers', 'HTTP/1.1 200 OK\r\nContent-Len'],
    ['in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"data"'],
    ['in a compressed body', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n\u001f'],
  ])('if it is canceled while it waits %s, and its socket is closed', async (_title, text) => {
    const controller = new AbortController();
    let closed: Promise<unknown> | undefined;
    const url = await tcpUrl((socket) => {
      closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(text, () => setImmediate(() => controller.abort()));
    });
    await expect(sender(url)({ signal: controller.signal })).rejects.toMatchObject({ code: 'ERR_CANCELED' });
    await closed;
  });

  test('not if it is canceled after its end: its socket stays open for the next request', async () => {
    const ports = new Set<unknown>();
    const url = await httpUrl(({ socket }, response) => {
      ports.add(socket.remotePort);
      response.end('x');
    });
    const send = sender(url);
    const controller = new AbortController();
    await send({ signal: controller.signal });
    const next = send();
    controller.abort();
    expect((await next).data).toBe('x');
    expect(ports.size).toBe(1);
  });
});
