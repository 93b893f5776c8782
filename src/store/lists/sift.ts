import { batches } from '../statements.ts';
import { type Leg, orderOf, rowsIn, sortValue } from './course.ts';
import { type Gather, gather } from './gather.ts';
import type { Route } from './route.ts';
import { edge, type Kept, readKeys, rowsAt, STEP } from './statements.ts';
import { BATCH, type Task } from './task.ts';

/** Goes along an index and looks into each row for what no column answers; a batch at a time is held. */
export async function sift<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
  { legs, fits }: { legs: Leg[]; fits: Route['fits'] },
  into: Gather<Kept<Row>>,
): Promise<void> {
  const { place, shelf, scan } = task;
  for (const { course, ...whole } of legs) {
    let { after } = whole;
    do {
      await scan.yieldBetweenSteps();
      const end = await edge(place, course, { ...whole, after });
      const candidates = await readKeys(place, {
        table: course.table,
        where: rowsIn(course, { after, until: end ?? whole.until }),
        order: orderOf(course),
        descending: course.descending,
        value: sortValue(course),
        fits,
        take: STEP,
      });
      for (const batch of batches(candidates, BATCH)) {
        await scan.yieldBetweenSteps();
        await look(task, await rowsAt(place, shelf, batch), into);
      }
      after = end;
    } while (after);
  }
}

async function look<Field extends string, By extends string, Row>(
  { scan }: Task<Field, By, Row>,
  candidates: Kept<Row>[],
  into: Gather<Kept<Row>>,
): Promise<void> {
  const flags = (await scan.residual?.(candidates.map(({ row }) => row))) ?? [];
  for (const [index, row] of candidates.entries()) if (flags[index]) gather(into, row);
}
