import type { Attribute } from './attributes.ts';
import { foldCase } from './case-fold.ts';
import type { Comparison, Operand } from './filter-parser.ts';
import type { Json } from './resource.ts';

/** What values are compared with, in every form that comparing takes; made once for a filter. */
export interface Comparand {
  value: Exclude<Operand, null>;
  text: string;
  folded: string;
  epochMs: number | undefined;
}

/** A value of a resource while filters are evaluated; `folded` is made when it is first needed. */
export interface Value {
  json: Json;
  folded?: string;
}

/** What a filter asks of a value, and the definition of the attribute that has it. */
interface Criterion {
  /** `ne` is the contrary of `eq` over all values, so it is not asked of one. */
  op: Exclude<Comparison, 'ne'>;
  comparand: Comparand;
  attribute: Attribute | undefined;
}

/** Prepares what a filter compares with. */
export function toComparand(value: Exclude<Operand, null>): Comparand {
  const text = String(value);
  return { value, text, folded: foldCase(text), epochMs: parseDateTime(text) };
}

/**
 * Compares a value with what a filter says, by the type and the case rule of the attribute (RFC 7644 §3.4.2.2,
 * RFC 7643 §2.2).
 */
export function matchesComparison(
  { op, comparand, attribute }: Criterion,
  value: Value,
  fold: (text: string) => string = foldCase,
): boolean {
  const { json } = value;
  if (typeof json === 'boolean') return op === 'eq' && json === toBoolean(comparand);
  if (typeof json === 'number' && typeof comparand.value === 'number')
    return matchesOrder(op, json - comparand.value);
  if (typeof json !== 'string' && typeof json !== 'number') return false;
  const text = String(json);
  if (attribute?.type === 'dateTime' && !isSubstringOperator(op)) {
    const moment = parseDateTime(text);
    if (moment !== undefined && comparand.epochMs !== undefined)
      return matchesOrder(op, moment - comparand.epochMs);
  }
  if (attribute?.caseExact === true) return matchesText(op, text, comparand.text);
  value.folded ??= fold(text);
  return matchesText(op, value.folded, comparand.folded);
}

/** How much comparing costs, in characters looked at; a first comparison folds the text as well. */
export function comparisonCost({ op, comparand }: Pick<Criterion, 'op' | 'comparand'>, value: Value): number {
  const { json, folded } = value;
  if (typeof json !== 'string') return COMPARISON_COST;
  const folding = folded === undefined ? json.length * FOLDING_COST : 0;
  const { length } = comparand.text;
  const searching = isSearchCheap(json, comparand.text) ? json.length * length : 2 * (json.length + length);
  return COMPARISON_COST + folding + (op === 'co' ? searching : json.length);
}

/** What a comparison costs besides its characters. */
const COMPARISON_COST = 16;

/** Folding a character costs about as much as looking at so many. */
const FOLDING_COST = 8;

/** Whether it looks into a text, whatever the text says. */
function isSubstringOperator(op: Comparison): boolean {
  return op === 'co' || op === 'sw' || op === 'ew';
}

function matchesText(op: Criterion['op'], value: string, operand: string): boolean {
  switch (op) {
    case 'co':
      return contains(value, operand);
    case 'sw':
      return value.startsWith(operand);
    case 'ew':
      return value.endsWith(operand);
    case 'eq':
      return value === operand;
    default:
      return matchesOrder(op, value < operand ? -1 : value > operand ? 1 : 0);
  }
}

function matchesOrder(op: Comparison, difference: number): boolean {
  switch (op) {
    case 'eq':
      return difference === 0;
    case 'gt':
      return difference > 0;
    case 'ge':
      return difference >= 0;
    case 'lt':
      return difference < 0;
    case 'le':
      return difference <= 0;
    default:
      return false;
  }
}

/** Entra compares booleans with strings: `primary eq "True"`. */
function toBoolean({ value, text }: Comparand): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const folded = text.toLowerCase();
  return folded === 'true' || folded === 'false' ? folded === 'true' : undefined;
}

/** `includes` takes up to the product of both lengths; beyond this product a linear search is used. */
const MAX_PRODUCT = 65_536;

/** A part so short is found in time that grows with the text alone. */
const MAX_PART = 16;

function isSearchCheap(text: string, part: string): boolean {
  return part.length <= MAX_PART || text.length * part.length <= MAX_PRODUCT;
}

function contains(text: string, part: string): boolean {
  return isSearchCheap(text, part) ? text.includes(part) : containsInLinearTime(text, part);
}

/** The algorithm of Knuth, Morris and Pratt: its time grows with the lengths of both texts, not with their product. */
function containsInLinearTime(text: string, part: string): boolean {
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === code) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** For each beginning of a text the length of the longest shorter beginning that it ends with. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at += 1) {
    const code = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(length) === code) length += 1;
    borders[at] = length;
  }
  return borders;
}

const dateTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i;

/** The moment that a dateTime names, in epoch milliseconds (RFC 7643 §2.3.5); without a zone it is UTC. */
export function parseDateTime(text: string): number | undefined {
  const match = dateTime.exec(text);
  if (!match) return undefined;
  const [, time, , , zone] = match;
  const moment = Date.parse(time && !zone ? `${text}Z` : text);
  return Number.isNaN(moment) ? undefined : moment;
}
