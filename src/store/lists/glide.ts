import { type Gather, isFull } from './gather.ts';
import { orderOf, rowsIn, type Segment, sortValue } from './index-range.ts';
import { countRows, edge, type KeyedRow, readRows, STEP } from './statements.ts';
import type { ListTask } from './task.ts';

/** Takes a page from an index that answers everything: what is in front of it is passed over without a look at rows. */
export async function glide<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  legs: Segment[],
  into: Gather<KeyedRow<Row>>,
): Promise<void> {
  for (const leg of legs) {
    if (isFull(into)) return;
    const start = await pass(task, leg, into);
    if (start) await take(task, start, into);
  }
}

/** Goes ahead until less than a step is left to pass over; undefined: the leg ends before. */
async function pass<Field extends string, By extends string, Row>(
  { scope, scan }: ListTask<Field, By, Row>,
  leg: Segment,
  into: Gather<KeyedRow<Row>>,
): Promise<Segment | undefined> {
  let { after } = leg;
  while (into.skip >= STEP) {
    await scan.yieldBetweenSteps();
    const end = await edge(scope, leg.course, { ...leg, after });
    into.skip -= end ? STEP : await countRows(scope, leg.course, { ...leg, after, fits: undefined });
    if (!end) return undefined;
    after = end;
  }
  return { ...leg, after };
}

async function take<Field extends string, By extends string, Row>(
  { definition, scope }: ListTask<Field, By, Row>,
  leg: Segment,
  into: Gather<KeyedRow<Row>>,
): Promise<void> {
  const { course } = leg;
  const rows = await readRows(scope, definition, {
    table: course.table,
    where: rowsIn(course, leg),
    order: orderOf(course),
    value: sortValue(course),
    fits: undefined,
    skip: into.skip,
    take: into.wanted - into.found.length,
  });
  into.found.push(...rows);
  into.skip = rows.length > 0 ? 0 : into.skip - (await countRows(scope, course, { ...leg, fits: undefined }));
}
