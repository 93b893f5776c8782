import type { Comparison } from '../../provisioning/list-ports.ts';
import { conjunctsOf } from './condition.ts';
import { type Course, coursesOf } from './course.ts';
import type { OrderColumn } from './shelf.ts';
import { count, edge, STEP } from './statements.ts';
import type { Task } from './task.ts';

/** How many match, where that takes no look at the rows: by tallies, or along the one index that answers it all. */
export async function quickTotal<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
): Promise<number | undefined> {
  const { shelf, place, query } = task;
  const known = await shelf.total(place, query.where);
  if (known !== undefined) return known;
  const course = courseOf(task, conjunctsOf(query.where) ?? []);
  return course && countAlong(task, course);
}

function courseOf<Field extends string, By extends string, Row>(
  { shelf, place }: Task<Field, By, Row>,
  comparisons: Comparison<Field>[],
): Course | undefined {
  const [first] = comparisons;
  if (!first || comparisons.some(({ field }) => field !== first.field)) return undefined;
  const order = Object.values<OrderColumn>(shelf.orders).find((one) => one.field === first.field);
  return order && coursesOf(shelf, place, { of: order, base: comparisons, descending: false })[0];
}

async function countAlong<Field extends string, By extends string, Row>(
  { place, scan }: Task<Field, By, Row>,
  course: Course,
): Promise<number> {
  let total = 0;
  let stretch: Parameters<typeof edge>[2] = { after: undefined, until: undefined };
  for (;;) {
    await scan.yieldBetweenSteps();
    const end = await edge(place, course, stretch);
    if (!end) return total + (await count(place, course, { ...stretch, fits: undefined }));
    total += STEP;
    stretch = { after: end, until: undefined };
  }
}
