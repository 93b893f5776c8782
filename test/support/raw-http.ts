import { connect } from 'node:net';

/** A request as text, to be written as it is. */
export interface RawRequest {
  method: string;
  /** Of the whole URL, the path and what follows. */
  target: string;
  headers?: Record<string, string>;
  body?: string;
}

/** The bytes of a request that asks for the connection to be closed after it. */
export function requestText({ method, target, headers = {}, body = '' }: RawRequest): string {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: 'localhost', Connection: 'close', ...headers, ...length });
  const head = [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Writes text, or bytes, to a fresh connection and answers every byte that comes back until the server closes it. */
export function rawExchange(port: number, text: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** A client that has asked and does not read yet. */
export interface UnreadExchange {
  /** Reads until these bytes come, or the server closes the connection, and answers what came. */
  read(until?: string): Promise<string>;
  close(): void;
}

/** Writes text to a fresh connection, and reads nothing. */
export function unreadExchange(port: number, text: string): UnreadExchange {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  // Whether the server closes or resets the connection, the bytes that came tell what the client knows.
  socket.on('error', () => {});
  socket.pause();
  const chunks: Buffer[] = [];
  return {
    read: (until) =>
      new Promise((resolve) => {
        const done = () => resolve(Buffer.concat(chunks).toString());
        socket.on('data', (chunk) => {
          chunks.push(chunk);
          if (until !== undefined && chunk.toString().endsWith(until)) socket.destroy();
        });
        if (socket.closed) done();
        else socket.once('close', done);
        socket.resume();
      }),
    close: () => socket.destroy(),
  };
}
