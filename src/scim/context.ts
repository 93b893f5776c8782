import type { IncomingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import type { GroupService } from '../provisioning/groups.ts';
import type { Log } from '../provisioning/runtime-ports.ts';
import type { UserService } from '../provisioning/users.ts';
import { ScimError } from './errors.ts';

/** All that a request knows; SCIMMY's classes are shared by the whole process and know nothing themselves. */
export interface ScimContext {
  /** The connection that the bearer token belongs to. */
  connection: string;
  /** The URL that locations begin with, e.g. `https://bridge.example/scim/v2`. */
  base: string;
  users: UserService;
  groups: GroupService;
  scope: { log: Log };
  response: Response;
  preconditions: Preconditions;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

/** The query parameters as they came: a name given twice has an array. */
export type Query = Record<string, unknown>;

/** Aborted when the connection of a request closes, before or after its answer. */
export function closeSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else response.once('close', () => controller.abort());
  return controller.signal;
}

/** What a request demands of a resource's version (RFC 7644 §3.14, RFC 9110 §13.1). */
export interface Preconditions {
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
export function parsePreconditions({
  'if-match': ifMatch,
  'if-none-match': ifNoneMatch,
}: IncomingHttpHeaders): Preconditions {
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
