import { type Attribute, findAttribute } from './attribute.ts';
import { compare } from './compare.ts';
import type { AttributePath, Filter } from './expression.ts';
import { isObject, ownValue } from './own.ts';
import type { Json, JsonObject } from './resource.ts';
import { type ResourceType, resolve } from './resource-type.ts';

/** Where a name leads: the value there and what the schema says of it. */
interface Place {
  value: Json | undefined;
  attribute: Attribute | undefined;
}

/** How names are looked up: in a whole resource, or in one element of an attribute. */
type Lookup = (path: AttributePath) => Place;

/** Whether a resource matches a filter (RFC 7644 §3.4.2.2). An attribute that nobody knows matches nothing. */
export function matches(type: ResourceType, filter: Filter, resource: JsonObject): boolean {
  return holds(filter, inResource(type, resource));
}

/** Whether one element of an attribute matches the filter in brackets. */
export function elementMatches(attribute: Attribute | undefined, filter: Filter, element: Json): boolean {
  return holds(filter, inElement(attribute, element));
}

/** The values that a path leads to: of a multi-valued attribute all, or those that its filter selects. */
export function valuesAt(type: ResourceType, path: AttributePath, resource: JsonObject): Json[] {
  return found(path, inResource(type, resource)).values;
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
      return found(filter.path, lookup).values.some(isPresent);
    case 'ne':
      return !holds({ ...filter, op: 'eq' }, lookup);
    default: {
      const { values, attribute } = found(filter.path, lookup);
      const { op, value: operand } = filter;
      // Null is the same as unassigned (RFC 7643 §2.5).
      if (operand === null) return op === 'eq' && !values.some(isPresent);
      return values.some((value) => compare({ op, operand, attribute }, comparable(value)));
    }
  }
}

/** A complex value without a sub-attribute is compared by its `value` (RFC 7644 §3.4.2.2 for multi-valued attributes). */
function comparable(value: Json): Json | undefined {
  return isObject(value) ? ownValue(value, 'value') : value;
}

function found(path: AttributePath, lookup: Lookup): { values: Json[]; attribute: Attribute | undefined } {
  const { value, attribute } = lookup(path);
  const { filter, sub } = path;
  const all = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  const selected = filter ? all.filter((element) => elementMatches(attribute, filter, element)) : all;
  if (sub === undefined) return { values: selected, attribute: leaf(attribute) };
  const values = selected.flatMap((element) => {
    const inner = isObject(element) ? ownValue(element, sub) : undefined;
    return inner === undefined || inner === null ? [] : [inner];
  });
  return { values, attribute: findAttribute(attribute?.subAttributes, sub) };
}

function leaf(attribute: Attribute | undefined): Attribute | undefined {
  return attribute?.type === 'complex' ? findAttribute(attribute.subAttributes, 'value') : attribute;
}

function inResource(type: ResourceType, resource: JsonObject): Lookup {
  return (path) => {
    const { urn, attribute, name } = resolve(type, path);
    const container = urn === undefined ? resource : ownValue(resource, urn);
    if (name === undefined) return { value: urn === undefined ? undefined : container, attribute };
    return { value: isObject(container) ? ownValue(container, name) : undefined, attribute };
  };
}

function inElement(attribute: Attribute | undefined, element: Json): Lookup {
  return ({ attribute: name = '' }) => {
    const isSimple = !isObject(element);
    const value = isSimple && name.toLowerCase() === 'value' ? element : undefined;
    return {
      value: isSimple ? value : ownValue(element, name),
      attribute: findAttribute(attribute?.subAttributes, name),
    };
  };
}

/** "If the attribute has a non-empty or non-null value" (RFC 7644 §3.4.2.2, `pr`). */
function isPresent(value: Json): boolean {
  if (Array.isArray(value)) return value.some(isPresent);
  return isObject(value) ? Object.values(value).some(isPresent) : value !== null && value !== '';
}
