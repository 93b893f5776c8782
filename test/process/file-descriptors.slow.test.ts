import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '../fixtures/eventually.ts';
import { runJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';
import { limitDescriptors } from '../fixtures/process-limits.ts';
import { type ServerProcess, startServer } from '../fixtures/server-process.ts';

const folder = temporaryFolder();
const environment = { JETBRIDGE_DATA: folder.path };
/** Keeps one connection open, because a server without descriptors accepts no further one. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let server: ServerProcess;
let sockets: Socket[] = [];
beforeAll(async () => {
  server = await startServer(environment);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  agent.destroy();
  server.kill('SIGTERM');
  await server.exited;
  folder.remove();
});

/** Leaves the server this many descriptors. */
function leave(count: number): void {
  limitDescriptors(server.pid, readdirSync(`/proc/${server.pid}/fd`).length + count);
}

function openSockets(count: number): Promise<unknown> {
  const opened = Array.from({ length: count }, () => connect(Number(new URL(server.url).port), '127.0.0.1'));
  sockets = [...sockets, ...opened];
  // The server resets those for which it has no descriptor.
  for (const socket of opened) socket.on('error', () => {});
  return Promise.all(opened.map((socket) => once(socket, 'connect')));
}

async function readDescriptorConditions(): Promise<object[]> {
  const request = get(`${server.url}/readyz?verbose`, { agent });
  const [response] = await once(request, 'response');
  const { conditions } = JSON.parse(await text(response)) as { conditions: { kind: string }[] };
  return conditions.filter(({ kind }) => kind === 'fileDescriptors');
}

const condition = (detail: unknown) => ({
  ...{ kind: 'fileDescriptors', severity: 'failing', text: detail, since: expect.any(String) },
});

test('a server that runs out of file descriptors is named by /readyz?verbose and doctor', async () => {
  expect(await readDescriptorConditions()).toEqual([]);
  leave(3);
  const few =
    /^A server has few file descriptors left \(\d+ of \d+ are open\) and .*: raise its limit \(ulimit -n\)\.$/;
  await eventually(async () =>
    expect(await readDescriptorConditions()).toEqual([condition(expect.stringMatching(few))]),
  );
  await openSockets(10);
  const none = expect.stringContaining('A server has few file descriptors left (EMFILE)');
  await eventually(async () => expect(await readDescriptorConditions()).toEqual([condition(none)]));
  await eventually(async () => {
    const { out } = await runJetbridge(['doctor'], environment);
    expect(out).toContain('A server has few file descriptors left');
  });
});
