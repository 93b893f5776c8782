import { Agent, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { gunzipSync } from 'node:zlib';

const TIMEOUT_MS = 30_000;

/** A request exactly as it goes over the wire. */
export interface WireRequest {
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** What came back; header names in lower case. */
export interface WireReply {
  status: number;
  headers: Record<string, string | undefined>;
  body: string;
}

/** Sends requests over connections that are kept. */
export interface Wire {
  /** `target` is the path with its query, to the letter: an HTTP library would encode it anew. */
  send(origin: string, target: string, request: WireRequest): Promise<WireReply>;
  close(): void;
}

/** A wire to any service. */
export function wire(): Wire {
  const plain = new Agent({ keepAlive: true });
  const secure = new SecureAgent({ keepAlive: true });
  return {
    send: (origin, target, { method, headers, body }) =>
      new Promise((resolve, reject) => {
        const isSecure = origin.startsWith('https:');
        const [open, agent] = isSecure ? [requestHttps, secure] : [requestHttp, plain];
        const request = open(
          origin,
          { method, path: target, headers, agent, timeout: TIMEOUT_MS },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', reject);
            response.on('end', () => {
              const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
              const status = response.statusCode ?? 0;
              resolve({ status, headers: Object.fromEntries(flat), body: textOf(chunks, response.headers) });
            });
          },
        );
        request.on('error', reject);
        request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
        request.end(body);
      }),
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function textOf(chunks: Buffer[], headers: { 'content-encoding'?: string | undefined }): string {
  const bytes = Buffer.concat(chunks);
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}
