import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

const SCIM_TOKEN = 'a-token-that-the-operator-chose';
const FLOOD = 30;

/** The service with its log, whose lines give the order of the responses. */
let service: RunningService;
let lines: JsonObject[];
/** Each test has a minute of its own, in which fifty requests without a credential have lines. */
const time = clock();
beforeAll(async () => {
  lines = [];
  service = await startService(
    { SCIM_TOKEN },
    { background: false, log: createLog('info', parseLinesInto(lines)), strangerClock: time },
  );
});
afterAll(() => service.close());
beforeEach(() => {
  time.advance(60_000);
  lines.length = 0;
});

async function open(): Promise<Socket> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').resume();
  await once(socket, 'connect');
  return socket;
}

const requestText = (path: string, id: string, token: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: ${id}\r\n\r\n`;

test.each([
  ['refused requests', '/scim/v2/Users', 'nobodys'],
  ['valid requests', '/scim/v2/Users', SCIM_TOKEN],
  ['requests for an unknown path', '/nothing', 'nobodys'],
])('%s that one socket sends at once do not delay those of other sockets', async (_title, path, token) => {
  const [flooding, other] = [await open(), await open()];
  const flood = Array.from({ length: FLOOD }, (_, at) => requestText(path, `flood-${at}`, token));
  flooding.write(flood.join(''));
  other.write(requestText('/scim/v2/Users', 'other', SCIM_TOKEN));
  await eventually(async () => expect(lines).toHaveLength(FLOOD + 1));
  const order = lines.map(({ requestId }) => requestId);
  expect(order.filter((id) => id !== 'other')).toEqual(flood.map((_, at) => `flood-${at}`));
  // At most one request of the flood starts in each turn of the event loop. Some turns pass before the other
  // request is read.
  expect(order.indexOf('other')).toBeLessThan(FLOOD / 3);
  flooding.destroy();
  other.destroy();
});
