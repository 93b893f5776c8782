import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { noteUnreadResponse } from './log.ts';

/** Limits for one client, and for all clients together. */
export interface SocketLimits {
  /** Open sockets; further ones are closed at once. */
  connections: number;
  /** Time limit for a request to arrive with its body, in milliseconds. After it, the response is 408. */
  requestMs: number;
  /**
   * If a client reads nothing of a response for this time, in milliseconds, its connection is reset. A new connection without a
   * request is closed after the same time.
   */
  unreadMs: number;
  /**
   * An idle socket is kept for this time, in milliseconds: longer than load balancers keep theirs, which is 60 s mostly. The
   * load balancer must close first: it would answer 502 to a request that it sends while the server closes.
   */
  idleMs: number;
  /** Maximum number of requests per socket. The response to the last one has `Connection: close`. */
  requests: number;
  /** Maximum number of pipelined requests that wait on one socket. The next one is refused. */
  waiting: number;
}

/** The limits in production. Only the number of connections is a setting. */
export function socketLimits(connections: number): SocketLimits {
  const times = { requestMs: 30_000, unreadMs: 30_000, idleMs: 75_000 };
  return { ...times, connections, requests: 10_000, waiting: 32 };
}

/** The number of times that Node checks for late requests within the time limit. */
const CHECKS_PER_TIMEOUT = 10;

/** Returns the options of a Node server that enforce the limits. */
export function serverOptions({ requestMs, idleMs }: SocketLimits): ServerOptions {
  return {
    keepAliveTimeout: idleMs,
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: Math.ceil(requestMs / CHECKS_PER_TIMEOUT),
  };
}

/** The handlers that a server with limits calls. */
export interface LimitHandlers {
  handle: RequestListener;
  /** Responds to the request that exceeds the limit of its socket, which is closed after the response. */
  refuse: RequestListener;
  /** Responds to a request with an unknown `Expect` header. */
  refuseExpectation: RequestListener;
  /** Responds to a request that cannot be parsed or is late, and closes the connection. */
  answerFault(error: Error, socket: Socket): void;
}

/** A request with its handler. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  answer: RequestListener;
}

/** The requests of one socket: the current one, and those that wait for it. */
interface SocketQueue {
  /** Requests received so far. */
  count: number;
  current: ServerResponse | undefined;
  waiting: Exchange[];
  /** The request that was started last. */
  last: IncomingMessage | undefined;
  /** The number of requests ignored after the last one that is answered; undefined until that one has arrived. */
  ignored: number | undefined;
}

/** The number of ignored requests after which a client counts as flooding; its socket is then closed at once. */
const MAX_IGNORED = 256;

/**
 * Makes a request handler that enforces the limits. Requests of one socket are handled one after the other, so that a
 * client that pipelines requests delays only itself, and at most one of its responses is in memory.
 */
export function serveWithLimits(
  server: Server,
  limits: SocketLimits,
  { handle, refuse, refuseExpectation, answerFault }: LimitHandlers,
) {
  // The keys are TCP sockets, also under TLS.
  const queues = new WeakMap<Socket, SocketQueue>();
  server.maxConnections = limits.connections;
  server.timeout = limits.unreadMs;
  server.on('connection', (socket: Socket) =>
    resetIfUnread(socket, limits.unreadMs, () => queues.get(socket)?.current),
  );
  const begin = (queue: SocketQueue, { request, response, answer }: Exchange) => {
    if (request.socket.destroyed) return;
    // "close" is emitted once: after the response, or when the client disconnects before it.
    response.on('close', () => startNext(queue, request.socket));
    answer(request, response);
  };
  const startNext = (queue: SocketQueue, socket: Socket) => {
    const next = socket.destroyed ? undefined : queue.waiting.shift();
    setCurrent(queue, next);
    // Node parses all pipelined requests of a socket in one turn of the event loop. Start one of them in each turn:
    // requests of other sockets would wait for all of them.
    if (next) setImmediate(begin, queue, next);
    if (queue.waiting.length === 0) socket.resume();
  };
  const enqueue = (exchange: Exchange) => {
    const { request, response } = exchange;
    const { socket } = request;
    const queue = queues.get(tcpSocketOf(socket)) ?? newQueue();
    queues.set(tcpSocketOf(socket), queue);
    if (queue.ignored !== undefined) {
      countIgnored(queue, socket);
      return;
    }
    queue.count += 1;
    if (queue.count >= limits.requests) {
      // Node sends `Connection: close` and closes the socket after the response.
      response.shouldKeepAlive = false;
      queue.ignored = 0;
    }
    if (!queue.current) {
      setCurrent(queue, exchange);
      begin(queue, exchange);
    } else if (queue.waiting.length < limits.waiting) {
      queue.waiting.push(exchange);
      // Bytes that Node has already read are still parsed; the rest stays in the client's buffer.
      socket.pause();
    } else {
      queue.ignored = 0;
      response.shouldKeepAlive = false;
      refuse(request, response);
    }
  };
  server.on('request', (request, response) => enqueue({ request, response, answer: handle }));
  server.on('checkExpectation', (request, response) =>
    enqueue({ request, response, answer: refuseExpectation }),
  );
  handleSocketFaults(server, queues, answerFault);
}

/** Closes sockets whose requests are malformed or late, and sockets that are idle. */
function handleSocketFaults(
  server: Server,
  queues: WeakMap<Socket, SocketQueue>,
  answerFault: LimitHandlers['answerFault'],
): void {
  server.on('clientError', (error: Error, socket: Socket) => {
    const queue = queues.get(tcpSocketOf(socket));
    if (!socket.writable || !queue || isResponseExpected(queue)) answerFault(error, socket);
    else if (!queue.current) socket.destroySoon();
    else if (queue.current.headersSent) tcpSocketOf(socket).resetAndDestroy();
    else closeAfterCompleteRequests(queue, queue.current);
  });
  server.on('timeout', (socket) => {
    // While there is a response to make or to read, `resetIfUnread` decides.
    if (!queues.get(tcpSocketOf(socket))?.current) socket.destroy();
  });
}

/** The number of times that a socket is looked at within the time limit of reading. */
const LOOKS_PER_TIMEOUT = 30;

/**
 * Resets a connection whose client reads nothing for `unreadMs` milliseconds. The timeout of Node's sockets does not tell: bytes that
 * arrive begin it anew, and a large write makes it twice as long. A reset frees what the operating system has not sent yet; after
 * `destroy` it would keep that for minutes. Looks are counted, not time, so that a pause of this process does not count as one of the client.
 */
function resetIfUnread(
  socket: TcpSocket,
  unreadMs: number,
  findResponse: () => ServerResponse | undefined,
): void {
  /** Bytes that the operating system has taken over, and the number of looks in a row that found no more. */
  let taken = 0;
  let looks = 0;
  const look = () => {
    const { writeQueueSize = 0, bytesWritten = 0 } = socket._handle ?? {};
    const before = taken;
    taken = bytesWritten - writeQueueSize;
    looks = writeQueueSize > 0 && taken === before ? looks + 1 : 0;
    if (looks < LOOKS_PER_TIMEOUT) return;
    const response = findResponse();
    if (response) noteUnreadResponse(response);
    socket.resetAndDestroy();
  };
  const timer = setInterval(look, Math.ceil(unreadMs / LOOKS_PER_TIMEOUT)).unref();
  socket.once('close', () => clearInterval(timer));
}

/** A socket with two members that Node does not document. There is no other way to see how much of one large write is done. */
type TcpSocket = Socket & {
  /** The handle of libuv: bytes that wait for the operating system, and those given to libuv, these included. */
  _handle?: { writeQueueSize: number; bytesWritten: number } | null;
  /** The TCP socket under TLS. Only that one can be reset. */
  _parent?: Socket | null;
};

/** Returns the TCP socket of a connection, under TLS as well. */
function tcpSocketOf(socket: TcpSocket): Socket {
  return socket._parent ?? socket;
}

function setCurrent(queue: SocketQueue, exchange: Exchange | undefined): void {
  queue.current = exchange?.response;
  if (exchange) queue.last = exchange.request;
}

function newQueue(): SocketQueue {
  return { count: 0, current: undefined, waiting: [], last: undefined, ignored: undefined };
}

/**
 * Returns true if the client would take a response sent now for the response to the malformed request: no other
 * response is being sent, no complete request precedes it, and it has no response yet.
 */
function isResponseExpected({ current, last }: SocketQueue): boolean {
  if (!current) return last === undefined || last.complete;
  return !current.headersSent && last?.complete === false;
}

/** Closes a socket after the responses to its complete requests. The malformed request gets no response. */
function closeAfterCompleteRequests(queue: SocketQueue, current: ServerResponse): void {
  queue.waiting = queue.waiting.filter(({ request }) => request.complete);
  const last = queue.waiting.at(-1)?.response ?? current;
  last.shouldKeepAlive = false;
  queue.ignored ??= 0;
}

function countIgnored(queue: SocketQueue, socket: Socket): void {
  queue.ignored = (queue.ignored ?? 0) + 1;
  if (queue.ignored > MAX_IGNORED) tcpSocketOf(socket).resetAndDestroy();
}
