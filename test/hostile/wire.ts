import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A raw response, and whether the server then closed the connection. */
export interface WireAnswer {
  status: number;
  headers: Map<string, string>;
  text: string;
  isClosed: boolean;
}

/** A persistent connection that sends any bytes without normalizing them. */
export interface Wire {
  /** Sends bytes and waits for one response. Rejects if the server closes the connection without one. */
  send(bytes: Buffer): Promise<WireAnswer>;
  close(): void;
}

/** Opens a connection to a server on this machine. */
export async function openWire(url: string): Promise<Wire> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.setNoDelay(true);
  const answers = answersOf(socket);
  return {
    send: (bytes) => {
      socket.write(bytes);
      return answers.next(isHead(bytes));
    },
    close: () => void socket.destroy(),
  };
}

/** A response to HEAD has no body, whatever its Content-Length is. */
function isHead(bytes: Buffer): boolean {
  return bytes.subarray(0, 5).toString('latin1') === 'HEAD ';
}

function answersOf(socket: Socket) {
  let received = Buffer.alloc(0);
  let isEnded = false;
  const ended = () => {
    isEnded = true;
    socket.emit('came');
  };
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    socket.emit('came');
  });
  // A reset after a response counts as a normal close.
  socket.on('error', ended);
  socket.on('close', ended);
  return {
    next: async (isBodiless: boolean): Promise<WireAnswer> => {
      for (;;) {
        const read = readAnswer(received, isBodiless, isEnded);
        // An interim response, such as 100, is followed by the final one.
        if (read && read.status >= 200) {
          received = received.subarray(read.length);
          return { status: read.status, headers: read.headers, text: read.text, isClosed: read.closes };
        }
        if (read) received = received.subarray(read.length);
        else if (isEnded) throw new Error(`The server closed without an answer: ${received.toString()}`);
        else await once(socket, 'came');
      }
    },
  };
}

interface Read extends Omit<WireAnswer, 'isClosed'> {
  closes: boolean;
  length: number;
}

/** A response to an HTTP/1.0 client without Content-Length ends when the connection is closed. */
function readAnswer(bytes: Buffer, isBodiless: boolean, isEnded: boolean): Read | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Map(lines.map((line) => pair(line)));
  const begin = end + 4;
  const closes = headers.get('connection') === 'close';
  const rest = closes && !headers.has('content-length') ? bytes.length - begin : 0;
  const length = isBodiless ? 0 : Number(headers.get('content-length') ?? rest);
  if (closes && !isEnded) return undefined;
  if (bytes.length < begin + length) return undefined;
  return {
    status: Number(first.split(' ')[1]),
    headers,
    text: bytes.subarray(begin, begin + length).toString(),
    closes,
    length: begin + length,
  };
}

function pair(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
