import type { JsonObject } from '../schema/resource.ts';
import type { Query, ScimContext } from './context.ts';

/** One kind of resource as HTTP sees it: what each method answers, as plain objects. */
export interface Endpoint {
  read(context: ScimContext, id: string, query: Query): Promise<JsonObject>;
  list(context: ScimContext, query: Query): Promise<JsonObject>;
  create(context: ScimContext, body: JsonObject, query: Query): Promise<JsonObject>;
  replace(context: ScimContext, id: string, request: { body: JsonObject; query: Query }): Promise<JsonObject>;
  /** Undefined: 204. */
  patch(
    context: ScimContext,
    id: string,
    request: { body: JsonObject; query: Query },
  ): Promise<JsonObject | undefined>;
  remove(context: ScimContext, id: string): Promise<void>;
}
