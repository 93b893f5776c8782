import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib';
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
  /** All paths of the segment begin with this text; `path` contains the rest of each. */
  pathStart: string;
  path: string[];
  /** `1`: the person is the one in the path of a SCIM user. */
  person: (string | 0 | 1)[];
  requestId: (string | 0)[];
  /** The `Location` headers, by index: each is another one. */
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
];

type BodyRow = [index: number, request: KeptText | null, response: KeptText | null];
/** A truncated text is the only element of an array. */
type KeptText = string | [string];

/** Bodies are short and similar, so that a higher level saves little. */
const BODIES_COMPRESSION = { level: 1 };
/**
 * Entries are mostly ids and numbers, in which hardly any text occurs twice: looking for it takes most of the time, and saves nothing once
 * the common beginning of the paths is stored apart.
 */
const ENTRIES_COMPRESSION = { level: 1, strategy: constants.Z_HUFFMAN_ONLY };
/** Up to this length, in characters, compressing costs less than handing the text to another thread. */
const SHORT = 16_384;

/** Encodes exchanges; undefined stands for an erased one. */
export async function encodeSegment(
  exchanges: readonly (StoredExchange | undefined)[],
): Promise<SegmentParts> {
  const bodies = toBodyRows(exchanges);
  return {
    entries: await compress(JSON.stringify(toColumns(exchanges)), ENTRIES_COMPRESSION),
    bodies: bodies.length === 0 ? undefined : await compress(JSON.stringify(bodies), BODIES_COMPRESSION),
  };
}

async function compress(text: string, options: ZlibOptions): Promise<Uint8Array> {
  if (text.length <= SHORT) return deflateRawSync(text, options);
  return promisify<string, object, Buffer>(deflateRaw)(text, options);
}

function toColumns(exchanges: readonly (StoredExchange | undefined)[]): Columns {
  const start = exchanges.find((one) => one !== undefined)?.at ?? 0;
  const pathStart = commonStart(exchanges);
  const columns: Columns = {
    ...{ start, heads: [], head: [], at: [], ms: [], pathStart, path: [] },
    ...{ person: [], requestId: [], locations: [] },
  };
  let index = -1;
  for (const exchange of exchanges) {
    index += 1;
    if (!exchange) {
      columns.head.push(-1);
      columns.at.push(0);
      columns.ms.push(0);
      columns.path.push('');
      columns.person.push(0);
      columns.requestId.push(0);
      continue;
    }
    const { location } = exchange.responseHeaders;
    columns.head.push(headIndex(columns.heads, exchange));
    columns.at.push(exchange.at - start);
    columns.ms.push(exchange.ms);
    columns.path.push(exchange.path.slice(pathStart.length));
    columns.person.push(toPersonCode(exchange));
    columns.requestId.push(exchange.requestId ?? 0);
    if (location !== undefined) columns.locations.push([index, location]);
  }
  return columns;
}

/** Returns what the paths of all exchanges begin with. */
function commonStart(exchanges: readonly (StoredExchange | undefined)[]): string {
  let start: string | undefined;
  for (const exchange of exchanges) {
    if (!exchange) continue;
    start ??= exchange.path;
    while (!exchange.path.startsWith(start)) start = start.slice(0, -1);
  }
  return start ?? '';
}

/** An exchange is compared with this number of the newest heads. What has more kinds is stored with repeated heads. */
const COMPARED_HEADS = 32;

/** Returns the index of the head of an exchange, which is added if necessary. Comparing heads costs less than a key of all members. */
function headIndex(heads: Head[], exchange: StoredExchange): number {
  const oldest = Math.max(0, heads.length - COMPARED_HEADS);
  for (let index = heads.length - 1; index >= oldest; index -= 1) {
    const head = heads[index];
    if (head && isHeadOf(head, exchange)) return index;
  }
  const { direction, method, status, error, requestHeaders, responseHeaders } = exchange;
  const { location: _location, ...otherHeaders } = responseHeaders;
  return heads.push([direction, method, status ?? null, error ?? null, requestHeaders, otherHeaders]) - 1;
}

function isHeadOf(head: Head, exchange: StoredExchange): boolean {
  return (
    head[0] === exchange.direction &&
    head[1] === exchange.method &&
    head[2] === (exchange.status ?? null) &&
    head[3] === (exchange.error ?? null) &&
    hasHeaders(head[4], exchange.requestHeaders) &&
    hasHeaders(head[5], exchange.responseHeaders, 'location')
  );
}

/** Compares the headers of a head and of an exchange; the one that heads do not have is left out. */
function hasHeaders(
  shared: Record<string, string>,
  headers: Record<string, string>,
  leftOut?: string,
): boolean {
  if (shared === headers) return true;
  let count = 0;
  for (const name in headers) {
    if (name === leftOut) continue;
    if (shared[name] !== headers[name]) return false;
    count += 1;
  }
  for (const _name in shared) count -= 1;
  return count === 0;
}

function toPersonCode({ person, path }: StoredExchange): string | 0 | 1 {
  if (person === undefined) return 0;
  const end = USER_PATH.length + person.length;
  const isInPath = path.startsWith(person, USER_PATH.length) && path.startsWith(USER_PATH);
  return isInPath && (path.length === end || path[end] === '?') ? 1 : person;
}

/** The usual beginning of the path of a SCIM user. The id in another one, such as `/scim/v2/users/`, is stored twice. */
const USER_PATH = '/scim/v2/Users/';

/** Returns the id in the path of a SCIM user, e.g. in `/scim/v2/Users/2819c223`; undefined for another path. */
export function userIdInPath(path: string): string | undefined {
  const id = /^\/+scim\/+v2\/+Users\/+([\w-]{1,100})\/?(?:$|\?)/i.exec(path)?.[1];
  return id;
}

function toBodyRows(exchanges: readonly (StoredExchange | undefined)[]): BodyRow[] {
  const rows: BodyRow[] = [];
  for (const [index, exchange] of exchanges.entries()) {
    if (!exchange?.requestBody && !exchange?.responseBody) continue;
    rows.push([index, toKeptText(exchange.requestBody), toKeptText(exchange.responseBody)]);
  }
  return rows;
}

function toKeptText(body: KeptBody | undefined): KeptText | null {
  if (!body) return null;
  return body.isCut ? [body.text] : body.text;
}

/** Decodes exchanges without their bodies; undefined stands for an erased one. */
export function decodeEntries(part: Uint8Array): (StoredExchange | undefined)[] {
  const { start, heads, head, at, ms, pathStart, path, person, requestId, locations } =
    parsePart<Columns>(part);
  const locationOf = new Map(locations);
  return head.map((headAt, index) => {
    const shared = heads[headAt];
    if (!shared) return undefined;
    const [direction, method, status, error, requestHeaders, responseHeaders] = shared;
    const ownPath = `${pathStart}${path[index] ?? ''}`;
    const location = locationOf.get(index);
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

/** Only `encodeSegment` writes parts, and their encryption has protected them from changes. */
function parsePart<Content>(part: Uint8Array): Content {
  const text = inflateRawSync(part, { maxOutputLength: MAX_PART_BYTES, finishFlush: constants.Z_SYNC_FLUSH });
  return JSON.parse(text.toString()) as Content;
}
