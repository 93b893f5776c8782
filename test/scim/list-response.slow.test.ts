import { request as httpRequest } from 'node:http';
import type { KyselyPlugin } from 'kysely';
import { eventually } from '../fixtures/eventually.ts';
import { unreadExchange } from '../fixtures/raw-http.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

/** The number of large users, and the size of each in bytes. */
const USERS = 100;
const SIZE = 240_000;
const notes = 'urn:example:notes:2.0:User';

/** The bytes of users in the results of the database since the last reset. */
const read = { bytes: 0 };
const watcher: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => {
    for (const { desired } of result.rows) if (typeof desired === 'string') read.bytes += desired.length;
    return result;
  },
};

let fixture: ScimFixture;
beforeAll(async () => {
  fixture = await scimFixture({ watcher });
  const values = Array.from({ length: 40 }, (_, index) => `${index}${'x'.repeat(SIZE / 40)}`);
  for (let index = 0; index < USERS; index += 1) {
    const { status } = await fixture.send('POST', '/Users', { userName: `u${index}`, [notes]: { values } });
    expect(status).toBe(201);
  }
  expect(
    (await fixture.send('POST', '/Groups', { displayName: 'All', members: [{ value: 'u1' }] })).status,
  ).toBe(201);
});
afterAll(() => fixture.close());
beforeEach(() => {
  read.bytes = 0;
});
afterEach(() => fixture.bridge.failWith(undefined));

const textOf = (path: string, method = 'GET') =>
  `${method} /scim/v2${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\n\r\n`;
const namesIn = (resources: { userName: string }[]) => resources.map(({ userName }) => userName);
const everyName = Array.from({ length: USERS }, (_, index) => `u${index}`);

/** Requests a page and waits until the service waits for the client to read. */
async function begunExchange(path: string) {
  const client = unreadExchange(fixture.port, textOf(path));
  await eventually(async () => expect(read.bytes).toBeGreaterThan(SIZE));
  for (let others = 0; others < 100; others += 1) await fixture.send('GET', '/Users?count=0');
  return client;
}

describe('a long page', () => {
  test.each([
    ['GET', '/Users?count=100', undefined],
    [
      'POST',
      '/Users/.search',
      { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], count: 100 },
    ],
    ['POST', '/.search', { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], count: 100 }],
  ])(
    'has as many resources as were asked for, each as it is by itself (%s %s)',
    async (method, path, body) => {
      const { status, headers, body: page } = await fixture.send(method, path, body);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/scim+json');
      expect(headers.get('content-length')).toBeNull();
      const { Resources, ...rest } = page;
      const schemas = ['urn:ietf:params:scim:api:messages:2.0:ListResponse'];
      const totalResults = path === '/.search' ? USERS + 1 : USERS;
      expect(rest).toEqual({ schemas, totalResults, startIndex: 1, itemsPerPage: USERS });
      expect(namesIn(Resources)).toEqual(everyName);
      expect(Resources[7]).toEqual((await fixture.send('GET', `/Users/${Resources[7].id}`)).body);
    },
  );

  test('obeys filter, attributes and sortBy', async () => {
    const filter = encodeURIComponent(`${notes}:values sw "39x" and not (userName eq "u3")`);
    const path = `/Users?count=100&filter=${filter}&attributes=userName,${notes}:values`;
    const { body } = await fixture.send('GET', path);
    expect(body).toMatchObject({ totalResults: USERS - 1, itemsPerPage: USERS - 1 });
    expect(namesIn(body.Resources)).toEqual(everyName.filter((name) => name !== 'u3'));
    expect(Object.keys(body.Resources[0]).sort()).toEqual(['id', 'schemas', notes, 'userName']);
    const sorted = await fixture.send('GET', '/Users?count=100&sortBy=userName&sortOrder=descending');
    expect(namesIn(sorted.body.Resources)).toEqual(everyName.toSorted().reverse());
  });

  test('is read from the database no faster than the client reads the response', async () => {
    const client = await begunExchange('/Users?count=100');
    // The buffers of a connection hold some megabytes.
    expect(read.bytes).toBeLessThan((USERS * SIZE) / 2);
    const text = await client.read('\r\n0\r\n\r\n');
    expect(text.match(/"userName":/g)).toHaveLength(USERS);
    expect(read.bytes).toBeLessThan(USERS * SIZE * 1.2);
  });

  test('leaves out a user who is deleted before the response reaches it, and itemsPerPage counts the others', async () => {
    const { body: victim } = await fixture.send('POST', '/Users', {
      userName: 'gone',
      [notes]: { values: Array.from({ length: 40 }, (_, index) => `${index}${'y'.repeat(5_000)}`) },
    });
    const client = await begunExchange('/Users?count=200');
    expect((await fixture.send('DELETE', `/Users/${victim.id}`)).status).toBe(204);
    const text = await client.read('\r\n0\r\n\r\n');
    expect(text).not.toContain('"gone"');
    expect(text).toContain(`"itemsPerPage":${USERS}`);
  });

  test('by cursor ends at about 4 MB, and its cursors return all other users, each once', async () => {
    const found: string[] = [];
    let cursor: string | undefined = '';
    do {
      const { body } = await fixture.send('GET', `/Users?count=100&cursor=${cursor}`);
      expect(body.totalResults).toBe(USERS);
      expect(body.itemsPerPage).toBe(body.Resources.length);
      expect(body.startIndex).toBeUndefined();
      const bytes = JSON.stringify(body.Resources).length;
      expect(bytes).toBeLessThan(4_194_304 + SIZE * 1.1);
      if (body.nextCursor !== undefined) expect(bytes).toBeGreaterThan(4_194_304);
      found.push(...namesIn(body.Resources));
      cursor = body.nextCursor;
    } while (cursor !== undefined);
    expect(found).toEqual(everyName);
  });

  test('by cursor continues from users to groups', async () => {
    const found: string[] = [];
    let cursor: string | undefined = '';
    do {
      const { body } = await fixture.send(
        'GET',
        `/?count=100&attributes=userName,displayName,${notes}:values&cursor=${cursor}`,
      );
      for (const { userName, displayName } of body.Resources) found.push(userName ?? displayName);
      cursor = body.nextCursor === undefined ? undefined : encodeURIComponent(body.nextCursor);
    } while (cursor !== undefined);
    expect(found).toEqual([...everyName, 'All']);
  });

  test('is answered to HEAD without a body and without Content-Length', async () => {
    const headers = await new Promise((resolve, reject) => {
      const options = { port: fixture.port, path: '/scim/v2/Users?count=100', method: 'HEAD' };
      httpRequest({ ...options, headers: { Authorization: 'Bearer good' } }, (answer) => {
        answer.resume();
        resolve({ status: answer.statusCode, length: answer.headers['content-length'] });
      })
        .on('error', reject)
        .end();
    });
    expect(headers).toEqual({ status: 200, length: undefined });
  });

  test('that cannot be read is a SCIM error if nothing has been sent yet', async () => {
    fixture.bridge.failWith(new Error('The disk is on fire.'));
    expect(await fixture.send('GET', '/Users?count=100')).toMatchObject({
      status: 500,
      body: { status: '500' },
    });
  });

  test('that cannot be read to its end is cut off, and the log has the cause', async () => {
    const client = await begunExchange('/Users?count=100');
    fixture.bridge.failWith(new Error('The disk is on fire.'));
    const text = await client.read();
    expect(text).toContain('200 OK');
    // The last chunk of a whole answer is empty (RFC 9112 §7.1).
    expect(text.endsWith('\r\n0\r\n\r\n')).toBe(false);
    const lines = () =>
      fixture.lines.filter(({ cut, msg }) => cut === 'fault' || msg === 'a response was aborted by an error');
    await eventually(async () => expect(lines()).toHaveLength(2));
    expect(lines()).toMatchObject([
      { err: { message: 'The disk is on fire.' } },
      { msg: 'request', cut: 'fault' },
    ]);
  });

  test('is read no further when the client closes the connection, and this is not logged as an error', async () => {
    const before = fixture.lines.length;
    const client = await begunExchange('/Users?count=100');
    client.close();
    const isLeft = (line: object) => 'status' in line && line.status === 499;
    await eventually(async () => expect(fixture.lines.slice(before).filter(isLeft)).toHaveLength(1));
    const { bytes } = read;
    for (let others = 0; others < 20; others += 1) await fixture.send('GET', '/Users?count=0');
    expect(read.bytes).toBe(bytes);
    expect(
      fixture.lines.slice(before).filter(({ msg }) => msg === 'a response was aborted by an error'),
    ).toEqual([]);
  });
});

test('a short page has Content-Length, and itemsPerPage before its resources', async () => {
  const { headers, body } = await fixture.send('GET', '/Users?count=100&attributes=userName');
  expect(Number(headers.get('content-length'))).toBeGreaterThan(1000);
  expect(Object.keys(body)).toEqual(['schemas', 'totalResults', 'startIndex', 'itemsPerPage', 'Resources']);
});
