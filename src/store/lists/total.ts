import type { Comparison } from '../../provisioning/list-ports.ts';
import { conjunctsOf } from './condition.ts';
import { type IndexRange, indexRangesOf } from './index-range.ts';
import type { OrderColumn } from './list-definition.ts';
import { countRows, edge, STEP } from './statements.ts';
import type { ListTask } from './task.ts';

/** How many match, where that takes no look at the rows: by tallies, or along the one index that answers it all. */
export async function quickTotal<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
): Promise<number | undefined> {
  const { definition, scope, query } = task;
  const known = await definition.total(scope, query.where);
  if (known !== undefined) return known;
  const range = rangeFor(task, conjunctsOf(query.where) ?? []);
  return range && countAlong(task, range);
}

function rangeFor<Field extends string, By extends string, Row>(
  { definition, scope }: ListTask<Field, By, Row>,
  comparisons: Comparison<Field>[],
): IndexRange | undefined {
  const [first] = comparisons;
  if (!first || comparisons.some(({ field }) => field !== first.field)) return undefined;
  const order = Object.values<OrderColumn>(definition.orders).find((one) => one.field === first.field);
  return order && indexRangesOf(definition, scope, { of: order, base: comparisons, descending: false })[0];
}

async function countAlong<Field extends string, By extends string, Row>(
  { scope, scan }: ListTask<Field, By, Row>,
  range: IndexRange,
): Promise<number> {
  let total = 0;
  let part: Parameters<typeof edge>[2] = { after: undefined, until: undefined };
  for (;;) {
    await scan.yieldBetweenSteps();
    const end = await edge(scope, range, part);
    if (!end) return total + (await countRows(scope, range, { ...part, fits: undefined }));
    total += STEP;
    part = { after: end, until: undefined };
  }
}
