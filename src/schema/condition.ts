import { type Comparand, comparandOf } from './compare.ts';
import type { AttributePath, Comparison, Filter } from './expression.ts';
import { readingIn } from './names.ts';

/** A filter prepared to be asked of many resources: what it compares with is folded and parsed once. */
export type Condition =
  | { op: 'and' | 'or'; operands: Condition[] }
  | { op: 'not'; operand: Condition }
  | Leaf;

/** A condition on the values of one attribute. */
export type Leaf = Place & ({ op: 'pr' } | { op: Exclude<Comparison, 'ne'>; comparand: Comparand });

interface Place {
  path: AttributePath;
  /** The attribute without case, with its URN: the same key is the same attribute. */
  attributeKey: string;
  /** The same for the sub-attribute, and for what of a complex value is compared. */
  columnKey: string;
  /** The value filter in brackets. */
  filter: Condition | undefined;
}

/** Prepares a filter. */
export function prepare(filter: Filter): Condition {
  switch (filter.op) {
    case 'and':
    case 'or':
      return { op: filter.op, operands: filter.operands.map(prepare) };
    case 'not':
      return { op: 'not', operand: prepare(filter.operand) };
    case 'pr':
      return { op: 'pr', ...placeOf(filter.path, 'present') };
    default:
      return comparison(filter);
  }
}

function comparison({ op, path, value }: Extract<Filter, { value: unknown }>): Condition {
  if (op === 'ne') return { op: 'not', operand: comparison({ op: 'eq', path, value }) };
  if (value !== null) return { op, comparand: comparandOf(value), ...placeOf(path, 'compared') };
  // Null is the same as unassigned (RFC 7643 §2.5), and has no order.
  return op === 'eq' ? { op: 'not', operand: prepare({ op: 'pr', path }) } : { op: 'or', operands: [] };
}

/** A condition as its name divides in a resource that has these URNs. */
export function leafIn(leaf: Leaf, isKnown: (urn: string) => boolean): Leaf {
  const path = readingIn(leaf.path, isKnown);
  return path === leaf.path ? leaf : { ...leaf, ...keysOf(path, leaf.op === 'pr' ? 'present' : 'compared') };
}

function placeOf(path: AttributePath, use: 'present' | 'compared'): Place {
  return { ...keysOf(path, use), filter: path.filter && prepare(path.filter) };
}

function keysOf(path: AttributePath, use: 'present' | 'compared'): Omit<Place, 'filter'> {
  const { urn = '', attribute = '', sub = '' } = path;
  return {
    path,
    attributeKey: `${urn} ${attribute}`.toLowerCase(),
    columnKey: `${attribute} ${sub} ${use}`.toLowerCase(),
  };
}
