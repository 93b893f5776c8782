import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ClientSettings, type TravelClient, travelClient } from '../../src/adapter/http/client.ts';
import { jetbridgeProfile } from '../../src/adapter/profiles/jetbridge.ts';

export interface Recorded {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Answerer = (request: Recorded, response: ServerResponse) => unknown;

export interface TravelServer {
  url: string;
  requests: Recorded[];
  sockets: Socket[];
  /** A client of this server; closed with it. */
  client(settings?: Partial<ClientSettings>): TravelClient;
  close(): Promise<void>;
}

/** Starts a travel API on a free port that responds with `answer` and records its requests. */
export async function travelServer(answer: Answerer): Promise<TravelServer> {
  const requests: Recorded[] = [];
  const sockets: Socket[] = [];
  const clients: TravelClient[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const recorded = { method, url, headers, body: Buffer.concat(chunks).toString() };
    requests.push(recorded);
    answer(recorded, response);
  });
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    requests,
    sockets,
    client: (settings = {}) => {
      const client = travelClient({ ...unlimited, url, token: 'key-1', clock, ...settings });
      clients.push(client);
      return client;
    },
    close: async () => {
      for (const client of clients) client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Settings of a client of our own travel API, without a rate limit. */
export const unlimited: Pick<ClientSettings, 'timeoutMs' | 'concurrency' | 'perSecond' | 'profile'> = {
  timeoutMs: 10_000,
  concurrency: 8,
  perSecond: undefined,
  profile: jetbridgeProfile({}),
};

/** A clock that stands still; its `wait` returns at once. */
const clock = {
  now: () => Date.UTC(2026, 0, 1),
  wallClock: () => Date.UTC(2026, 0, 1),
  wait: async () => {},
};

/** Answers with a status and a JSON body. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
