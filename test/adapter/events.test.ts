import { travelFeed } from '../../src/adapter/events.ts';
import { type Answerer, json, type TravelServer, travelServer } from './travel-server.ts';

let server: TravelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function feedOf(answer: Answerer) {
  server = await travelServer(answer);
  const feed = travelFeed(server.client());
  if (!feed) throw new Error('this travel API has no feed');
  return { server, feed };
}

const meta = { pageKind: 'cursor', limit: 10, order: 'desc', nextAfter: 'c-2' };
const event = (kind: string, more: object = {}) => ({
  id: 'e1',
  type: 'event',
  createdAt: 'x',
  kind,
  ...more,
});

test('the feed requests the newest events, and older ones from a cursor', async () => {
  const { server: travel, feed } = await feedOf((_request, response) =>
    json(response, 200, { data: [], meta }),
  );
  await feed.readPage(10, undefined);
  await feed.readPage(100, 'a/b+c=');
  const asked = travel.requests.map(({ url }) => new URL(url, travel.url));
  expect(asked.map(({ pathname }) => pathname)).toEqual(['/api/events', '/api/events']);
  expect(asked.map(({ searchParams }) => Object.fromEntries(searchParams))).toEqual([
    { pageKind: 'cursor', order: 'desc', limit: '10' },
    { pageKind: 'cursor', order: 'desc', limit: '100', after: 'a/b+c=' },
  ]);
});

test('an event has its kind, its traveler and the previous email', async () => {
  const ada = { id: 'u1', type: 'user', createdAt: 'x', email: 'ada@corp.example', archived: false, moon: 1 };
  const data = [
    event('user.updated', { data: ada, previousAttributes: { email: 'old@corp.example', lang: 'en' } }),
    event('costCenter.created', { data: { id: 'c1', email: 'no@traveler' }, more: [] }),
    event('user.exploded', { data: 'what' }),
    event('solarSystem.updated'),
  ];
  const { feed } = await feedOf((_request, response) => json(response, 200, { data, meta }));
  const { moon: _, type: __, ...fields } = ada;
  const traveler = { ...fields, otherFields: ['moon'] };
  const bare = { id: 'e1', traveler: undefined, previousEmail: undefined };
  expect(await feed.readPage(10, undefined)).toEqual({
    kind: 'ok',
    value: {
      events: [
        { id: 'e1', kind: 'user.updated', traveler, previousEmail: 'old@corp.example' },
        { ...bare, kind: 'costCenter.created' },
        { ...bare, kind: 'user.exploded' },
        { ...bare, kind: 'solarSystem.updated' },
      ],
      next: 'c-2',
    },
  });
});

test('the last page has no cursor', async () => {
  const { feed } = await feedOf((_request, response) =>
    json(response, 200, { data: [], meta: { ...meta, nextAfter: null } }),
  );
  expect(await feed.readPage(10, undefined)).toEqual({ kind: 'ok', value: { events: [], next: undefined } });
});

test.each<[string, Answerer]>([
  ['404', (_request, response) => json(response, 404, { code: 'notFound', message: '' })],
  ['403', (_request, response) => json(response, 403, { code: 'forbidden', message: '' })],
  ['400', (_request, response) => json(response, 400, { code: 'invalidParam', message: '' })],
  ['501', (_request, response) => json(response, 501, { code: 'notImpl', message: '' })],
  [
    'a page by offset',
    (_request, response) => json(response, 200, { data: [], meta: { pageKind: 'offset' } }),
  ],
  [
    'the oldest first',
    (_request, response) => json(response, 200, { data: [], meta: { ...meta, order: 'asc' } }),
  ],
  ['no list', (_request, response) => json(response, 200, { data: {}, meta })],
  ['a list of something else', (_request, response) => json(response, 200, { data: [{ id: 'u1' }], meta })],
])('%s means that there is no feed', async (_title, answer) => {
  const { feed } = await feedOf(answer);
  expect(await feed.readPage(10, undefined)).toEqual({ kind: 'ok', value: 'none' });
});

test.each<[string, Answerer, object]>([
  ['503', (_request, response) => response.writeHead(503).end(), { kind: 'unavailable' }],
  ['401', (_request, response) => response.writeHead(401).end(), { kind: 'unauthorized' }],
  [
    'the page of a gateway',
    (_request, response) => response.writeHead(404).end('<html>'),
    { kind: 'unavailable' },
  ],
  [
    'half an answer',
    (_request, response) => response.writeHead(200).end('{"data":[{'),
    { kind: 'unavailable' },
  ],
  ['a broken connection', (_request, response) => response.destroy(), { kind: 'unavailable' }],
])('%s does not mean that there is no feed', async (_title, answer, meaning) => {
  const { feed } = await feedOf(answer);
  expect(await feed.readPage(10, undefined)).toMatchObject(meaning);
});
