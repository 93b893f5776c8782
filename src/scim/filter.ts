import { type Attribute, findAttribute } from '../schema/attribute.ts';
import type { AttributePath, Filter, Operand } from '../schema/expression.ts';
import { parseFilter } from '../schema/filter.ts';
import { momentOf } from '../schema/moment.ts';
import { type ResourceType, resolve } from '../schema/resource-type.ts';
import { badRequest, type ScimError } from './scim-error.ts';

/**
 * Reads the `filter` parameter; what cannot be answered is 400 invalidFilter, never a silent match (RFC 7644 §3.4.2.2).
 * `among` are the types that are searched together: an attribute that another one has is one without a value here (§3.4.2.1).
 */
export function readFilter(
  type: ResourceType,
  parameter: unknown,
  among: readonly ResourceType[] = [type],
): Filter | undefined {
  if (parameter === undefined) return undefined;
  if (typeof parameter !== 'string') throw invalidFilter('There must be one filter.');
  const filter = parseFilter(parameter);
  if ('fault' in filter) {
    throw invalidFilter(`The filter cannot be read at character ${filter.position + 1}: ${filter.fault}.`);
  }
  check(filter, (path) => definitionOf(type, path, among));
  return filter;
}

type Define = (path: AttributePath) => Attribute | undefined;

function check(filter: Filter, define: Define): void {
  switch (filter.op) {
    case 'and':
    case 'or':
      for (const operand of filter.operands) check(operand, define);
      return;
    case 'not':
      check(filter.operand, define);
      return;
    default: {
      const attribute = define(filter.path);
      checkPath(filter.path, attribute);
      const leaf = leafOf(attribute, filter.path.sub);
      if (leaf?.returned === 'never') throw invalidFilter(`${leaf.name} cannot be searched.`);
      if (filter.op !== 'pr') checkComparison(leaf, filter);
    }
  }
}

function checkPath({ filter, sub }: AttributePath, attribute: Attribute | undefined): void {
  if ((filter || sub !== undefined) && attribute && attribute.type !== 'complex') {
    throw invalidFilter(`${attribute.name} has no sub-attributes.`);
  }
  if (filter) check(filter, (inner) => findAttribute(attribute?.subAttributes, inner.attribute ?? ''));
}

/** "Boolean and Binary attributes SHALL cause a failed response (HTTP status code 400) with "scimType" of "invalidFilter"" when ordered (RFC 7644 §3.4.2.2). */
function checkComparison(leaf: Attribute | undefined, { op, value }: { op: string; value: Operand }): void {
  const isEquality = op === 'eq' || op === 'ne';
  if (leaf?.type === 'binary' && ['gt', 'ge', 'lt', 'le'].includes(op)) {
    throw invalidFilter(`${leaf.name} has no order.`);
  }
  if (
    leaf?.type === 'dateTime' &&
    !isTextual(op) &&
    value !== null &&
    momentOf(String(value)) === undefined
  ) {
    throw invalidFilter(`${leaf.name} can be compared with a dateTime only, such as "2026-01-31T08:00:00Z".`);
  }
  if (leaf?.type !== 'boolean') return;
  if (!isEquality) throw invalidFilter(`${leaf.name} is true or false; only eq and ne compare it.`);
  if (value !== null && !/^(true|false)$/i.test(String(value))) {
    throw invalidFilter(`${leaf.name} can be compared with true and false only.`);
  }
}

function isTextual(op: string): boolean {
  return op === 'co' || op === 'sw' || op === 'ew';
}

/** Extensions may hold what no schema declares; the resource itself does not, so a name it lacks is a mistake to tell. */
function definitionOf(
  type: ResourceType,
  path: AttributePath,
  among: readonly ResourceType[],
): Attribute | undefined {
  const { urn, attribute, name } = resolve(type, path);
  if (urn === undefined && !attribute && !among.some((other) => resolve(other, path).attribute)) {
    const names = among.map((other) => other.name).join(' or ');
    throw invalidFilter(`There is no attribute ${name ?? type.schema.id} of ${names}.`);
  }
  return attribute;
}

function leafOf(attribute: Attribute | undefined, sub: string | undefined): Attribute | undefined {
  if (sub !== undefined) return findAttribute(attribute?.subAttributes, sub);
  return attribute?.type === 'complex' ? findAttribute(attribute.subAttributes, 'value') : attribute;
}

function invalidFilter(detail: string): ScimError {
  return badRequest('invalidFilter', detail);
}
