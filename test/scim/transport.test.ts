import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ProvisioningError } from '../../src/model/provisioning-error.ts';
import { urns } from '../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeEach(async () => {
  fixture = await scimFixture();
});
afterEach(() => fixture.close());

const errorSchema = ['urn:ietf:params:scim:api:messages:2.0:Error'];
const ada = { schemas: [urns.user], userName: 'ada' };

describe('without a valid token every path is 401 with a SCIM error (RFC 6750 §3)', () => {
  const attempts: [string, string | undefined, string?][] = [
    ['no header', undefined],
    ['an empty header', ''],
    ['a scheme alone', 'Bearer'],
    ['a wrong token', 'Bearer nope'],
    ['a bare wrong token', 'non-token'],
    ['another scheme', 'Basic bm9wZTpub3Bl'],
    ['a token in the query string', undefined, '/Users?access_token=good'],
    ['a path that is not there', 'Bearer nope', '/nothing'],
    ['discovery', undefined, '/Schemas'],
  ];
  test.each(attempts)('%s', async (_title, authorization, path = '/Users') => {
    const response = await fetch(`http://127.0.0.1:${fixture.port}/scim/v2${path}`, {
      headers: authorization === undefined ? {} : { Authorization: authorization },
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="scim"/);
    expect(response.headers.get('content-type')).toBe('application/scim+json');
    const detail = 'A valid bearer token is required.';
    expect(await response.json()).toEqual({ schemas: errorSchema, status: '401', detail });
  });
});

test.each(['bearer good', 'BEARER  good', 'good'])('the header "%s" is let in', async (authorization) => {
  expect((await fixture.send('GET', '/Users', undefined, { Authorization: authorization })).status).toBe(200);
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/nothing', 404],
    ['POST', '/', 405],
    ['GET', '/.search', 405],
    ['GET', '/Users/.search', 405],
    ['DELETE', '/Groups/.search', 405],
    ['GET', '/Users/a/b', 404],
    ['PUT', '/Users', 405],
    ['PATCH', '/Groups', 405],
    ['DELETE', '/Users', 405],
    ['POST', '/Users/u1', 405],
    ['POST', '/Schemas', 405],
    ['DELETE', '/ServiceProviderConfig', 405],
    ['POST', '/Bulk', 501],
    ['GET', '/Bulk', 501],
    ['GET', '/Me', 501],
    ['POST', '/Me', 501],
    ['PUT', '/Me', 501],
    ['PATCH', '/Me', 501],
    ['DELETE', '/Me', 501],
    ['GET', '/Users/%zz', 400],
  ])('%s %s is %d', async (method, path, status) => {
    const answer = await fixture.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {});
    expect(answer.body).toEqual(expect.objectContaining({ schemas: errorSchema, status: String(status) }));
    expect(answer.headers.get('content-type')).toBe('application/scim+json');
    expect(answer.status).toBe(status);
  });

  test('405 has the allowed methods in the header Allow', async () => {
    const { headers } = await fixture.send('PUT', '/Users', ada);
    expect(headers.get('allow')).toBe('GET, HEAD, POST');
  });
});

describe('bodies', () => {
  test.each([
    ['truncated', '{"userName":', 400, 'invalidSyntax'],
    ['empty', '', 400, 'invalidSyntax'],
    ['an array', '[]', 400, 'invalidSyntax'],
    ['text', '"x"', 400, 'invalidSyntax'],
    ['null', 'null', 400, 'invalidSyntax'],
    ['NaN', '{"userName":NaN}', 400, 'invalidSyntax'],
    ['of another kind', '{"this":"that"}', 400, 'invalidValue'],
    ['too large', `{"userName":"${'x'.repeat(1_100_000)}"}`, 413, undefined],
    ['with a value too long', `{"userName":"${'x'.repeat(1_000_000)}"}`, 400, 'invalidValue'],
    ['with NUL', '{"userName":"a\\u0000"}', 400, 'invalidValue'],
    [
      'nested beyond reason',
      `{"userName":"a","urn:x:y:2.0:User":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`,
      400,
      'invalidSyntax',
    ],
  ])('%s is refused', async (_title, body, status, scimType) => {
    const answer = await fixture.send('POST', '/Users', body);
    expect(answer.body).toEqual({
      schemas: errorSchema,
      status: String(status),
      scimType,
      detail: expect.any(String),
    });
    expect(answer.status).toBe(status);
    expect((await fixture.send('GET', '/Users')).body.totalResults).toBe(0);
  });

  test('an undeclared attribute may be nested as deep as the limit, and no deeper', async () => {
    const body = (levels: number) => `{"userName":"a","junk":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect((await fixture.send('POST', '/Users', body(63))).status).toBe(201);
    for (const levels of [64, 200_000]) {
      const { status, body: answer } = await fixture.send('POST', '/Users', body(levels));
      expect([status, answer.detail]).toEqual([400, 'The body is nested deeper than 64 levels.']);
    }
  });

  test.each([
    ['application/json', 201],
    ['application/scim+json;charset=utf-8', 201],
    ['APPLICATION/SCIM+JSON; charset="UTF-8"', 201],
    // Labels of UTF-8 (WHATWG Encoding Standard §4.2); JSON has no other encoding (RFC 8259 §8.1).
    ['application/scim+json;charset=utf8', 201],
    ['application/json; charset="UTF8"; q=1', 201],
    ['application/json;charset=unicode-1-1-utf-8', 201],
    ['application/scim+json; charset=latin1', 415],
    ['application/scim+json; charset=utf-16', 415],
    ['application/scim+json; charset=utf-9', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
  ])('of the type %s are %d', async (type, status) => {
    const answer = await fixture.send('POST', '/Users', ada, { 'Content-Type': type });
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.body).toMatchObject({ schemas: errorSchema, status: '415' });
  });

  test('compressed bodies are accepted in known encodings', async () => {
    const url = `http://127.0.0.1:${fixture.port}/scim/v2/Users`;
    const headers = { Authorization: 'Bearer good', 'Content-Type': 'application/scim+json' };
    const body = gzipSync(JSON.stringify(ada));
    const gzip = await fetch(url, {
      method: 'POST',
      body,
      headers: { ...headers, 'Content-Encoding': 'gzip' },
    });
    expect(gzip.status).toBe(201);
    const other = await fetch(url, {
      method: 'POST',
      body,
      headers: { ...headers, 'Content-Encoding': 'zip' },
    });
    expect(other.status).toBe(415);
    expect(await other.json()).toMatchObject({ schemas: errorSchema, status: '415' });
  });

  test('the body of a GET or DELETE is ignored', async () => {
    await fixture.send('POST', '/Users', ada);
    expect(await raw('GET', '/Users/u1', '{ no json')).toBe(200);
    expect(await raw('DELETE', '/Users/u1', '{ no json')).toBe(204);
  });

  test('__proto__ in any place changes no prototype', async () => {
    await fixture.send(
      'POST',
      '/Users',
      '{"userName":"a","__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}',
    );
    for (const operation of [
      { op: 'add', path: '__proto__.x', value: 'y' },
      { op: 'add', path: 'constructor.prototype', value: 'y' },
      { op: 'add', path: 'urn:x:y:2.0:User:constructor', value: { prototype: { x: 1 } } },
    ]) {
      expect((await fixture.send('PATCH', '/Users/u1', patchOp(operation))).status).toBeLessThan(500);
    }
    const body = JSON.stringify(patchOp({ op: 'replace', value: 'V' })).replace(
      '"V"',
      '{"__proto__":{"x":1},"urn:x:y:2.0:User":{"__proto__":{"x":1}}}',
    );
    expect((await fixture.send('PATCH', '/Users/u1', body)).status).toBe(200);
    expect('x' in {}).toBe(false);
    expect((await fixture.send('GET', '/Users/u1')).body.x).toBeUndefined();
  });

  function raw(method: string, path: string, body: string): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const headers = {
        Authorization: 'Bearer good',
        'Content-Type': 'application/json',
        'Content-Length': body.length,
      };
      const sent = httpRequest(
        { port: fixture.port, path: `/scim/v2${path}`, method, headers },
        (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        },
      );
      sent.on('error', reject).end(body);
    });
  }
});

describe('errors of the provisioning service become SCIM errors', () => {
  test.each([
    [new ProvisioningError('notFound', 'There is none.'), 404, undefined],
    [new ProvisioningError('conflict', 'Taken.'), 409, 'uniqueness'],
    [new ProvisioningError('refused', 'Refused.'), 403, undefined],
    [new ProvisioningError('unavailable', 'Busy.'), 503, undefined],
  ])('%s', async (error, status, scimType) => {
    fixture.bridge.failWith(error);
    for (const [method, path] of [
      ['GET', '/Users/u1'],
      ['GET', '/Groups'],
      ['DELETE', '/Users/u1'],
    ] as const) {
      const answer = await fixture.send(method, path);
      expect(answer.body).toEqual({
        schemas: errorSchema,
        status: String(status),
        scimType,
        detail: error.message,
      });
      expect(answer.status).toBe(status);
    }
  });

  test('503 has Retry-After in whole seconds', async () => {
    fixture.bridge.failWith(new ProvisioningError('unavailable', 'Busy.'));
    expect((await fixture.send('GET', '/Users/u1')).headers.get('retry-after')).toBe('1');
  });

  test('any other error is 500, and only the log has its cause', async () => {
    fixture.bridge.failWith(
      new TypeError('at /secret/place for ada@corp.example', { cause: new Error('deeper') }),
    );
    const answer = await fixture.send('POST', '/Users', ada);
    expect([answer.status, answer.body]).toEqual([
      500,
      { schemas: errorSchema, status: '500', detail: 'Something went wrong here.' },
    ]);
    expect(fixture.lines[0]).toMatchObject({
      level: 50,
      requestId: 'r1',
      err: { type: 'TypeError', message: 'at /secret/place for *@* deeper' },
    });
    expect(JSON.stringify(fixture.lines)).not.toContain('ada@corp.example');
  });
});

test('a TCP connection can be used after every kind of response', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<unknown>();
  const ask = (method: string, path: string, body: string, type = 'application/scim+json') =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        Authorization: 'Bearer good',
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(body),
      };
      const sent = httpRequest(
        { port: fixture.port, path: `/scim/v2${path}`, method, headers, agent },
        (response) => {
          sockets.add(response.socket);
          response.resume().on('end', () => resolve(response.statusCode));
        },
      );
      sent.on('error', reject).end(body);
    });
  const statuses = [
    await ask('POST', '/Users', '{'),
    await ask('POST', '/Users', JSON.stringify(ada)),
    await ask('POST', '/Users', `{"userName":"${'x'.repeat(1_100_000)}"}`),
    await ask('POST', '/Users', 'hello', 'text/plain'),
    await ask('PUT', '/Users', 'x'.repeat(100_000)),
    await ask('POST', '/Bulk', '{}'),
    await ask('GET', '/nothing', ''),
  ];
  fixture.bridge.failWith(new Error('broken'));
  statuses.push(await ask('GET', '/Users', ''));
  fixture.bridge.failWith(new ProvisioningError('unavailable', 'Busy.'));
  statuses.push(await ask('GET', '/Users/u1', ''));
  agent.destroy();
  expect(statuses).toEqual([400, 201, 413, 415, 405, 501, 404, 500, 503]);
  expect(sockets.size).toBe(1);
});

test('a chunked body that is too large is 413', async () => {
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(fixture.port, '127.0.0.1');
    socket.write(
      'POST /scim/v2/Users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n' +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    for (let n = 0; n < 20; n += 1) socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
    socket.end('0\r\n\r\n');
    socket.on('error', reject).once('data', (data) => {
      socket.destroy();
      resolve(String(data));
    });
  });
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});
