import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw } from 'node:zlib';
import axios, {
  type AxiosAdapter,
  AxiosError,
  CanceledError,
  type InternalAxiosRequestConfig,
  type RawAxiosResponseHeaders,
} from 'axios';

/**
 * Maximum size of a response in bytes, also after decompression; a larger one is refused. A page of 100 travelers is
 * well below 1 MB.
 */
const MAX_RESPONSE_BYTES = 8_000_000;

/** The content codings that a response may have (RFC 9110 §8.4.1). */
export const acceptEncoding = 'gzip, deflate, br';

/**
 * Creates an adapter with which axios calls one HTTP API. It halves the cost of a call: axios' own adapter parses the URL
 * of each request and prepares for streams, forms, progress events and much else that the travel client does not use.
 * The bodies of requests and responses are text, and a response of any status is a result. The credential is sent only
 * to the configured address: no redirect is followed, and the proxy variables of the environment are ignored.
 *
 * @param baseUrl The URL to which `config.url` is added.
 */
export function httpAdapter(baseUrl: string): AxiosAdapter {
  const { protocol, hostname, port, auth } = urlToHttpOptions(new URL(baseUrl));
  const isSecure = protocol === 'https:';
  const sendRequest = isSecure ? httpsRequest : httpRequest;
  const pathOf = pathBuilder(baseUrl);
  return (config) =>
    new Promise((resolve, reject) => {
      const { method, headers, data, signal } = config;
      if (signal?.aborted) throw new CanceledError(undefined, config);
      const agent: Agent = isSecure ? config.httpsAgent : config.httpAgent;
      const target = { protocol, hostname, port, auth, path: pathOf(config) };
      const request = sendRequest({ ...target, method, headers, agent });
      const removeListener = () => signal?.removeEventListener?.('abort', cancel);
      const fail = (error: Error) => {
        removeListener();
        reject(AxiosError.from(error, undefined, config, request));
      };
      const cancel = () => {
        reject(new CanceledError(undefined, config, request));
        request.destroy();
      };
      signal?.addEventListener?.('abort', cancel);
      request.on('error', fail);
      request.on('response', (response) => {
        const { statusCode: status = 0, statusMessage: statusText = '' } = response;
        // Node leaves out headers that are absent; its type allows them to be undefined.
        const headers = response.headers as RawAxiosResponseHeaders;
        const succeed = (text: string) => {
          removeListener();
          resolve({ status, statusText, headers, data: text, config, request });
        };
        readText(response).then(succeed, fail);
      });
      request.end(data);
    });
}

/** Makes the function that returns the path and query of a request, percent-encoded. */
function pathBuilder(baseUrl: string): (config: InternalAxiosRequestConfig) => string {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/+$/, '');
  return ({ url = '', params }) => {
    const path = basePath + (params ? axios.getUri({ url, params }) : url);
    // Paths in the settings file may contain other characters, such as blanks.
    if (/^[!-~]*$/.test(path)) return path;
    const encoded = new URL(origin + path);
    return encoded.pathname + encoded.search;
  };
}

/** Reads the body of a response as UTF-8 text without a byte order mark. */
async function readText(response: IncomingMessage): Promise<string> {
  const body = await readBody(response);
  const decompress = decompressors.get(response.headers['content-encoding']?.toLowerCase() ?? '');
  const text = (decompress ? await decompress(body) : body).toString();
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function readBody(response: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MAX_RESPONSE_BYTES) return;
      reject(badResponse('The response is too large.'));
      response.destroy();
    });
    response.on('error', () =>
      reject(badResponse('The connection was closed before the end of the response.')),
    );
    response.on('end', () => resolve(Buffer.concat(chunks, size)));
  });
}

function badResponse(message: string): AxiosError {
  return new AxiosError(message, AxiosError.ERR_BAD_RESPONSE);
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
