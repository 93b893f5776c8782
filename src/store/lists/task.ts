import type { ListQuery, ListScan } from '../../provisioning/list-ports.ts';
import type { ListDefinition, ListScope } from './list-definition.ts';

/** What is listed, for whom, and how those who wait for it are thought of. */
export interface ListTask<Field extends string, By extends string, Row> {
  definition: ListDefinition<Field, By, Row>;
  scope: ListScope;
  query: ListQuery<Field, By>;
  scan: ListScan<Row>;
}

/** How many rows are read at once to be looked at one by one. */
export const BATCH = 50;
