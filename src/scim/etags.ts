import type { IncomingHttpHeaders } from 'node:http';
import { ScimError } from './errors.ts';

/** The conditions that a request makes on the version of a resource (RFC 7644 §3.14, RFC 9110 §13.1). */
export interface Preconditions {
  /** Throws 412 unless `If-Match` names this version, or if `If-None-Match` names it. A missing header demands nothing. */
  check(version: number): void;
  /** Whether `If-None-Match` names this version, so that a read is answered with 304. `If-Match` throws 412 as in `check`. */
  isCached(version: number): boolean;
}

/**
 * The ETag of a version, which is also its `meta.version`. Tags are weak: read-only attributes such as `groups` may change
 * under the same version.
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

/** Any header value other than `*` and a list of tags includes no version. */
function includesVersion(header: string, version: number): boolean {
  if (header.trim() === '*') return true;
  if (!tagList.test(header)) return false;
  const tags = header.matchAll(/"([^"]*)"/g);
  return [...tags].some(([, tag]) => tag === String(version));
}

function preconditionFailed(version: number): ScimError {
  return new ScimError(412, undefined, `The resource is at version ${etagOf(version)}.`);
}
