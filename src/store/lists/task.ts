import type { ListQuery, ListScan } from '../../provisioning/list-ports.ts';
import type { Place, Shelf } from './shelf.ts';

/** What is listed, for whom, and how those who wait for it are thought of. */
export interface Task<Field extends string, By extends string, Row> {
  shelf: Shelf<Field, By, Row>;
  place: Place;
  query: ListQuery<Field, By>;
  scan: ListScan<Row>;
}

/** How many rows are read at once to be looked at one by one. */
export const BATCH = 50;
