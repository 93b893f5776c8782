import { createHash } from 'node:crypto';
import type { GroupOrder, ListPage, SortKey, UserOrder } from '../provisioning/list-ports.ts';
import { ProvisioningError } from '../provisioning/provisioning-error.ts';
import { parseAttributeName } from '../schema/attribute-names.ts';
import { groupType, type ResourceType, resolveAttribute, userType } from '../schema/resource-types.ts';
import type { Query } from './context.ts';
import type { Page, PageResource } from './endpoint.ts';
import { badRequest, type ScimError } from './errors.ts';
import type { JsonText } from './responses.ts';

/** The largest page; ServiceProviderConfig says the same of filters. */
export const MAX_COUNT = 200;

/** Which part of a list is wanted; `startIndex` counts from 1. */
export interface IndexPage {
  startIndex: number;
  count: number;
}

/**
 * Reads startIndex and count (RFC 7644 §3.4.2.4): "A value less than 1 SHALL be interpreted as 1", "A negative value
 * SHALL be interpreted as "0"".
 */
export function parseIndexPage({ startIndex, count }: Query): IndexPage {
  return {
    startIndex: Math.max(1, integerIn('startIndex', startIndex) ?? 1),
    count: Math.min(MAX_COUNT, Math.max(0, integerIn('count', count) ?? MAX_COUNT)),
  };
}

/** The part of a list that a client asks for, by index or by cursor, and how it is told that it got it. */
export interface PageRequest {
  place: { offset: number } | { after: SortKey };
  limit: number;
  /** What the page says of its own place, and of what follows it. */
  told(next: SortKey | undefined): Pick<Page, 'startIndex' | 'nextCursor'>;
  /** A cursor that leads on behind a key; undefined: the list is paged by index. */
  cursorAt: ((key: SortKey) => string) | undefined;
}

/** How the rows of a page become its resources. */
interface Making<Row, View> {
  part: PageRequest;
  /** What is known of a row already; undefined: it must be read. */
  viewOf(row: Row): View | undefined;
  read(id: string): Promise<View>;
  json(view: View): JsonText;
}

/** The resources of a page, each made when it is written. */
export function toPageResources<Row extends { id: string }, View>(
  { rows, keys }: Pick<ListPage<Row>, 'rows' | 'keys'>,
  { part: { cursorAt }, viewOf, read, json }: Making<Row, View>,
): PageResource[] {
  return rows.map((row, index) => {
    const { id } = row;
    const key = keys[index];
    let view = viewOf(row);
    return {
      json: () => (view ? json(view) : read(id).then(json, unlessGone)),
      release: () => {
        view = undefined;
      },
      cursor: key && cursorAt && (() => cursorAt(key)),
    };
  });
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof ProvisioningError && error.kind === 'notFound')) throw error;
}

/** Reads the parameters of both ways of paging; cursors belong to `of`. */
export function parsePageRequest(query: Query, of: CursorScope): PageRequest {
  if (query['cursor'] !== undefined) return partAtCursor(query, of);
  const { startIndex, count } = parseIndexPage(query);
  return {
    place: { offset: startIndex - 1 },
    limit: count,
    told: () => ({ startIndex }),
    cursorAt: undefined,
  };
}

/** "cursor: … If this parameter is empty, it means that the client is requesting the first page" (RFC 9865 §2). */
function partAtCursor({ cursor, startIndex, count }: Query, of: CursorScope): PageRequest {
  if (typeof cursor !== 'string') throw badRequest('invalidCursor', 'There must be one cursor.');
  if (startIndex !== undefined) {
    throw badRequest('invalidValue', 'startIndex and cursor cannot be used together.');
  }
  return {
    place: cursor === '' ? { offset: 0 } : { after: decodeCursor(cursor, of) },
    limit: sizeIn(count),
    told: (next) => ({ nextCursor: next && encodeCursor(next, of) }),
    cursorAt: (key) => encodeCursor(key, of),
  };
}

/** "count: A positive integer" (RFC 9865 §2): a page of none would lead nowhere. */
function sizeIn(count: unknown): number {
  const size = count === undefined ? MAX_COUNT : integerOf(count);
  if (size === undefined || size < 1) {
    throw badRequest('invalidCount', `With a cursor, count must be an integer from 1 to ${MAX_COUNT}.`);
  }
  return Math.min(MAX_COUNT, size);
}

function integerIn(name: string, parameter: unknown): number | undefined {
  if (parameter === undefined) return undefined;
  const integer = integerOf(parameter);
  if (integer === undefined) throw badRequest('invalidValue', `${name} must be an integer.`);
  return integer;
}

/** A URL has texts, the body of a search may have numbers. */
function integerOf(parameter: unknown): number | undefined {
  const text = typeof parameter === 'number' ? String(parameter) : parameter;
  if (typeof text !== 'string' || !/^[+-]?\d{1,100}$/.test(text)) return undefined;
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

/** What a cursor belongs to: it leads on in the same list only (RFC 9865 §2). */
export interface CursorScope {
  connection: string;
  resourceType: string;
  /** The filter as it was written. */
  filter: unknown;
  order: { by: string; descending: boolean };
}

/** Longer than any of ours. */
const MAX_LENGTH = 8192;

/** A place in a list as a client carries it: opaque, and fit for a URL. */
export function encodeCursor({ value, position }: SortKey, of: CursorScope): string {
  const place = JSON.stringify([value, position]);
  return `${sealOf(place, of)}${Buffer.from(place).toString('base64url')}`;
}

/** The place that a cursor stands for; whatever is not a cursor of that list is 400 invalidCursor. */
export function decodeCursor(cursor: string, of: CursorScope): SortKey {
  if (cursor.length > MAX_LENGTH) throw invalidCursorError();
  const place = Buffer.from(cursor.slice(SEAL), 'base64url').toString();
  const key = readKey(place);
  if (!key || !isOf(key, of.order.by) || cursor !== encodeCursor(key, of)) throw invalidCursorError();
  return key;
}

function readKey(place: string): SortKey | undefined {
  try {
    const [value, position] = JSON.parse(place);
    return { value, position };
  } catch {
    return undefined;
  }
}

/** Whether an order has such keys; the seal can be made by anybody who reads this. */
function isOf({ value, position }: SortKey, by: string): boolean {
  if (!Number.isSafeInteger(position)) return false;
  if (by === 'position') return value === null;
  if (by === 'created' || by === 'lastModified') return Number.isSafeInteger(value);
  const isText = typeof value === 'string' && !value.includes('\0');
  return isText || (value === null && (by === 'externalId' || by === 'displayName'));
}

const SEAL = 16;

/**
 * Binds a place to its list. It needs no secret: who makes one up gets no further than the place it names, in a list of
 * their own.
 */
function sealOf(place: string, { connection, resourceType, filter, order }: CursorScope): string {
  const { by, descending } = order;
  const text = JSON.stringify([place, connection, resourceType, filter, by, descending]);
  return createHash('sha256').update(text).digest('base64url').slice(0, SEAL);
}

/** A cursor that leads nowhere in the list that it came with. */
export function invalidCursorError(): ScimError {
  const detail = 'The cursor does not belong to this query; leave it empty to begin with the first page.';
  return badRequest('invalidCursor', detail);
}

/** The order of a list. */
interface Order<By> {
  by: By;
  descending: boolean;
}

/** What can be sorted by, by the path of the attribute in lower case. */
type Orders<By> = Partial<Record<string, By>>;

const common = {
  id: 'id',
  externalid: 'externalId',
  displayname: 'displayName',
  'meta.created': 'created',
  'meta.lastmodified': 'lastModified',
} as const;

const userOrders: Orders<UserOrder> = { ...common, username: 'userName' };
const groupOrders: Orders<GroupOrder> = common;

/** The order of users that sortBy and sortOrder ask for. */
export function parseUserOrder(query: Query): Order<UserOrder> {
  return orderOf<UserOrder>(userType, userOrders, query);
}

/** The order of groups that sortBy and sortOrder ask for. */
export function parseGroupOrder(query: Query): Order<GroupOrder> {
  return orderOf<GroupOrder>(groupType, groupOrders, query);
}

/**
 * Without sortBy, or with one that no index has in order, lists have their stable order (RFC 7644 §3.4.2.3: sorting is
 * optional). "If a value for "sortBy" is provided and no "sortOrder" is specified, "sortOrder" SHALL default to ascending."
 */
function orderOf<By extends string>(
  type: ResourceType,
  orders: Orders<By>,
  { sortBy, sortOrder }: Query,
): Order<By | 'position'> {
  const name = typeof sortBy === 'string' ? parseAttributeName(sortBy.trim()) : undefined;
  const { urn, name: attribute } = name ? resolveAttribute(type, name) : {};
  const path = [attribute, name?.sub].filter((part) => part !== undefined).join('.');
  const key = path.toLowerCase();
  const by = urn === undefined && Object.hasOwn(orders, key) ? orders[key] : undefined;
  if (by === undefined) return { by: 'position', descending: false };
  return { by, descending: typeof sortOrder === 'string' && sortOrder.toLowerCase() === 'descending' };
}
