import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { receivedNames, webhookFixture } from './fixture.ts';

const fixture = webhookFixture();
const created = { events: ['costCenter.created'] };

/** A server that answers each request with a raw text, or repeats it until the connection closes. */
interface Talker {
  url: string;
  /** The bytes written to all connections. */
  written(): number;
}

let servers: Server[] = [];
afterEach(() => {
  for (const server of servers) server.close();
  servers = [];
});

async function talker(answer: (socket: Socket) => void): Promise<Talker> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    // The client closes the connection while the server writes.
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${Object(server.address()).port}/`,
    written: () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
  };
}

function endlessly(text: string): (socket: Socket) => void {
  return (socket) => {
    const chunk = text.repeat(100);
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
  };
}

test.each([
  ['100 Continue'],
  ['102 Processing'],
  ['103 Early Hints\r\nLink: </a>; rel=preload'],
  ['199 Whatever'],
])('a receiver that answers "%s" without end is disconnected, and others are served', async (head) => {
  const endless = await talker(endlessly(`HTTP/1.1 ${head}\r\n\r\n`));
  const other = await fixture.openReceiver();
  const { id } = await fixture.createWebhook({ url: endless.url, ...created });
  await fixture.createWebhook({ url: other.url, ...created });
  await fixture.createEvent('one');
  // The clock of the test stands still, so no time limit ends the exchange.
  await fixture.deliverAll();
  expect(await fixture.listDeliveries(id)).toMatchObject([
    {
      status: 'pending',
      attempts: [{ error: 'more than 10 interim (1xx) answers came before the final one' }],
    },
  ]);
  expect(receivedNames(other)).toEqual(['one']);
  // Only the buffers of both sockets.
  expect(endless.written()).toBeLessThan(16 * 1024 * 1024);
});

test('some interim answers before the final one do no harm', async () => {
  const polite = await talker((socket) => {
    socket.end(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(10)}HTTP/1.1 204 No Content\r\n\r\n`);
  });
  const { id } = await fixture.createWebhook({ url: polite.url, ...created });
  await fixture.createEvent('one');
  await fixture.deliverAll();
  expect(await fixture.listDeliveries(id)).toMatchObject([
    { status: 'succeeded', attempts: [{ status: 204 }] },
  ]);
});
