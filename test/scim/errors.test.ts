import { connect } from 'node:net';
import { answerUnreadableRequest } from '../../src/scim/errors.ts';
import { rawExchange, requestText } from '../fixtures/raw-http.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

const date = new Date(Date.UTC(2026, 10, 20, 10));

/** A socket that remembers what was done to it. */
function socket({ writable = true } = {}) {
  const seen = { sent: '', destroyed: 0, late: () => {} };
  const line = {
    writable,
    end: (text: string) => {
      seen.sent += text;
    },
    destroy: () => {
      seen.destroyed += 1;
    },
    setTimeout: (_ms: number, then: () => void) => {
      seen.late = then;
    },
  };
  return { line, seen };
}

const fault = (code?: string) => Object.assign(new Error('secret'), code === undefined ? {} : { code });

test.each([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', undefined],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', undefined],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large', undefined],
  ['HPE_INVALID_METHOD', '400 Bad Request', 'invalidSyntax'],
  ['toString', '400 Bad Request', 'invalidSyntax'],
  [undefined, '400 Bad Request', 'invalidSyntax'],
])('%s is answered by %s', (code, status, scimType) => {
  const { line, seen } = socket();
  answerUnreadableRequest(() => date)(fault(code), line);
  const [head = '', body = ''] = seen.sent.split('\r\n\r\n');
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

test('who does not close after the answer is cut off', () => {
  const { line, seen } = socket();
  answerUnreadableRequest(() => date)(fault(), line);
  expect(seen.destroyed).toBe(0);
  seen.late();
  expect(seen.destroyed).toBe(1);
});

test('who is gone gets nothing', () => {
  const { line, seen } = socket({ writable: false });
  answerUnreadableRequest(() => date)(fault('ECONNRESET'), line);
  expect(seen).toMatchObject({ sent: '', destroyed: 1 });
});

describe('on the service', () => {
  let service: RunningService;
  let port: number;
  beforeEach(async () => {
    service = await startService({}, { background: false });
    port = Number(new URL(service.url).port);
  });
  afterEach(() => service.close());

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
  ])('%s gets one whole SCIM error, and the end of the connection', async (_title, text, status) => {
    const answer = await rawExchange(port, text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain('\r\nContent-Type: application/scim+json\r\n');
    expect(head).toContain('\r\nConnection: close');
    expect(head).toContain(`\r\nContent-Length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({ status: String(status) });
  });

  test('junk after a request that was answered is told on its own', async () => {
    const keep = requestText({ ...get, headers: { Connection: 'keep-alive' } });
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const line = connect(port, '127.0.0.1', () => line.write(keep));
      line.on('error', reject).on('close', () => resolve(text));
      line.on('data', (chunk) => {
        text += String(chunk);
        if (/^HTTP\/1.1 401 .*required\."\}$/s.test(text)) line.write('junk\r\n\r\n');
      });
    });
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 400']);
  });

  test('a service that stops closes such connections, too', async () => {
    const other = await startService({}, { background: false });
    const line = connect({ port: Number(new URL(other.url).port), host: '127.0.0.1', allowHalfOpen: true });
    line.write('junk\r\n\r\n');
    await new Promise((resolve) => line.once('data', resolve));
    await other.close();
    line.destroy();
  });
});
