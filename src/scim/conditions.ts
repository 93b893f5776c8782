import type { IncomingHttpHeaders } from 'node:http';
import { ScimError } from './scim-error.ts';

/** What a request demands of a resource's version (RFC 7644 §3.14, RFC 9110 §13.1). */
export interface Conditions {
  /** 412 when the resource is not at a version that the request asks for, or is at one that it rules out. */
  check(version: number): void;
  /** Whether the client has this version: a read is then answered by 304. Throws 412 like `check`. */
  has(version: number): boolean;
}

/** The tag of a version, which is `meta.version` and the header ETag: weak, as what is read-only is not part of it. */
export function etagOf(version: number): string {
  return `W/"${version}"`;
}

/** Reads If-Match and If-None-Match; tags are compared weakly. */
export function conditionsOf({
  'if-match': ifMatch,
  'if-none-match': ifNoneMatch,
}: IncomingHttpHeaders): Conditions {
  const isWanted = (version: number) => ifMatch === undefined || names(ifMatch, version);
  const isNamed = (version: number) => ifNoneMatch !== undefined && names(ifNoneMatch, version);
  return {
    check: (version) => {
      if (!isWanted(version) || isNamed(version)) throw changed(version);
    },
    has: (version) => {
      if (!isWanted(version)) throw changed(version);
      return isNamed(version);
    },
  };
}

/** A list of entity tags (RFC 9110 §8.8.3), its commas forgiven. */
const list = /^(?:[\s,]*(?:W\/)?"[^"]*")+[\s,]*$/;

/** Anything but `*` and tags names no version. */
function names(header: string, version: number): boolean {
  if (header.trim() === '*') return true;
  if (!list.test(header)) return false;
  const tags = header.matchAll(/"([^"]*)"/g);
  return [...tags].some(([, tag]) => tag === String(version));
}

function changed(version: number): ScimError {
  return new ScimError(412, undefined, `The resource is at version ${etagOf(version)}.`);
}
