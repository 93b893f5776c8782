import { type Gather, isFull } from './gather.ts';
import { orderOf, rowsIn, type Segment, sortValue } from './index-range.ts';
import { countRows, edge, type KeyedRow, readRows, STEP } from './statements.ts';
import type { ListTask } from './task.ts';

/** Takes a page from an index that answers everything: what is in front of it is passed over without a look at rows. */
export async function glide<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  segments: Segment[],
  into: Gather<KeyedRow<Row>>,
): Promise<void> {
  for (const segment of segments) {
    if (isFull(into)) return;
    const start = await pass(task, segment, into);
    if (start) await take(task, start, into);
  }
}

/** Goes ahead until less than a step is left to pass over; undefined: the segment ends before. */
async function pass<Field extends string, By extends string, Row>(
  { scope, scan }: ListTask<Field, By, Row>,
  segment: Segment,
  into: Gather<KeyedRow<Row>>,
): Promise<Segment | undefined> {
  let { after } = segment;
  while (into.skip >= STEP) {
    await scan.yieldBetweenSteps();
    const end = await edge(scope, segment.range, { ...segment, after });
    into.skip -= end ? STEP : await countRows(scope, segment.range, { ...segment, after, fits: undefined });
    if (!end) return undefined;
    after = end;
  }
  return { ...segment, after };
}

async function take<Field extends string, By extends string, Row>(
  { definition, scope }: ListTask<Field, By, Row>,
  segment: Segment,
  into: Gather<KeyedRow<Row>>,
): Promise<void> {
  const { range } = segment;
  const rows = await readRows(scope, definition, {
    table: range.table,
    where: rowsIn(range, segment),
    order: orderOf(range),
    value: sortValue(range),
    fits: undefined,
    skip: into.skip,
    take: into.wanted - into.found.length,
  });
  into.found.push(...rows);
  into.skip =
    rows.length > 0 ? 0 : into.skip - (await countRows(scope, range, { ...segment, fits: undefined }));
}
