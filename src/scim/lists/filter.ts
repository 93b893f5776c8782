import type {
  ComparisonOperator,
  GroupField,
  PartOperator,
  UserField,
  Where,
} from '../../model/list-ports.ts';
import { type Attribute, findAttribute } from '../../schema/attributes.ts';
import { parseDateTime } from '../../schema/compare.ts';
import { comparedAttribute } from '../../schema/filter-match.ts';
import {
  type AttributeExpression,
  type AttributePath,
  attributeExpressionsIn,
  type Filter,
  type Operand,
  parseFilter,
} from '../../schema/filter-parser.ts';
import { groupType, type ResourceType, resolveAttribute, userType } from '../../schema/resource-types.ts';
import { badRequest, type ScimError } from '../protocol/errors.ts';

/**
 * Parses the `filter` parameter. A filter that cannot be evaluated is 400 invalidFilter, never an empty result (RFC 7644
 * §3.4.2.2). `searchedTypes` are all types that the search covers: an attribute that only another of them has counts as an
 * attribute without a value (§3.4.2.1).
 */
export function parseFilterParameter(
  type: ResourceType,
  parameter: unknown,
  searchedTypes: readonly ResourceType[] = [type],
): Filter | undefined {
  if (parameter === undefined) return undefined;
  if (typeof parameter !== 'string') throw invalidFilter('There must be one filter.');
  const filter = parseFilter(parameter, { bareWords: true });
  if ('fault' in filter) {
    throw invalidFilter(`The filter cannot be read at character ${filter.position + 1}: ${filter.fault}.`);
  }
  checkFilter(filter, (path) => findSearchedAttribute(type, path, searchedTypes));
  return filter;
}

/** Throws 400 if the filter names an attribute, or compares it, in a way that the schema does not allow. */
function checkFilter(filter: Filter, attributeAt: (path: AttributePath) => Attribute | undefined): void {
  for (const expression of attributeExpressionsIn(filter)) {
    const { path } = expression;
    const attribute = attributeAt(path);
    checkSubAttributes(path, attribute);
    const compared = comparedAttribute(attribute, path.sub);
    if (compared?.returned === 'never') throw invalidFilter(`${compared.name} cannot be searched.`);
    if (expression.op !== 'pr') checkComparison(compared, expression);
  }
}

/** An extension may have attributes that no schema declares, so only an unknown core attribute is 400. */
function findSearchedAttribute(
  type: ResourceType,
  path: AttributePath,
  searchedTypes: readonly ResourceType[],
): Attribute | undefined {
  const { urn, attribute, name } = resolveAttribute(type, path);
  const isUnknown =
    urn === undefined &&
    !attribute &&
    !searchedTypes.some((other) => resolveAttribute(other, path).attribute);
  if (isUnknown) {
    const types = searchedTypes.map((other) => other.name).join(' or ');
    throw invalidFilter(`There is no attribute ${name ?? type.schema.id} of ${types}.`);
  }
  return attribute;
}

function checkSubAttributes({ filter, sub }: AttributePath, attribute: Attribute | undefined): void {
  if ((filter || sub !== undefined) && attribute && attribute.type !== 'complex') {
    throw invalidFilter(`${attribute.name} has no sub-attributes.`);
  }
  if (filter) checkFilter(filter, (inner) => findAttribute(attribute?.subAttributes, inner.attribute ?? ''));
}

/**
 * Throws 400 invalidFilter if a boolean or binary attribute is compared by order: "Boolean and Binary attributes SHALL
 * cause a failed response (HTTP status code 400) with "scimType" of "invalidFilter"" (RFC 7644 §3.4.2.2).
 */
function checkComparison(
  attribute: Attribute | undefined,
  { op, value }: { op: string; value: Operand },
): void {
  if (attribute?.type === 'binary' && ['gt', 'ge', 'lt', 'le'].includes(op)) {
    throw invalidFilter(`${attribute.name} has no order.`);
  }
  const isTextSearch = op === 'co' || op === 'sw' || op === 'ew';
  if (
    attribute?.type === 'dateTime' &&
    !isTextSearch &&
    value !== null &&
    parseDateTime(String(value)) === undefined
  ) {
    throw invalidFilter(
      `${attribute.name} can be compared with a dateTime only, such as "2026-01-31T08:00:00Z".`,
    );
  }
  if (attribute?.type !== 'boolean') return;
  if (op !== 'eq' && op !== 'ne') {
    throw invalidFilter(`${attribute.name} is true or false; only eq and ne compare it.`);
  }
  if (value !== null && !/^(true|false)$/i.test(String(value))) {
    throw invalidFilter(`${attribute.name} can be compared with true and false only.`);
  }
}

function invalidFilter(detail: string): ScimError {
  return badRequest('invalidFilter', detail);
}

/** Returns true if a filter uses one of these core attributes or extension URNs, so that their values are needed. */
export function mentionsAttributes(type: ResourceType, filter: Filter, names: readonly string[]): boolean {
  return attributeExpressionsIn(filter).some(({ path }) => {
    const { urn, name } = resolveAttribute(type, path);
    return names.includes(urn ?? name ?? '');
  });
}

/**
 * A filter in two parts: `where` is a condition on database columns, and `residual` is the part of the filter that is
 * evaluated on each resource that meets `where`. Without a residual, `where` alone is exact.
 */
export interface FilterQuery<Field extends string> {
  where: Where<Field>;
  residual: Filter | undefined;
  /** The residual can be left out if no value of these fields is too long for its column. Undefined: it cannot. */
  exactUnlessLong?: readonly Field[] | undefined;
}

/** The database columns of a resource type, by the SCIM attributes whose values they hold. */
interface Columns<Field extends string> {
  type: ResourceType;
  texts: Partial<Record<string, Field>>;
  /** Those of the texts in which a part is sought, and true if the column alone decides whether a value has it. */
  parts: Partial<Record<Field, boolean>>;
  /** The field in which parts of these other attributes are sought, named with a sub-attribute. */
  contained: Partial<Record<string, Field>>;
  booleans: Partial<Record<string, Field>>;
  /** Sub-attributes of `meta` with a column of times. */
  dateTimes: Partial<Record<string, Field>>;
  /** Attributes that every resource has, so that `pr` is always true. */
  always: readonly string[];
}

const dateTimes = { created: 'created', lastModified: 'lastModified' } as const;

/** The columns of users. */
export const userColumns: Columns<UserField> = {
  type: userType,
  texts: {
    id: 'id',
    userName: 'userName',
    externalId: 'externalId',
    emails: 'email',
    displayName: 'displayName',
  },
  // An address is in the column among those of others, and SQLite finds parts in any case.
  parts: { userName: true, displayName: true, externalId: false, email: false },
  contained: {
    'name.givenname': 'person',
    'name.familyname': 'person',
    externalId: 'person',
    emails: 'person',
    'emails.value': 'person',
  },
  booleans: { active: 'active' },
  dateTimes,
  always: ['id', 'schemas', 'meta', 'userName', 'active'],
};

/** The columns of groups. */
export const groupColumns: Columns<GroupField> = {
  type: groupType,
  texts: { id: 'id', displayName: 'displayName', externalId: 'externalId', members: 'member' },
  parts: { displayName: true },
  contained: {},
  booleans: {},
  dateTimes,
  always: ['id', 'schemas', 'meta', 'displayName'],
};

/**
 * The largest number of comparisons for which SQL is used, because a statement has a limited number of parameters. A
 * longer filter is evaluated on each resource.
 */
const MAX_COMPARISONS = 200;

const everything = { all: [] };
const nothing = { any: [] };

/** Splits a filter into a condition on columns and a residual. No filter selects everything. */
export function toFilterQuery<Field extends string>(
  columns: Columns<Field>,
  filter: Filter | undefined,
): FilterQuery<Field> {
  if (!filter) return { where: everything, residual: undefined };
  const unindexed = { where: everything, residual: filter };
  const query = convertFilter(columns, filter) ?? unindexed;
  return countComparisons(query.where) > MAX_COMPARISONS ? unindexed : query;
}

/** Converts a filter to a condition on columns and a residual. Undefined if no column excludes any resource. */
function convertFilter<Field extends string>(
  columns: Columns<Field>,
  filter: Filter,
): FilterQuery<Field> | undefined {
  switch (filter.op) {
    case 'and':
      return convertAnd(columns, filter.operands);
    case 'or':
      return convertOr(columns, filter);
    case 'not':
      return undefined;
    case 'pr':
      return convertMissingAttribute(columns, filter) ?? convertPresence(columns, filter);
    default: {
      const missing = convertMissingAttribute(columns, filter);
      if (missing) return missing;
      const where = toColumnCondition(columns, filter);
      if (!where) return convertPart(columns, filter);
      return { where, residual: isExact(filter.path, filter.value) ? undefined : filter };
    }
  }
}

/** Converts the operands of `and`: those that have a column become the condition, all others the residual. */
function convertAnd<Field extends string>(columns: Columns<Field>, operands: Filter[]): FilterQuery<Field> {
  const parts = operands.map(
    (operand) => convertFilter(columns, operand) ?? { where: everything, residual: operand },
  );
  const conditions = parts.flatMap(({ where }) => ('all' in where ? where.all : [where]));
  const residuals = parts.flatMap(({ residual }) => residual ?? []);
  const [condition] = conditions;
  const [residual] = residuals;
  return {
    where: condition && conditions.length === 1 ? condition : { all: conditions },
    residual: residuals.length > 1 ? { op: 'and', operands: residuals } : residual,
    exactUnlessLong: commonExactness(parts),
  };
}

/** The fields of all parts that have a residual for long values only; undefined if one has another residual. */
function commonExactness<Field extends string>(parts: FilterQuery<Field>[]): Field[] | undefined {
  const fields = parts.filter(({ residual }) => residual !== undefined).map((part) => part.exactUnlessLong);
  const known = fields.filter((some) => some !== undefined);
  return fields.length === 0 || known.length < fields.length ? undefined : known.flat();
}

/**
 * Converts the operands of `or`. Every operand needs a column, because an operand without one could match any resource.
 */
function convertOr<Field extends string>(
  columns: Columns<Field>,
  filter: Filter & { op: 'and' | 'or' },
): FilterQuery<Field> | undefined {
  const parts = filter.operands.map((operand) => convertFilter(columns, operand));
  const converted = parts.filter((part) => part !== undefined);
  if (converted.length < parts.length) return undefined;
  const isComplete = converted.every(({ residual }) => residual === undefined);
  return {
    where: { any: converted.map(({ where }) => where) },
    residual: isComplete ? undefined : filter,
    exactUnlessLong: commonExactness(converted),
  };
}

/**
 * Converts the search for a part of a text, and a comparison with an attribute that occurs in the text of a person. Undefined if no column has
 * the text.
 */
function convertPart<Field extends string>(
  columns: Columns<Field>,
  filter: Extract<Filter, { value: Operand }>,
): FilterQuery<Field> | undefined {
  const { op, path, value } = filter;
  const { urn, name } = resolveAttribute(columns.type, path);
  const isSought = op === 'eq' || isPartOperator(op);
  if (urn !== undefined || name === undefined || value === null || !isSought || hasNoKey(value))
    return undefined;
  const sub = path.sub?.toLowerCase();
  const own = sub === undefined || sub === 'value' ? columns.texts[name] : undefined;
  const isOwn = own !== undefined && isPartOperator(op) && columns.parts[own] !== undefined;
  if (isOwn && (columns.parts[own] || op === 'sw')) {
    const isExactly = columns.parts[own] && path.filter === undefined && sub === undefined;
    const where = { field: own, operator: op, value: String(value) } as const;
    return { where, residual: filter, exactUnlessLong: isExactly ? [own] : undefined };
  }
  const field = columns.contained[sub === undefined ? name : `${name}.${sub}`];
  return field && { where: { field, operator: 'co', value: String(value) }, residual: filter };
}

function isPartOperator(op: string): op is PartOperator {
  return op === 'sw' || op === 'ew' || op === 'co';
}

/** True for a text whose part in a column is not what it is in the value (`isExact`). */
function hasNoKey(value: Operand): boolean {
  return /[\ufffd\p{Surrogate}]|\0/u.test(String(value));
}

/**
 * Converts a comparison with an attribute that only another searched type has: "treat the attribute as if there is no
 * attribute value" (RFC 7644 §3.4.2.1). Undefined if this type has the attribute.
 */
function convertMissingAttribute<Field extends string>(
  { type }: Columns<Field>,
  filter: AttributeExpression,
): FilterQuery<Field> | undefined {
  const { urn, attribute } = resolveAttribute(type, filter.path);
  if (urn !== undefined || attribute) return undefined;
  const isNull = filter.op !== 'pr' && filter.value === null;
  const holds = isNull ? filter.op === 'eq' : filter.op === 'ne';
  return { where: holds ? everything : nothing, residual: undefined };
}

/**
 * Converts `pr` for attributes that every resource has, and value filters such as `emails[type eq "work" and value eq
 * "x"]`.
 */
function convertPresence<Field extends string>(
  columns: Columns<Field>,
  filter: Filter & { op: 'pr' },
): FilterQuery<Field> | undefined {
  const { path } = filter;
  const { urn, name } = resolveAttribute(columns.type, path);
  if (!path.filter && path.sub === undefined && urn === undefined && columns.always.includes(name ?? ''))
    return { where: everything, residual: undefined };
  if (!path.filter || path.sub !== undefined) return undefined;
  const unfiltered = { ...path, filter: undefined };
  const operands = path.filter.op === 'and' ? path.filter.operands : [path.filter];
  const conditions = operands.flatMap((operand) => {
    if (operand.op !== 'eq' || operand.path.attribute?.toLowerCase() !== 'value') return [];
    const where = toTextCondition(columns, unfiltered, operand.value);
    return where ? [{ where, value: operand.value }] : [];
  });
  const [first] = conditions;
  if (!first) return undefined;
  const isComplete = operands.length === 1 && isExact(unfiltered, first.value);
  return { where: first.where, residual: isComplete ? undefined : filter };
}

/**
 * Returns true if the column alone decides the comparison. A value filter in the path has further conditions than the
 * column.
 */
function isExact({ filter }: AttributePath, value: Operand): boolean {
  // Columns store every lone surrogate as U+FFFD, and PostgreSQL searches NUL as U+FFFD, so different values have the same key.
  return filter === undefined && !hasNoKey(value);
}

function toColumnCondition<Field extends string>(
  columns: Columns<Field>,
  { op, path, value }: Extract<Filter, { value: Operand }>,
): Where<Field> | undefined {
  if (value === null) return undefined;
  const { urn, name } = resolveAttribute(columns.type, path);
  if (urn !== undefined || name === undefined) return undefined;
  if (name === 'meta' && path.filter === undefined) return toMetaCondition(columns, { op, path, value });
  const field = Object.hasOwn(columns.booleans, name) ? columns.booleans[name] : undefined;
  if (field && path.sub === undefined && op === 'eq')
    return { field, operator: 'eq', value: String(value).toLowerCase() === 'true' };
  return op === 'eq' ? toTextCondition(columns, path, value) : undefined;
}

function toTextCondition<Field extends string>(
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

function toMetaCondition<Field extends string>(
  columns: Columns<Field>,
  { op, path, value }: { op: string; path: AttributePath; value: Exclude<Operand, null> },
): Where<Field> | undefined {
  const sub = path.sub?.toLowerCase() ?? '';
  if (sub === 'resourcetype') {
    if (op !== 'eq' && op !== 'ne') return undefined;
    return (value === columns.type.name) === (op === 'eq') ? everything : nothing;
  }
  const name = Object.keys(columns.dateTimes).find((key) => key.toLowerCase() === sub);
  const field = name === undefined ? undefined : columns.dateTimes[name];
  const time = parseDateTime(String(value));
  return field && time !== undefined && isComparisonOperator(op)
    ? { field, operator: op, value: time }
    : undefined;
}

function isComparisonOperator(op: string): op is ComparisonOperator {
  return op === 'eq' || op === 'gt' || op === 'ge' || op === 'lt' || op === 'le';
}

function countComparisons<Field extends string>(where: Where<Field>): number {
  if ('all' in where) return where.all.reduce((sum, part) => sum + countComparisons(part), 0);
  return 'any' in where ? where.any.reduce((sum, part) => sum + countComparisons(part), 0) : 1;
}
