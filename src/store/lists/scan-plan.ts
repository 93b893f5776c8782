import { conditionOf, conjunctsOf } from './condition.ts';
import { type IndexRange, indexRangesOf, type Segment, segmentsAround, segmentsOf } from './index-range.ts';
import type { Sql } from './list-definition.ts';
import type { ListTask } from './task.ts';

/** The way through the index of the order that is asked for. */
export interface ScanPlan {
  /** Up to the row behind which to begin, which are counted only. */
  before: Segment[];
  /** Where to begin. */
  from: Segment[];
  /** What the index does not answer. */
  fits: Sql | undefined;
}

/** How to go through the rows for a query that no index answers by a few. */
export function planScan<Field extends string, By extends string, Row>({
  definition,
  scope,
  query: { where, order, start },
}: ListTask<Field, By, Row>): ScanPlan {
  const of = definition.orders[order.by];
  const comparisons = conjunctsOf(where);
  const base = comparisons?.filter(({ field }) => field === of.field) ?? [];
  const others = comparisons?.filter(({ field }) => field !== of.field);
  const ranges: IndexRange[] = indexRangesOf(definition, scope, { of, base, descending: order.descending });
  const fits =
    others?.length === 0 ? undefined : conditionOf(definition, scope, others ? { all: others } : where);
  if ('offset' in start) return { before: [], from: segmentsOf(ranges), fits };
  const { before, behind } = segmentsAround(ranges, start.after);
  return { before, from: behind, fits };
}
