import type { Page } from './endpoint.ts';

/**
 * A list as it is answered; `itemsPerPage` is what this page has (RFC 7644 §3.4.2), and `nextCursor` is there unless it is
 * the last page (RFC 9865 §2).
 */
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
