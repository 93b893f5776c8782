import { type Attribute, findAttribute } from '../../src/schema/attributes.ts';
import { parseDateTime } from '../../src/schema/compare.ts';
import type { AttributePath, Filter, Operand } from '../../src/schema/filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../../src/schema/resource.ts';
import { type ResourceType, resolveAttribute } from '../../src/schema/resource-types.ts';

interface Place {
  value: Json | undefined;
  attribute: Attribute | undefined;
}

/** How names are looked up: in a whole resource, or in one element of an attribute. */
type Lookup = (path: AttributePath) => Place;

/** Evaluates a filter in the plainest way, without care for what it costs: the tests hold the real evaluation against it. */
export function simplyMatches(type: ResourceType, filter: Filter, resource: JsonObject): boolean {
  return holds(filter, (path) => {
    const { urn, attribute, name } = resolveAttribute(type, path);
    const container = urn === undefined ? resource : ownValue(resource, urn);
    if (name === undefined) return { value: urn === undefined ? undefined : container, attribute };
    return { value: isObject(container) ? ownValue(container, name) : undefined, attribute };
  });
}

function holds(filter: Filter, lookup: Lookup): boolean {
  switch (filter.op) {
    case 'and':
      return filter.operands.every((operand) => holds(operand, lookup));
    case 'or':
      return filter.operands.some((operand) => holds(operand, lookup));
    case 'not':
      return !holds(filter.operand, lookup);
    case 'pr':
      return valuesAt(filter.path, lookup).values.some(isPresent);
    default:
      return comparisonHolds(filter, lookup);
  }
}

function comparisonHolds({ op, path, value }: Extract<Filter, { value: Operand }>, lookup: Lookup): boolean {
  if (op === 'ne') return !comparisonHolds({ op: 'eq', path, value }, lookup);
  const { values, attribute } = valuesAt(path, lookup);
  if (value === null) return op === 'eq' && !values.some(isPresent);
  return values.some((one) =>
    compares(op, isObject(one) ? ownValue(one, 'value') : one, { operand: value, attribute }),
  );
}

function valuesAt(path: AttributePath, lookup: Lookup): { values: Json[]; attribute: Attribute | undefined } {
  const { value, attribute } = lookup(path);
  const { filter, sub } = path;
  const all = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  const selected = filter ? all.filter((element) => holds(filter, inElement(attribute, element))) : all;
  if (sub === undefined) {
    const inner = attribute?.type === 'complex' ? findAttribute(attribute.subAttributes, 'value') : attribute;
    return { values: selected, attribute: inner };
  }
  const values = selected.map((element) => (isObject(element) ? ownValue(element, sub) : undefined));
  return {
    values: values.filter((one) => one !== undefined && one !== null),
    attribute: findAttribute(attribute?.subAttributes, sub),
  };
}

function inElement(attribute: Attribute | undefined, element: Json): Lookup {
  return ({ attribute: name = '' }) => ({
    value: isObject(element) ? ownValue(element, name) : name.toLowerCase() === 'value' ? element : undefined,
    attribute: findAttribute(attribute?.subAttributes, name),
  });
}

function isPresent(value: Json): boolean {
  if (Array.isArray(value)) return value.some(isPresent);
  return isObject(value) ? Object.values(value).some(isPresent) : value !== null && value !== '';
}

interface With {
  operand: Exclude<Operand, null>;
  attribute: Attribute | undefined;
}

function compares(op: string, value: Json | undefined, { operand, attribute }: With): boolean {
  if (typeof value === 'boolean') return op === 'eq' && String(value) === String(operand).toLowerCase();
  if (typeof value === 'number' && typeof operand === 'number') return ordered(op, value - operand);
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const fold = (text: string) => (attribute?.caseExact === true ? text : text.normalize('NFC').toLowerCase());
  const [left, right] = [fold(String(value)), fold(String(operand))];
  if (op === 'co') return left.includes(right);
  if (op === 'sw') return left.startsWith(right);
  if (op === 'ew') return left.endsWith(right);
  if (attribute?.type === 'dateTime') {
    const [one, other] = [parseDateTime(String(value)), parseDateTime(String(operand))];
    if (one !== undefined && other !== undefined) return ordered(op, one - other);
  }
  return ordered(op, left < right ? -1 : left > right ? 1 : 0);
}

function ordered(op: string, difference: number): boolean {
  const holdsFor: Record<string, boolean> = {
    eq: difference === 0,
    gt: difference > 0,
    ge: difference >= 0,
    lt: difference < 0,
    le: difference <= 0,
  };
  return holdsFor[op] === true;
}
