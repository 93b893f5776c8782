import type { ListPage } from '../../provisioning/list-ports.ts';
import { batches } from '../queries.ts';
import type { FoundRow } from './few.ts';
import { gather, gathering, pageOf } from './gather.ts';
import { comparing } from './order.ts';
import { type KeyedRow, rowsAt, toRowsAndKeys } from './statements.ts';
import { BATCH, type ListTask } from './task.ts';

/** The part that is wanted of a few rows in their order. */
export async function fromFew<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  all: FoundRow<Row>[],
): Promise<ListPage<Row>> {
  const { query, scan } = task;
  const part = gathering<FoundRow<Row>>('offset' in query.start ? query.start.offset : 0, query.limit);
  const isBefore = isBeforeStart(task);
  let total = 0;
  for (const batch of batches(all, BATCH)) {
    const matching = scan.residual ? await matchingOf(task, batch) : batch;
    for (const one of matching) {
      total += 1;
      if (!isBefore(one)) gather(part, one);
    }
  }
  const { items, next } = pageOf(part);
  const rows = await loaded(task, items);
  return { total, ...toRowsAndKeys(rows), next };
}

function isBeforeStart<Field extends string, By extends string, Row>({
  query: { start, order },
}: ListTask<Field, By, Row>): (one: FoundRow<Row>) => boolean {
  if (!('after' in start)) return () => false;
  const compare = comparing(order.descending);
  return ({ key }) => compare(key, start.after) <= 0;
}

async function matchingOf<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  batch: FoundRow<Row>[],
): Promise<KeyedRow<Row>[]> {
  await task.scan.yieldBetweenSteps();
  const kept = await loaded(task, batch);
  const flags = (await task.scan.residual?.(kept.map(({ row }) => row))) ?? [];
  return kept.filter((_, index) => flags[index]);
}

/** Rows that were found, with those read that were not yet; who is gone meanwhile is left out. */
export async function loaded<Field extends string, By extends string, Row>(
  { scope, definition }: ListTask<Field, By, Row>,
  found: FoundRow<Row>[],
): Promise<KeyedRow<Row>[]> {
  const missing = found.filter(({ row }) => row === undefined);
  const read = await rowsAt(
    scope,
    definition,
    missing.map(({ key }) => key),
  );
  const rows = new Map(read.map(({ key, row }) => [key.position, row]));
  return found.flatMap(({ key, row = rows.get(key.position) }) => (row === undefined ? [] : [{ key, row }]));
}
