import { lists } from '../schema/lists.ts';
import { ownValue } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { isUnassigned } from '../schema/values.ts';
import type { Query } from './context.ts';
import { badRequest } from './scim-error.ts';

const searchRequest = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

/** What a member may be; an integer may come as text, as it does in a URL. */
const kinds = {
  text: { wanted: 'a string', accepts: (value: Json) => typeof value === 'string' },
  integer: {
    wanted: 'an integer',
    accepts: (value: Json) => typeof value === 'string' || Number.isInteger(value),
  },
  names: {
    wanted: 'an array of strings',
    accepts: (value: Json) => [value].flat().every((name) => typeof name === 'string'),
  },
};

/** The members of a search and their types (RFC 7644 §3.4.3; `cursor`: RFC 9865 §3). */
const members = {
  attributes: 'names',
  excludedAttributes: 'names',
  filter: 'text',
  sortBy: 'text',
  sortOrder: 'text',
  startIndex: 'integer',
  count: 'integer',
  cursor: 'text',
} as const satisfies Record<string, keyof typeof kinds>;

/** Reads the body of a search as the query that a GET would have; members that RFC 7644 does not know are ignored. */
export function queryIn(body: JsonObject): Query {
  checkSchemas(ownValue(body, 'schemas'));
  const given = Object.entries(members).flatMap(([name, kind]) => {
    const value = ownValue(body, name);
    if (value === undefined || isUnassigned(value)) return [];
    return [[name, read(name, kinds[kind], value)] as const];
  });
  return Object.fromEntries(given);
}

/** "Query requests MUST be identified using the following URI" (RFC 7644 §3.4.3). */
function checkSchemas(schemas: Json | undefined): void {
  if (!lists(schemas, searchRequest))
    throw badRequest('invalidSyntax', `schemas must be ["${searchRequest}"].`);
}

/** As a URL has it: everything is text, or a list of texts. */
function read(
  name: string,
  { wanted, accepts }: (typeof kinds)[keyof typeof kinds],
  value: Json,
): string | string[] {
  if (!accepts(value)) throw badRequest('invalidValue', `${name} must be ${wanted}.`);
  return Array.isArray(value) ? value.map(String) : String(value);
}
