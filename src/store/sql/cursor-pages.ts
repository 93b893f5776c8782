import type { Edge, ListQuery, Position } from '../../travel/ports.ts';

/** The first row of a range, or the row before it. */
export interface RangeStart {
  place: Position;
  inclusive: boolean;
}

/** Returns the sign of the rows from a place on in a direction. */
export function comparisonSign(direction: 'asc' | 'desc', inclusive = false): '>' | '>=' | '<' | '<=' {
  return `${direction === 'asc' ? '>' : '<'}${inclusive ? '=' : ''}`;
}

/** Reads up to `limit` rows of a list in one direction, from a place or from the first row in that direction. */
type PageReader<Row> = (direction: 'asc' | 'desc', limit: number, from?: RangeStart) => Promise<Row[]>;

/** Returns the rows of a page that begins or ends at a position, and the rows directly before and after the page. */
export async function pageAround<Row>(
  { order, limit }: Pick<ListQuery, 'order' | 'limit'>,
  edge: Edge | undefined,
  read: PageReader<Row>,
): Promise<{ rows: Row[]; next: Row | undefined; previous: Row | undefined }> {
  const back = order === 'asc' ? 'desc' : 'asc';
  const beside = async (direction: 'asc' | 'desc', place: Position) =>
    (await read(direction, 1, { place, inclusive: false }))[0];
  if (edge && 'before' in edge) {
    const found = await read(back, limit + 1, { place: edge.before, inclusive: true });
    const next = await beside(order, edge.before);
    return { rows: found.slice(0, limit).reverse(), next, previous: found[limit] };
  }
  const found = await read(order, limit + 1, edge && { place: edge.after, inclusive: true });
  const previous = edge && (await beside(back, edge.after));
  return { rows: found.slice(0, limit), next: found[limit], previous };
}
