import { foldCase } from '../schema/case-fold.ts';
import { ApiError, type FieldFault, MAX_FAULTS } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { CursorPage, Edge, ListQuery, PageQuery, Position } from './ports.ts';
import { type ListFilter, subCollectionIndex } from './resource.ts';
import { deliveryStatuses } from './webhooks/ports.ts';

/** Query parameters as express parses them: a repeated parameter is an array. */
export type Query = Record<string, unknown>;

/** The features of one list, which decide its query parameters (specification, "Collection endpoints"). */
export interface ListOptions {
  type: string;
  parentId: string;
  /** The field and value that all resources of a sub-collection share. */
  sub?: { field: string; value: string };
  /** If true, cursor pages are available. */
  cursor: boolean;
  /** The sortable fields besides `createdAt`. If empty, the list has no parameter `sortBy`. */
  sortBy: string[];
  filters: ListFilter[];
}

/** The parsed page parameters of a request. */
export type PageRequest =
  | { kind: 'offset'; query: PageQuery; sortBy: string }
  | {
      kind: 'cursor';
      query: ListQuery;
      sortBy: string;
      given: { after?: string; before?: string };
      edge?: Edge;
    };

/**
 * Parses and validates the query parameters of a list (specification, "Pagination, sorting and filters"). Throws
 * `invalidParam` with all faults.
 */
export function parsePageQuery(options: ListOptions, parameters: Query): PageRequest {
  const faults = unknownParameters(parameters, listParameterNames(options));
  const read = parameterReader(options, parameters, faults);
  const kind = read('pageKind', 'offset', (word) => parsePageKind(options, word));
  const order = read('order', 'asc', (word) => (word === 'asc' || word === 'desc' ? word : undefined));
  const sortBy =
    options.sortBy.length > 0 ? read('sortBy', CREATED, (field) => parseSortField(options, field)) : CREATED;
  const { type, parentId } = options;
  const limit = read('limit', 10, (digits) => parseInteger(digits, 1, MAX_LIMIT));
  const query: ListQuery = {
    type,
    parentId,
    order,
    limit,
    ...listIndexes(options, sortBy),
    ...parseStatus(options, read),
  };
  const pageRequest: PageRequest =
    kind === 'cursor'
      ? { kind, query, sortBy, ...parseEdge(options, parameters, { order, sortBy, faults }) }
      : { kind, query: { ...query, ...parseFilters(options, read) }, sortBy };
  refuseParameters(faults);
  return pageRequest;
}

/** Throws `invalidParam` for any query parameter; for operations without parameters. */
export function refuseAllParameters(query: Query): void {
  refuseParameters(unknownParameters(query, []));
}

/** The names of the query parameters of a list, in the order of the OpenAPI document. */
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

/** The `meta` of a cursor page. A list that cannot be sorted has no `sortBy`. */
export function cursorMeta(
  options: ListOptions,
  { query, sortBy, given }: PageRequest & { kind: 'cursor' },
  { next, previous }: CursorPage,
): JsonObject {
  const { limit, order } = query;
  const scope = cursorScope(options, order, sortBy);
  return {
    pageKind: 'cursor',
    limit,
    ...given,
    ...(next ? { nextAfter: encodeCursor(scope, next) } : {}),
    ...(previous ? { prevBefore: encodeCursor(scope, previous) } : {}),
    order,
    ...(options.sortBy.length > 0 ? { sortBy } : {}),
  };
}

const CREATED = 'createdAt';
/** Maximum number of resources on a page. */
const MAX_LIMIT = 100;
const MAX_OFFSET = 2 ** 31 - 1;

/** Maximum number of emails in one filter; more would hardly fit into a request line. */
const MAX_ADDRESSES = 500;

function unknownParameters(query: Query, known: string[]): FieldFault[] {
  const unknown = Object.keys(query).filter((name) => !known.includes(name));
  const words = known.length > 0 ? `known here: ${known.join(', ')}` : 'there are none here';
  return unknown.slice(0, MAX_FAULTS).map((name) => {
    const shown = name.slice(0, 200);
    return parameterFault(shown, query[name], `"${shown}" is not a query parameter (${words}).`);
  });
}

function refuseParameters(invalid: FieldFault[]): void {
  if (invalid.length === 0) return;
  throw new ApiError('invalidParam', 'A query parameter is not valid.', { invalid });
}

type ReadParameter = <T>(name: string, otherwise: T, parse: (text: string) => T | undefined) => T;

function parameterReader(options: ListOptions, query: Query, faults: FieldFault[]): ReadParameter {
  return (name, otherwise, parse) => {
    const given = query[name];
    if (given === undefined) return otherwise;
    const value = typeof given === 'string' ? parse(given) : undefined;
    if (value === undefined) faults.push(valueFault(name, given, allowedValues(options, name)));
    return value ?? otherwise;
  };
}

function parsePageKind({ cursor }: ListOptions, word: string): 'offset' | 'cursor' | undefined {
  if (word === 'cursor') return cursor ? word : undefined;
  return word === 'offset' ? word : undefined;
}

/** The index that selects the list and the one that sorts it. */
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
    offset: read('offset', 0, (digits) => parseInteger(digits, 0, MAX_OFFSET)),
    ...(archived === undefined ? {} : { archived }),
    ...(emails ? { match: { name: 'email', values: emails } } : {}),
  };
}

/** Parses the cursor parameters: "after … Mutually exclusive with `before`" (specification). */
function parseEdge(
  options: ListOptions,
  query: Query,
  { order, sortBy, faults }: { order: 'asc' | 'desc'; sortBy: string; faults: FieldFault[] },
): { given: { after?: string; before?: string }; edge?: Edge } {
  const scope = cursorScope(options, order, sortBy);
  const read = parameterReader(options, query, faults);
  const given: { after?: string; before?: string } = {};
  const readPosition = (name: 'after' | 'before') =>
    read(name, undefined, (cursor) => {
      given[name] = cursor;
      return decodeCursor(scope, options.sub || sortBy !== CREATED ? 'index' : 'creation', cursor);
    });
  const after = readPosition('after');
  const before = readPosition('before');
  if (query['after'] !== undefined && query['before'] !== undefined)
    faults.push(valueFault('before', query['before'], 'only one of "after" and "before"'));
  if (after) return { given, edge: { after } };
  return before ? { given, edge: { before } } : { given };
}

/** Identifies the list and its order. A cursor is valid only for the list that issued it. */
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
  // An email has no inner spaces: a space here is an unencoded plus sign.
  const normalize = (address: string) => foldCase(address.trim().replaceAll(' ', '+'));
  const emails = [...new Set(list.split(',').map(normalize))];
  // SQLite compares strings only up to a NUL, and PostgreSQL refuses NUL.
  const usable = emails.filter((address) => address !== '' && !address.includes('\0'));
  return usable.length <= MAX_ADDRESSES ? usable : undefined;
}

/** Says which values a parameter may have. */
function allowedValues({ cursor, sortBy }: ListOptions, name: string): string {
  const known: Record<string, string> = {
    pageKind: cursor ? 'offset or cursor' : 'offset',
    limit: `a whole number from 1 to ${MAX_LIMIT}`,
    offset: `a whole number from 0 to ${MAX_OFFSET}`,
    order: 'asc or desc',
    sortBy: `one of ${[CREATED, ...sortBy].join(', ')}`,
    archived: 'true or false',
    emails: `at most ${MAX_ADDRESSES} email addresses, separated by commas`,
    status: `one of ${deliveryStatuses.join(', ')}`,
  };
  return known[name] ?? 'a cursor of this list, in the same order';
}

function valueFault(field: string, given: unknown, allowed: string): FieldFault {
  return parameterFault(field, given, `The value of "${field}" is not allowed here: give ${allowed}.`);
}

function parameterFault(field: string, given: unknown, message: string): FieldFault {
  const received = Array.isArray(given) ? given.join(',') : String(given);
  const value = /^-?\d{1,15}$/.test(received) ? Number(received) : received.slice(0, 200);
  return { field, value, code: 'paramValue', message };
}

/** Encodes a list position as a cursor, opaque to clients and valid only for this list. */
export function encodeCursor(scope: string, { value, seq }: Position): string {
  return Buffer.from(JSON.stringify([scope, value, seq])).toString('base64url');
}

/**
 * Decodes a cursor. Its value is a creation time or an index text, by the order of the list. Returns undefined for
 * cursors of other lists and for texts that this service has not issued.
 */
export function decodeCursor(scope: string, by: 'creation' | 'index', cursor: string): Position | undefined {
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString());
  if (!Array.isArray(parts)) return undefined;
  const [issuedFor, value, seq]: unknown[] = parts;
  if (issuedFor !== scope || !Number.isSafeInteger(seq) || Number(seq) < 0) return undefined;
  if (!(by === 'creation' ? Number.isSafeInteger(value) : typeof value === 'string')) return undefined;
  const position = { value: value as Position['value'], seq: Number(seq) };
  // SQLite compares strings only up to a NUL, and PostgreSQL refuses NUL.
  return !String(value).includes('\0') && encodeCursor(scope, position) === cursor ? position : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
