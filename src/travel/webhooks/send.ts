import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { codeOf, failureText, guarded, type Resolve, TooManyInterim } from './address-guard.ts';

/** "a reasonable timeout (15-30s)" is the most that Standard Webhooks asks for; here it is for everything, the name look-up included. */
const TIMEOUT_MS = 10_000;
/** So much of an answer is read, so that the connection can be used again; nobody looks at it. */
const MOST_BYTES = 16 * 1024;
/** Interim answers (RFC 9110 §15.2) may come in any number, and reading them takes the time of the whole process. */
const MAX_INTERIM = 10;

/** What sending takes of the world. */
export interface SendingGround {
  clock: {
    /** Epoch milliseconds, by a clock that does not jump: for what waits. */
    now(): number;
    /** Epoch milliseconds, by the wall clock: for what is signed, kept and read. */
    wallClock(): number;
    /** Ends early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  resolve: Resolve;
  /** True: private addresses, too. */
  allowPrivate: boolean;
}

/** A message on its way to one receiver. */
export interface Posting {
  url: string;
  headers: Record<string, string>;
  body: string;
  connections: Connections;
  /** Ends it at once. */
  signal: AbortSignal;
}

/** What came back: the status and what the answer asks for, or why there was none. */
export type Reply = { status: number; retryAfter: string | undefined } | { error: string };

/** Connections to one receiver, kept open from message to message. */
export interface Connections {
  readonly plain: http.Agent;
  readonly secure: https.Agent;
  close(): void;
}

/** Opens nothing yet. */
export function connections(): Connections {
  const kept = { keepAlive: true, maxSockets: 1 };
  const plain = new http.Agent(kept);
  const secure = new https.Agent(kept);
  return {
    plain,
    secure,
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Posts a message and answers what came back in time. Redirects are not followed. */
export async function send(ground: SendingGround, posting: Posting): Promise<Reply> {
  const end = new AbortController();
  const stop = () => end.abort();
  posting.signal.addEventListener('abort', stop);
  if (posting.signal.aborted) stop();
  const late = ground.clock
    .wait(TIMEOUT_MS, end.signal)
    .then((): Reply => ({ error: `no complete answer within ${TIMEOUT_MS / 1000} seconds` }));
  try {
    return await Promise.race([exchange(ground, posting, end.signal), late]);
  } finally {
    stop();
    posting.signal.removeEventListener('abort', stop);
  }
}

/** A connection that was kept may have been closed by the receiver while the message went out: then a new one is tried. */
async function exchange(ground: SendingGround, posting: Posting, signal: AbortSignal): Promise<Reply> {
  for (;;) {
    const { reply, isStale } = await attempt(ground, posting, signal);
    if (!isStale || signal.aborted) return reply;
  }
}

function attempt(
  { resolve, allowPrivate }: SendingGround,
  { url, headers, body, connections: { plain, secure } }: Posting,
  signal: AbortSignal,
): Promise<{ reply: Reply; isStale: boolean }> {
  return new Promise((done) => {
    const fail = (error: unknown, request?: ClientRequest) => {
      const isStale = request?.reusedSocket === true && isReset(error);
      done({ reply: { error: failureText(error) }, isStale });
    };
    try {
      const to = new URL(url);
      const isSecure = to.protocol === 'https:';
      const options = { method: 'POST', headers, signal, lookup: guarded(to, resolve, allowPrivate) };
      const request = isSecure
        ? https.request(to, { ...options, agent: secure })
        : http.request(to, { ...options, agent: plain });
      request.on('error', (error) => fail(error, request));
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM) request.destroy(new TooManyInterim(MAX_INTERIM));
      });
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: answered } = response;
        drain(response, () =>
          done({ reply: { status, retryAfter: answered['retry-after'] }, isStale: false }),
        );
      });
      request.end(body);
    } catch (error) {
      fail(error);
    }
  });
}

/** The status counts; of the body only so much is read, however long it is and however it ends. */
function drain(response: IncomingMessage, done: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) response.destroy();
  });
  response.on('error', done).on('close', done);
}

function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(codeOf(error));
}
