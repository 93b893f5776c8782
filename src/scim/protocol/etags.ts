import type { IncomingHttpHeaders } from 'node:http';
import { ScimError } from './errors.ts';

/** The `If-Match` and `If-None-Match` headers of a request (RFC 7644 §3.14, RFC 9110 §13.1). */
export interface Preconditions {
  /**
   * Throws 412 if `If-Match` does not contain this version, or if `If-None-Match` contains it. A missing header is
   * ignored.
   */
  check(version: number): void;
  /**
   * Returns true if `If-None-Match` contains this version, so that the response is 304. Throws 412 if `If-Match` does
   * not contain it.
   */
  isCached(version: number): boolean;
}

/**
 * Returns the ETag of a version, which is also its `meta.version`. The ETag is weak, because read-only attributes such
 * as `groups` may change without a new version.
 */
export function etagOf(version: number): string {
  return `W/"${version}"`;
}

/** Parses If-Match and If-None-Match. Strong and weak tags are compared alike. */
export function parsePreconditions({
  'if-match': ifMatch,
  'if-none-match': ifNoneMatch,
}: IncomingHttpHeaders): Preconditions {
  const isMatched = (version: number) => ifMatch === undefined || includesVersion(ifMatch, version);
  const isCached = (version: number) => ifNoneMatch !== undefined && includesVersion(ifNoneMatch, version);
  return {
    check: (version) => {
      if (!isMatched(version) || isCached(version)) throw preconditionFailed(version);
    },
    isCached: (version) => {
      if (!isMatched(version)) throw preconditionFailed(version);
      return isCached(version);
    },
  };
}

/** A list of entity tags (RFC 9110 §8.8.3); empty elements and missing commas are tolerated. */
const tagList = /^(?:[\s,]*(?:W\/)?"[^"]*")+[\s,]*$/;

/** Returns true if the header is `*` or lists the version. A malformed header matches no version. */
function includesVersion(header: string, version: number): boolean {
  if (header.trim() === '*') return true;
  if (!tagList.test(header)) return false;
  const tags = header.matchAll(/"([^"]*)"/g);
  return [...tags].some(([, tag]) => tag === String(version));
}

function preconditionFailed(version: number): ScimError {
  return new ScimError(412, undefined, `The resource is at version ${etagOf(version)}.`);
}
