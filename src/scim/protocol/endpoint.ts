import type { Response } from 'express';
import type { Log } from '../../model/runtime-ports.ts';
import type { AssignableRole } from '../../model/translation.ts';
import type { GroupService } from '../../provisioning/groups/groups.ts';
import type { UserService } from '../../provisioning/users/users.ts';
import type { JsonObject } from '../../schema/resource.ts';
import { type ResourceType, resourceSchemas } from '../../schema/resource-types.ts';
import type { Page } from '../lists/list-response.ts';
import type { ScimProfile } from '../profiles/profiles.ts';
import type { Preconditions } from './etags.ts';
import type { JsonText } from './responses.ts';

/** The operations of one resource type. `id` comes from the path, `query` from the URL or from the body of a search. */
export interface Endpoint {
  read(context: ScimContext, id: string, query: Query): Promise<ResourceResponse>;
  /**
   * Lists resources. `searchedTypes` are all types of a search that covers several; by default only the type of this
   * endpoint.
   */
  list(context: ScimContext, query: Query, searchedTypes?: readonly ResourceType[]): Promise<Page>;
  create(context: ScimContext, body: JsonObject, query: Query): Promise<ResourceResponse>;
  replace(context: ScimContext, id: string, request: ResourceRequest): Promise<ResourceResponse>;
  patch(context: ScimContext, id: string, request: ResourceRequest): Promise<ResourceResponse>;
  remove(context: ScimContext, id: string): Promise<void>;
}

/**
 * The context of one request. It is passed as a parameter, because SCIMMY's resource classes are shared by all requests
 * of the process.
 */
export interface ScimContext {
  /** The connection that the bearer token belongs to. */
  connection: string;
  /** What the connection declares and accepts. */
  profile: ScimProfile;
  /** The URL that locations begin with, e.g. `https://bridge.example/scim/v2`. */
  base: string;
  users: UserService;
  groups: GroupService;
  /** Returns the roles that the identity provider of a connection may give. */
  roles(connection: string): Promise<AssignableRole[]>;
  scope: { id: string; log: Log };
  response: Response;
  preconditions: Preconditions;
  /** Milliseconds of a monotonic clock. */
  now(): number;
}

/** Query parameters before validation, in the spelling of the RFCs; a parameter that is given twice is an array. */
export type Query = Record<string, unknown>;

/** The query parameters of RFC 7644 §3.4.2 and §3.9, and of RFC 9865 §2. */
const parameterNames = [
  ...['attributes', 'excludedAttributes', 'filter', 'sortBy', 'sortOrder'],
  ...['startIndex', 'count', 'cursor'],
];

/**
 * Spells the names of parameters as the RFCs do. Attribute names have no case (RFC 7643 §2.1), and some clients write
 * parameters in the same way; a `FILTER` that is ignored would list everybody.
 */
export function parseQuery(parameters: Record<string, unknown>): Query {
  const query: Query = {};
  for (const [written, value] of Object.entries(parameters)) {
    const folded = written.toLowerCase();
    const name = parameterNames.find((known) => known.toLowerCase() === folded);
    if (name !== undefined) query[name] = name in query ? [query[name], value].flat() : value;
  }
  return query;
}

/** The body, query and conditions of a PUT or PATCH. */
export interface ResourceRequest {
  body: JsonObject;
  query: Query;
}

/** A response that contains one resource. */
export interface ResourceResponse {
  /** The URL of the resource, as in `meta.location`. */
  location: string;
  version: number;
  /** The response body; undefined if the response is 204. */
  json: JsonText | undefined;
}

/** Returns a signal that aborts when the connection of a request closes, before or after its response. */
export function closeSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else response.once('close', () => controller.abort());
  return controller.signal;
}

/**
 * Attribute names that may appear in the log. All other names are only counted, because clients may put personal data
 * into them.
 */
const loggableNames = new Set(
  resourceSchemas.flatMap(({ attributes }) => attributes.map(({ name }) => name)),
);

/** Logs the names in a body that no schema declares: the IdP maps a value to an attribute that has no effect. */
export function logDroppedAttributes({ scope }: ScimContext, dropped: string[]): void {
  if (dropped.length === 0) return;
  const names = [...new Set(dropped.map((name) => (loggableNames.has(name) ? name : '*')))];
  scope.log.info({ dropped: names, count: dropped.length }, 'attributes that no schema defines were ignored');
}
