import { createLog } from '../../src/http/log.ts';
import type { SocketLimits } from '../../src/http/sockets.ts';
import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { requestText, unreadExchange } from '../fixtures/raw-http.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

/** Users whose list is longer than what the operating system keeps for a connection. */
const notes = 'urn:example:notes:2.0:User';
const values = Array.from({ length: 40 }, (_, index) => `${index}${'x'.repeat(6_000)}`);

const lines: JsonObject[] = [];
const data = temporaryFolder();
let service: RunningService;
beforeAll(async () => {
  // The users are created without a short time limit: a busy machine may read an answer more slowly.
  service = await start({});
  const { send } = scimClient(service.url, service.scimToken);
  for (let index = 0; index < 60; index += 1) {
    const user = { schemas: [urns.user, notes], userName: `u${index}@corp.example`, [notes]: { values } };
    expect(await send('POST', '/Users', user)).toMatchObject({ status: 201 });
  }
});
afterEach(() => {
  lines.length = 0;
});
afterAll(async () => {
  await service.close();
  data.remove();
});

/** Starts the complete service with other limits on the same database. */
function start(limits: Partial<SocketLimits>): Promise<RunningService> {
  const environment = { JETBRIDGE_DATA: data.path, SCIM_TOKEN: 'a-scim-token-of-this-test' };
  const log = createLog('info', parseLinesInto(lines));
  return startService(environment, { background: false, log, limits });
}

async function restart(limits: Partial<SocketLimits>): Promise<number> {
  await service.close();
  service = await start(limits);
  lines.length = 0;
  return Number(new URL(service.url).port);
}

const textOf = (method: string, target: string, headers: Record<string, string> = {}) => {
  const Authorization = `Bearer ${service.scimToken}`;
  return requestText({ method, target, headers: { Connection: 'keep-alive', Authorization, ...headers } });
};
const long = '/scim/v2/Users?count=200';

test('a client that does not read is disconnected after the time limit, and the log says why', async () => {
  const port = await restart({ unreadMs: 100 });
  const client = unreadExchange(port, textOf('GET', long));
  const isCut = ({ cut, status }: JsonObject) => cut === 'notRead' && status === 499;
  await eventually(async () => expect(lines.filter(isCut)).toHaveLength(1));
  const text = await client.read();
  expect(text.endsWith('\r\n0\r\n\r\n')).toBe(false);
  // A client that reads is served. On a busy machine this one may be too slow at first.
  const reader = scimClient(service.url, service.scimToken);
  await eventually(async () =>
    expect((await reader.send('GET', '/Users?count=200')).body.itemsPerPage).toBeGreaterThan(59),
  );
});

test('a response that has begun is never mixed with a 408 for the body of a later request', async () => {
  const port = await restart({ requestMs: 300 });
  const headers = { 'Content-Type': 'application/scim+json', 'Content-Length': '100' };
  const text = `${textOf('GET', long)}${textOf('POST', '/scim/v2/Users', headers)}{"a":`;
  const client = unreadExchange(port, text);
  const isCut = ({ status }: JsonObject) => status === 499;
  await eventually(async () => expect(lines.filter(isCut).length).toBeGreaterThan(0));
  const received = await client.read();
  expect([...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)).toEqual(['200']);
  expect(received.endsWith('\r\n0\r\n\r\n')).toBe(false);
});
