import type { TravelRequest } from '../../src/adapter/http/client.ts';
import type { NewExchange } from '../../src/model/exchange.ts';
import { type Answerer, json, travelServer } from './travel-server.ts';

const read = { method: 'GET', path: '/api/users/1', operation: 'readTraveler' } as const;
const change = {
  method: 'PATCH',
  path: '/api/users/1',
  operation: 'updateTraveler',
  body: { firstName: 'Ada' },
  mediaTypes: ['application/merge-patch+json'],
} as const;
const poll = { ...read, path: '/api/events', isPolling: true } as const;
const traveler: Answerer = (_, response) => json(response, 200, { data: { id: '1' } }, { etag: '"7"' });
const failure: Answerer = (_, response) => json(response, 500, { code: 'broken' });

/** Makes one call, and returns what is recorded of it. */
async function recordedOf(
  request: TravelRequest,
  { answer, keepsReadBodies = false }: { answer: Answerer; keepsReadBodies?: boolean },
): Promise<NewExchange[]> {
  const recorded: NewExchange[] = [];
  const server = await travelServer(answer);
  try {
    const recorder = {
      record: (exchange: NewExchange) => void recorded.push(exchange),
      keepsReadBodies: (connection: string) => keepsReadBodies && connection === 'okta',
    };
    const client = server.client({ recorder: { recorder, connection: 'okta' } });
    await client.call(request, (body) => body);
  } finally {
    await server.close();
  }
  return recorded;
}

test('a call that changes something is recorded with its bodies and what has caused it', async () => {
  const cause = { person: 'ada', requestId: 'request-1' };
  expect(await recordedOf({ ...change, query: { fields: 'all' }, cause }, { answer: traveler })).toEqual([
    {
      ...{ direction: 'travel', connection: 'okta', ms: 0, person: 'ada', requestId: 'request-1' },
      ...{ method: 'PATCH', path: '/api/users/1?fields=all', status: 200, error: undefined },
      requestHeaders: { 'content-type': 'application/merge-patch+json' },
      responseHeaders: { 'content-type': 'application/json', etag: '"7"' },
      requestBody: '{"firstName":"Ada"}',
      responseBody: '{"data":{"id":"1"}}',
    },
  ]);
});

test('the body of a read is recorded if it has failed, or if the connection keeps the bodies of reads', async () => {
  const bodyOf = async (...call: Parameters<typeof recordedOf>) =>
    (await recordedOf(...call)).map(({ status, responseBody }) => [status, responseBody]);
  const body = '{"data":{"id":"1"}}';
  expect(await bodyOf(read, { answer: traveler })).toEqual([[200, undefined]]);
  expect(await bodyOf(read, { answer: traveler, keepsReadBodies: true })).toEqual([[200, body]]);
  expect(await bodyOf(read, { answer: failure })).toEqual([[500, '{"code":"broken"}']]);
});

test('a poll is recorded only if it has failed', async () => {
  expect(await recordedOf(poll, { answer: traveler })).toEqual([]);
  expect(await recordedOf(poll, { answer: failure })).toMatchObject([{ path: '/api/events', status: 500 }]);
});

test('a call without a response is recorded with the cause', async () => {
  const answer: Answerer = (_, response) => response.destroy();
  expect(await recordedOf(change, { answer })).toMatchObject([
    { path: '/api/users/1', status: undefined, error: 'ECONNRESET', requestBody: '{"firstName":"Ada"}' },
  ]);
  const over = new AbortController();
  const late = { ...poll, deadline: { signal: over.signal, ms: 1 } };
  expect(await recordedOf(late, { answer: () => over.abort() })).toMatchObject([{ error: 'timeout' }]);
});
