import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Exchange, ExchangeDirection, KeptBody } from '../provisioning/exchange-ports.ts';

/** An exchange as it is stored: secrets are redacted, long bodies are truncated. The segment has the connection. */
export interface StoredExchange extends Omit<Exchange, 'connection'> {
  requestBody?: KeptBody | undefined;
  responseBody?: KeptBody | undefined;
}

/** The bodies of an exchange. */
export type KeptBodies = Pick<StoredExchange, 'requestBody' | 'responseBody'>;

/** The two compressed parts of a segment. */
export interface SegmentParts {
  entries: Uint8Array;
  bodies: Uint8Array | undefined;
}

/**
 * The exchanges of a segment as columns. What many exchanges have in common is stored once, as a head. An erased exchange
 * has the head -1.
 */
interface Columns {
  /** The time of the first exchange; `at` is relative to it. */
  start: number;
  heads: Head[];
  head: number[];
  at: number[];
  ms: number[];
  path: string[];
  /** `1`: the person is the one in the path of a SCIM user. */
  person: (string | 0 | 1)[];
  requestId: (string | 0)[];
  /** The `Location` headers that do not end with the path, by index. */
  locations: [number, string][];
}

type Head = [
  direction: ExchangeDirection,
  method: string,
  status: number | null,
  error: string | null,
  requestHeaders: Record<string, string>,
  /** Without `location`. */
  responseHeaders: Record<string, string>,
  /** The beginning of a `Location` header that ends with the path, as that of a resource does. */
  origin: string | null,
];

type BodyRow = [index: number, request: KeptText | null, response: KeptText | null];
/** A truncated text is the only element of an array. */
type KeptText = string | [string];

/** Of the levels of Brotli and of deflate this one costs the least for what it saves. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
/** Up to this length, in characters, compressing costs less than handing the text to another thread. */
const SHORT = 16_384;

/** Returns a segment with these exchanges; undefined stands for an erased one. */
export function segmentOf(exchanges: Iterable<StoredExchange | undefined>): SegmentBuilder {
  const segment = new SegmentBuilder();
  for (const exchange of exchanges) segment.add(exchange);
  return segment;
}

/**
 * A segment that is being filled. Each exchange is added to the columns at once, so that no object of its own has to wait
 * for the end of the segment and be copied by garbage collections.
 */
export class SegmentBuilder {
  readonly #columns: Columns = {
    ...{ start: 0, heads: [], head: [], at: [], ms: [], path: [], person: [], requestId: [], locations: [] },
  };
  readonly #bodies: BodyRow[] = [];
  readonly #headIndexes = new Map<string, number>();
  readonly #people = new Set<string>();
  #beganAt = Number.POSITIVE_INFINITY;
  #endedAt = Number.NEGATIVE_INFINITY;

  /** The number of exchanges. */
  get count(): number {
    return this.#columns.head.length;
  }

  /** The people whose exchanges are found by an index. */
  get people(): ReadonlySet<string> {
    return this.#people;
  }

  /** The times of the first and the last beginning of an exchange. */
  get times(): { first: number; last: number } {
    return { first: this.#beganAt, last: this.#endedAt };
  }

  /** Adds an exchange; undefined stands for an erased one. */
  add(exchange: StoredExchange | undefined): void {
    if (exchange) this.#addExchange(exchange);
    else this.#addErased();
  }

  #addExchange(exchange: StoredExchange): void {
    const columns = this.#columns;
    const { at, path, person, requestId, requestBody, responseBody } = exchange;
    const { location } = exchange.responseHeaders;
    const index = this.count;
    if (this.#beganAt === Number.POSITIVE_INFINITY) columns.start = at;
    this.#beganAt = Math.min(this.#beganAt, at);
    this.#endedAt = Math.max(this.#endedAt, at);
    const origin = originOf(location, path);
    if (location !== undefined && origin === undefined) columns.locations.push([index, location]);
    columns.head.push(this.#headIndexOf(exchange, origin));
    columns.at.push(at - columns.start);
    columns.ms.push(exchange.ms);
    columns.path.push(path);
    columns.person.push(toPersonCode(exchange));
    columns.requestId.push(requestId ?? 0);
    if (person !== undefined && hasRowByPerson(exchange)) this.#people.add(person);
    if (requestBody || responseBody)
      this.#bodies.push([index, toKeptText(requestBody), toKeptText(responseBody)]);
  }

  #addErased(): void {
    const { head, at, ms, path, person, requestId } = this.#columns;
    head.push(-1);
    at.push(0);
    ms.push(0);
    path.push('');
    person.push(0);
    requestId.push(0);
  }

  #headIndexOf(exchange: StoredExchange, origin: string | undefined): number {
    const { direction, method, status, error, requestHeaders, responseHeaders } = exchange;
    let key = `${direction} ${method} ${status} ${error}\n${origin}`;
    for (const name in requestHeaders) key += `\n${name}:${requestHeaders[name]}`;
    key += '\n';
    for (const name in responseHeaders) if (name !== 'location') key += `\n${name}:${responseHeaders[name]}`;
    const known = this.#headIndexes.get(key);
    if (known !== undefined) return known;
    const { location: _location, ...others } = responseHeaders;
    const { heads } = this.#columns;
    heads.push([direction, method, status ?? null, error ?? null, requestHeaders, others, origin ?? null]);
    this.#headIndexes.set(key, heads.length - 1);
    return heads.length - 1;
  }

  /** Compresses what has been added so far. */
  async encode(): Promise<SegmentParts> {
    return {
      entries: await compress(JSON.stringify(this.#columns)),
      bodies: this.#bodies.length === 0 ? undefined : await compress(JSON.stringify(this.#bodies)),
    };
  }
}

async function compress(text: string): Promise<Uint8Array> {
  if (text.length <= SHORT) return brotliCompressSync(text, COMPRESSION);
  return promisify<string, object, Buffer>(brotliCompress)(text, COMPRESSION);
}

function originOf(location: string | undefined, path: string): string | undefined {
  return location?.endsWith(path) ? location.slice(0, location.length - path.length) : undefined;
}

function toPersonCode({ person, path }: StoredExchange): string | 0 | 1 {
  if (person === undefined) return 0;
  return path.includes(person) && userIdInPath(path) === person ? 1 : person;
}

/** SCIM reads that succeeded have no row by person: a row for each would cost more than the rest of its entry. */
export function hasRowByPerson({ direction, method, status = 0 }: StoredExchange): boolean {
  return direction === 'travel' || !isReadMethod(method) || status >= 400;
}

export function isReadMethod(method: string | undefined): boolean {
  return method?.toUpperCase() === 'GET' || method?.toUpperCase() === 'HEAD';
}

/** Returns the id in the path of a SCIM user, e.g. in `/scim/v2/Users/2819c223`; undefined for another path. */
export function userIdInPath(path: string): string | undefined {
  const id = /^\/+scim\/+v2\/+Users\/+([\w-]{1,100})\/?(?:$|\?)/i.exec(path)?.[1];
  return id;
}

function toKeptText(body: KeptBody | undefined): KeptText | null {
  if (!body) return null;
  return body.isCut ? [body.text] : body.text;
}

/** Decodes exchanges without their bodies; undefined stands for an erased one. */
export function decodeEntries(part: Uint8Array): (StoredExchange | undefined)[] {
  const { start, heads, head, at, ms, path, person, requestId, locations } = parsePart<Columns>(part);
  const locationOf = new Map(locations);
  return head.map((headAt, index) => {
    const shared = heads[headAt];
    if (!shared) return undefined;
    const [direction, method, status, error, requestHeaders, responseHeaders, origin] = shared;
    const ownPath = path[index] ?? '';
    const location = typeof origin === 'string' ? `${origin}${ownPath}` : locationOf.get(index);
    return {
      ...{ direction, method, requestHeaders, path: ownPath, ms: ms[index] ?? 0 },
      at: start + (at[index] ?? 0),
      person: toPerson(person[index] ?? 0, ownPath),
      requestId: requestId[index] || undefined,
      status: status ?? undefined,
      error: error ?? undefined,
      responseHeaders: location === undefined ? responseHeaders : { ...responseHeaders, location },
    };
  });
}

function toPerson(code: string | 0 | 1, path: string): string | undefined {
  if (code === 0) return undefined;
  return code === 1 ? userIdInPath(path) : code;
}

/** Decodes the bodies, by the index of their exchange. */
export function decodeBodies(part: Uint8Array): Map<number, KeptBodies> {
  const rows = parsePart<BodyRow[]>(part);
  return new Map(
    rows.map(([index, request, response]) => [
      index,
      { requestBody: toKeptBody(request), responseBody: toKeptBody(response) },
    ]),
  );
}

function toKeptBody(text: KeptText | null): KeptBody | undefined {
  if (text === null) return undefined;
  return typeof text === 'string' ? { text, isCut: false } : { text: text[0], isCut: true };
}

/** The largest part that is read: far more than any that is written. */
const MAX_PART_BYTES = 268_435_456;

/** Only `SegmentBuilder` writes parts, and their encryption has protected them from changes. */
function parsePart<Content>(part: Uint8Array): Content {
  const text = brotliDecompressSync(part, { maxOutputLength: MAX_PART_BYTES });
  return JSON.parse(text.toString()) as Content;
}
