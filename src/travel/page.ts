import { ApiError, type Invalid } from './errors.ts';
import { fold, type JsonObject } from './json.ts';
import type { PageQuery } from './ports.ts';
import type { Resource } from './resource.ts';

/** Query parameters as the server parsed them: one that is repeated is an array. */
export type Query = Record<string, unknown>;

/** The page that a query asks for (specification, "Pagination, sorting and filters"); unknown parameters are ignored. */
export function pageQuery(resource: Resource, parentId: string, query: Query): PageQuery {
  const faults: Invalid[] = [];
  const read = <T>(name: string, otherwise: T, parse: (text: string) => T | undefined): T => {
    const given = query[name];
    if (given === undefined) return otherwise;
    const value = typeof given === 'string' ? parse(given) : undefined;
    if (value === undefined) faults.push(fault(name, given));
    return value ?? otherwise;
  };
  read('pageKind', 'offset', (kind) => (kind === 'offset' ? kind : undefined));
  const page: PageQuery = {
    type: resource.type,
    parentId,
    limit: read('limit', 10, (digits) => integer(digits, 1, 100)),
    offset: read('offset', 0, (digits) => integer(digits, 0, 2 ** 31 - 1)),
    order: read('order', 'asc', (order) => (order === 'asc' || order === 'desc' ? order : undefined)),
  };
  const sortBy = read('sortBy', CREATED, (field) => sortField(resource, field));
  if (sortBy !== CREATED) page.sortBy = sortBy;
  const archived = resource.filters.includes('archived') ? read('archived', undefined, truth) : undefined;
  if (archived !== undefined) page.archived = archived;
  const emails = resource.filters.includes('emails') ? read('emails', undefined, addresses) : undefined;
  if (emails) page.match = { name: 'email', values: emails };
  if (faults.length > 0) {
    throw new ApiError('invalidParam', 'A query parameter is not valid.', { invalid: faults });
  }
  return page;
}

/** The `meta` of an offset page. */
export function pageMeta(page: PageQuery, total: number): JsonObject {
  const { limit, offset, order, sortBy = CREATED } = page;
  return { pageKind: 'offset', limit, offset, total, order, sortBy };
}

const CREATED = 'createdAt';

/** So many addresses can be asked for at once; a request line is hardly longer. */
const ADDRESSES = 500;

function integer(digits: string, least: number, most: number): number | undefined {
  const value = /^\d{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

function sortField(resource: Resource, field: string): string | undefined {
  return resource.sortBy.length > 0 && [CREATED, ...resource.sortBy].includes(field) ? field : undefined;
}

function truth(word: string): boolean | undefined {
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

function addresses(list: string): string[] | undefined {
  const emails = [...new Set(list.split(',').map((address) => fold(address.trim())))];
  // SQLite would compare up to a NUL only, and PostgreSQL refuses it.
  const usable = emails.filter((address) => address !== '' && !address.includes('\0'));
  return usable.length <= ADDRESSES ? usable : undefined;
}

function fault(field: string, given: unknown): Invalid {
  const received = Array.isArray(given) ? given.join(',') : String(given);
  const value = /^-?\d{1,15}$/.test(received) ? Number(received) : received.slice(0, 200);
  return { field, value, code: 'paramValue', message: `The value of "${field}" is not allowed here.` };
}
