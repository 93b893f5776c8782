import type { Response } from 'express';
import type { GroupService } from '../provisioning/groups.ts';
import type { Log } from '../provisioning/runtime-ports.ts';
import type { UserService } from '../provisioning/users.ts';
import { enterpriseSchema, groupSchema, travelSchema, userSchema } from '../schema/generated-schemas.ts';
import type { JsonObject } from '../schema/resource.ts';
import type { ResourceType } from '../schema/resource-types.ts';
import type { Preconditions } from './etags.ts';
import type { Page } from './list-response.ts';
import type { JsonText } from './responses.ts';

/** The HTTP methods of one resource type. `id` comes from the path, `query` from the URL or the body of a search. */
export interface Endpoint {
  read(context: ScimContext, id: string, query: Query): Promise<ResourceResponse>;
  /** `searchedTypes`: all types that one search covers; by default only that of the endpoint. */
  list(context: ScimContext, query: Query, searchedTypes?: readonly ResourceType[]): Promise<Page>;
  create(context: ScimContext, body: JsonObject, query: Query): Promise<ResourceResponse>;
  replace(context: ScimContext, id: string, request: ResourceRequest): Promise<ResourceResponse>;
  patch(context: ScimContext, id: string, request: ResourceRequest): Promise<ResourceResponse>;
  remove(context: ScimContext, id: string): Promise<void>;
}

/** The state of one request. SCIMMY's resource classes are shared by the whole process and hold no request. */
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
  /** Milliseconds of a monotonic clock. */
  now(): number;
}

/** Query parameters before validation; a parameter that is given twice is an array. */
export type Query = Record<string, unknown>;

/** The parts of a PUT or PATCH besides the id. */
export interface ResourceRequest {
  body: JsonObject;
  query: Query;
}

/** The response with one resource. */
export interface ResourceResponse {
  /** The URL of the resource, as in `meta.location`. */
  location: string;
  version: number;
  /** Undefined stands for 204. */
  json: JsonText | undefined;
}

/** Returns a signal that aborts when the connection of a request closes, before or after its response. */
export function closeSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else response.once('close', () => controller.abort());
  return controller.signal;
}

/** Names that the log may show. Other names come from clients and may contain personal data, so they are only counted. */
const loggableNames = new Set(
  [userSchema, groupSchema, enterpriseSchema, travelSchema].flatMap(({ attributes }) =>
    attributes.map(({ name }) => name),
  ),
);

/** Logs the names in a body that no schema declares: the IdP maps a value to an attribute that has no effect. */
export function logDroppedAttributes({ scope }: ScimContext, dropped: string[]): void {
  if (dropped.length === 0) return;
  const names = [...new Set(dropped.map((name) => (loggableNames.has(name) ? name : '*')))];
  scope.log.info({ dropped: names, count: dropped.length }, 'attributes that no schema defines were ignored');
}
