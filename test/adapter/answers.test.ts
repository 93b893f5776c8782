import type { ServerResponse } from 'node:http';
import type { ClientSettings, ReadBody } from '../../src/adapter/http/client.ts';
import { jetbridgeProfile } from '../../src/adapter/profiles/jetbridge.ts';
import type { TravelAnswer } from '../../src/model/travel-ports.ts';
import { json, type TravelServer, travelServer } from './travel-server.ts';

const invalid = {
  code: 'validationFailed',
  message: 'Two fields are invalid.',
  invalid: [
    { field: 'email', value: 'ada', code: 'email', message: 'Must be an address.' },
    { field: 'address.countryCode', value: 7, code: 'country' },
    { value: 'nameless' },
    'no object',
  ],
};
const invalidFields = [
  { field: 'email', code: 'email', message: 'Must be an address.' },
  { field: 'address.countryCode', code: 'country', message: 'country' },
];
const call = 'PATCH /api/users/u1';
const throttled = { kind: 'unavailable', text: `${call}: 503`, isThrottled: true, isDoubtful: true } as const;

interface Row {
  title: string;
  answer: (response: ServerResponse) => unknown;
  meaning: TravelAnswer<unknown>;
  settings?: Partial<ClientSettings>;
}

const rows: Row[] = [
  {
    title: '200 with data is what was asked for',
    answer: (response) => json(response, 200, { data: { id: 'u1' }, meta: { total: 1 }, more: true }),
    meaning: { kind: 'ok', value: { data: { id: 'u1' }, meta: { total: 1 }, more: true } },
  },
  {
    title: '200 with JSON that is nested deeper than 64 levels cannot be read',
    answer: (response) => response.end(`{"data":${'['.repeat(64)}${']'.repeat(64)}}`),
    meaning: { kind: 'unavailable', text: `${call}: the answer cannot be read` },
  },
  {
    title: '201 with data is what was asked for',
    answer: (response) => json(response, 201, { data: { id: 'u1' } }),
    meaning: { kind: 'ok', value: { data: { id: 'u1' } } },
  },
  {
    title: '401 with an empty body is our credential',
    answer: (response) => response.writeHead(401).end(),
    meaning: { kind: 'unauthorized' },
  },
  {
    title: '401 with a page of a gateway is our credential, too',
    answer: (response) => response.writeHead(401).end('<html>Sign in</html>'),
    meaning: { kind: 'unauthorized' },
  },
  {
    title: '403 is forbidden',
    answer: (response) => json(response, 403, { code: 'forbidden', message: 'No.' }),
    meaning: { kind: 'forbidden' },
  },
  {
    title: '404 is not found',
    answer: (response) => json(response, 404, { code: 'notFound', message: 'No such user.' }),
    meaning: { kind: 'notFound' },
  },
  {
    title: '404 with an empty body is not found',
    answer: (response) => response.writeHead(404).end(),
    meaning: { kind: 'notFound' },
  },
  {
    title: '404 with a page of a gateway says nothing about the user',
    answer: (response) => response.writeHead(404).end('default backend - 404'),
    meaning: { kind: 'unavailable', text: `${call}: 404` },
  },
  {
    title: '403 with a page of a gateway says nothing about the user',
    answer: (response) => response.writeHead(403).end('<html>Blocked</html>'),
    meaning: { kind: 'unavailable', text: `${call}: 403` },
  },
  {
    title: '409 is a conflict',
    answer: (response) => json(response, 409, { code: 'conflict', message: 'Taken.' }),
    meaning: { kind: 'conflict' },
  },
  {
    title: '422 names the fields that were refused',
    answer: (response) => json(response, 422, invalid),
    meaning: { kind: 'invalid', fields: invalidFields },
  },
  {
    title:
      'of a 422 with very many long fields, 20 names of 100 characters and 300 characters of messages are read',
    answer: (response) => {
      const fields = Array.from({ length: 5_000 }, (_, n) => `${n}`.padEnd(200, 'x'));
      json(response, 422, { invalid: fields.map((field) => ({ field, code: field, message: field })) });
    },
    meaning: {
      kind: 'invalid',
      fields: Array.from({ length: 20 }, (_, n) => {
        const name = `${n}`.padEnd(100, 'x');
        const message = [`0${'x'.repeat(199)}`, `1${'x'.repeat(99)}`][n] ?? '';
        return { field: name, code: name, message };
      }),
    },
  },
  {
    title: '422 without a body is invalid with no field named',
    answer: (response) => response.writeHead(422).end(),
    meaning: { kind: 'invalid', fields: [] },
  },
  {
    title: '400 names what it names',
    answer: (response) => json(response, 400, { ...invalid, code: 'invalidParam' }),
    meaning: { kind: 'invalid', fields: invalidFields },
  },
  {
    title: '400 without a field is no refusal of a value, and is tried again',
    answer: (response) => json(response, 400, { code: 'badRequest', message: 'No data.' }),
    meaning: { kind: 'unavailable', text: `${call}: 400`, isRejected: true },
  },
  {
    title: '413 is no refusal of a value, and is tried again',
    answer: (response) => json(response, 413, { code: 'badRequest', message: 'Too large.' }),
    meaning: { kind: 'unavailable', text: `${call}: 413`, isRejected: true },
  },
  {
    title: '429 is unavailable for the seconds it says',
    answer: (response) => json(response, 429, { code: 'tooMany' }, { 'retry-after': '7' }),
    meaning: { kind: 'unavailable', text: `${call}: 429`, retryAfterMs: 7_000, isThrottled: true },
  },
  {
    title: '429 concerns everybody, also if it does not say how long',
    answer: (response) => json(response, 429, { code: 'tooMany' }),
    meaning: { kind: 'unavailable', text: `${call}: 429`, isThrottled: true },
  },
  {
    title: 'a Retry-After of any length is a number',
    answer: (response) => response.writeHead(503, { 'retry-after': '9'.repeat(400) }).end(),
    meaning: { ...throttled, retryAfterMs: 1_000_000_000_000 },
  },
  ...[
    ['IMF-fixdate', 'Thu, 01 Jan 2026 00:01:30 GMT'],
    ['RFC 850', 'Thursday, 01-Jan-26 00:01:30 GMT'],
    ['asctime', 'Thu Jan  1 00:01:30 2026'],
  ].map(([form, date = '']) => ({
    title: `503 is unavailable until the date it says (${form})`,
    answer: (response: ServerResponse) => {
      response.sendDate = false;
      response.writeHead(503, { 'retry-after': date }).end('Down for a moment');
    },
    meaning: { ...throttled, retryAfterMs: 90_000 },
  })),
  {
    title: 'the date of a Retry-After counts from that of the answer, as clocks differ',
    answer: (response) =>
      response
        .writeHead(503, {
          date: 'Fri, 02 Jan 2026 07:00:00 GMT',
          'retry-after': 'Fri, 02 Jan 2026 07:00:05 GMT',
        })
        .end(),
    meaning: { ...throttled, retryAfterMs: 5_000 },
  },
  {
    title: 'a Retry-After that has passed is no wait',
    answer: (response) => response.writeHead(503, { 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }).end(),
    meaning: { ...throttled, retryAfterMs: 0 },
  },
  {
    title: 'a Retry-After of another status concerns the person alone',
    answer: (response) => response.writeHead(500, { 'retry-after': '7' }).end(),
    meaning: { kind: 'unavailable', text: `${call}: 500`, retryAfterMs: 7_000 },
  },
  {
    title: 'a Retry-After that cannot be read is passed over',
    answer: (response) => response.writeHead(503, { 'retry-after': 'soon' }).end(),
    meaning: { kind: 'unavailable', text: `${call}: 503` },
  },
  {
    title: '501 is unavailable, and will be',
    answer: (response) => json(response, 501, { code: 'notImpl', message: 'Not here.' }),
    meaning: { kind: 'unavailable', text: `${call}: 501`, isUnsupported: true },
  },
  ...[405, 408, 418, 500, 502, 504].map((status) => ({
    title: `${status} is unavailable`,
    answer: (response: ServerResponse) =>
      json(response, status, { code: 'internalError', message: 'secret' }),
    meaning: { kind: 'unavailable' as const, text: `${call}: ${status}` },
  })),
  {
    title: 'a redirect is unavailable',
    answer: (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    meaning: { kind: 'unavailable', text: `${call}: 302` },
  },
  {
    title: 'garbage is unavailable',
    answer: (response) => response.writeHead(200).end('{"data": {"id": "u1"'),
    meaning: { kind: 'unavailable', text: `${call}: the answer cannot be read` },
  },
  {
    title: 'a success without data is unavailable',
    answer: (response) => json(response, 200, { user: {} }),
    meaning: { kind: 'unavailable', text: `${call}: the answer cannot be read` },
  },
  {
    title: 'a success without a body is unavailable',
    answer: (response) => response.writeHead(200).end(),
    meaning: { kind: 'unavailable', text: `${call}: the answer cannot be read` },
  },
  {
    title: 'a reset before the answer is unavailable',
    answer: (response) => response.socket?.resetAndDestroy(),
    meaning: { kind: 'unavailable', text: `${call}: ECONNRESET`, isUnanswered: true },
  },
  {
    title: 'half an answer is unavailable',
    answer: (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"data": ', () => response.socket?.destroy());
    },
    meaning: { kind: 'unavailable', text: expect.stringContaining(`${call}: E`), isUnanswered: true },
  },
  {
    title: 'an answer that never comes is unavailable when its time is over',
    answer: () => {},
    meaning: { kind: 'unavailable', text: `${call}: no answer within 500 ms`, isUnanswered: true },
    settings: { timeoutMs: 500 },
  },
  {
    title: 'an answer that drips is unavailable when its time is over',
    answer: (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    },
    meaning: { kind: 'unavailable', text: `${call}: no answer within 500 ms`, isUnanswered: true },
    settings: { timeoutMs: 500 },
  },
  {
    title: 'an answer of more than 8 MB is unavailable',
    answer: (response) => response.end(`{"data":"${'x'.repeat(8_000_000)}"}`),
    meaning: { kind: 'unavailable', text: `${call}: ERR_BAD_RESPONSE`, isUnanswered: true },
  },
];

/** Returns the whole body if it has the envelope. */
const readBody: ReadBody<object> = (body) =>
  body && jetbridgeProfile({}).unwrap(body) !== undefined ? body : undefined;

describe('the meaning of a response of the travel API (docs/architecture.md, Answers of the travel API)', () => {
  let server: TravelServer;
  afterEach(() => server.close());

  test.each(rows)('$title', async ({ answer, meaning, settings }) => {
    server = await travelServer((_, response) => answer(response));
    const request = {
      method: 'PATCH',
      path: '/api/users/u1',
      operation: 'updateTraveler',
      body: { data: { firstName: 'Ada' } },
    } as const;

    expect(await server.client(settings).call(request, readBody)).toEqual(meaning);

    expect(server.requests).toEqual([
      {
        method: 'PATCH',
        url: '/api/users/u1',
        body: '{"data":{"firstName":"Ada"}}',
        headers: expect.objectContaining({
          authorization: 'Bearer key-1',
          accept: 'application/json',
          'content-type': 'application/json',
        }),
      },
    ]);
  });

  test.each([
    ['archived alone', { archived: true }, ['archived'], undefined],
    ['a field that was not sent', { archived: true }, ['lastName'], undefined],
    ['another field, too', { archived: true, lang: 'de' }, ['archived', 'lang'], ['lang']],
    ['a part of a field', { archived: true, address: { city: 'x' } }, ['address.city'], ['address.city']],
    ['an element', { archived: true, customFields: [] }, ['customFields[0]'], ['customFields[0]']],
  ])(
    'a 400 never refuses a deactivation: a response that names %s',
    async (_title, change, named, refused) => {
      const fields = named.map((field) => ({ field, code: 'required', message: 'Not so.' }));
      server = await travelServer((_, response) =>
        json(response, 400, { code: 'badRequest', invalid: fields }),
      );
      const request = {
        method: 'PATCH',
        path: '/api/users/u1',
        operation: 'updateTraveler',
        body: { data: change },
        change,
      } as const;
      expect(await server.client().call(request, (body) => body)).toEqual(
        refused
          ? { kind: 'invalid', fields: fields.filter(({ field }) => refused.includes(field)) }
          : { kind: 'unavailable', text: `${call}: 400`, isRejected: true },
      );
    },
  );

  test('a refused connection is unavailable', async () => {
    server = await travelServer(() => {});
    await server.close();
    const answer = await server
      .client()
      .call({ method: 'GET', path: '/api/whoami', operation: 'readOwnUser' }, (body) => body);
    expect(answer).toEqual({
      kind: 'unavailable',
      text: 'GET /api/whoami: ECONNREFUSED',
      isUnanswered: true,
    });
  });

  test('a response that the reader cannot read is unavailable', async () => {
    server = await travelServer((_, response) => json(response, 200, { data: 7 }));
    const answer = await server
      .client()
      .call({ method: 'GET', path: '/api/users/u1', operation: 'readTraveler' }, () => undefined);
    expect(answer).toEqual({ kind: 'unavailable', text: 'GET /api/users/u1: the answer cannot be read' });
  });

  test('the text of a failure contains no address, query or credential', async () => {
    server = await travelServer((_, response) => response.writeHead(500).end());
    const request = {
      method: 'GET',
      path: '/api/users',
      operation: 'searchTravelers',
      query: { emails: 'ada@corp.example' },
    } as const;
    const answer = await server.client().call(request, (body) => body);
    expect(answer).toEqual({ kind: 'unavailable', text: 'GET /api/users: 500' });
    expect(server.requests[0]?.url).toBe('/api/users?emails=ada%40corp.example');
  });
});
