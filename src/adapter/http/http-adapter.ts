import { urlToHttpOptions } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw } from 'node:zlib';
import axios, { type AxiosAdapter, AxiosError, CanceledError, type InternalAxiosRequestConfig } from 'axios';
import { type buildConnector, type Dispatcher, Pool } from 'undici';

/**
 * Maximum size of a response in bytes, also after decompression; a larger one is refused. A page of 100 travelers is
 * well below 1 MB.
 */
const MAX_RESPONSE_BYTES = 8_000_000;

/** The content codings that a response may have (RFC 9110 §8.4.1). */
export const acceptEncoding = 'gzip, deflate, br';

/**
 * Idle sockets are closed after this time, in milliseconds. It is shorter than the keep-alive time of servers (Node: 5
 * s), so that requests are seldom sent over a socket that the server is closing.
 */
const IDLE_SOCKET_MS = 4_000;

/** Sends the requests of axios to one HTTP API. */
export interface HttpAdapter {
  send: AxiosAdapter;
  /** Closes all sockets; requests under way fail. */
  close(): void;
}

/**
 * Creates an adapter with which axios calls one HTTP API through undici (docs/decisions/0040-undici-sends-travel-calls.md). The bodies of
 * requests and responses are text, and a response of any status is a result. The credential is sent only to the configured
 * address: no redirect is followed, and the proxy variables of the environment are ignored. No request is sent twice.
 *
 * @param baseUrl The URL to which `config.url` is added.
 * @param connect Options of the sockets, such as trusted certificates.
 */
export function httpAdapter(baseUrl: string, connect: buildConnector.BuildOptions = {}): HttpAdapter {
  const url = new URL(baseUrl);
  const { auth } = urlToHttpOptions(url);
  const credential = auth ? ['Authorization', `Basic ${Buffer.from(auth).toString('base64')}`] : [];
  const pool = new Pool(url.origin, {
    ...{ connect, keepAliveTimeout: IDLE_SOCKET_MS, maxResponseSize: MAX_RESPONSE_BYTES },
    // The caller limits the time of each request by its signal.
    ...{ headersTimeout: 0, bodyTimeout: 0 },
  });
  return {
    send: async (config) => {
      const { data: body = null, signal = null } = config;
      // axios declares a method as any text, and a signal with optional members.
      const request = { path: pathOf(url, config), method: config.method as Dispatcher.HttpMethod };
      const options = { body, signal: signal as AbortSignal | null };
      const own = [...config.headers].flatMap(([name, value]) => [name, String(value)]);
      const headers = [...own, ...credential];
      const fail = (error: unknown, isAnswered: boolean): never => {
        if (signal?.aborted) throw new CanceledError(undefined, config, request);
        throw AxiosError.from(error as Error, errorCode(error, isAnswered), config, request); // undici rejects with errors only.
      };
      const response = await pool
        .request({ ...request, ...options, headers })
        .catch((error) => fail(error, false));
      const data = await readText(response).catch((error) => fail(error, true));
      // The socket is free for another request when this turn of the event loop is over.
      await new Promise((resolve) => setImmediate(resolve));
      const { statusCode: status, statusText, headers: answered } = response;
      return { status, statusText, headers: { ...answered }, data, config, request };
    },
    close: () => void pool.destroy(),
  };
}

/** Returns the path and query of a request, percent-encoded. */
function pathOf({ origin, pathname }: URL, { url = '', params }: InternalAxiosRequestConfig): string {
  const path = pathname.replace(/\/+$/, '') + (params ? axios.getUri({ url, params }) : url);
  // Paths in the settings file may contain other characters, such as blanks.
  if (/^[!-~]*$/.test(path)) return path;
  const encoded = new URL(origin + path);
  return encoded.pathname + encoded.search;
}

/** The codes of undici's errors for which Node or axios has a code of its own. */
const knownCodes = new Map([
  ['UND_ERR_SOCKET', 'ECONNRESET'],
  ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', AxiosError.ERR_BAD_RESPONSE],
]);

/** `isAnswered`: the response has begun, so that a connection that is closed then is one of an incomplete response. */
function errorCode(error: unknown, isAnswered: boolean): string | undefined {
  const { name, message, code: own } = Object(error);
  // undici has the second one for a 100 (Continue), which no request asks for, and for an upgrade.
  if (name === 'HTTPParserError' || message === 'bad response') return AxiosError.ERR_BAD_RESPONSE;
  const code = knownCodes.get(own) ?? own;
  return isAnswered && code === 'ECONNRESET' ? AxiosError.ERR_BAD_RESPONSE : code;
}

/** Reads the body of a response as UTF-8 text without a byte order mark. */
async function readText({ body, headers }: Dispatcher.ResponseData): Promise<string> {
  const bytes = Buffer.from(await body.arrayBuffer());
  const decompress = decompressors.get(String(headers['content-encoding']).toLowerCase());
  const text = (decompress ? await decompress(bytes) : bytes).toString();
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

type Decompress = (body: Buffer) => Promise<Buffer>;

const zlibOptions = { maxOutputLength: MAX_RESPONSE_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
const gunzipBody: Decompress = (body) => promisify(gunzip)(body, zlibOptions);
/** Some servers leave out the header of the zlib format (RFC 1950), whose first byte is 0x78. */
const inflateBody: Decompress = (body) =>
  promisify(body[0] === 0x78 ? inflate : inflateRaw)(body, zlibOptions);
const brotliOptions = { maxOutputLength: MAX_RESPONSE_BYTES, finishFlush: constants.BROTLI_OPERATION_FLUSH };

const decompressors = new Map<string, Decompress>([
  ['gzip', gunzipBody],
  ['x-gzip', gunzipBody],
  ['deflate', inflateBody],
  ['br', (body) => promisify(brotliDecompress)(body, brotliOptions)],
]);
