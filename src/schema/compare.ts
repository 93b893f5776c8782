import type { Attribute } from './attribute.ts';
import type { Comparison, Operand } from './expression.ts';
import { foldCase } from './fold.ts';
import { momentOf } from './moment.ts';
import type { Json } from './resource.ts';

/** What a filter asks of a value, and the definition of the attribute that has it. */
interface Criterion {
  op: Comparison;
  operand: Exclude<Operand, null>;
  attribute: Attribute | undefined;
}

/**
 * Compares a value with what a filter says, by the type and the case rule of the attribute (RFC 7644 §3.4.2.2,
 * RFC 7643 §2.2). `ne` is the contrary of `eq` over all values, so it is not asked here.
 */
export function compare({ op, operand, attribute }: Criterion, value: Json | undefined): boolean {
  if (typeof value === 'boolean') return op === 'eq' && value === toBoolean(operand);
  if (typeof value === 'number' && typeof operand === 'number') return ordered(op, value - operand);
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  if (attribute?.type === 'dateTime' && !isTextual(op)) {
    const moments = [momentOf(String(value)), momentOf(String(operand))] as const;
    if (moments[0] !== undefined && moments[1] !== undefined) return ordered(op, moments[0] - moments[1]);
  }
  const fold = attribute?.caseExact === true ? String : foldCase;
  return comparesAsText(op, fold(String(value)), fold(String(operand)));
}

/** Whether it looks into a text, whatever the text says. */
function isTextual(op: Comparison): boolean {
  return op === 'co' || op === 'sw' || op === 'ew';
}

function comparesAsText(op: Comparison, value: string, operand: string): boolean {
  switch (op) {
    case 'co':
      return value.includes(operand);
    case 'sw':
      return value.startsWith(operand);
    case 'ew':
      return value.endsWith(operand);
    case 'eq':
      return value === operand;
    default:
      return ordered(op, value < operand ? -1 : value > operand ? 1 : 0);
  }
}

function ordered(op: Comparison, difference: number): boolean {
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
function toBoolean(operand: Exclude<Operand, null>): boolean | undefined {
  if (typeof operand === 'boolean') return operand;
  const text = String(operand).toLowerCase();
  return text === 'true' || text === 'false' ? text === 'true' : undefined;
}
