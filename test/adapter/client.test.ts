import type { ServerResponse } from 'node:http';
import { setTimeout as abortableTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { EndedMeasurement } from '../../src/adapter/http/measured-call.ts';
import { json, type TravelServer, travelServer } from './travel-server.ts';

const get = { method: 'GET', path: '/api/whoami', operation: 'readOwnUser' } as const;
const body = <T>(value: T): T => value;

describe('the client of the travel API', () => {
  let server: TravelServer;
  afterEach(() => server.close());

  test('reuses its socket for the next call', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: {} }));
    const client = server.client();
    for (let call = 0; call < 5; call += 1) await client.call(get, body);
    expect(server.requests).toHaveLength(5);
    expect(server.sockets).toHaveLength(1);
  });

  test('measures each call by its operation and outcome, without the wait for a free slot', async () => {
    const answers = [
      (response: ServerResponse) => json(response, 200, { data: {} }),
      (response: ServerResponse) => json(response, 401, {}),
      (response: ServerResponse) => json(response, 404, { code: 'notFound' }),
      (response: ServerResponse) => response.writeHead(429).end(),
      (response: ServerResponse) => response.writeHead(500).end(),
      (response: ServerResponse) => response.destroy(),
    ];
    const calls: EndedMeasurement[] = [];
    server = await travelServer((_, response) => answers.shift()?.(response));
    const client = server.client({ onCall: (call) => calls.push(call) });
    for (let left = answers.length; left > 0; left -= 1) await client.call(get, body);
    // It is never sent.
    await client.call({ ...get, deadline: { signal: AbortSignal.abort(), ms: 0 } }, body);
    const outcomes = ['ok', 'unauthorized', 'notFound', 'throttled', 'unavailable', 'unanswered'];
    expect(calls).toEqual([
      ...outcomes.map((outcome) => ({ operation: 'readOwnUser', outcome, seconds: expect.any(Number) })),
      { operation: 'readOwnUser', outcome: 'unavailable', seconds: undefined },
    ]);
  });

  test('reuses its socket after an error response', async () => {
    server = await travelServer((_, response) =>
      json(response, 422, { code: 'validationFailed', invalid: [] }),
    );
    const client = server.client();
    await client.call(get, body);
    await client.call(get, body);
    expect(server.sockets).toHaveLength(1);
  });

  test('does not follow a redirect', async () => {
    server = await travelServer((_, response) => response.writeHead(307, { location: '/elsewhere' }).end());
    await server.client().call(get, body);
    expect(server.requests.map(({ url }) => url)).toEqual(['/api/whoami']);
  });

  test('sends the id of the SCIM request that caused a call, and none for other calls', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: {} }));
    const client = server.client();
    await client.call({ ...get, cause: { person: 'p', requestId: 'okta-1' } }, body);
    await client.call(
      {
        method: 'PATCH',
        path: '/api/users/1',
        operation: 'updateTraveler',
        body: {},
        cause: { requestId: 'okta-2' },
      },
      body,
    );
    await client.call({ ...get, cause: { person: 'p' } }, body);
    await client.call(get, body);
    expect(server.requests.map(({ headers }) => headers['x-request-id'])).toEqual([
      'okta-1',
      'okta-2',
      undefined,
      undefined,
    ]);
  });

  test('adds paths to a base URL that has one, with or without a slash at its end', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: {} }));
    await server.client({ url: `${server.url}/travel/` }).call(get, body);
    expect(server.requests[0]?.url).toBe('/travel/api/whoami');
  });

  test('ignores the proxy variables of the environment', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: {} }));
    const proxy = await travelServer((_, response) => json(response, 200, { data: {} }));
    const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = proxy.url;
    try {
      expect((await server.client().call(get, body)).kind).toBe('ok');
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      await proxy.close();
    }
    expect([server.requests.length, proxy.requests.length]).toEqual([1, 0]);
  });

  test.each([
    ['with its length', true],
    ['in chunks', false],
  ])('refuses a response of more than 8 MB, %s', async (_title, hasLength) => {
    const text = JSON.stringify({ data: 'x'.repeat(8_000_000) });
    server = await travelServer((_, response) => {
      response.writeHead(200, hasLength ? { 'content-length': text.length } : {});
      response.end(text);
    });
    expect(await server.client().call(get, body)).toMatchObject({
      kind: 'unavailable',
      text: 'GET /api/whoami: ERR_BAD_RESPONSE',
    });
  });

  test('reads a compressed response, and refuses one of more than 8 MB before compression', async () => {
    const sizes = [10, 9_000_000];
    server = await travelServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ data: 'x'.repeat(sizes.shift() ?? 0) })));
    });
    const client = server.client();
    expect(await client.call(get, body)).toMatchObject({ kind: 'ok', value: { data: 'x'.repeat(10) } });
    expect((await client.call(get, body)).kind).toBe('unavailable');
  });

  test('stops a call whose response does not end in time, and closes its socket', async () => {
    server = await travelServer((_, response) => response.writeHead(200).write('{"data":'));
    expect(await server.client({ timeoutMs: 100 }).call(get, body)).toEqual({
      kind: 'unavailable',
      text: 'GET /api/whoami: no answer within 100 ms',
      isUnanswered: true,
    });
    const [socket] = server.sockets;
    if (socket && !socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
    expect(socket?.destroyed).toBe(true);
  });

  test('a call that waits for its turn within the second ends at its deadline', async () => {
    const clock = { now: Date.now, wallClock: Date.now, wait: abortableWait };
    server = await travelServer((_, response) => json(response, 200, { data: {} }));
    const client = server.client({ perSecond: 1, clock });
    await client.call(get, body);
    expect(await client.call({ ...get, deadline: client.deadline(50) }, body)).toEqual({
      kind: 'unavailable',
      text: 'GET /api/whoami: no answer within 50 ms',
    });
    expect(server.requests).toHaveLength(1);
  });

  test('sends the credential, what it accepts, and the media type of a body only', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: {} }));
    const client = server.client();
    await client.call(get, body);
    await client.call(
      { method: 'POST', path: '/api/users', operation: 'createTraveler', body: { data: { email: 'é' } } },
      body,
    );
    expect(server.requests.map(({ headers }) => headers)).toMatchObject([
      {
        authorization: 'Bearer key-1',
        accept: 'application/json',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'jetbridge',
      },
      { authorization: 'Bearer key-1', 'content-type': 'application/json', 'content-length': '23' },
    ]);
    expect(server.requests[0]?.headers['content-type']).toBeUndefined();
    expect(server.requests[1]?.body).toBe('{"data":{"email":"é"}}');
  });

  test('sends the user name and password of a base URL that has them in place of the token', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: {} }));
    await server.client({ url: server.url.replace('://', '://ada:secret@') }).call(get, body);
    expect(server.requests[0]?.headers.authorization).toBe('Basic YWRhOnNlY3JldA==');
  });

  test('limits the number of concurrent calls, and starts waiting ones in order', async () => {
    const open: ServerResponse[] = [];
    const arrived = gate();
    server = await travelServer((_, response) => {
      open.push(response);
      arrived.open(open.length);
    });
    const client = server.client({ concurrency: 2 });
    const calls = [0, 1, 2, 3].map((n) =>
      client.call({ method: 'GET', operation: 'readTraveler', path: `/api/users/${n}` }, body),
    );

    await arrived.reached(2);
    expect(open).toHaveLength(2);
    answer(open[0]);
    await arrived.reached(3);
    expect(server.requests[2]?.url).toBe('/api/users/2');
    for (const response of open.slice(1)) answer(response);
    await arrived.reached(4);
    answer(open[3]);

    expect((await Promise.all(calls)).every(({ kind }) => kind === 'ok')).toBe(true);
    expect(server.sockets).toHaveLength(2);
  });

  test('a call that times out while it waits for a slot is unavailable and was not sent', async () => {
    let setArrived = () => {};
    const arrived = new Promise<void>((resolve) => {
      setArrived = resolve;
    });
    server = await travelServer(() => setArrived());
    const client = server.client({ concurrency: 1, timeoutMs: 5_000 });
    const held = client.call(get, body);
    await arrived;
    const late = await client.call({ ...get, path: '/api/users/late', deadline: client.deadline(40) }, body);
    expect(late).toEqual({ kind: 'unavailable', text: 'GET /api/users/late: no answer within 40 ms' });
    expect(server.requests.map(({ url }) => url)).toEqual(['/api/whoami']);
    await server.close();
    expect((await held).kind).toBe('unavailable');
  });

  test('limits the number of calls that start within any second', async () => {
    let now = 0;
    const clock = {
      now: () => now,
      wallClock: () => 0,
      wait: async (ms: number) => {
        now += ms;
      },
    };
    const starts: number[] = [];
    server = await travelServer((_, response) => {
      starts.push(now);
      json(response, 200, { data: {} });
    });
    const client = server.client({ perSecond: 2, concurrency: 1, clock });
    for (let call = 0; call < 3; call += 1) await client.call(get, body);
    now += 400;
    await client.call(get, body);
    await client.call(get, body);
    now += 5_000;
    await client.call(get, body);
    expect(starts).toEqual([0, 0, 1_000, 1_400, 2_000, 7_000]);
  });

  describe('after a PATCH was refused for its media type (415)', () => {
    const merge = 'application/merge-patch+json';
    const mediaTypes = ['application/json', merge];
    const post = {
      method: 'POST',
      path: '/api/users',
      operation: 'createTraveler',
      body: { email: 'ada@corp.example' },
    } as const;
    const patch = {
      method: 'PATCH',
      path: '/api/users/u1',
      operation: 'updateTraveler',
      body: { lang: 'fr' },
      mediaTypes,
    } as const;
    const types = () => server.requests.map(({ headers }) => headers['content-type']);

    test.each([
      ['in the other one', undefined, 'application/json', merge],
      ['in the one that Accept-Patch names', merge, 'application/json', merge],
      [
        'with the parameters that it names',
        `${merge}; charset=utf-8`,
        'application/json',
        `${merge}; charset=utf-8`,
      ],
      [
        'not as a JSON patch, which is another format',
        'application/json-patch+json',
        merge,
        'application/json',
      ],
      ['in the first of several', `text/plain, application/json , ${merge}`, merge, 'application/json'],
    ] as const)('sends it once more, %s', async (_title, acceptPatch, first, second) => {
      server = await travelServer(({ headers }, response) =>
        headers['content-type'] === second
          ? json(response, 200, { data: {} })
          : json(response, 415, {}, acceptPatch ? { 'accept-patch': acceptPatch } : {}),
      );
      const client = server.client();
      const preferring = { ...patch, mediaTypes: first === merge ? mediaTypes.toReversed() : mediaTypes };
      expect((await client.call(preferring, body)).kind).toBe('ok');
      expect(types()).toEqual([first, second]);
      await client.call(post, body);
      await client.call(preferring, body);
      expect(types().slice(2)).toEqual(['application/json', second]);
    });

    test('fails if the other type is refused as well, and prefers neither', async () => {
      server = await travelServer((_, response) => json(response, 415, {}));
      const client = server.client();
      const failure = { kind: 'unavailable', text: 'PATCH /api/users/u1: 415', isRejected: true };
      expect(await client.call(patch, body)).toEqual(failure);
      expect(await client.call(patch, body)).toEqual(failure);
      expect(types()).toEqual(['application/json', merge, 'application/json', merge]);
    });

    test('repeats no other request', async () => {
      server = await travelServer((_, response) => json(response, 415, {}));
      expect(await server.client().call(post, body)).toMatchObject({
        isRejected: true,
      });
      expect(server.requests).toHaveLength(1);
    });
  });

  test('serverTime follows the clock in the last response of the travel API', async () => {
    let now = Date.UTC(2026, 0, 1);
    let sent: { status: number; date: string | undefined } = { status: 200, date: undefined };
    server = await travelServer((_, response) => {
      response.sendDate = false;
      json(response, sent.status, { data: {} }, sent.date === undefined ? {} : { date: sent.date });
    });
    const client = server.client({ clock: { now: () => now, wallClock: () => now, wait: async () => {} } });
    const timeAfter = async (status: number, date: string | undefined) => {
      sent = { status, date };
      await client.call(get, body);
      return client.serverTime();
    };

    expect(client.serverTime()).toBeUndefined();
    expect(await timeAfter(200, undefined)).toBeUndefined();
    expect(await timeAfter(200, 'yesterday')).toBeUndefined();
    // The time of a failed answer counts as long as there is no other.
    expect(await timeAfter(500, 'Thu, 01 Jan 2026 00:04:00 GMT')).toBe(Date.UTC(2026, 0, 1, 0, 4));
    expect(await timeAfter(200, 'Thu, 01 Jan 2026 00:05:00 GMT')).toBe(Date.UTC(2026, 0, 1, 0, 5));
    now += 10_000;
    expect(client.serverTime()).toBe(Date.UTC(2026, 0, 1, 0, 5, 10));
    expect(await timeAfter(404, 'Wed, 31 Dec 2025 23:00:00 GMT')).toBe(Date.UTC(2025, 11, 31, 23));
    expect(await timeAfter(200, undefined)).toBe(Date.UTC(2025, 11, 31, 23));
    // A gateway in between answers by a clock of its own.
    expect(await timeAfter(502, 'Thu, 01 Jan 2026 12:00:00 GMT')).toBe(Date.UTC(2025, 11, 31, 23));
  });
});

/** A real wait, as the runtime offers it. */
async function abortableWait(ms: number, signal?: AbortSignal): Promise<void> {
  await abortableTimeout(ms, undefined, signal ? { signal } : {});
}

function answer(response: ServerResponse | undefined): void {
  if (response && !response.writableEnded) json(response, 200, { data: {} });
}

/** Lets a test go on when the server has been reached so many times. */
function gate(): { open(count: number): void; reached(count: number): Promise<void> } {
  let count = 0;
  const waiting: { count: number; resolve(): void }[] = [];
  return {
    open: (reached) => {
      count = reached;
      for (const { count: wanted, resolve } of waiting) if (wanted <= count) resolve();
    },
    reached: (wanted) =>
      new Promise((resolve) => {
        if (wanted <= count) resolve();
        else waiting.push({ count: wanted, resolve });
      }),
  };
}
