import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { pino } from 'pino';
import { type Fault, SettingsFault } from '../../src/config/faults.ts';
import { readCertificate } from '../../src/config/transport.ts';
import { type SocketLimits, socketLimits } from '../../src/http/sockets.ts';
import { answerUnreadableRequest } from '../../src/scim/protocol/errors.ts';
import { createHttpServer, type HttpServer } from '../../src/server/http-server.ts';
import { type CertificateFiles, certificateFiles } from '../fixtures/certificate.ts';
import { eventually } from '../fixtures/eventually.ts';

/** More than the operating system keeps for a connection. */
const BODY = Buffer.alloc(32 * 1024 * 1024, 'x');
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe.each(['http', 'https'] as const)('a response that is not read (%s)', (scheme) => {
  let files: CertificateFiles;
  let opened: HttpServer;
  const clients: Socket[] = [];
  const responses: ServerResponse[] = [];
  beforeAll(async () => {
    files = await certificateFiles();
  });
  afterAll(() => files.remove());
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    responses.length = 0;
    await new Promise((resolve) => opened.server.close(resolve).closeAllConnections());
  });

  /** Serves BODY in one write. */
  async function serve(limits: Partial<SocketLimits>): Promise<void> {
    const faults: Fault[] = [];
    const certificate = readCertificate(files, faults);
    if (!certificate) throw new SettingsFault(faults);
    const tls = scheme === 'https' ? { files, certificate } : undefined;
    opened = createHttpServer(tls, pino({ level: 'silent' }), { ...socketLimits(10), ...limits });
    opened.serve({
      handle: (_request, response) => {
        responses.push(response);
        response.end(BODY);
      },
      refuse: (_request, response) => response.writeHead(503).end(),
      refuseExpectation: (_request, response) => response.writeHead(417).end(),
      answerFault: answerUnreadableRequest(() => new Date()),
    });
    // A slow machine must not close a connection whose request has not come.
    opened.server.timeout = 0;
    await new Promise<void>((resolve) => opened.server.listen(0, '127.0.0.1', resolve));
  }

  /** Connects a client that has sent its request and reads nothing. */
  async function unreadClient(): Promise<Socket> {
    const { port } = opened.server.address() as AddressInfo;
    const client =
      scheme === 'https'
        ? connectTls({ port, host: '127.0.0.1', ca: readFileSync(files.cert) })
        : connect(port, '127.0.0.1');
    clients.push(client);
    client.pause();
    client.on('error', () => {});
    await new Promise((resolve) => client.once(scheme === 'https' ? 'secureConnect' : 'connect', resolve));
    client.write(REQUEST);
    return client;
  }

  /** The client has not read the response, so it is closed only if the server has cut it off. */
  const areCutOff = () =>
    eventually(async () => expect(responses.map(({ closed }) => closed)).toEqual([true]), 25_000);

  test('ends with a reset of its connection, and the operating system keeps nothing of it', async () => {
    await serve({ unreadMs: 200 });
    const client = await unreadClient();
    await areCutOff();
    // A socket that is only closed would stay here for minutes with the bytes that the client has no room for.
    await eventually(async () => expect(unsentBytes(opened)).toEqual([]), 25_000);
    expect(client.closed).toBe(false);
  });

  test('ends so also if the client goes on sending', async () => {
    await serve({ unreadMs: 200 });
    const client = await unreadClient();
    client.write('GET / HTTP/1.1\r\nHost: x\r\nX-Long: ');
    const bytes = setInterval(() => client.writable && client.write('x'), 20);
    // The second request would be late after 30 s, and its connection closed for that.
    await areCutOff().finally(() => clearInterval(bytes));
  });

  test('is sent to its end if the client reads some of it now and then', async () => {
    // The sockets are looked at every 10 ms, 30 times within the limit.
    await serve({ unreadMs: 300 });
    const client = await unreadClient();
    let received = 0;
    let pauses = 0;
    let untilPause = BODY.length / 100;
    client.on('data', (chunk) => {
      received += chunk.length;
      untilPause -= chunk.length;
      if (untilPause > 0) return;
      untilPause = BODY.length / 100;
      pauses += 1;
      client.pause();
      setTimeout(() => client.resume(), 10);
    });
    client.resume();
    await eventually(async () => expect(received).toBeGreaterThan(BODY.length));
    expect(pauses).toBeGreaterThan(50);
  });
});

/** The sizes of what Linux has not sent yet on the connections of a server on 127.0.0.1, closed ones included (proc(5), /proc/net/tcp). */
function unsentBytes({ server }: HttpServer): number[] {
  const { port } = server.address() as AddressInfo;
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const columns = rows.map((row) => row.trim().split(/\s+/)).filter(([, address]) => address === local);
  return columns.map(([, , , , queues = '']) => Number.parseInt(queues, 16)).filter((bytes) => bytes > 0);
}
