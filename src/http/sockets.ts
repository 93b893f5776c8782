import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { noteUnread } from './scope.ts';

/** What one client, or all of them together, may take of the server. */
export interface SocketLimits {
  /** Sockets that are open at a time; the next one is closed at once. */
  connections: number;
  /** How long a request may take to arrive, its body included, in milliseconds; then 408. */
  requestMs: number;
  /** How long a client may read nothing of an answer, in milliseconds; then its socket is closed. */
  unreadMs: number;
  /** Requests on one socket; the answer to the last one says `Connection: close`. */
  requests: number;
  /** Pipelined requests that wait on one socket while another is answered; the next one is refused. */
  waiting: number;
}

/** The limits of production; only the number of connections is a setting. */
export function limitsOf(connections: number): SocketLimits {
  return { connections, requestMs: 30_000, unreadMs: 30_000, requests: 10_000, waiting: 32 };
}

/** How often Node looks for requests that are late, as a part of the time that they have. */
const LATE_CHECKS = 10;

/** What Node must know of the limits when it makes a server. */
export function limitedOptions({ requestMs }: SocketLimits): ServerOptions {
  return {
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: Math.ceil(requestMs / LATE_CHECKS),
  };
}

/** What a limited server does with requests. */
export interface Handlers {
  handle: RequestListener;
  /** Answers a request that is one too many on its socket, which closes after that. */
  refuse: RequestListener;
}

/** Requests of one socket: the one that is answered now, and those that wait behind it. */
interface Queue {
  /** How many there were. */
  count: number;
  current: ServerResponse | undefined;
  waiting: { request: IncomingMessage; response: ServerResponse }[];
  /** How many came after the last that is answered; undefined: that one has not come. */
  ignored: number | undefined;
}

/** So many requests in one packet are no mistake: their socket is closed at once. */
const MOST_IGNORED = 256;

/**
 * Serves the requests of a server within the limits. Those of one socket are answered one after the other: a client that
 * sends many at once waits for itself, and holds no more than one answer in memory.
 */
export function serveLimited(server: Server, limits: SocketLimits, { handle, refuse }: Handlers) {
  const queues = new WeakMap<Socket, Queue>();
  server.maxConnections = limits.connections;
  server.timeout = limits.unreadMs;
  const begin = (queue: Queue, request: IncomingMessage, response: ServerResponse) => {
    queue.current = response;
    // "close" comes once, after the answer or when the client went away before it.
    response.once('close', () => goOn(queue, request.socket));
    handle(request, response);
  };
  const goOn = (queue: Queue, socket: Socket) => {
    queue.current = undefined;
    const next = socket.destroyed ? undefined : queue.waiting.shift();
    if (next) begin(queue, next.request, next.response);
    if (queue.waiting.length === 0) socket.resume();
  };
  server.on('request', (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket) ?? { count: 0, current: undefined, waiting: [], ignored: undefined };
    queues.set(socket, queue);
    if (queue.ignored !== undefined) {
      ignore(queue, socket);
      return;
    }
    queue.count += 1;
    if (queue.count >= limits.requests) {
      // Node then sends `Connection: close`, and closes the socket behind the answer.
      response.shouldKeepAlive = false;
      queue.ignored = 0;
    }
    if (!queue.current) begin(queue, request, response);
    else if (queue.waiting.length < limits.waiting) {
      queue.waiting.push({ request, response });
      // What is read already is still parsed; the rest stays with the client.
      socket.pause();
    } else {
      queue.ignored = 0;
      refuse(request, response);
    }
  });
  server.on('timeout', (socket) => {
    const current = queues.get(socket)?.current;
    const isUnread = socket.writableLength > 0;
    // The service itself is at work: the client has nothing to read yet.
    if (current && !isUnread) return;
    if (current) noteUnread(current);
    socket.destroy();
  });
}

function ignore(queue: Queue, socket: Socket): void {
  queue.ignored = (queue.ignored ?? 0) + 1;
  if (queue.ignored > MOST_IGNORED) socket.destroy();
}
