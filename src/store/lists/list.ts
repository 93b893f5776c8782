import type { ListPage } from '../../provisioning/list-ports.ts';
import { comb } from './comb.ts';
import { type Leg, legsAfter } from './course.ts';
import { type Found, findFew } from './few.ts';
import { type Gather, gathering, pageOf } from './gather.ts';
import { glide } from './glide.ts';
import { type Route, routeOf } from './route.ts';
import { sift } from './sift.ts';
import { fromFew, loaded } from './sorted.ts';
import { type Kept, STEP, split } from './statements.ts';
import type { Task } from './task.ts';
import { quickTotal } from './total.ts';

/** A part of a list, and exactly how many there are in all, by the shortest way that the indexes offer. */
export async function list<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
): Promise<ListPage<Row>> {
  const few = await findFew(task);
  if (few) return fromFew(task, few);
  const route = routeOf(task);
  if (task.scan.residual) return sifted(task, route);
  const total = await quickTotal(task);
  return total === undefined || route.fits ? combed(task, route, total) : glided(task, route, total);
}

async function glided<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
  { from }: Route,
  total: number,
): Promise<ListPage<Row>> {
  const into = pageFor<Field, By, Row, Kept<Row>>(task);
  if (into.skip < total) await glide(task, await nearer(task, from, into), into);
  const { items, next } = pageOf(into);
  return { total, ...split(items), next };
}

/** In the stable order whole blocks are passed over by their counts. */
async function nearer<Field extends string, By extends string, Row>(
  { shelf, place, query }: Task<Field, By, Row>,
  legs: Leg[],
  into: Gather<Kept<Row>>,
): Promise<Leg[]> {
  const { by, descending } = query.order;
  if (by !== 'position' || descending || into.skip < STEP) return legs;
  const { position, skip } = await shelf.jump(place, query.where, into.skip);
  into.skip = skip;
  return legsAfter(legs, { value: null, position: position - 1 });
}

async function combed<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
  { before, from, fits }: Route,
  total: number | undefined,
): Promise<ListPage<Row>> {
  const toTheEnd = total === undefined;
  const ahead = gathering<Found<Row>>(0, 0);
  if (toTheEnd) await comb(task, { legs: before, fits }, { into: ahead, toTheEnd });
  const into = pageFor<Field, By, Row, Found<Row>>(task);
  await comb(task, { legs: from, fits }, { into, toTheEnd });
  const { items, next } = pageOf(into);
  const rows = await loaded(task, items);
  return { total: total ?? ahead.total + into.total, ...split(rows), next };
}

async function sifted<Field extends string, By extends string, Row>(
  task: Task<Field, By, Row>,
  { before, from, fits }: Route,
): Promise<ListPage<Row>> {
  const ahead = gathering<Kept<Row>>(0, 0);
  await sift(task, { legs: before, fits }, ahead);
  const into = pageFor<Field, By, Row, Kept<Row>>(task);
  await sift(task, { legs: from, fits }, into);
  const { items, next } = pageOf(into);
  return { total: ahead.total + into.total, ...split(items), next };
}

function pageFor<Field extends string, By extends string, Row, Item extends Found<Row>>({
  query: { start, limit },
}: Task<Field, By, Row>): Gather<Item> {
  return gathering('offset' in start ? start.offset : 0, limit);
}
