import { type Attribute, findAttribute } from '../../src/schema/attributes.ts';
import { parseDateTime } from '../../src/schema/compare.ts';
import type { AttributePath, Filter, Operand } from '../../src/schema/filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../../src/schema/resource.ts';
import { type ResourceType, resolveAttribute } from '../../src/schema/resource-types.ts';

interface Found {
  value: Json | undefined;
  attribute: Attribute | undefined;
}

/** Looks up the name of a path, in a resource or in one element of an attribute. */
type Lookup = (path: AttributePath) => Found;

/** Evaluates a filter in the simplest way, at any cost. Tests compare the real evaluation with it. */
export function referenceMatches(type: ResourceType, filter: Filter, resource: JsonObject): boolean {
  return matches(filter, (path) => {
    const { urn, attribute, name } = resolveAttribute(type, path);
    const container = urn === undefined ? resource : ownValue(resource, urn);
    if (name === undefined) return { value: urn === undefined ? undefined : container, attribute };
    return { value: isObject(container) ? ownValue(container, name) : undefined, attribute };
  });
}

function matches(filter: Filter, lookup: Lookup): boolean {
  switch (filter.op) {
    case 'and':
      return filter.operands.every((operand) => matches(operand, lookup));
    case 'or':
      return filter.operands.some((operand) => matches(operand, lookup));
    case 'not':
      return !matches(filter.operand, lookup);
    case 'pr':
      return readValues(filter.path, lookup).values.some(isPresent);
    default:
      return comparisonMatches(filter, lookup);
  }
}

function comparisonMatches(
  { op, path, value }: Extract<Filter, { value: Operand }>,
  lookup: Lookup,
): boolean {
  if (op === 'ne') return !comparisonMatches({ op: 'eq', path, value }, lookup);
  const { values, attribute } = readValues(path, lookup);
  if (value === null) return op === 'eq' && !values.some(isPresent);
  return values.some((element) =>
    compareValue(op, isObject(element) ? ownValue(element, 'value') : element, { operand: value, attribute }),
  );
}

function readValues(
  path: AttributePath,
  lookup: Lookup,
): { values: Json[]; attribute: Attribute | undefined } {
  const { value, attribute } = lookup(path);
  const { filter, sub } = path;
  const all = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  const selected = filter ? all.filter((element) => matches(filter, lookupIn(attribute, element))) : all;
  if (sub === undefined) {
    const inner = attribute?.type === 'complex' ? findAttribute(attribute.subAttributes, 'value') : attribute;
    return { values: selected, attribute: inner };
  }
  const values = selected.map((element) => (isObject(element) ? ownValue(element, sub) : undefined));
  return {
    values: values.filter((part) => part !== undefined && part !== null),
    attribute: findAttribute(attribute?.subAttributes, sub),
  };
}

function lookupIn(attribute: Attribute | undefined, element: Json): Lookup {
  return ({ attribute: name = '' }) => ({
    value: isObject(element) ? ownValue(element, name) : name.toLowerCase() === 'value' ? element : undefined,
    attribute: findAttribute(attribute?.subAttributes, name),
  });
}

function isPresent(value: Json): boolean {
  if (Array.isArray(value)) return value.some(isPresent);
  return isObject(value) ? Object.values(value).some(isPresent) : value !== null && value !== '';
}

interface RightHandSide {
  operand: Exclude<Operand, null>;
  attribute: Attribute | undefined;
}

function compareValue(op: string, value: Json | undefined, { operand, attribute }: RightHandSide): boolean {
  if (typeof value === 'boolean') return op === 'eq' && String(value) === String(operand).toLowerCase();
  if (typeof value === 'number' && typeof operand === 'number') return matchesOrder(op, value - operand);
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const fold = (text: string) => (attribute?.caseExact === true ? text : text.normalize('NFC').toLowerCase());
  const [left, right] = [fold(String(value)), fold(String(operand))];
  if (op === 'co') return left.includes(right);
  if (op === 'sw') return left.startsWith(right);
  if (op === 'ew') return left.endsWith(right);
  if (attribute?.type === 'dateTime') {
    const [leftMs, rightMs] = [parseDateTime(String(value)), parseDateTime(String(operand))];
    if (leftMs !== undefined && rightMs !== undefined) return matchesOrder(op, leftMs - rightMs);
  }
  return matchesOrder(op, left < right ? -1 : left > right ? 1 : 0);
}

function matchesOrder(op: string, difference: number): boolean {
  const results: Record<string, boolean> = {
    eq: difference === 0,
    gt: difference > 0,
    ge: difference >= 0,
    lt: difference < 0,
    le: difference <= 0,
  };
  return results[op] === true;
}
