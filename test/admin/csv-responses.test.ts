import { get, type IncomingMessage, request } from 'node:http';
import { operationRouter, type RouterDeps } from '../../src/admin/router.ts';
import { type Operations, operationWith } from '../../src/operations/operation.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type HttpFixture, httpFixture } from '../fixtures/http.ts';

interface Row {
  number: number;
}

const operations = {
  downloadNumbers: operationWith<unknown>()(
    {
      ...{ method: 'get', path: '/numbers.csv', tag: 'Numbers', access: 'anyone' },
      summary: 'Download numbers',
      csv: { number: ({ number }: Row) => number },
    },
    async () => pages,
  ),
} satisfies Operations;

/** The rows of the next download. */
let pages: AsyncIterable<Row[]>;
let fixture: HttpFixture;
beforeAll(async () => {
  const times = { createdAt: 0, lastSeenAt: 0 };
  const session = { hash: 'a-1', subject: 'https://idp.example ada', name: 'ada', role: 'viewer', ...times };
  const sessions = { find: async () => session };
  // A request that changes nothing uses no other dependencies.
  const deps = { sessions, publicUrl: () => '', now: () => 0, isSecure: () => false, acceptsPasswords: true };
  const router = operationRouter(operations, deps as unknown as RouterDeps);
  fixture = await httpFixture((app) => app.use(router));
});
afterAll(() => fixture.close());

function download(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ port: fixture.port, path: '/numbers.csv' }, resolve).on('error', reject);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
}

test('the names of the columns are sent before the first rows are read', async () => {
  let readRows = () => {};
  const isRead = new Promise<void>((resolve) => {
    readRows = resolve;
  });
  pages = (async function* () {
    await isRead;
    yield [{ number: 1 }, { number: 2 }];
    yield [{ number: 3 }];
  })();
  const response = await download();
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text === '\ufeffnumber\r\n') readRows();
  }
  expect(text).toBe('\ufeffnumber\r\n1\r\n2\r\n3\r\n');
  expect(response.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename=numbers.csv',
  });
});

test('no more rows are read than the client takes, and none after it has left', async () => {
  let count = 0;
  let isEnded = false;
  pages = (async function* () {
    try {
      for (;;) {
        count += 1;
        yield Array.from({ length: 500 }, (_, number) => ({ number }));
      }
    } finally {
      isEnded = true;
    }
  })();
  const response = await download();
  response.pause();
  let before = -1;
  // The buffers of the connection are full when nothing more is read between two turns.
  await eventually(async () => {
    const isSteady = count === before;
    before = count;
    expect(isSteady).toBe(true);
  });
  expect(isEnded).toBe(false);
  response.destroy();
  await eventually(async () => expect(isEnded).toBe(true));
});

test('a download from the page is a line of the log, with the session', async () => {
  pages = (async function* () {})();
  const headers = { Cookie: 'jetbridge=secret' };
  await (await fetch(`http://127.0.0.1:${fixture.port}/numbers.csv`, { headers })).text();
  expect(fixture.lines.at(-1)).toMatchObject({
    ...{ msg: 'request', level: 30, path: '/numbers.csv', status: 200, credential: 'admin:a-1' },
  });
});

test('a request that asks for the head reads no rows', async () => {
  let isRead = false;
  pages = (async function* () {
    isRead = true;
    yield [];
  })();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port: fixture.port, path: '/numbers.csv', method: 'HEAD' }, resolve).on('error', reject).end();
  });
  expect([response.statusCode, await textOf(response), isRead]).toEqual([200, '', false]);
});

test('a fault after the beginning closes the connection, so that the file does not look complete', async () => {
  pages = (async function* () {
    yield [{ number: 1 }];
    throw new Error('the disk is gone');
  })();
  await expect(download().then(textOf)).rejects.toThrow('aborted');
  expect(fixture.lines).toContainEqual(
    expect.objectContaining({ msg: 'a response was aborted by an error' }),
  );
});
