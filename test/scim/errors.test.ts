import { connect } from 'node:net';
import { answerUnreadableRequest } from '../../src/scim/protocol/errors.ts';
import { rawExchange, requestText } from '../fixtures/raw-http.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

const date = new Date(Date.UTC(2026, 10, 20, 10));

/** A socket that records the calls of its methods. */
function recordingSocket({ writable = true } = {}) {
  const calls = { sent: '', destroyed: 0, timeout: () => {} };
  const socket = {
    writable,
    end: (text: string) => {
      calls.sent += text;
    },
    destroy: () => {
      calls.destroyed += 1;
    },
    setTimeout: (_ms: number, callback: () => void) => {
      calls.timeout = callback;
    },
  };
  return { socket, calls };
}

const parserError = (code?: string) => Object.assign(new Error('secret'), code === undefined ? {} : { code });

test.each([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', undefined],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', undefined],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large', undefined],
  ['HPE_INVALID_METHOD', '400 Bad Request', 'invalidSyntax'],
  ['toString', '400 Bad Request', 'invalidSyntax'],
  [undefined, '400 Bad Request', 'invalidSyntax'],
])('%s is answered by %s', (code, status, scimType) => {
  const { socket, calls } = recordingSocket();
  answerUnreadableRequest(() => date)(parserError(code), socket);
  const [head = '', body = ''] = calls.sent.split('\r\n\r\n');
  expect(head.split('\r\n')).toEqual([
    `HTTP/1.1 ${status}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Content-Type: application/scim+json',
    'Date: Fri, 20 Nov 2026 10:00:00 GMT',
    'Connection: close',
    `Content-Length: ${body.length}`,
  ]);
  expect(JSON.parse(body)).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: status.slice(0, 3),
    detail: expect.not.stringContaining('secret'),
    ...(scimType ? { scimType } : {}),
  });
});

test('a client that does not close the connection after the response is disconnected', () => {
  const { socket, calls } = recordingSocket();
  answerUnreadableRequest(() => date)(parserError(), socket);
  expect(calls.destroyed).toBe(0);
  calls.timeout();
  expect(calls.destroyed).toBe(1);
});

test('a socket that is not writable is destroyed without a response', () => {
  const { socket, calls } = recordingSocket({ writable: false });
  answerUnreadableRequest(() => date)(parserError('ECONNRESET'), socket);
  expect(calls).toMatchObject({ sent: '', destroyed: 1 });
});

describe('a running service', () => {
  let service: RunningService;
  let port: number;
  beforeAll(async () => {
    service = await startService({}, { background: false });
    port = Number(new URL(service.url).port);
  });
  afterAll(() => service.close());

  const manyHeaders = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`X-${n}`, 'x'.repeat(1000)]));
  const get = { method: 'GET', target: '/scim/v2/Users' };
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['an unknown method', requestText({ method: 'FETCH', target: '/scim/v2/Users' }), 400],
    ['a path with a space', requestText({ method: 'GET', target: '/scim/v2/Users?filter=id eq "x"' }), 400],
    ['a broken header', requestText({ ...get, headers: { 'X Y': 'z' } }), 400],
    ['a NUL in a header', requestText({ ...get, headers: { Authorization: 'Bearer \0' } }), 400],
    ['two lengths', requestText({ ...get, headers: { 'content-length': '7' }, body: 'x' }), 400],
    ['headers that are too large', requestText({ ...get, headers: manyHeaders }), 431],
    ['a path that is too long', requestText({ ...get, target: `/scim/v2/${'x'.repeat(40_000)}` }), 431],
  ])('answers %s with one whole SCIM error and closes the connection', async (_title, text, status) => {
    const response = await rawExchange(port, text);
    const [head = '', body = ''] = response.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain('\r\nContent-Type: application/scim+json\r\n');
    expect(head).toContain('\r\nConnection: close');
    expect(head).toContain(`\r\nContent-Length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({ status: String(status) });
  });

  test('answers malformed data after a valid request with an error of its own', async () => {
    const keepAlive = requestText({ ...get, headers: { Connection: 'keep-alive' } });
    const response = await new Promise<string>((resolve, reject) => {
      let text = '';
      const client = connect(port, '127.0.0.1', () => client.write(keepAlive));
      client.on('error', reject).on('close', () => resolve(text));
      client.on('data', (chunk) => {
        text += String(chunk);
        if (/^HTTP\/1.1 401 .*required\."\}$/s.test(text)) client.write('junk\r\n\r\n');
      });
    });
    expect(response.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 400']);
  });

  test('closes such connections when it stops', async () => {
    const other = await startService({}, { background: false });
    const client = connect({ port: Number(new URL(other.url).port), host: '127.0.0.1', allowHalfOpen: true });
    client.write('junk\r\n\r\n');
    await new Promise((resolve) => client.once('data', resolve));
    await other.close();
    client.destroy();
  });
});
