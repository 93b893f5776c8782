import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** What becomes of a request on its way. */
export type Fate =
  | 'pass'
  /** The connection is reset, and the request goes nowhere. */
  | 'reset'
  /** The request is carried out, and the connection reset in place of the answer. */
  | 'loseAnswer'
  /** The request is carried out, and the answer breaks off in the middle. */
  | 'halfAnswer'
  /** Nothing happens until `release`; then the connection is reset. */
  | 'hang'
  /** The connection is reset, and the request is carried out so many milliseconds later. */
  | { late: number }
  | { status: number; headers?: Record<string, string> };

/** A way to a travel API that fails as it is told. */
export interface FaultyProxy {
  url: string;
  /** Decides about each request from now on; the body is the text that was sent. */
  decide(fate: (asked: { method: string; path: string; body: string }) => Fate): void;
  /** How many requests hang now. */
  held(): number;
  /** Resets what hangs. */
  release(): void;
  /** How many requests are being carried out, or are to be later. */
  underWay(): number;
  /** Leads to another address from now on. */
  leadTo(target: string): void;
  /** Refuses connections until `open`, on the same port. */
  shut(): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a proxy in front of the travel service at `target`; everything passes until something else is decided. */
export async function faultyProxy(target: string): Promise<FaultyProxy> {
  const way: Way = { target, fate: () => 'pass', held: new Set(), underWay: 0 };
  const server = createServer((incoming, response) => {
    // A client that leaves in the middle is a part of the test.
    carry(way, incoming, response).catch(() => response.destroy());
  });
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    decide: (fate) => {
      way.fate = fate;
    },
    held: () => way.held.size,
    underWay: () => way.underWay,
    release: () => {
      for (const response of way.held) reset(response);
    },
    leadTo: (other) => {
      way.target = other;
    },
    shut: () => shut(server),
    open: () => listen(server, port),
    close: () => shut(server),
  };
}

interface Way {
  target: string;
  fate: (asked: { method: string; path: string; body: string }) => Fate;
  held: Set<ServerResponse>;
  underWay: number;
}

async function carry(way: Way, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url: path = '' } = incoming;
  const body = await buffer(incoming);
  const fate = way.fate({ method, path, body: body.toString() });
  if (fate === 'pass') return answer(response, await forward(way, incoming, body), 1);
  if (fate === 'reset') return reset(response);
  if (fate === 'hang') return hold(way, response);
  if (typeof fate === 'object' && 'late' in fate) {
    reset(response);
    await forward(way, incoming, body, fate.late);
    return;
  }
  if (typeof fate === 'object') return void response.writeHead(fate.status, fate.headers).end();
  const carried = await forward(way, incoming, body);
  return fate === 'loseAnswer' ? reset(response) : answer(response, carried, 0.5);
}

interface Carried {
  incoming: IncomingMessage;
  body: Buffer;
}

async function forward(way: Way, incoming: IncomingMessage, body: Buffer, afterMs = 0): Promise<Carried> {
  way.underWay += 1;
  try {
    if (afterMs > 0) await delay(afterMs);
    return await sendOn(way.target, incoming, body);
  } finally {
    way.underWay -= 1;
  }
}

function sendOn(target: string, incoming: IncomingMessage, body: Buffer): Promise<Carried> {
  const { method, url, headers } = incoming;
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url ?? '/', target), { method, headers, agent: false }, (answered) => {
      buffer(answered).then((text) => resolve({ incoming: answered, body: text }), reject);
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/** Passes an answer on, or the first part of it under a length that promises the whole. */
function answer(response: ServerResponse, { incoming, body }: Carried, part: number): void {
  const { 'content-type': type = 'application/json', date, 'accept-patch': acceptPatch } = incoming.headers;
  const others = { ...(date ? { date } : {}), ...(acceptPatch ? { 'accept-patch': acceptPatch } : {}) };
  const headers = { 'content-type': type, 'content-length': body.length, ...others };
  response.writeHead(incoming.statusCode ?? 502, headers);
  if (part === 1) response.end(body);
  else response.write(body.subarray(0, body.length * part), () => response.destroy());
}

function hold({ held }: Way, response: ServerResponse): void {
  held.add(response);
  response.once('close', () => held.delete(response));
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
}

function shut(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
