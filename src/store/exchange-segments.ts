import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
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

/** The parts of a segment are short and similar, so that a higher level saves little. */
const COMPRESSION = { level: 1 };
/** Up to this length, in characters, compressing costs less than handing the text to another thread. */
const SHORT = 16_384;

/** Encodes exchanges; undefined stands for an erased one. */
export async function encodeSegment(
  exchanges: readonly (StoredExchange | undefined)[],
): Promise<SegmentParts> {
  const bodies = toBodyRows(exchanges);
  return {
    entries: await compress(JSON.stringify(toColumns(exchanges))),
    bodies: bodies.length === 0 ? undefined : await compress(JSON.stringify(bodies)),
  };
}

async function compress(text: string): Promise<Uint8Array> {
  if (text.length <= SHORT) return deflateRawSync(text, COMPRESSION);
  return promisify<string, object, Buffer>(deflateRaw)(text, COMPRESSION);
}

function toColumns(exchanges: readonly (StoredExchange | undefined)[]): Columns {
  const start = exchanges.find((one) => one !== undefined)?.at ?? 0;
  const columns: Columns = {
    ...{ start, heads: [], head: [], at: [], ms: [], path: [], person: [], requestId: [], locations: [] },
  };
  const known = new Map<string, number>();
  for (const [index, exchange] of exchanges.entries()) {
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
    const origin = originOf(location, exchange.path);
    columns.head.push(headIndex(exchange, origin, { heads: columns.heads, known }));
    columns.at.push(exchange.at - start);
    columns.ms.push(exchange.ms);
    columns.path.push(exchange.path);
    columns.person.push(toPersonCode(exchange));
    columns.requestId.push(exchange.requestId ?? 0);
    if (location !== undefined && origin === undefined) columns.locations.push([index, location]);
  }
  return columns;
}

function originOf(location: string | undefined, path: string): string | undefined {
  return location?.endsWith(path) ? location.slice(0, location.length - path.length) : undefined;
}

function headIndex(
  exchange: StoredExchange,
  origin: string | undefined,
  { heads, known }: { heads: Head[]; known: Map<string, number> },
): number {
  const { direction, method, status, error, requestHeaders, responseHeaders } = exchange;
  let key = `${direction} ${method} ${status} ${error}\n${origin}`;
  for (const name in requestHeaders) key += `\n${name}:${requestHeaders[name]}`;
  key += '\n';
  for (const name in responseHeaders) if (name !== 'location') key += `\n${name}:${responseHeaders[name]}`;
  const index = known.get(key);
  if (index !== undefined) return index;
  const { location: _location, ...others } = responseHeaders;
  heads.push([direction, method, status ?? null, error ?? null, requestHeaders, others, origin ?? null]);
  known.set(key, heads.length - 1);
  return heads.length - 1;
}

function toPersonCode({ person, path }: StoredExchange): string | 0 | 1 {
  if (person === undefined) return 0;
  return path.includes(person) && userIdInPath(path) === person ? 1 : person;
}

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

/** Only `encodeSegment` writes parts, and their encryption has protected them from changes. */
function parsePart<Content>(part: Uint8Array): Content {
  const text = inflateRawSync(part, { maxOutputLength: MAX_PART_BYTES, finishFlush: constants.Z_SYNC_FLUSH });
  return JSON.parse(text.toString()) as Content;
}
