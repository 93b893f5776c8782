import type { Socket } from 'node:net';
import type { NextFunction, RequestHandler } from 'express';

/**
 * Begins at most one request of a socket in each turn of the event loop. A client may send many at once, and Node reads
 * them all in one turn; those of other sockets, which are read next, would wait for all of them.
 */
export function oneRequestATurn(): RequestHandler {
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
