import type { ExchangeTable } from '../store/sql/tables.ts';
import type { KeptBody, LoggedExchange, StoredExchange } from './exchange.ts';
import type { LogKey, LogReadKeys } from './keys.ts';

/** The part of an exchange that is stored as one encrypted text. */
interface Content {
  /** The query of the path, with its question mark. */
  query: string;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string>;
  requestBody?: KeptBody | undefined;
  responseBody?: KeptBody | undefined;
}

/** Returns the row of an exchange at a position. */
export function encodeExchange(exchange: StoredExchange, position: number, key: LogKey): ExchangeTable {
  const { path, requestHeaders, responseHeaders, requestBody, responseBody } = exchange;
  const queryAt = path.includes('?') ? path.indexOf('?') : path.length;
  const query = path.slice(queryAt);
  const content: Content = { query, requestHeaders, responseHeaders, requestBody, responseBody };
  return {
    position,
    at: exchange.at,
    ms: exchange.ms,
    direction: exchange.direction,
    connection_id: exchange.connection ?? '',
    person: exchange.person ?? null,
    user_id: exchange.userId ?? null,
    credential: exchange.credential ?? null,
    request_id: exchange.requestId ?? null,
    method: exchange.method,
    path: path.slice(0, queryAt),
    status: exchange.status ?? null,
    error: exchange.error ?? null,
    key_id: key.id,
    content: key.encrypt(JSON.stringify(content), placeOf(position)),
  };
}

/** Binds a ciphertext to its row. */
function placeOf(position: number): string {
  return `exchange/${position}`;
}

/** Returns the exchange of a row; undefined if no key decrypts it. */
export function decodeExchange(row: ExchangeTable, keys: LogReadKeys): LoggedExchange | undefined {
  const key = keys.find(({ id }) => id === row.key_id);
  const text = key?.decrypt(row.content, placeOf(row.position));
  if (text === undefined) return undefined;
  // Only `encodeExchange` writes this text, and the encryption has protected it from changes.
  const { query, requestHeaders, responseHeaders, requestBody, responseBody } = JSON.parse(text) as Content;
  const exchange = decodeBriefExchange(row);
  const bodies = { requestBody, responseBody };
  return { ...exchange, path: exchange.path + query, requestHeaders, responseHeaders, ...bodies };
}

/** The columns of an exchange that are not encrypted. */
export const briefColumns = [
  ...(['position', 'at', 'ms', 'direction', 'connection_id', 'person', 'user_id', 'credential'] as const),
  ...(['request_id', 'method', 'path', 'status', 'error'] as const),
] satisfies (keyof ExchangeTable)[];

/** Returns an exchange without its query, headers and bodies. */
export function decodeBriefExchange(row: Pick<ExchangeTable, (typeof briefColumns)[number]>): LoggedExchange {
  return {
    position: String(row.position),
    direction: row.direction,
    at: row.at,
    ms: row.ms,
    connection: row.connection_id || undefined,
    person: row.person ?? undefined,
    userId: row.user_id ?? undefined,
    credential: row.credential ?? undefined,
    requestId: row.request_id ?? undefined,
    method: row.method,
    path: row.path,
    status: row.status ?? undefined,
    error: row.error ?? undefined,
    requestHeaders: {},
    responseHeaders: {},
  };
}
