import { type Leg, orderOf, rowsIn, sortValue } from './course.ts';
import { type Gather, gather } from './gather.ts';
import type { Route } from './route.ts';
import { type Kept, readRows } from './statements.ts';
import { BATCH, type Task } from './task.ts';

/** Goes along an index and looks into each row for what no column answers; a batch at a time is held. */
export async function sift<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
  { legs, fits }: { legs: Leg[]; fits: Route['fits'] },
  into: Gather<Kept<Row>>,
): Promise<void> {
  for (const { course, until, ...start } of legs) {
    let { after } = start;
    do {
      await task.scan.step();
      const batch = await readRows(task.place, task.shelf, {
        table: course.table,
        where: rowsIn(course, { after, until }),
        order: orderOf(course),
        value: sortValue(course),
        fits,
        take: BATCH,
      });
      const candidates = batch.filter((row) => row.fits);
      const flags = (await task.scan.residual?.(candidates.map(({ row }) => row))) ?? [];
      for (const [index, row] of candidates.entries()) if (flags[index]) gather(into, row);
      after = batch.length < BATCH ? undefined : batch.at(-1)?.key;
    } while (after);
  }
}
