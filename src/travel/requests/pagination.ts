import type { z } from 'zod';
import { parseJson } from '../../schema/json-depth.ts';
import { type FilterBy, filterConditions } from '../declaration/filters.ts';
import { CREATED, CURSOR, type ListParameters } from '../declaration/list-parameters.ts';
import { subCollectionIndex } from '../declaration/resource.ts';
import { ApiError, type FieldFault, MAX_FAULTS } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { CursorPage, Edge, FilterCondition, ListQuery, PageQuery, Position } from '../ports.ts';

/** Query parameters as express parses them: a repeated parameter is an array. */
export type Query = Record<string, unknown>;

/** One list, with the schema of its query parameters. */
export interface ListOptions {
  type: string;
  parentId: string;
  /** The field and value that all resources of a sub-collection share. */
  sub?: { field: string; value: string };
  parameters: ListParameters;
  filterBy?: FilterBy | undefined;
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
export function parsePageQuery(options: ListOptions, query: Query): PageRequest {
  const { type, parentId, parameters } = options;
  const parsed = parseParameters(parameters, query);
  const { pageKind, limit, offset, order, sortBy = CREATED, ...others } = parsed;
  const { after, before, archived, emails, status } = others;
  const where = filterConditions(options.filterBy, parsed);
  const common: ListQuery = {
    ...{ type, parentId, order, limit, ...listIndexes(options, sortBy) },
    ...(typeof status === 'string' ? { status } : {}),
    ...(where.length === 0 ? {} : { where }),
  };
  if (pageKind === 'cursor') {
    const given = { ...(after === undefined ? {} : { after }), ...(before === undefined ? {} : { before }) };
    const edge = parseEdge(options, { order, sortBy, given, where });
    return { kind: 'cursor', query: common, sortBy, given, ...(edge ? { edge } : {}) };
  }
  const filters = {
    ...(archived === undefined ? {} : { archived }),
    ...(emails ? { match: { name: 'email', values: emails } } : {}),
  };
  return { kind: 'offset', query: { ...common, offset, ...filters }, sortBy };
}

/** Parses query parameters. Throws `invalidParam` with all faults. */
export function parseParameters<Parameters extends z.ZodObject>(
  parameters: Parameters,
  query: Query,
): z.output<Parameters> {
  const parsed = parameters.safeParse(query);
  if (parsed.success) return parsed.data;
  throw invalidParameters(parsed.error.issues.flatMap((issue) => toFaults(issue, parameters, query)));
}

function toFaults(issue: z.core.$ZodIssue, { shape }: z.ZodObject, query: Query): FieldFault[] {
  if (issue.code === 'unrecognized_keys') return unknownParameters(query, issue.keys, Object.keys(shape));
  const name = String(issue.path[0]);
  return [valueFault(name, query[name], issue.message)];
}

/** Throws `invalidParam` for any query parameter; for operations without parameters. */
export function refuseAllParameters(query: Query): void {
  const unknown = unknownParameters(query, Object.keys(query), []);
  if (unknown.length > 0) throw invalidParameters(unknown);
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
  const { limit, order, where } = query;
  const scope = cursorScope(options, { order, sortBy, where });
  return {
    pageKind: 'cursor',
    limit,
    ...given,
    ...(next ? { nextAfter: encodeCursor(scope, next) } : {}),
    ...(previous ? { prevBefore: encodeCursor(scope, previous) } : {}),
    order,
    ...('sortBy' in options.parameters.shape ? { sortBy } : {}),
  };
}

function unknownParameters(query: Query, unknown: string[], known: string[]): FieldFault[] {
  const words = known.length > 0 ? `known here: ${known.join(', ')}` : 'there are none here';
  return unknown.slice(0, MAX_FAULTS).map((name) => {
    const shown = name.slice(0, 200);
    return parameterFault(shown, query[name], `"${shown}" is not a query parameter (${words}).`);
  });
}

function invalidParameters(invalid: FieldFault[]): ApiError {
  return new ApiError('invalidParam', 'A query parameter is not valid.', { invalid });
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

/** Parses the cursor parameters: "after … Mutually exclusive with `before`" (specification). */
function parseEdge(
  options: ListOptions,
  { given, ...list }: ListForm & { given: { after?: string; before?: string } },
): Edge | undefined {
  const { after, before } = given;
  const cursor = after ?? before;
  if (cursor === undefined) return undefined;
  if (after !== undefined && before !== undefined)
    throw invalidParameters([valueFault('before', before, 'only one of "after" and "before"')]);
  const isSorted = options.sub !== undefined || list.sortBy !== CREATED;
  const position = decodeCursor(cursorScope(options, list), isSorted ? 'index' : 'creation', cursor);
  if (!position)
    throw invalidParameters([valueFault(after === undefined ? 'before' : 'after', cursor, CURSOR)]);
  return after === undefined ? { before: position } : { after: position };
}

/** The order and the filters of a list. */
interface ListForm {
  order: string;
  sortBy: string;
  where?: FilterCondition[] | undefined;
}

/** Identifies the list, its order and its filters. A cursor is valid only for the list that issued it. */
function cursorScope({ type, parentId, sub }: ListOptions, { order, sortBy, where = [] }: ListForm): string {
  const filters = where.length > 0 ? [JSON.stringify(where)] : [];
  return [type, parentId, sub?.field ?? '', sub?.value ?? '', order, sortBy, ...filters].join(' ');
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
