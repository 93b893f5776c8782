import { urlToHttpOptions } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw } from 'node:zlib';
import axios, {
  type AxiosAdapter,
  AxiosError,
  type AxiosResponse,
  CanceledError,
  type InternalAxiosRequestConfig,
  type RawAxiosResponseHeaders,
} from 'axios';
import type { buildConnector, Dispatcher } from 'undici';
// The main module of undici also loads fetch, WebSockets and mocks: 3 MB of memory and 40 ms of each start.
import Pool from 'undici/lib/dispatcher/pool.js';

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
 * Creates an adapter with which axios calls one HTTP API through undici. A call costs a third of one through `node:http`, and a
 * fifth of one through axios' own adapter, which parses the URL of each request and prepares for streams, forms, progress
 * events and much else that the travel client does not use.
 * The bodies of requests and responses are text, and a response of any status is a result. The credential is sent only
 * to the configured address: no redirect is followed, and the proxy variables of the environment are ignored. No request is
 * sent twice.
 *
 * @param baseUrl The URL to which `config.url` is added.
 * @param connect Options of the sockets, such as trusted certificates.
 */
export function httpAdapter(baseUrl: string, connect: buildConnector.BuildOptions = {}): HttpAdapter {
  const url = new URL(baseUrl);
  const pathOf = pathBuilder(url);
  const { auth } = urlToHttpOptions(url);
  const credential = auth ? ['Authorization', `Basic ${Buffer.from(auth).toString('base64')}`] : [];
  // The caller limits the time of each request by its signal.
  const limits = { headersTimeout: 0, bodyTimeout: 0 };
  const pool = new Pool(url.origin, { ...limits, connect, keepAliveTimeout: IDLE_SOCKET_MS });
  return {
    send: (config) =>
      new Promise((resolve, reject) => {
        if (config.signal?.aborted) throw new CanceledError(undefined, config);
        const headers = [...credential];
        for (const [name, value] of config.headers) headers.push(name, String(value));
        // axios declares a method as any text.
        const method = config.method as Dispatcher.HttpMethod;
        const request = { path: pathOf(config), method };
        const handler = responseHandler({ config, request, resolve, reject });
        pool.dispatch({ path: request.path, method, headers, body: config.data }, handler);
      }),
    close: () => void pool.destroy(),
  };
}

/** A request of axios that waits for its response. */
interface Pending {
  config: InternalAxiosRequestConfig;
  /** The request as responses and errors of axios have it. */
  request: { path: string; method: string };
  resolve(response: AxiosResponse<string>): void;
  reject(error: Error): void;
}

/** Creates the handler that settles a request with its response, with an error, or when its signal is aborted. */
function responseHandler({ config, request, resolve, reject }: Pending): Dispatcher.DispatchHandler {
  const { signal } = config;
  let started: Dispatcher.DispatchController | undefined;
  const cancel = () => {
    const error = new CanceledError(undefined, config, request);
    reject(error);
    started?.abort(error);
  };
  signal?.addEventListener?.('abort', cancel);
  const end = () => signal?.removeEventListener?.('abort', cancel);
  const fail = (error: Error, isAnswered: boolean) => {
    end();
    reject(toAxiosError(error, { config, request, isAnswered }));
  };
  const response = { status: 0, statusText: '', headers: {} as RawAxiosResponseHeaders, config, request };
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    onRequestStart: (controller) => {
      started = controller;
      // A request that was canceled while it waited for its socket must not be sent.
      if (signal?.aborted) cancel();
    },
    onResponseStart: (_controller, status, headers, statusText = '') => {
      Object.assign(response, { status, statusText, headers });
    },
    onResponseData: (controller, chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_RESPONSE_BYTES) controller.abort(badResponse('The response is too large.'));
    },
    onResponseEnd: () => {
      const succeed = (data: string) => {
        end();
        resolve({ ...response, data });
      };
      decodeBody(Buffer.concat(chunks, size), response.headers['content-encoding']).then(
        // The socket is free for another request when this turn of the event loop is over.
        (data) => setImmediate(succeed, data),
        (error) => fail(error, true),
      );
    },
    onResponseError: (_controller, error) => fail(error, response.status > 0),
  };
}

/** The codes of undici's errors for which Node has a code of its own. */
const nodeCodes = new Map([
  ['UND_ERR_SOCKET', 'ECONNRESET'],
  ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'],
]);

function toAxiosError(
  error: Error & { code?: string },
  { config, request, isAnswered }: Pick<Pending, 'config' | 'request'> & { isAnswered: boolean },
): AxiosError {
  if (error instanceof AxiosError) return error;
  // Other properties of the first error contain the text of the response. undici has the second one for a 100 (Continue), which no
  // request asks for, and for an upgrade.
  if (error.name === 'HTTPParserError' || error.message === 'bad response') return badResponse(error.message);
  const code = nodeCodes.get(error.code ?? '') ?? error.code;
  if (isAnswered && code === 'ECONNRESET')
    return badResponse('The connection was closed before the end of the response.');
  return AxiosError.from(error, code, config, request);
}

function badResponse(message: string): AxiosError {
  return new AxiosError(message, AxiosError.ERR_BAD_RESPONSE);
}

/** Makes the function that returns the path and query of a request, percent-encoded. */
function pathBuilder({ origin, pathname }: URL): (config: InternalAxiosRequestConfig) => string {
  const basePath = pathname.replace(/\/+$/, '');
  return ({ url = '', params }) => {
    const path = basePath + (params ? axios.getUri({ url, params }) : url);
    // Paths in the settings file may contain other characters, such as blanks.
    if (/^[!-~]*$/.test(path)) return path;
    const encoded = new URL(origin + path);
    return encoded.pathname + encoded.search;
  };
}

/** Decodes the body of a response as UTF-8 text without a byte order mark. */
async function decodeBody(body: Buffer, coding: unknown): Promise<string> {
  const decompress = decompressors.get(String(coding).toLowerCase());
  const text = (decompress ? await decompress(body) : body).toString();
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
