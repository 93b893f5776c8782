import { type Leg, orderOf, rowsIn, sortValue } from './course.ts';
import type { Found } from './few.ts';
import { type Gather, isFull } from './gather.ts';
import type { Route } from './route.ts';
import { count, edge, readKeys, STEP } from './statements.ts';
import type { Task } from './task.ts';

/** Goes along an index and looks at the other columns of each row; to the end, or until the page is full. */
export async function comb<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
  { legs, fits }: { legs: Leg[]; fits: Route['fits'] },
  { into, toTheEnd }: { into: Gather<Found<Row>>; toTheEnd: boolean },
): Promise<void> {
  const { place, scan } = task;
  for (const { course, ...whole } of legs) {
    let { after } = whole;
    do {
      if (isFull(into) && !toTheEnd) return;
      await scan.yieldBetweenSteps();
      const end = await edge(place, course, { ...whole, after });
      const leg = { course, after, until: end ?? whole.until };
      const fitting = end && !fits ? STEP : await count(place, course, { ...leg, fits });
      if (!isFull(into) && fitting > into.skip) await take(task, { leg, fits }, into);
      into.skip = Math.max(0, into.skip - fitting);
      into.total += fitting;
      after = end;
    } while (after);
  }
}

async function take<Field extends string, By extends string, Row>(
  { place }: Task<Field, By, Row>,
  { leg, fits }: { leg: Leg; fits: Route['fits'] },
  into: Gather<Found<Row>>,
): Promise<void> {
  const { course } = leg;
  const keys = await readKeys(place, {
    table: course.table,
    where: rowsIn(course, leg),
    order: orderOf(course),
    descending: course.descending,
    value: sortValue(course),
    fits,
    skip: into.skip,
    take: into.wanted - into.found.length,
  });
  into.found.push(...keys.map((key) => ({ key })));
}
