import type { FoundRow } from './few.ts';
import { type Gather, isFull } from './gather.ts';
import { orderOf, rowsIn, type Segment, sortValue } from './index-range.ts';
import type { ScanPlan } from './scan-plan.ts';
import { countRows, edge, readKeys, STEP } from './statements.ts';
import type { ListTask } from './task.ts';

/** Goes along an index and looks at the other columns of each row; to the end, or until the page is full. */
export async function comb<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  { segments, fits }: { segments: Segment[]; fits: ScanPlan['fits'] },
  { into, toTheEnd }: { into: Gather<FoundRow<Row>>; toTheEnd: boolean },
): Promise<void> {
  const { scope, scan } = task;
  for (const { range, ...whole } of segments) {
    let { after } = whole;
    do {
      if (isFull(into) && !toTheEnd) return;
      await scan.yieldBetweenSteps();
      const end = await edge(scope, range, { ...whole, after });
      const segment = { range, after, until: end ?? whole.until };
      const fitting = end && !fits ? STEP : await countRows(scope, range, { ...segment, fits });
      if (!isFull(into) && fitting > into.skip) await take(task, { segment, fits }, into);
      into.skip = Math.max(0, into.skip - fitting);
      into.total += fitting;
      after = end;
    } while (after);
  }
}

async function take<Field extends string, By extends string, Row>(
  { scope }: ListTask<Field, By, Row>,
  { segment, fits }: { segment: Segment; fits: ScanPlan['fits'] },
  into: Gather<FoundRow<Row>>,
): Promise<void> {
  const { range } = segment;
  const keys = await readKeys(scope, {
    table: range.table,
    where: rowsIn(range, segment),
    order: orderOf(range),
    descending: range.descending,
    value: sortValue(range),
    fits,
    skip: into.skip,
    take: into.wanted - into.found.length,
  });
  into.found.push(...keys.map((key) => ({ key })));
}
