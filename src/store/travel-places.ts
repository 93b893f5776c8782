import { type Kysely, sql } from 'kysely';
import type { Position } from '../travel/ports.ts';
import type { Tables } from './tables.ts';

/** A list of one type: an index, or those of a parent in order of creation. */
export interface List {
  type: string;
  list: string;
}

/** Where a resource stands in a list. */
export interface Place {
  value: string;
  seq: number;
  archived: number;
}

const CREATION = '=';

/** The list of all that have this parent, in order of creation. */
export function creationList(parentId: string): string {
  return `${CREATION}${parentId}`;
}

/** A time of creation in the form in which places are compared in any list. */
export function creationValue(createdAt: number): string {
  return String(createdAt).padStart(16, '0');
}

/** The places of a list from one of them on, in order. */
export async function placesAfter(
  db: Kysely<Tables>,
  { type, list }: List,
  { from, inclusive = true, limit }: { from?: Position; inclusive?: boolean; limit: number },
): Promise<Place[]> {
  const { value, seq } = from ?? { value: '', seq: 0 };
  const sign = sql.raw(inclusive ? '>=' : '>');
  if (!list.startsWith(CREATION)) {
    return db
      .selectFrom('travel_index')
      .select(['value', 'seq', 'archived'])
      .where('type', '=', type)
      .where('name', '=', list)
      .where(sql<boolean>`(value, seq) ${sign} (${value}, ${seq})`)
      .orderBy('value')
      .orderBy('seq')
      .limit(limit)
      .execute();
  }
  const rows = await db
    .selectFrom('travel_resource')
    .select(['created_at', 'seq', 'archived'])
    .where('type', '=', type)
    .where('parent_id', '=', list.slice(CREATION.length))
    .where(sql<boolean>`(created_at, seq) ${sign} (${Number(value)}, ${seq})`)
    .orderBy('created_at')
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, value: creationValue(row.created_at) }));
}
