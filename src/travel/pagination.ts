import { foldCase } from '../schema/case-fold.ts';
import { ApiError, type FieldFault, MAX_FAULTS } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { CursorPage, Edge, ListQuery, PageQuery, Position } from './ports.ts';
import { type Filter, subCollectionIndex } from './resource.ts';
import { deliveryStatuses } from './webhooks/ports.ts';

/** Query parameters as the server parsed them: one that is repeated is an array. */
export type Query = Record<string, unknown>;

/** What the pages of one list may be asked for (specification, "Collection endpoints"). */
export interface ListOptions {
  type: string;
  parentId: string;
  /** The field and value that those of a sub-collection have in common. */
  sub?: { field: string; value: string };
  /** True: paged by cursor, too. */
  cursor: boolean;
  /** Besides `createdAt`; none: not even by that. */
  sortBy: string[];
  filters: Filter[];
}

/** A page as it was asked for. */
export type PageRequest =
  | { kind: 'offset'; query: PageQuery; sortBy: string }
  | {
      kind: 'cursor';
      query: ListQuery;
      sortBy: string;
      given: { after?: string; before?: string };
      edge?: Edge;
    };

/** The page that a query asks for (specification, "Pagination, sorting and filters"). */
export function parsePageQuery(listing: ListOptions, query: Query): PageRequest {
  const faults = unknownParameters(query, listParameterNames(listing));
  const read = parameterReader(query, faults);
  const kind = read('pageKind', 'offset', (word) => parsePageKind(listing, word));
  const order = read('order', 'asc', (word) => (word === 'asc' || word === 'desc' ? word : undefined));
  const sortBy =
    listing.sortBy.length > 0 ? read('sortBy', CREATED, (field) => parseSortField(listing, field)) : CREATED;
  const { type, parentId } = listing;
  const limit = read('limit', 10, (digits) => parseInteger(digits, 1, 100));
  const list: ListQuery = {
    type,
    parentId,
    order,
    limit,
    ...listIndexes(listing, sortBy),
    ...parseStatus(listing, read),
  };
  const asked: PageRequest =
    kind === 'cursor'
      ? { kind, query: list, sortBy, ...parseEdge(listing, query, { order, sortBy, faults }) }
      : { kind, query: { ...list, ...parseFilters(listing, read) }, sortBy };
  refuseParameters(faults);
  return asked;
}

/** Refuses every query parameter, where an operation has none. */
export function refuseAllParameters(query: Query): void {
  refuseParameters(unknownParameters(query, []));
}

/** The query parameters that a list knows, in the order of the contract. */
export function listParameterNames({
  cursor,
  sortBy,
  filters,
}: Pick<ListOptions, 'cursor' | 'sortBy' | 'filters'>) {
  return [
    ...['pageKind', 'limit', 'offset'],
    ...(cursor ? ['after', 'before'] : []),
    ...['order', 'sortBy'].slice(0, sortBy.length > 0 ? 2 : 1),
    ...filters,
  ];
}

/** The `meta` of an offset page. */
export function offsetMeta({ query, sortBy }: PageRequest & { kind: 'offset' }, total: number): JsonObject {
  const { limit, offset, order } = query;
  return { pageKind: 'offset', limit, offset, total, order, sortBy };
}

/** The `meta` of a cursor page; a list that cannot be sorted does not say by what. */
export function cursorMeta(
  listing: ListOptions,
  { query, sortBy, given }: PageRequest & { kind: 'cursor' },
  { next, previous }: CursorPage,
): JsonObject {
  const { limit, order } = query;
  const list = cursorScope(listing, order, sortBy);
  return {
    pageKind: 'cursor',
    limit,
    ...given,
    ...(next ? { nextAfter: encodeCursor(list, next) } : {}),
    ...(previous ? { prevBefore: encodeCursor(list, previous) } : {}),
    order,
    ...(listing.sortBy.length > 0 ? { sortBy } : {}),
  };
}

const CREATED = 'createdAt';

/** So many addresses can be asked for at once; a request line is hardly longer. */
const MAX_ADDRESSES = 500;

function unknownParameters(query: Query, known: string[]): FieldFault[] {
  const unknown = Object.keys(query).filter((name) => !known.includes(name));
  const words = known.length > 0 ? `known here: ${known.join(', ')}` : 'there are none here';
  return unknown.slice(0, MAX_FAULTS).map((name) => {
    const shown = name.slice(0, 200);
    return {
      ...parameterFault(shown, query[name]),
      message: `"${shown}" is not a query parameter (${words}).`,
    };
  });
}

function refuseParameters(invalid: FieldFault[]): void {
  if (invalid.length === 0) return;
  throw new ApiError('invalidParam', 'A query parameter is not valid.', { invalid });
}

type ReadParameter = <T>(name: string, otherwise: T, parse: (text: string) => T | undefined) => T;

function parameterReader(query: Query, faults: FieldFault[]): ReadParameter {
  return (name, otherwise, parse) => {
    const given = query[name];
    if (given === undefined) return otherwise;
    const value = typeof given === 'string' ? parse(given) : undefined;
    if (value === undefined) faults.push(parameterFault(name, given));
    return value ?? otherwise;
  };
}

function parsePageKind({ cursor }: ListOptions, word: string): 'offset' | 'cursor' | undefined {
  if (word === 'cursor') return cursor ? word : undefined;
  return word === 'offset' ? word : undefined;
}

/** The indexes that find and sort the list. */
function listIndexes({ sub }: ListOptions, sortBy: string): Pick<ListQuery, 'within' | 'sortBy'> {
  const sorted = sortBy === CREATED ? undefined : sortBy;
  if (!sub) return sorted === undefined ? {} : { sortBy: sorted };
  const within = subCollectionIndex(sub.field, sub.value);
  return sorted === undefined
    ? { within }
    : { within, sortBy: subCollectionIndex(sub.field, sub.value, sorted) };
}

function parseStatus({ filters }: ListOptions, read: ReadParameter): Pick<ListQuery, 'status'> {
  const known = (word: string) => deliveryStatuses.find((status) => status === word);
  const status = filters.includes('status') ? read('status', undefined, known) : undefined;
  return status === undefined ? {} : { status };
}

function parseFilters(
  { filters }: ListOptions,
  read: ReadParameter,
): Pick<PageQuery, 'offset' | 'archived' | 'match'> {
  const archived = filters.includes('archived') ? read('archived', undefined, parseBoolean) : undefined;
  const emails = filters.includes('emails') ? read('emails', undefined, parseAddresses) : undefined;
  return {
    offset: read('offset', 0, (digits) => parseInteger(digits, 0, 2 ** 31 - 1)),
    ...(archived === undefined ? {} : { archived }),
    ...(emails ? { match: { name: 'email', values: emails } } : {}),
  };
}

/** "after … Mutually exclusive with `before`" */
function parseEdge(
  listing: ListOptions,
  query: Query,
  { order, sortBy, faults }: { order: 'asc' | 'desc'; sortBy: string; faults: FieldFault[] },
): { given: { after?: string; before?: string }; edge?: Edge } {
  const list = cursorScope(listing, order, sortBy);
  const read = parameterReader(query, faults);
  const given: { after?: string; before?: string } = {};
  const place = (name: 'after' | 'before') =>
    read(name, undefined, (cursor) => {
      given[name] = cursor;
      return decodeCursor(list, listing.sub || sortBy !== CREATED ? 'index' : 'creation', cursor);
    });
  const after = place('after');
  const before = place('before');
  if (query['after'] !== undefined && query['before'] !== undefined)
    faults.push(parameterFault('before', query['before']));
  if (after) return { given, edge: { after } };
  return before ? { given, edge: { before } } : { given };
}

/** A cursor belongs to one list in one order. */
function cursorScope({ type, parentId, sub }: ListOptions, order: string, sortBy: string): string {
  return [type, parentId, sub?.field ?? '', sub?.value ?? '', order, sortBy].join(' ');
}

function parseInteger(digits: string, least: number, most: number): number | undefined {
  const value = /^\d{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

function parseSortField({ sortBy }: ListOptions, field: string): string | undefined {
  return [CREATED, ...sortBy].includes(field) ? field : undefined;
}

function parseBoolean(word: string): boolean | undefined {
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

function parseAddresses(list: string): string[] | undefined {
  // No address has a blank inside: where one is, a plus was sent as it is, which a query means as a blank.
  const plain = (address: string) => foldCase(address.trim().replaceAll(' ', '+'));
  const emails = [...new Set(list.split(',').map(plain))];
  // SQLite would compare up to a NUL only, and PostgreSQL refuses it.
  const usable = emails.filter((address) => address !== '' && !address.includes('\0'));
  return usable.length <= MAX_ADDRESSES ? usable : undefined;
}

function parameterFault(field: string, given: unknown): FieldFault {
  const received = Array.isArray(given) ? given.join(',') : String(given);
  const value = /^-?\d{1,15}$/.test(received) ? Number(received) : received.slice(0, 200);
  return { field, value, code: 'paramValue', message: `The value of "${field}" is not allowed here.` };
}

/** The cursor of a place in a list; opaque to clients, and of use in that list alone. */
export function encodeCursor(list: string, { value, seq }: Position): string {
  return Buffer.from(JSON.stringify([list, value, seq])).toString('base64url');
}

/** The largest number of a place that every database can compare. */
const MAX_SEQUENCE = 2 ** 31 - 1;

/**
 * The place that a cursor of this list names, whose values are times of creation or the texts of an index; undefined
 * for anything else, also for what only reads like a cursor that was given out.
 */
export function decodeCursor(list: string, by: 'creation' | 'index', cursor: string): Position | undefined {
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString());
  if (!Array.isArray(parts)) return undefined;
  const [of, value, seq]: unknown[] = parts;
  if (of !== list || !Number.isSafeInteger(seq) || Number(seq) < 0 || Number(seq) > MAX_SEQUENCE)
    return undefined;
  if (!(by === 'creation' ? Number.isSafeInteger(value) : typeof value === 'string')) return undefined;
  const place = { value: value as Position['value'], seq: Number(seq) };
  // SQLite would compare up to a NUL only, and PostgreSQL refuses it.
  return !String(value).includes('\0') && encodeCursor(list, place) === cursor ? place : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
