/** The bearer token of the service under test. */
export const TOKEN = 'hostile-tests-token-0123456789abcdef';

/** A request and its permitted outcome. */
export interface Hostile {
  title: string;
  bytes: Buffer;
  /** The permitted statuses. */
  status: number | number[];
  scimType?: string;
  /** True if the server closes the connection. */
  isLast?: boolean;
}

interface Parts {
  /** Headers that are undefined are left out. */
  headers?: Record<string, string | undefined>;
  body?: string | Buffer;
}

/** Builds the bytes of a request to the SCIM service, with a valid token unless `headers` has another. */
export function request(method: string, path: string, { headers = {}, body }: Parts = {}): Buffer {
  return rawRequest(method, `/scim/v2${path}`, {
    headers: { Authorization: `Bearer ${TOKEN}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

/** Builds the bytes of a request to any target. */
export function rawRequest(method: string, target: string, { headers = {}, body }: Parts): Buffer {
  const content = body === undefined ? undefined : Buffer.from(body);
  const all: Record<string, string | undefined> = {
    Host: 'localhost',
    ...(content ? { 'Content-Type': 'application/scim+json', 'Content-Length': String(content.length) } : {}),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  );
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return content ? Buffer.concat([head, content]) : head;
}

/** Encodes a body for `Transfer-Encoding: chunked`. */
export function chunked(body: string, size = 60_000): Buffer {
  const pieces: string[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.slice(at, at + size);
    pieces.push(`${piece.length.toString(16)}\r\n${piece}\r\n`);
  }
  return Buffer.from(`${pieces.join('')}0\r\n\r\n`);
}
