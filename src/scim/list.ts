import type { JsonObject } from '../schema/resource.ts';
import type { Page } from './endpoint.ts';
import type { Paging } from './paging.ts';
import { badRequest } from './scim-error.ts';

/** Reads a part of what matches; the bodies are complete, not yet projected. */
export type Fetch = (offset: number, limit: number) => Promise<{ total: number; bodies: JsonObject[] }>;

/** A part of a list, and how many there are in all. */
export interface Listed {
  total: number;
  bodies: JsonObject[];
}

/** How many resources are looked at one by one for a filter that no index answers. */
const MAX_SCANNED = 5000;

const BATCH = 200;

/** The page that was asked for, of everything the indexes found. */
export function fetchPage(fetch: Fetch, { startIndex, count }: Paging): Promise<Listed> {
  return fetch(startIndex - 1, count);
}

/** The page that was asked for, of what also matches the rest of the filter; too much to look at is 400 tooMany. */
export async function scanPage(
  fetch: Fetch,
  { startIndex, count }: Paging,
  isMatch: (body: JsonObject) => boolean,
): Promise<Listed> {
  const listed: Listed = { total: 0, bodies: [] };
  for (let offset = 0, total = 1; offset < total; offset += BATCH) {
    const batch = await fetch(offset, BATCH);
    total = batch.total;
    if (total > MAX_SCANNED) {
      throw badRequest(
        'tooMany',
        'The filter needs too many resources to be looked at; add an indexed attribute.',
      );
    }
    for (const body of batch.bodies.filter(isMatch)) {
      listed.total += 1;
      if (listed.total >= startIndex && listed.bodies.length < count) listed.bodies.push(body);
    }
  }
  return listed;
}

/** A list as it is answered; `itemsPerPage` is what this page has (RFC 7644 §3.4.2). */
export function listResponse({ total, startIndex, nextCursor, resources }: Page): string {
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:ListResponse'];
  const head = JSON.stringify({
    schemas,
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    nextCursor,
  });
  return `${head.slice(0, -1)},"Resources":[${resources.join(',')}]}`;
}
