import type { JsonObject } from '../schema/resource.ts';
import type { ResourceType } from '../schema/resource-type.ts';
import type { Query, ScimContext } from './context.ts';

/** One resource as it is answered. */
export interface Answer {
  /** Where it is: `meta.location`. */
  location: string;
  version: number;
  /** JSON text; undefined: 204. */
  json: string | undefined;
}

/** A part of a list, each resource as JSON text. */
export interface Page {
  total: number;
  /** Of index paging; a list with a cursor has none (RFC 9865 §2). */
  startIndex?: number;
  /** Where to go on, unless this is the last page or the client pages by index. */
  nextCursor?: string | undefined;
  resources: string[];
}

/** One kind of resource as HTTP sees it: what each method answers. */
export interface Endpoint {
  read(context: ScimContext, id: string, query: Query): Promise<Answer>;
  /** `among`: the types that are searched together, where it is not this one alone. */
  list(context: ScimContext, query: Query, among?: readonly ResourceType[]): Promise<Page>;
  create(context: ScimContext, body: JsonObject, query: Query): Promise<Answer>;
  replace(context: ScimContext, id: string, request: { body: JsonObject; query: Query }): Promise<Answer>;
  patch(context: ScimContext, id: string, request: { body: JsonObject; query: Query }): Promise<Answer>;
  remove(context: ScimContext, id: string): Promise<void>;
}
