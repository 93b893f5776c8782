import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ReplayOptions, type ReplayResult, replay } from '../../src/replay/report.ts';
import { parseScenario, readScenarios } from '../../src/replay/scenario.ts';

interface Recorded {
  line: string;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}
type Answer = (request: Recorded, response: ServerResponse) => unknown;

const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) =>
  response
    .writeHead(status, { 'content-type': 'application/scim+json; charset=utf-8', ...headers })
    .end(JSON.stringify(body));

const get = { method: 'GET', path: '/Users/1', headers: {}, body: null };

describe('replaying scenarios', () => {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function serve(answer: Answer): Promise<{ url: string; requests: Recorded[]; sockets(): number }> {
    const requests: Recorded[] = [];
    let sockets = 0;
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const line = `${request.method} ${request.url}`;
      const recorded = { line, headers: request.headers, body: Buffer.concat(chunks).toString() };
      requests.push(recorded);
      answer(recorded, response);
    });
    server.on('connection', () => {
      sockets += 1;
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}/scim/v2`, requests, sockets: () => sockets };
  }

  function file(name: string, scenario: unknown): string {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, typeof scenario === 'string' ? scenario : JSON.stringify(scenario));
    return path;
  }

  let serial = 0;
  async function playSteps(
    url: string,
    steps: unknown[],
    more: Partial<ReplayOptions> & { tags?: string[] } = {},
  ): Promise<ReplayResult & { lines: string[] }> {
    serial += 1;
    const lines: string[] = [];
    const { tags = [], ...settings } = more;
    const replayed = await replay({
      scenarios: [parseScenario({ name: `s${serial}`, severity: 'must', tags, steps })],
      url,
      token: 'secret',
      print: (line) => lines.push(line),
      now: () => 0,
      newRun: () => 'r1',
      ...settings,
    });
    return { ...replayed, lines };
  }

  test('requests are sent unchanged except for their variables', async () => {
    const { url, requests, sockets } = await serve((_, response) =>
      json(response, 200, { id: 'a/b', total: 3 }),
    );
    const first = {
      request: {
        method: 'POST',
        path: "/Users?filter=userName+eq+%22sean.o'neil%2b{{run}}%22&token={{token}}",
        headers: { Authorization: 'Bearer  {{token}}', 'Content-Type': 'application/scim+json' },
        body: { schemas: [], '{{extensionUrn}}': { a: null }, active: 'False' },
      },
      expect: { status: [200] },
      capture: { id: 'id', total: 'total', gone: 'x.y' },
    };
    const second = {
      request: { ...get, path: '/Users/{{id}}?count={{total}}&gone={{gone}}' },
      expect: { status: [200], bodyMatches: { total: '{{total}}', id: { $not: '{{gone}}' } } },
    };
    const raw = {
      request: {
        method: 'PUT',
        path: '/Users/1',
        headers: { 'Content-Type': 'text/plain' },
        rawBody: '{"a": NaN, {{run}}',
      },
      expect: { status: [200] },
    };
    const { passed } = await playSteps(url, [first, second, raw]);
    expect(passed).toBe(1);
    expect(requests.map(({ line, body }) => [line, body])).toEqual([
      [
        "POST /scim/v2/Users?filter=userName+eq+%22sean.o'neil%2br1%22&token=secret",
        '{"schemas":[],"urn:ietf:params:scim:schemas:extension:travel:2.0:User":{"a":null},"active":"False"}',
      ],
      ['GET /scim/v2/Users/a%2Fb?count=3&gone=missing-gone', ''],
      ['PUT /scim/v2/Users/1', '{"a": NaN, r1'],
    ]);
    expect(requests[0]?.headers.authorization).toBe('Bearer  secret');
    expect(requests[1]?.headers['content-length']).toBeUndefined();
    expect(sockets()).toBe(1);
  });

  test('a generated body is padded to its size', async () => {
    const { url, requests } = await serve((_, response) => json(response, 413, {}));
    const template = { userName: 'u.{{run}}', name: { givenName: 'Zoë' } };
    const bodyGenerator = { kind: 'padString', template, attribute: 'name.givenName', bytes: 2_000 };
    const request = { method: 'POST', path: '/Users', headers: {}, bodyGenerator };
    await playSteps(url, [{ request, expect: { status: [413] } }]);
    const sent = JSON.parse(requests[0]?.body ?? '');
    expect(sent.userName).toBe('u.r1');
    expect(Buffer.byteLength(sent.name.givenName)).toBe(2_000);
    expect(sent.name.givenName.startsWith('Zoëxx')).toBe(true);
  });

  test('a path that is an absolute URL replaces the base URL', async () => {
    const { url, requests } = await serve((_, response) => json(response, 200, {}));
    const tokenEndpoint = url.replace('/scim/v2', '/oauth/token?a=b');
    const step = { request: { ...get, path: '{{tokenEndpoint}}' }, expect: { status: [200] } };
    expect((await playSteps(url, [step], { variables: { tokenEndpoint } })).passed).toBe(1);
    expect(requests[0]?.line).toBe('GET /oauth/token?a=b');
  });

  test('a compressed answer is decompressed', async () => {
    const { url } = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"id":"1"}')),
    );
    const step = { request: get, expect: { status: [200], bodyMatches: { id: '1' } } };
    expect((await playSteps(url, [step])).failed).toBe(0);
  });

  test('a mismatch is reported with its scenario, step, request, place, expected and actual value', async () => {
    const { url } = await serve(({ line }, response) =>
      line.startsWith('DELETE')
        ? json(response, 500, { detail: 'Oh no.' })
        : json(response, 200, { name: { givenName: 'Bob' } }),
    );
    const read = {
      request: get,
      expect: {
        status: [200],
        headers: { 'Content-Type': 'application/scim+json', ETag: { $exists: true } },
        bodyMatches: { 'name.givenName': 'Ada', active: { $type: 'boolean' } },
      },
    };
    const remove = {
      request: { ...get, method: 'DELETE' },
      expect: { status: [204, 404] },
      note: 'clean-up',
    };
    const { lines, passed, failed } = await playSteps(url, [read, remove, read]);
    expect([passed, failed]).toEqual([0, 1]);
    const differences = [
      '    header ETag',
      '      expected {"$exists":true}',
      '      but was  missing',
      '    name.givenName',
      '      expected "Ada"',
      '      but was  "Bob"',
      '    active',
      '      expected {"$type":"boolean"}',
      '      but was  missing',
    ];
    expect(lines).toEqual([
      `FAILED   s${serial} (must)`,
      '  step 1: GET /scim/v2/Users/1',
      ...differences,
      '  step 2: DELETE /scim/v2/Users/1  (clean-up)',
      '    status',
      '      expected 204 or 404',
      '      but was  500: Oh no.',
      '  step 3: GET /scim/v2/Users/1',
      ...differences,
      '1 scenario: 0 passed, 1 failed, 0 skipped',
    ]);
  });

  describe('expectations of an answer without the preferred status', () => {
    const rows: { title: string; status: number[]; actual: number; expect: object; fails: boolean }[] = [
      {
        title: 'a body when success is preferred and comes',
        status: [200],
        actual: 200,
        expect: { bodyMatches: { a: 1 } },
        fails: true,
      },
      {
        title: 'a body of another success',
        status: [201, 200],
        actual: 200,
        expect: { bodyMatches: { a: 1 } },
        fails: true,
      },
      {
        title: 'no body of 204',
        status: [200, 204],
        actual: 204,
        expect: { bodyMatches: { a: 1 } },
        fails: false,
      },
      {
        title: 'no body of an error where success is preferred',
        status: [200, 404],
        actual: 404,
        expect: { bodyMatches: { a: 1 } },
        fails: false,
      },
      {
        title: 'no body of a success where an error is preferred',
        status: [400, 200],
        actual: 200,
        expect: { bodyMatches: { a: 1 } },
        fails: false,
      },
      {
        title: 'what holds for its status',
        status: [400, 200],
        actual: 200,
        expect: { bodyMatchesByStatus: { 200: { a: 1 } } },
        fails: true,
      },
      {
        title: 'not what holds for another status',
        status: [400, 200],
        actual: 200,
        expect: { bodyMatchesByStatus: { 400: { a: 1 } } },
        fails: false,
      },
      {
        title: 'no media type of 204',
        status: [200, 204],
        actual: 204,
        expect: { headers: { 'Content-Type': 'x/y' } },
        fails: false,
      },
      {
        title: 'the media type of an error',
        status: [200, 404],
        actual: 404,
        expect: { headers: { 'Content-Type': 'x/y' } },
        fails: true,
      },
      {
        title: 'no Location of an error where success is preferred',
        status: [201, 409],
        actual: 409,
        expect: { headers: { Location: { $exists: true } } },
        fails: false,
      },
    ];
    test.each(rows)('$title', async ({ status, actual, expect: more, fails }) => {
      const { url } = await serve((_, response) => {
        if (actual === 204) response.writeHead(204).end();
        else json(response, actual, { b: 2 });
      });
      const { failed } = await playSteps(url, [{ request: get, expect: { status, ...more } }]);
      expect(failed).toBe(fails ? 1 : 0);
    });
  });

  test('a repeated request is sent `count` times, with `concurrency` at once', async () => {
    const open: ServerResponse[] = [];
    let most = 0;
    let answered = 0;
    const { url, requests } = await serve((_, response) => {
      open.push(response);
      most = Math.max(most, open.length);
      // The server answers a round only when its last request has arrived.
      if (open.length < 3 && answered + open.length < 7) return;
      for (const held of open.splice(0)) {
        answered += 1;
        json(held, answered === 1 ? 201 : 409, {});
      }
    });
    const repeat = { count: 7, concurrency: 3, exactlyOne: 201 };
    const { passed } = await playSteps(url, [
      { request: { ...get, repeat }, expect: { status: [201, 409] } },
    ]);
    expect(passed).toBe(1);
    expect(requests).toHaveLength(7);
    expect(most).toBe(3);
  });

  test('two answers with a status that must occur exactly once are a mismatch', async () => {
    const { url } = await serve((_, response) => json(response, 201, {}));
    const repeat = { count: 2, concurrency: 2, exactlyOne: 201 };
    const { lines } = await playSteps(url, [{ request: { ...get, repeat }, expect: { status: [201, 409] } }]);
    expect(lines.slice(2, 5)).toEqual([
      '    statuses',
      '      expected "exactly one 201"',
      '      but was  [201,201]',
    ]);
  });

  test.each([
    { minPerSecond: 20, failed: 0 },
    { minPerSecond: 21, failed: 1 },
  ])('10 requests in half a second are 20 a second: $minPerSecond', async ({ minPerSecond, failed }) => {
    let now = 0;
    const { url } = await serve((_, response) => {
      now += 50;
      json(response, 200, {});
    });
    const request = { ...get, repeat: { count: 10, concurrency: 2, minPerSecond } };
    const replayed = await playSteps(url, [{ request, expect: { status: [200] } }], { now: () => now });
    expect(replayed.failed).toBe(failed);
  });

  test('requests that take less than a millisecond count as if they took one', async () => {
    const { url } = await serve((_, response) => json(response, 200, {}));
    const request = { ...get, repeat: { count: 1, concurrency: 1, minPerSecond: 1_001 } };
    const { failed, lines } = await playSteps(url, [{ request, expect: { status: [200] } }], {
      now: () => 0,
    });
    expect(failed).toBe(1);
    expect(lines.join('\n')).toMatch(/but was +1000$/m);
  });

  test('a lost connection is a mismatch, and the next step is played', async () => {
    const { url, requests } = await serve((_, response) => {
      if (requests.length === 1) response.socket?.destroy();
      else json(response, 200, {});
    });
    const step = { request: get, expect: { status: [200] } };
    const { lines } = await playSteps(url, [step, step]);
    expect(lines.slice(1, 4)).toEqual([
      '  step 1: GET /scim/v2/Users/1',
      '    connection',
      '      expected "an answer"',
    ]);
    expect(lines.some((line) => line.startsWith('  step 2'))).toBe(false);
  });

  test('scenarios that need a missing variable are skipped, and played when it is given', async () => {
    const { url, requests } = await serve((_, response) => json(response, 200, {}));
    const step = { request: get, expect: { status: [200] } };
    const named = { request: { ...get, path: '/Users?x={{clientId}}' }, expect: { status: [200] } };
    expect((await playSteps(url, [step], { tags: ['needs-seed'] })).lines).toEqual([
      `skipped  s${serial}: not given: seedEmail`,
      '1 scenario: 0 passed, 0 failed, 1 skipped',
    ]);
    expect(await playSteps(url, [named], { tags: ['oauth'] })).toMatchObject({ skipped: 1 });
    expect(requests).toHaveLength(0);
    const variables = { seedEmail: 'a@b', clientId: 'c', tokenEndpoint: 'http://h' };
    expect(await playSteps(url, [step], { tags: ['needs-seed'], variables })).toMatchObject({ passed: 1 });
    expect(await playSteps(url, [named], { tags: ['oauth'], variables })).toMatchObject({ passed: 1 });
  });

  test('afterStep is called after each step, with the captured variables', async () => {
    const { url } = await serve((_, response) => json(response, 200, { id: 'u1' }));
    const step = { request: get, expect: { status: [200] }, capture: { id: 'id' }, travel: { email: null } };
    const told: unknown[] = [];
    await playSteps(url, [step, step], {
      afterStep: async (scenario, { travel }, index, { id, run }) => {
        told.push([scenario.name, travel, index, id, run]);
      },
    });
    expect(told).toEqual([0, 1].map((index) => [`s${serial}`, { email: null }, index, 'u1', 'r1']));
  });

  test('the scenarios of a folder are played in order of their names, and each counts once', async () => {
    const { url, requests } = await serve((_, response) => json(response, 200, {}));
    const own = mkdtempSync(join(folder, 'own-'));
    for (const name of ['b', 'a']) {
      const steps = [{ request: { ...get, path: `/${name}` }, expect: { status: [200] } }];
      writeFileSync(join(own, `${name}.json`), JSON.stringify({ name, steps }));
    }
    writeFileSync(join(own, 'README.md'), 'no scenario');
    const lines: string[] = [];
    const base = {
      url,
      token: 't',
      print: (line: string) => lines.push(line),
      now: () => 0,
      newRun: () => 'r',
    };
    await replay({ scenarios: readScenarios(own), ...base });
    expect(requests.map(({ line }) => line)).toEqual(['GET /scim/v2/a', 'GET /scim/v2/b']);
    expect(lines.at(-1)).toBe('2 scenarios: 2 passed, 0 failed, 0 skipped');
  });

  const faulty = (expect: object) => ({ name: 'x', steps: [{ request: get, expect }] });
  const asking = (request: object) => ({
    name: 'x',
    steps: [{ request: { ...get, ...request }, expect: { status: [200] } }],
  });
  test.each([
    ['no JSON', '{', '$: is not JSON'],
    ['no steps', { name: 'x', steps: [] }, 'steps: is empty. Write at least one step.'],
    [
      'no name',
      { steps: [{ request: get, expect: { status: [200] } }] },
      'name: is missing. Write a string.',
    ],
    [
      'an unknown key',
      { ...faulty({ status: [200] }), stepps: [] },
      'stepps: unknown key. Did you mean steps?',
    ],
    [
      'an unknown key in a step',
      faulty({ status: [200], bodyMatchs: {} }),
      'steps[0].expect.bodyMatchs: unknown key. Did you mean bodyMatches? Known here: status, headers, bodyMatches',
    ],
    [
      'a path without a slash',
      asking({ path: 'Users' }),
      'steps[0].request.path: does not begin with /. Write the path below the SCIM base URL, e.g. /Users.',
    ],
    [
      'a path that is not percent-encoded',
      asking({ path: '/Users?filter=userName eq 1' }),
      'steps[0].request.path: has a character that a URL cannot have. Percent-encode it',
    ],
    [
      'an unknown method',
      asking({ method: 'PATHC' }),
      'steps[0].request.method: is not an HTTP method. Did you mean PATCH? SCIM uses GET, POST, PUT, PATCH, DELETE.',
    ],
    [
      'a method in lower case',
      asking({ method: 'post' }),
      'steps[0].request.method: is not an HTTP method. Did you mean POST?',
    ],
    [
      'a wrong status',
      faulty({ status: [20] }),
      'steps[0].expect.status[0]: is not an HTTP status. Write a number from 100',
    ],
    [
      'an unknown matcher',
      faulty({ status: [200], bodyMatches: { a: { $lenn: 1 } } }),
      'steps[0].expect.bodyMatches.a: names the matcher $lenn, which does not exist. Did you mean $len?',
    ],
    [
      'a broken pattern',
      faulty({ status: [200], bodyMatches: { a: { $regex: '(' } } }),
      'steps[0].expect.bodyMatches.a: has a $regex that is no regular expression: (. Correct',
    ],
    [
      'a broken path',
      faulty({ status: [200], bodyMatches: { 'a[': 1 } }),
      'steps[0].expect.bodyMatches["a["]: is not a path. Write e.g. name.givenName',
    ],
  ])('a file with %s is refused with the place and the cure', (title, content, text) => {
    const bad = file(`bad ${title}`, content);
    expect(() => readScenarios(bad)).toThrow(`${bad} ${text}`);
  });

  test('the faults of all files of a folder are told at once', () => {
    const own = mkdtempSync(join(folder, 'own-'));
    for (const name of ['a', 'b'])
      writeFileSync(join(own, `${name}.json`), JSON.stringify({ name, steps: [] }));
    expect(() => readScenarios(own)).toThrow(
      [join(own, 'a.json'), join(own, 'b.json')]
        .map((one) => `${one} steps: is empty. Write at least one step.`)
        .join('\n'),
    );
  });

  test('a path without a file, and a folder without one, are refused', () => {
    const nowhere = join(folder, 'nowhere');
    expect(() => readScenarios(nowhere)).toThrow(`${nowhere} $: does not exist.`);
    const own = mkdtempSync(join(folder, 'own-'));
    expect(() => readScenarios(own)).toThrow(`${own} $: has no *.json file.`);
  });
});
