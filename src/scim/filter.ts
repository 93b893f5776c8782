import type { ComparisonOperator, GroupField, UserField, Where } from '../provisioning/list-ports.ts';
import { type Attribute, findAttribute } from '../schema/attributes.ts';
import { parseDateTime } from '../schema/compare.ts';
import { type AttributePath, type Filter, type Operand, parseFilter } from '../schema/filter-parser.ts';
import { groupType, type ResourceType, resolveAttribute, userType } from '../schema/resource-types.ts';
import { badRequest, type ScimError } from './errors.ts';

/**
 * Reads the `filter` parameter; what cannot be answered is 400 invalidFilter, never a silent match (RFC 7644 §3.4.2.2).
 * `among` are the types that are searched together: an attribute that another one has is one without a value here (§3.4.2.1).
 */
export function parseFilterParameter(
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
    parseDateTime(String(value)) === undefined
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
  const { urn, attribute, name } = resolveAttribute(type, path);
  if (urn === undefined && !attribute && !among.some((other) => resolveAttribute(other, path).attribute)) {
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

/** A filter in two: what columns answer, and what they leave; undefined: nothing. */
export interface FilterQuery<Field extends string> {
  where: Where<Field>;
  residual: Filter | undefined;
}

/** The columns of a kind of resource, by the attributes that they hold. */
interface Columns<Field extends string> {
  type: ResourceType;
  /** Texts, compared by `eq`. */
  texts: Partial<Record<string, Field>>;
  booleans: Partial<Record<string, Field>>;
  /** The parts of `meta` that are moments. */
  moments: Partial<Record<string, Field>>;
  /** What every resource has. */
  present: readonly string[];
}

const moments = { created: 'created', lastModified: 'lastModified' } as const;

const userColumns: Columns<UserField> = {
  type: userType,
  texts: {
    id: 'id',
    userName: 'userName',
    externalId: 'externalId',
    emails: 'email',
    displayName: 'displayName',
  },
  booleans: { active: 'active' },
  moments,
  present: ['id', 'schemas', 'meta', 'userName', 'active'],
};

const groupColumns: Columns<GroupField> = {
  type: groupType,
  texts: { id: 'id', displayName: 'displayName', externalId: 'externalId', members: 'member' },
  booleans: {},
  moments,
  present: ['id', 'schemas', 'meta', 'displayName'],
};

/** More comparisons than this are looked up one by one: a statement takes only so many. */
const MAX_COMPARISONS = 200;

const everything = { all: [] };

/** What a filter on users asks of the bridge. */
export function toUserFilterQuery(filter: Filter | undefined): FilterQuery<UserField> {
  return toFilterQuery(userColumns, filter);
}

/** What a filter on groups asks of the bridge. */
export function toGroupFilterQuery(filter: Filter | undefined): FilterQuery<GroupField> {
  return toFilterQuery(groupColumns, filter);
}

function toFilterQuery<Field extends string>(
  columns: Columns<Field>,
  filter: Filter | undefined,
): FilterQuery<Field> {
  if (!filter) return { where: everything, residual: undefined };
  const unanswered = { where: everything, residual: filter };
  const question = convert(columns, filter) ?? unanswered;
  return sizeOf(question.where) > MAX_COMPARISONS ? unanswered : question;
}

/** Undefined: columns know nothing of it. */
function convert<Field extends string>(
  columns: Columns<Field>,
  filter: Filter,
): FilterQuery<Field> | undefined {
  switch (filter.op) {
    case 'and':
      return conjunction(columns, filter.operands);
    case 'or':
      return alternative(columns, filter);
    case 'not':
      return filter.operand.op === 'eq' ? convert(columns, { ...filter.operand, op: 'ne' }) : undefined;
    case 'pr':
      return absence(columns, filter) ?? presence(columns, filter);
    default: {
      const absent = absence(columns, filter);
      if (absent) return absent;
      const where = comparisonOf(columns, filter);
      return where && { where, residual: isWhole(filter.path, filter.value) ? undefined : filter };
    }
  }
}

/** "treat the attribute as if there is no attribute value" where only another type has it (RFC 7644 §3.4.2.1). */
function absence<Field extends string>(
  { type }: Columns<Field>,
  filter: Extract<Filter, { path: AttributePath }>,
): FilterQuery<Field> | undefined {
  const { urn, attribute } = resolveAttribute(type, filter.path);
  if (urn !== undefined || attribute) return undefined;
  const isNull = filter.op !== 'pr' && filter.value === null;
  const holds = isNull ? filter.op === 'eq' : filter.op === 'ne';
  return { where: holds ? everything : { any: [] }, residual: undefined };
}

/** What columns know of any part narrows it down; the rest is left. */
function conjunction<Field extends string>(columns: Columns<Field>, operands: Filter[]): FilterQuery<Field> {
  const parts = operands.map(
    (operand) => convert(columns, operand) ?? { where: everything, residual: operand },
  );
  const left = parts.flatMap(({ residual }) => residual ?? []);
  const [first] = left;
  return {
    where: both(parts.map(({ where }) => where)),
    residual: left.length > 1 ? { op: 'and', operands: left } : first,
  };
}

/** Columns must know something of every part, or it could be any resource. */
function alternative<Field extends string>(
  columns: Columns<Field>,
  filter: Filter & { op: 'and' | 'or' },
): FilterQuery<Field> | undefined {
  const parts = filter.operands.map((operand) => convert(columns, operand));
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  const isAnswered = known.every(({ residual }) => residual === undefined);
  return {
    where: { any: known.map(({ where }) => where) },
    residual: isAnswered ? undefined : filter,
  };
}

function both<Field extends string>(parts: Where<Field>[]): Where<Field> {
  const flat = parts.flatMap((part) => ('all' in part ? part.all : [part]));
  const [first] = flat;
  return first && flat.length === 1 ? first : { all: flat };
}

/** `emails[type eq "work" and value eq "x"]`, and what every resource has anyway. */
function presence<Field extends string>(
  columns: Columns<Field>,
  filter: Filter & { op: 'pr' },
): FilterQuery<Field> | undefined {
  const { path } = filter;
  const { urn, name } = resolveAttribute(columns.type, path);
  if (!path.filter && path.sub === undefined && urn === undefined && columns.present.includes(name ?? ''))
    return { where: everything, residual: undefined };
  if (!path.filter || path.sub !== undefined) return undefined;
  const inner = path.filter.op === 'and' ? path.filter.operands : [path.filter];
  const comparisons = inner.flatMap((one) => {
    const isValue = one.op === 'eq' && one.path.attribute?.toLowerCase() === 'value';
    const where = isValue ? textOf(columns, { ...path, filter: undefined }, one.value) : undefined;
    return where && isValue ? [{ where, value: one.value }] : [];
  });
  const [first] = comparisons;
  if (!first) return undefined;
  const isAnswered = inner.length === 1 && isWhole({ ...path, filter: undefined }, first.value);
  return { where: first.where, residual: isAnswered ? undefined : filter };
}

/** Whether a column's answer is the whole one: a path with a filter asks for more, and not every text is kept as it is. */
function isWhole({ filter }: AttributePath, value: Operand): boolean {
  // Halves of surrogate pairs become U+FFFD in a column.
  return filter === undefined && !/[\ufffd\p{Surrogate}]/u.test(String(value));
}

function comparisonOf<Field extends string>(
  columns: Columns<Field>,
  { op, path, value }: Extract<Filter, { value: Operand }>,
): Where<Field> | undefined {
  if (value === null) return undefined;
  const { urn, name } = resolveAttribute(columns.type, path);
  if (urn !== undefined || name === undefined) return undefined;
  if (name === 'meta' && path.filter === undefined) return metaOf(columns, { op, path, value });
  const flag = Object.hasOwn(columns.booleans, name) ? columns.booleans[name] : undefined;
  if (flag && path.sub === undefined && (op === 'eq' || op === 'ne')) {
    return { field: flag, operator: 'eq', value: (String(value).toLowerCase() === 'true') === (op === 'eq') };
  }
  return op === 'eq' ? textOf(columns, path, value) : undefined;
}

function textOf<Field extends string>(
  columns: Columns<Field>,
  path: AttributePath,
  value: Operand,
): Where<Field> | undefined {
  const { urn, name = '' } = resolveAttribute(columns.type, path);
  const field = Object.hasOwn(columns.texts, name) ? columns.texts[name] : undefined;
  const isValue = path.sub === undefined || path.sub.toLowerCase() === 'value';
  if (urn !== undefined || !field || !isValue || value === null) return undefined;
  return { field, operator: 'eq', value: String(value) };
}

function metaOf<Field extends string>(
  { type, moments: fields }: Columns<Field>,
  { op, path, value }: { op: string; path: AttributePath; value: Exclude<Operand, null> },
): Where<Field> | undefined {
  const sub = path.sub?.toLowerCase() ?? '';
  if (sub === 'resourcetype') {
    if (op !== 'eq' && op !== 'ne') return undefined;
    return (value === type.name) === (op === 'eq') ? everything : { any: [] };
  }
  const name = Object.keys(fields).find((one) => one.toLowerCase() === sub);
  const field = name === undefined ? undefined : fields[name];
  const moment = parseDateTime(String(value));
  return field && moment !== undefined && isRelation(op) ? { field, operator: op, value: moment } : undefined;
}

function isRelation(op: string): op is ComparisonOperator {
  return op === 'eq' || op === 'gt' || op === 'ge' || op === 'lt' || op === 'le';
}

function sizeOf<Field extends string>(where: Where<Field>): number {
  if ('all' in where) return where.all.reduce((sum, part) => sum + sizeOf(part), 0);
  return 'any' in where ? where.any.reduce((sum, part) => sum + sizeOf(part), 0) : 1;
}
