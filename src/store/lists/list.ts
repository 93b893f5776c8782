import type { ListPage } from '../../provisioning/list-ports.ts';
import { comb } from './comb.ts';
import { type FoundRow, findFew } from './few.ts';
import { type Gather, gathering, pageOf } from './gather.ts';
import { glide } from './glide.ts';
import { type Segment, segmentsAfter } from './index-range.ts';
import { planScan, type ScanPlan } from './scan-plan.ts';
import { sift } from './sift.ts';
import { fromFew, loaded } from './sorted.ts';
import { type KeyedRow, STEP, toRowsAndKeys } from './statements.ts';
import type { ListTask } from './task.ts';
import { quickTotal } from './total.ts';

/** A part of a list, and exactly how many there are in all, by the shortest way that the indexes offer. */
export async function listRows<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
): Promise<ListPage<Row>> {
  const few = await findFew(task);
  if (few) return fromFew(task, few);
  const plan = planScan(task);
  if (task.scan.residual) return sifted(task, plan);
  const total = await quickTotal(task);
  return total === undefined || plan.fits ? combed(task, plan, total) : glided(task, plan, total);
}

async function glided<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  { from }: ScanPlan,
  total: number,
): Promise<ListPage<Row>> {
  const into = pageFor<Field, By, Row, KeyedRow<Row>>(task);
  if (into.skip < total) await glide(task, await nearer(task, from, into), into);
  const { items, next } = pageOf(into);
  return { total, ...toRowsAndKeys(items), next };
}

/** In the stable order whole blocks are passed over by their counts. */
async function nearer<Field extends string, By extends string, Row>(
  { definition, scope, query }: ListTask<Field, By, Row>,
  segments: Segment[],
  into: Gather<KeyedRow<Row>>,
): Promise<Segment[]> {
  const { by, descending } = query.order;
  if (by !== 'position' || descending || into.skip < STEP) return segments;
  const { position, skip } = await definition.jump(scope, query.where, into.skip);
  into.skip = skip;
  return segmentsAfter(segments, { value: null, position: position - 1 });
}

async function combed<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  { before, from, fits }: ScanPlan,
  total: number | undefined,
): Promise<ListPage<Row>> {
  const toTheEnd = total === undefined;
  const ahead = gathering<FoundRow<Row>>(0, 0);
  if (toTheEnd) await comb(task, { segments: before, fits }, { into: ahead, toTheEnd });
  const into = pageFor<Field, By, Row, FoundRow<Row>>(task);
  await comb(task, { segments: from, fits }, { into, toTheEnd });
  const { items, next } = pageOf(into);
  const rows = await loaded(task, items);
  return { total: total ?? ahead.total + into.total, ...toRowsAndKeys(rows), next };
}

async function sifted<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  { before, from, fits }: ScanPlan,
): Promise<ListPage<Row>> {
  const ahead = gathering<KeyedRow<Row>>(0, 0);
  await sift(task, { segments: before, fits }, ahead);
  const into = pageFor<Field, By, Row, KeyedRow<Row>>(task);
  await sift(task, { segments: from, fits }, into);
  const { items, next } = pageOf(into);
  return { total: ahead.total + into.total, ...toRowsAndKeys(items), next };
}

function pageFor<Field extends string, By extends string, Row, Item extends FoundRow<Row>>({
  query: { start, limit },
}: ListTask<Field, By, Row>): Gather<Item> {
  return gathering('offset' in start ? start.offset : 0, limit);
}
