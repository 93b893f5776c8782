import type { Attribute } from './attributes.ts';
import { foldCase } from './case-fold.ts';
import type { Comparison, Operand } from './filter-parser.ts';
import type { Json } from './resource.ts';

/**
 * The right-hand value of a comparison in a filter, converted once per filter to every type that it may be compared as.
 */
export interface Comparand {
  value: Exclude<Operand, null>;
  text: string;
  folded: string;
  /** The value as a time; undefined if the text is not a dateTime. */
  epochMs: number | undefined;
}

/** A comparison with the attribute whose values it tests. */
interface Criterion {
  /** `ne` is excluded: it is true if no value of the attribute is equal, which cannot be decided from one value. */
  op: Exclude<Comparison, 'ne'>;
  comparand: Comparand;
  attribute: Attribute | undefined;
}

/** Prepares the right-hand value of a comparison. */
export function toComparand(value: Exclude<Operand, null>): Comparand {
  const text = String(value);
  return { value, text, folded: foldCase(text), epochMs: parseDateTime(text) };
}

/**
 * Tells whether a comparison holds for a value, by the type and the `caseExact` of the attribute (RFC 7644 §3.4.2.2,
 * RFC 7643 §2.2).
 */
export function matchesComparison({ op, comparand, attribute }: Criterion, json: Json | undefined): boolean {
  if (typeof json === 'boolean') return op === 'eq' && json === toBoolean(comparand);
  if (typeof json === 'number' && typeof comparand.value === 'number')
    return matchesOrder(op, json - comparand.value);
  if (typeof json !== 'string' && typeof json !== 'number') return false;
  const text = String(json);
  if (attribute?.type === 'dateTime' && !isSubstringOperator(op)) {
    const epochMs = parseDateTime(text);
    if (epochMs !== undefined && comparand.epochMs !== undefined)
      return matchesOrder(op, epochMs - comparand.epochMs);
  }
  if (attribute?.caseExact === true) return matchesText(op, text, comparand.text);
  return matchesText(op, foldCase(text), comparand.folded);
}

/** Estimates the cost of a comparison, in characters read. */
export function comparisonCost(
  { op, comparand }: Pick<Criterion, 'op' | 'comparand'>,
  json: Json | undefined,
): number {
  if (typeof json !== 'string') return COMPARISON_COST;
  const folding = json.length * FOLDING_COST;
  const { length } = comparand.text;
  const searching = isSearchCheap(json, comparand.text) ? json.length * length : 2 * (json.length + length);
  return COMPARISON_COST + folding + (op === 'co' ? searching : json.length);
}

/** The cost of a comparison of anything but text, in characters read. */
const COMPARISON_COST = 16;

/** The cost of folding one character of a text, in characters read. */
const FOLDING_COST = 8;

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

/** Entra ID compares booleans with strings: `primary eq "True"`. */
function toBoolean({ value, text }: Comparand): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const folded = text.toLowerCase();
  return folded === 'true' || folded === 'false' ? folded === 'true' : undefined;
}

/**
 * In the worst case, `includes` takes time proportional to the product of both lengths. Above this product a linear
 * algorithm is used.
 */
const MAX_PRODUCT = 65_536;

/** Up to this length of the searched part, `includes` takes time proportional to the length of the text alone. */
const MAX_PART = 16;

function isSearchCheap(text: string, part: string): boolean {
  return part.length <= MAX_PART || text.length * part.length <= MAX_PRODUCT;
}

function contains(text: string, part: string): boolean {
  return isSearchCheap(text, part) ? text.includes(part) : containsInLinearTime(text, part);
}

/** The algorithm of Knuth, Morris and Pratt: its time grows with the sum of both lengths, not with their product. */
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

/** Returns for each prefix of a text the length of its longest proper prefix that is also its suffix. */
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

const dateTimePattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i;

/** Parses a dateTime to epoch milliseconds (RFC 7643 §2.3.5). A dateTime without a zone is UTC; other text is undefined. */
export function parseDateTime(text: string): number | undefined {
  const match = dateTimePattern.exec(text);
  if (!match) return undefined;
  const [, time, , , zone] = match;
  const epochMs = Date.parse(time && !zone ? `${text}Z` : text);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
