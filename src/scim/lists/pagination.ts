import { createHash } from 'node:crypto';
import type { GroupOrder, ListPage, SortKey, UserOrder } from '../../model/list-ports.ts';
import { ProvisioningError } from '../../model/provisioning-error.ts';
import { parseAttributeName } from '../../schema/attribute-names.ts';
import { type ResourceType, resolveAttribute } from '../../schema/resource-types.ts';
import type { Query } from '../protocol/endpoint.ts';
import { badRequest, type ScimError } from '../protocol/errors.ts';
import type { JsonText } from '../protocol/responses.ts';
import type { Page, PageResource } from './list-response.ts';

/** The largest page; ServiceProviderConfig publishes it as `filter.maxResults` and `pagination.maxPageSize`. */
export const MAX_COUNT = 200;

/** The page that a client requests. `start` and `limit` are passed to the store unchanged. */
export interface PageRequest {
  start: { offset: number } | { after: SortKey };
  limit: number;
  /** The `startIndex` of the response; undefined if the client pages by cursor. */
  startIndex: number | undefined;
  /** The list for which the cursors of this page are valid; undefined if the client pages by index. */
  cursorScope: CursorScope | undefined;
}

/** Identifies a list. A cursor is valid only in the list that it was issued for (RFC 9865 §2). */
export interface CursorScope {
  connection: string;
  resourceType: string;
  /** The filter as the client wrote it. */
  filter: unknown;
  order: { by: string; descending: boolean };
}

/** Parses `startIndex`, `count` and `cursor`: by cursor if there is one, else by index. `scope` is the requested list. */
export function parsePageRequest(query: Query, scope: CursorScope): PageRequest {
  if (query['cursor'] !== undefined) return parseCursorPage(query, scope);
  const { startIndex, count } = parseIndexPage(query);
  return { start: { offset: startIndex - 1 }, limit: count, startIndex, cursorScope: undefined };
}

/**
 * Parses `startIndex`, which counts from 1, and `count` (RFC 7644 §3.4.2.4): "A value less than 1 SHALL be interpreted as 1",
 * "A negative value SHALL be interpreted as "0"".
 */
export function parseIndexPage({ startIndex, count }: Query): { startIndex: number; count: number } {
  return {
    startIndex: Math.max(1, integerParameter('startIndex', startIndex) ?? 1),
    count: Math.min(MAX_COUNT, Math.max(0, integerParameter('count', count) ?? MAX_COUNT)),
  };
}

/** "cursor: … If this parameter is empty, it means that the client is requesting the first page" (RFC 9865 §2). */
function parseCursorPage({ cursor, startIndex, count }: Query, cursorScope: CursorScope): PageRequest {
  if (typeof cursor !== 'string') throw badRequest('invalidCursor', 'There must be one cursor.');
  if (isGiven(startIndex)) {
    throw badRequest('invalidValue', 'startIndex and cursor cannot be used together.');
  }
  const start = cursor === '' ? { offset: 0 } : { after: decodeCursor(cursor, cursorScope) };
  const limit = isGiven(count) ? parseInteger(count) : MAX_COUNT;
  // "count: A positive integer" (RFC 9865 §2): an empty page would have no next page.
  if (limit === undefined || limit < 1) {
    throw badRequest('invalidCount', `With a cursor, count must be an integer from 1 to ${MAX_COUNT}.`);
  }
  return { start, limit: Math.min(MAX_COUNT, limit), startIndex: undefined, cursorScope };
}

function integerParameter(name: string, parameter: unknown): number | undefined {
  if (!isGiven(parameter)) return undefined;
  const integer = parseInteger(parameter);
  if (integer === undefined) throw badRequest('invalidValue', `${name} must be an integer.`);
  return integer;
}

/** A parameter without a value, as in `startIndex=&count=`, counts as absent. */
function isGiven(parameter: unknown): boolean {
  return parameter !== undefined && parameter !== '';
}

/** Parameters of a URL are texts; the body of a search may have numbers. */
function parseInteger(parameter: unknown): number | undefined {
  const text = typeof parameter === 'number' ? String(parameter) : parameter;
  if (typeof text !== 'string' || !/^[+-]?\d{1,100}$/.test(text)) return undefined;
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

/** The functions that convert the rows of a list to resources. */
interface RowSerializer<Row, View> {
  /** Converts a row that contains the whole resource; undefined if the resource must be read by `read`. */
  viewOf(row: Row): View | undefined;
  read(id: string): Promise<View>;
  serialize(view: View): JsonText;
}

/** Converts a page of rows to a page of the response. Each resource is serialized only when it is sent. */
export function toPage<Row extends { id: string }, View>(
  { total, rows, keys, next }: ListPage<Row>,
  { startIndex, cursorScope }: PageRequest,
  { viewOf, read, serialize }: RowSerializer<Row, View>,
): Page {
  const resources = rows.map((row, index): PageResource => {
    const key = keys[index];
    const view = viewOf(row);
    return {
      json: () => (view ? serialize(view) : read(row.id).then(serialize, undefinedIfDeleted)),
      cursor: key && cursorScope && (() => encodeCursor(key, cursorScope)),
    };
  });
  return { total, startIndex, nextCursor: next && cursorScope && encodeCursor(next, cursorScope), resources };
}

function undefinedIfDeleted(error: unknown): undefined {
  if (!(error instanceof ProvisioningError && error.kind === 'notFound')) throw error;
}

/** The maximum length of a cursor, in characters. No cursor of this service is as long. */
const MAX_CURSOR_LENGTH = 8192;

/** Encodes a position in a list as a cursor that is safe in URLs: a checksum, then the position in base64url. */
export function encodeCursor({ value, id }: SortKey, scope: CursorScope): string {
  const key = JSON.stringify([value, id]);
  return `${checksumOf(key, scope)}${Buffer.from(key).toString('base64url')}`;
}

/** Returns the position that a cursor encodes. Throws 400 invalidCursor if the cursor was not issued for this list. */
export function decodeCursor(cursor: string, scope: CursorScope): SortKey {
  if (cursor.length > MAX_CURSOR_LENGTH) throw invalidCursorError();
  const key = parseKey(Buffer.from(cursor.slice(CHECKSUM_LENGTH), 'base64url').toString());
  const isValid = key && isKeyOfOrder(key, scope.order.by) && cursor === encodeCursor(key, scope);
  if (!isValid) throw invalidCursorError();
  return key;
}

function parseKey(text: string): SortKey | undefined {
  try {
    const [value, id] = JSON.parse(text);
    return { value, id };
  } catch {
    return undefined;
  }
}

/**
 * Returns true if a position has the types that this order needs. Clients can forge cursors, because the checksum is
 * not secret.
 */
function isKeyOfOrder({ value, id }: SortKey, by: string): boolean {
  const isText = (key: unknown) => typeof key === 'string' && !key.includes('\0');
  if (!isText(id)) return false;
  if (by === 'position' || by === 'created' || by === 'lastModified') return Number.isSafeInteger(value);
  return isText(value) || (value === null && (by === 'externalId' || by === 'displayName'));
}

const CHECKSUM_LENGTH = 16;

/**
 * Returns a checksum of a position and its list. It needs no secret: a forged cursor only selects another position in a
 * list that the client may read anyway.
 */
function checksumOf(key: string, { connection, resourceType, filter, order }: CursorScope): string {
  const { by, descending } = order;
  const text = JSON.stringify([key, connection, resourceType, filter, by, descending]);
  return createHash('sha256').update(text).digest('base64url').slice(0, CHECKSUM_LENGTH);
}

/** Returns the 400 error for a cursor that is malformed or belongs to another list. */
export function invalidCursorError(): ScimError {
  const detail = 'The cursor does not belong to this query; leave it empty to begin with the first page.';
  return badRequest('invalidCursor', detail);
}

/** The sort orders of a list, by the attribute path of `sortBy` in lower case. */
type Orders<By> = Partial<Record<string, By>>;

const commonOrders = {
  id: 'id',
  externalid: 'externalId',
  displayname: 'displayName',
  'meta.created': 'created',
  'meta.lastmodified': 'lastModified',
} as const;

/** The attributes that users can be sorted by: those with an index. */
export const userOrders: Orders<UserOrder> = { ...commonOrders, username: 'userName' };

/** The attributes that groups can be sorted by. */
export const groupOrders: Orders<GroupOrder> = commonOrders;

/**
 * Parses `sortBy` and `sortOrder`. Without `sortBy`, or if the attribute has no index, resources are sorted by creation
 * (RFC 7644 §3.4.2.3: sorting is optional). "If a value for "sortBy" is provided and no "sortOrder" is specified,
 * "sortOrder" SHALL default to ascending."
 */
export function parseOrder<By extends string>(
  type: ResourceType,
  orders: Orders<By>,
  { sortBy, sortOrder }: Query,
): { by: By | 'position'; descending: boolean } {
  const name = typeof sortBy === 'string' ? parseAttributeName(sortBy.trim()) : undefined;
  const { urn, name: attribute } = name ? resolveAttribute(type, name) : {};
  const path = [attribute, name?.sub].filter((part) => part !== undefined).join('.');
  const key = path.toLowerCase();
  const by = urn === undefined && Object.hasOwn(orders, key) ? orders[key] : undefined;
  if (by === undefined) return { by: 'position', descending: false };
  return { by, descending: typeof sortOrder === 'string' && sortOrder.toLowerCase() === 'descending' };
}
