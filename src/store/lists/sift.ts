import { batches } from '../queries.ts';
import { type Gather, gather } from './gather.ts';
import { orderOf, rowsIn, type Segment, sortValue } from './index-range.ts';
import type { ScanPlan } from './scan-plan.ts';
import { edge, type KeyedRow, readKeys, rowsAt, STEP } from './statements.ts';
import { BATCH, type ListTask } from './task.ts';

/** Goes along an index and looks into each row for what no column answers; a batch at a time is held. */
export async function sift<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  { segments, fits }: { segments: Segment[]; fits: ScanPlan['fits'] },
  into: Gather<KeyedRow<Row>>,
): Promise<void> {
  const { scope, definition, scan } = task;
  for (const { range, ...whole } of segments) {
    let { after } = whole;
    do {
      await scan.yieldBetweenSteps();
      const end = await edge(scope, range, { ...whole, after });
      const candidates = await readKeys(scope, {
        table: range.table,
        where: rowsIn(range, { after, until: end ?? whole.until }),
        order: orderOf(range),
        descending: range.descending,
        value: sortValue(range),
        fits,
        take: STEP,
      });
      for (const batch of batches(candidates, BATCH)) {
        await scan.yieldBetweenSteps();
        await look(task, await rowsAt(scope, definition, batch), into);
      }
      after = end;
    } while (after);
  }
}

async function look<Field extends string, By extends string, Row>(
  { scan }: ListTask<Field, By, Row>,
  candidates: KeyedRow<Row>[],
  into: Gather<KeyedRow<Row>>,
): Promise<void> {
  const flags = (await scan.residual?.(candidates.map(({ row }) => row))) ?? [];
  for (const [index, row] of candidates.entries()) if (flags[index]) gather(into, row);
}
