import type { ServerResponse } from 'node:http';
import { json, type TravelServer, travelServer } from './travel-server.ts';

const get = { method: 'GET', path: '/api/whoami' } as const;
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

  test('adds paths to a base URL that has one, with or without a slash at its end', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: {} }));
    await server.client({ url: `${server.url}/travel/` }).call(get, body);
    expect(server.requests[0]?.url).toBe('/travel/api/whoami');
  });

  test('limits the number of concurrent calls, and starts waiting ones in order', async () => {
    const open: ServerResponse[] = [];
    const arrived = gate();
    server = await travelServer((_, response) => {
      open.push(response);
      arrived.open(open.length);
    });
    const client = server.client({ concurrency: 2 });
    const calls = [0, 1, 2, 3].map((n) => client.call({ method: 'GET', path: `/api/users/${n}` }, body));

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
    const late = await client.call({ ...get, path: '/api/users/late', timeoutMs: 40 }, body);
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
    const patch = { method: 'PATCH', path: '/api/users/u1', data: { lang: 'fr' } } as const;
    const merge = 'application/merge-patch+json';
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
      const client = server.client({ patchMediaType: first });
      expect((await client.call(patch, body)).kind).toBe('ok');
      expect(types()).toEqual([first, second]);
      await client.call({ ...patch, method: 'POST' }, body);
      await client.call(patch, body);
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
      expect(await server.client().call({ ...patch, method: 'POST' }, body)).toMatchObject({
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
    expect(await timeAfter(200, 'Thu, 01 Jan 2026 00:05:00 GMT')).toBe(Date.UTC(2026, 0, 1, 0, 5));
    now += 10_000;
    expect(client.serverTime()).toBe(Date.UTC(2026, 0, 1, 0, 5, 10));
    expect(await timeAfter(404, 'Wed, 31 Dec 2025 23:00:00 GMT')).toBe(Date.UTC(2025, 11, 31, 23));
    expect(await timeAfter(200, undefined)).toBe(Date.UTC(2025, 11, 31, 23));
    // A gateway in between answers by a clock of its own.
    expect(await timeAfter(502, 'Thu, 01 Jan 2026 12:00:00 GMT')).toBe(Date.UTC(2025, 11, 31, 23));
  });
});

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
