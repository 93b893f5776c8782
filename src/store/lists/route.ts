import { conditionOf, conjunctsOf } from './condition.ts';
import { type Course, coursesOf, type Leg, legsAround, legsOf } from './course.ts';
import type { Sql } from './shelf.ts';
import type { Task } from './task.ts';

/** The way through the index of the order that is asked for. */
export interface Route {
  /** Up to the row behind which to begin, which are counted only. */
  before: Leg[];
  /** Where to begin. */
  from: Leg[];
  /** What the index does not answer. */
  fits: Sql | undefined;
}

/** How to go through the rows for a query that no index answers by a few. */
export function routeOf<Field extends string, By extends string, Row>({
  shelf,
  place,
  query: { where, order, start },
}: Task<Field, By, Row>): Route {
  const of = shelf.orders[order.by];
  const comparisons = conjunctsOf(where);
  const base = comparisons?.filter(({ field }) => field === of.field) ?? [];
  const others = comparisons?.filter(({ field }) => field !== of.field);
  const courses: Course[] = coursesOf(shelf, place, { of, base, descending: order.descending });
  const fits =
    others?.length === 0 ? undefined : conditionOf(shelf, place.connection, others ? { all: others } : where);
  if ('offset' in start) return { before: [], from: legsOf(courses), fits };
  const { before, behind } = legsAround(courses, start.after);
  return { before, from: behind, fits };
}
