import type { Edge, ListQuery, Position } from '../travel/ports.ts';

/** Goes through a list from a place on, which may belong to it; none: from the end at which the direction begins. */
export type Step<Row> = (
  direction: 'asc' | 'desc',
  limit: number,
  from?: { place: Position; inclusive: boolean },
) => Promise<Row[]>;

/** The rows of a page that begins or ends at a place, and the rows next to it on either side, as far as there are any. */
export async function around<Row>(
  { order, limit }: Pick<ListQuery, 'order' | 'limit'>,
  edge: Edge | undefined,
  step: Step<Row>,
): Promise<{ rows: Row[]; next: Row | undefined; previous: Row | undefined }> {
  const back = order === 'asc' ? 'desc' : 'asc';
  const beside = async (direction: 'asc' | 'desc', place: Position) =>
    (await step(direction, 1, { place, inclusive: false }))[0];
  if (edge && 'before' in edge) {
    const found = await step(back, limit + 1, { place: edge.before, inclusive: true });
    const next = await beside(order, edge.before);
    return { rows: found.slice(0, limit).reverse(), next, previous: found[limit] };
  }
  const found = await step(order, limit + 1, edge && { place: edge.after, inclusive: true });
  const previous = edge && (await beside(back, edge.after));
  return { rows: found.slice(0, limit), next: found[limit], previous };
}
