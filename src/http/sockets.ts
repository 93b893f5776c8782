import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { NextFunction, RequestHandler } from 'express';
import { noteUnreadResponse } from './log.ts';

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
export function socketLimits(connections: number): SocketLimits {
  return { connections, requestMs: 30_000, unreadMs: 30_000, requests: 10_000, waiting: 32 };
}

/** How often Node looks for requests that are late, as a part of the time that they have. */
const CHECKS_PER_TIMEOUT = 10;

/** What Node must know of the limits when it makes a server. */
export function serverOptions({ requestMs }: SocketLimits): ServerOptions {
  return {
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: Math.ceil(requestMs / CHECKS_PER_TIMEOUT),
  };
}

/** What a limited server does with requests. */
export interface LimitHandlers {
  handle: RequestListener;
  /** Answers a request that is one too many on its socket, which closes after that. */
  refuse: RequestListener;
  /** Answers a request with an Expect that the service does not know. */
  refuseExpectation: RequestListener;
  /** Answers what cannot be read, or comes too late, and ends the connection. */
  answerFault(error: Error, socket: Socket): void;
}

/** A request, and what answers it. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  answer: RequestListener;
}

/** Requests of one socket: the one that is answered now, and those that wait behind it. */
interface SocketQueue {
  /** How many there were. */
  count: number;
  current: ServerResponse | undefined;
  waiting: Exchange[];
  /** The request that was begun last. */
  last: IncomingMessage | undefined;
  /** How many came after the last that is answered; undefined: that one has not come. */
  ignored: number | undefined;
}

/** So many requests in one packet are no mistake: their socket is closed at once. */
const MAX_IGNORED = 256;

/**
 * Serves the requests of a server within the limits. Those of one socket are answered one after the other: a client that
 * sends many at once waits for itself, and holds no more than one answer in memory.
 */
export function serveWithLimits(
  server: Server,
  limits: SocketLimits,
  { handle, refuse, refuseExpectation, answerFault }: LimitHandlers,
) {
  const queues = new WeakMap<Socket, SocketQueue>();
  server.maxConnections = limits.connections;
  server.timeout = limits.unreadMs;
  const begin = (queue: SocketQueue, { request, response, answer }: Exchange) => {
    queue.current = response;
    queue.last = request;
    // "close" comes once, after the answer or when the client went away before it.
    response.once('close', () => goOn(queue, request.socket));
    answer(request, response);
  };
  const goOn = (queue: SocketQueue, socket: Socket) => {
    queue.current = undefined;
    const next = socket.destroyed ? undefined : queue.waiting.shift();
    if (next) begin(queue, next);
    if (queue.waiting.length === 0) socket.resume();
  };
  const take = (exchange: Exchange) => {
    const { request, response } = exchange;
    const { socket } = request;
    const queue = queues.get(socket) ?? newQueue();
    queues.set(socket, queue);
    if (queue.ignored !== undefined) {
      countIgnored(queue, socket);
      return;
    }
    queue.count += 1;
    if (queue.count >= limits.requests) {
      // Node then sends `Connection: close`, and closes the socket behind the answer.
      response.shouldKeepAlive = false;
      queue.ignored = 0;
    }
    if (!queue.current) begin(queue, exchange);
    else if (queue.waiting.length < limits.waiting) {
      queue.waiting.push(exchange);
      // What is read already is still parsed; the rest stays with the client.
      socket.pause();
    } else {
      queue.ignored = 0;
      response.shouldKeepAlive = false;
      refuse(request, response);
    }
  };
  server.on('request', (request, response) => take({ request, response, answer: handle }));
  server.on('checkExpectation', (request, response) =>
    take({ request, response, answer: refuseExpectation }),
  );
  handleSocketFaults(server, queues, answerFault);
}

/** Closes the sockets of clients whose requests cannot be read or come too late, or that do not read. */
function handleSocketFaults(
  server: Server,
  queues: WeakMap<Socket, SocketQueue>,
  answerFault: LimitHandlers['answerFault'],
): void {
  server.on('clientError', (error: Error, socket: Socket) => {
    const queue = queues.get(socket);
    if (!socket.writable || !queue || isResponseExpected(queue)) answerFault(error, socket);
    else if (!queue.current) socket.destroySoon();
    else if (queue.current.headersSent) socket.destroy();
    else closeAfterCompleteRequests(queue, queue.current);
  });
  server.on('timeout', (socket) => {
    const current = queues.get(socket)?.current;
    const isUnread = socket.writableLength > 0;
    // The service itself is at work: the client has nothing to read yet.
    if (current && !isUnread) return;
    if (current) noteUnreadResponse(current);
    socket.destroy();
  });
}

function newQueue(): SocketQueue {
  return { count: 0, current: undefined, waiting: [], last: undefined, ignored: undefined };
}

/**
 * Whether the client takes a response to a fault as the one to the faulty request: nothing is sent on the socket meanwhile,
 * no whole request is to be answered before, and the faulty request has no response yet.
 */
function isResponseExpected({ current, last }: SocketQueue): boolean {
  if (!current) return last === undefined || last.complete;
  return !current.headersSent && last?.complete === false;
}

/** Closes a socket behind the responses to the requests that came whole; the request with the fault gets none. */
function closeAfterCompleteRequests(queue: SocketQueue, current: ServerResponse): void {
  queue.waiting = queue.waiting.filter(({ request }) => request.complete);
  const last = queue.waiting.at(-1)?.response ?? current;
  last.shouldKeepAlive = false;
  queue.ignored ??= 0;
}

function countIgnored(queue: SocketQueue, socket: Socket): void {
  queue.ignored = (queue.ignored ?? 0) + 1;
  if (queue.ignored > MAX_IGNORED) socket.destroy();
}

/**
 * Begins at most one request of a socket in each turn of the event loop. A client may send many at once, and Node reads
 * them all in one turn; those of other sockets, which are read next, would wait for all of them.
 */
export function oneRequestPerTurn(): RequestHandler {
  const queues = new WeakMap<Socket, NextFunction[]>();
  return ({ socket }, _response, next) => {
    const known = queues.get(socket);
    if (known) {
      known.push(next);
      return;
    }
    const waiting: NextFunction[] = [];
    const takeTurn = () => {
      const first = socket.destroyed ? undefined : waiting.shift();
      if (!first) {
        queues.delete(socket);
        return;
      }
      setImmediate(takeTurn);
      first();
    };
    queues.set(socket, waiting);
    setImmediate(takeTurn);
    next();
  };
}
