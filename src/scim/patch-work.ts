import type { Filter } from '../schema/expression.ts';
import { isObject } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { badRequest } from './scim-error.ts';
import type { ValueChange } from './value-change.ts';

/** What one PATCH may cost, in characters looked at; a tenth of a second at the very worst. */
const MAX_WORK = 15_000_000;

/** Deeper values are refused when they are read; counting must not fail before. */
const MAX_DEPTH = 20;

/** What finding a name or a value costs besides its characters. */
const STEP = 16;

/** To look for a text within another costs several times as much as to compare the two. */
const SEARCH = 4;

/**
 * Counts the work of one PATCH, before it is done, and refuses what would be too much: a filter is asked of every value
 * that is there, and each one to be added or removed is compared with all of them, so a small message can ask for a lot.
 */
export function workMeter(): (container: JsonObject, current: Json | undefined, change: ValueChange) => void {
  let left = MAX_WORK;
  return (container, current, { op, filter, value }) => {
    const [there, given] = [weightOf(current), weightOf(value)];
    const compared = op === 'replace' ? 0 : there * countOf(value) + given * countOf(current);
    left -=
      Object.keys(container).length * STEP +
      there +
      given +
      compared +
      (filter ? there * termsIn(filter) : 0);
    if (left < 0) throw badRequest('invalidValue', 'The PATCH asks for too much at once; send it in parts.');
  };
}

function weightOf(value: Json | undefined, depth = 0): number {
  if (typeof value === 'string') return STEP + value.length;
  if (depth > MAX_DEPTH) return STEP;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + weightOf(one, depth + 1), STEP);
  if (!isObject(value)) return STEP;
  const names = Object.entries(value);
  return names.reduce((sum, [name, one]) => sum + name.length + weightOf(one, depth + 1), STEP);
}

function countOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 1;
}

function termsIn(filter: Filter): number {
  if (filter.op === 'and' || filter.op === 'or') {
    return filter.operands.reduce((sum, operand) => sum + termsIn(operand), 0);
  }
  if (filter.op === 'not') return termsIn(filter.operand);
  return filter.op === 'co' ? SEARCH : 1;
}
