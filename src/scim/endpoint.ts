import { enterpriseSchema, groupSchema, travelSchema, userSchema } from '../schema/generated-schemas.ts';
import type { JsonObject } from '../schema/resource.ts';
import type { ResourceType } from '../schema/resource-types.ts';
import type { Query, ScimContext } from './context.ts';
import type { JsonText } from './responses.ts';

/** One resource as it is answered. */
export interface ResourceResponse {
  /** Where it is: `meta.location`. */
  location: string;
  version: number;
  /** Undefined: 204. */
  json: JsonText | undefined;
}

/** A resource on a page. */
export interface PageResource {
  /** Undefined: it is gone by now, and left out. */
  json(): JsonText | Promise<JsonText | undefined>;
  /** Frees what is held in memory until it is written. */
  release(): void;
  /** A cursor that leads on behind it; undefined: the page cannot end there. */
  cursor: (() => string) | undefined;
}

/** A part of a list. */
export interface Page {
  total: number;
  /** Of index paging; a list with a cursor has none (RFC 9865 §2). */
  startIndex?: number;
  /** Where to go on, unless this is the last page or the client pages by index. */
  nextCursor?: string | undefined;
  resources: PageResource[];
}

/** One kind of resource as HTTP sees it: what each method answers. */
export interface Endpoint {
  read(context: ScimContext, id: string, query: Query): Promise<ResourceResponse>;
  /** `among`: the types that are searched together, where it is not this one alone. */
  list(context: ScimContext, query: Query, among?: readonly ResourceType[]): Promise<Page>;
  create(context: ScimContext, body: JsonObject, query: Query): Promise<ResourceResponse>;
  replace(
    context: ScimContext,
    id: string,
    request: { body: JsonObject; query: Query },
  ): Promise<ResourceResponse>;
  patch(
    context: ScimContext,
    id: string,
    request: { body: JsonObject; query: Query },
  ): Promise<ResourceResponse>;
  remove(context: ScimContext, id: string): Promise<void>;
}

/** Names that the log may show: an attribute of another schema, in a place where this one has none. */
const known = new Set(
  [userSchema, groupSchema, enterpriseSchema, travelSchema].flatMap(({ attributes }) =>
    attributes.map(({ name }) => name),
  ),
);

/** Tells the log that no schema knows some names of a body: a mapping of the IdP leads nowhere. Unknown names may be anything, so they are counted only. */
export function logDroppedAttributes({ scope }: ScimContext, dropped: string[]): void {
  if (dropped.length === 0) return;
  const names = [...new Set(dropped.map((name) => (known.has(name) ? name : '*')))];
  scope.log.info({ dropped: names, count: dropped.length }, 'attributes that no schema knows were left out');
}
