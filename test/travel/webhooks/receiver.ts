import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { JsonObject } from '../../../src/travel/json.ts';

/** The behaviour of a receiver: a status, no response, a closed connection, an endless body, or no HTTP. */
export type ReceiverBehaviour =
  | number
  | { status: number; headers: Record<string, string> }
  | 'hang'
  | 'close'
  | 'endless'
  | 'noise';

/** A received request. */
export interface ReceivedRequest {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
  event: JsonObject & { id: string; kind: string };
  /** True if it is not the first request of its connection. */
  reused: boolean;
}

/** The endpoint of an application on a free port. */
export interface Receiver {
  url: string;
  port: number;
  received: ReceivedRequest[];
  /** Changes the behaviour; at first it answers 204. */
  behave(
    mood: ReceiverBehaviour | ((request: ReceivedRequest) => ReceiverBehaviour | Promise<ReceiverBehaviour>),
  ): void;
  /** The number of connections so far and the maximum of concurrent requests. */
  connections(): number;
  mostAtOnce(): number;
  /** Resolves after this many requests. */
  waitFor(count: number): Promise<void>;
  close(): Promise<void>;
}

/** With a certificate it serves HTTPS as "localhost". */
export async function openReceiver(tls?: { cert: string; key: string }): Promise<Receiver> {
  let mood: (request: ReceivedRequest) => ReceiverBehaviour | Promise<ReceiverBehaviour> = () => 204;
  let connected = 0;
  let most = 0;
  const open = new Set<ServerResponse>();
  const used = new WeakSet<Socket>();
  const received: ReceivedRequest[] = [];
  const listener: RequestListener = async (request, response) => {
    open.add(response);
    most = Math.max(most, open.size);
    response.on('close', () => open.delete(response));
    const reused = used.has(request.socket);
    used.add(request.socket);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const { method, url: path, headers } = request;
    const one = { method, path, headers, body, event: JSON.parse(body), reused };
    received.push(one);
    server.emit('received');
    answer(response, await mood(one));
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  server.on('connection', () => {
    connected += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${port}/events?from=travel`,
    port,
    received,
    behave: (next) => {
      mood = typeof next === 'function' ? next : () => next;
    },
    connections: () => connected,
    mostAtOnce: () => most,
    waitFor: async (count) => {
      while (received.length < count) await once(server, 'received');
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function answer(response: ServerResponse, mood: ReceiverBehaviour): void {
  if (mood === 'close') response.socket?.destroy();
  else if (mood === 'noise') response.socket?.end('this is not HTTP\r\n\r\n');
  else if (mood === 'endless') endless(response);
  else if (typeof mood === 'number') response.writeHead(mood).end();
  else if (mood !== 'hang') response.writeHead(mood.status, mood.headers).end();
}

/** Writes until the client stops reading. */
function endless(response: ServerResponse): void {
  response.writeHead(200);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  write();
}

/** The signature, computed by the text of the Standard Webhooks specification. */
export function signatureByHand(secret: string, { headers, body }: ReceivedRequest): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
