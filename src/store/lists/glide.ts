import { type Leg, orderOf, rowsIn, sortValue } from './course.ts';
import { type Gather, isFull } from './gather.ts';
import { count, edge, type Kept, readRows, STEP } from './statements.ts';
import type { Task } from './task.ts';

/** Takes a page from an index that answers everything: what is in front of it is passed over without a look at rows. */
export async function glide<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
  legs: Leg[],
  into: Gather<Kept<Row>>,
): Promise<void> {
  for (const leg of legs) {
    if (isFull(into)) return;
    const start = await pass(task, leg, into);
    if (start) await take(task, start, into);
  }
}

/** Goes ahead until less than a step is left to pass over; undefined: the leg ends before. */
async function pass<Field extends string, By extends string, Row>(
  { place, scan }: Task<Field, By, Row>,
  leg: Leg,
  into: Gather<Kept<Row>>,
): Promise<Leg | undefined> {
  let { after } = leg;
  while (into.skip >= STEP) {
    await scan.yieldBetweenSteps();
    const end = await edge(place, leg.course, { ...leg, after });
    into.skip -= end ? STEP : await count(place, leg.course, { ...leg, after, fits: undefined });
    if (!end) return undefined;
    after = end;
  }
  return { ...leg, after };
}

async function take<Field extends string, By extends string, Row>(
  { shelf, place }: Task<Field, By, Row>,
  leg: Leg,
  into: Gather<Kept<Row>>,
): Promise<void> {
  const { course } = leg;
  const rows = await readRows(place, shelf, {
    table: course.table,
    where: rowsIn(course, leg),
    order: orderOf(course),
    value: sortValue(course),
    fits: undefined,
    skip: into.skip,
    take: into.wanted - into.found.length,
  });
  into.found.push(...rows);
  into.skip = rows.length > 0 ? 0 : into.skip - (await count(place, course, { ...leg, fits: undefined }));
}
