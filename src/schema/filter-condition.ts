import { chooseReading } from './attribute-names.ts';
import { type Comparand, toComparand } from './compare.ts';
import type { AttributePath, Comparison, Filter } from './filter-parser.ts';
import { type ResourceType, resolveAttribute } from './resource-types.ts';

/** A filter prepared for evaluation on many resources: its right-hand values are converted only once. */
export type Condition =
  | { op: 'and' | 'or'; operands: Condition[] }
  | { op: 'not'; operand: Condition }
  | Leaf;

/** A part of a filter that names one attribute: a comparison, or `pr`. */
export type Leaf = LeafPath & ({ op: 'pr' } | { op: Exclude<Comparison, 'ne'>; comparand: Comparand });

interface LeafPath {
  path: AttributePath;
  /** The URN and attribute in lower case. Comparisons with the same key share a table. */
  attributeKey: string;
  /**
   * A key of the attribute, the sub-attribute and the kind of comparison. Comparisons with the same key share a column
   * of values.
   */
  columnKey: string;
  /** The filter in brackets, as in `emails[type eq "work"]`; undefined without brackets. */
  filter: Condition | undefined;
}

/** Prepares a filter for evaluation. `ne` becomes the negation of `eq`. */
export function prepareFilter(filter: Filter): Condition {
  switch (filter.op) {
    case 'and':
    case 'or':
      return { op: filter.op, operands: filter.operands.map(prepareFilter) };
    case 'not':
      return { op: 'not', operand: prepareFilter(filter.operand) };
    case 'pr':
      return { op: 'pr', ...toLeafPath(filter.path, 'present') };
    default:
      return prepareComparison(filter);
  }
}

function prepareComparison({ op, path, value }: Extract<Filter, { value: unknown }>): Condition {
  if (op === 'ne') return { op: 'not', operand: prepareComparison({ op: 'eq', path, value }) };
  if (value !== null) return { op, comparand: toComparand(value), ...toLeafPath(path, 'compared') };
  // `eq null` holds for unassigned attributes (RFC 7643 §2.5). Any other comparison with null is false.
  return op === 'eq' ? { op: 'not', operand: prepareFilter({ op: 'pr', path }) } : { op: 'or', operands: [] };
}

/** Splits the name in a comparison into URN and attribute, by the extensions that a resource has. */
export function resolveLeaf(leaf: Leaf, isKnown: (urn: string) => boolean): Leaf {
  const path = chooseReading(leaf.path, isKnown);
  return path === leaf.path
    ? leaf
    : { ...leaf, ...leafKeys(path, leaf.op === 'pr' ? 'present' : 'compared') };
}

function toLeafPath(path: AttributePath, use: 'present' | 'compared'): LeafPath {
  return { ...leafKeys(path, use), filter: path.filter && prepareFilter(path.filter) };
}

function leafKeys(path: AttributePath, use: 'present' | 'compared'): Omit<LeafPath, 'filter'> {
  const { urn = '', attribute = '', sub = '' } = path;
  return {
    path,
    attributeKey: `${urn} ${attribute}`.toLowerCase(),
    columnKey: `${attribute} ${sub} ${use}`.toLowerCase(),
  };
}

/** Returns true if a filter uses one of these core attributes or extension URNs, so that their values are needed. */
export function mentionsAttributes(type: ResourceType, filter: Filter, names: readonly string[]): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.operands.some((operand) => mentionsAttributes(type, operand, names));
    case 'not':
      return mentionsAttributes(type, filter.operand, names);
    default: {
      const { urn, name } = resolveAttribute(type, filter.path);
      return names.includes(urn ?? name ?? '');
    }
  }
}
