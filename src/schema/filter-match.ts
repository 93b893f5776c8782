import { readingIn, urnsOf } from './attribute-names.ts';
import { type Attribute, findAttribute } from './attributes.ts';
import { foldCase } from './case-fold.ts';
import { type Comparand, comparandOf, compare, costOf, type Value } from './compare.ts';
import type { AttributePath, Comparison, Filter } from './filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue, type ScimResource } from './resource.ts';
import { type ResourceType, resolve, userType } from './resource-types.ts';

/** An evaluation that can pause: each `yield` ends a step of a few milliseconds. */
export type Steps<T> = Generator<void, T, void>;

/** How much work a step does, in characters looked at (`costOf`). */
const STEP_WORK = 200_000;

/** What looking at one row or name costs. */
const ROW_WORK = 16;

/** How many elements are asked for a value filter before the first match is used. */
const BLOCK = 256;

/** What one evaluation shares: its work since the last pause, and how texts are folded. */
interface Evaluation {
  work: number;
  fold(text: string): string;
}

/** The values of an attribute. What was read of them, and folded, is kept for the next comparison. */
interface Table {
  rows: readonly Json[];
  /** The numbers of the rows, in parts. */
  blocks: number[][];
  attribute: Attribute | undefined;
  /** By the names that lead to them: from the resource, and from inside of brackets. */
  outer: Map<string, Column>;
  inner: Map<string, Column>;
}

/** The values at one name in all rows of a table, read when they are first asked for. */
interface Column {
  attribute: Attribute | undefined;
  read(row: Json): Json[];
  cells: (Value[] | undefined)[];
}

/** Finds those among some rows for which a leaf of a condition holds. */
type Ask = (leaf: Leaf, rows: number[]) => Steps<number[]>;

/** Whether a resource matches a filter (RFC 7644 §3.4.2.2). An attribute that nobody knows matches nothing. */
export function* evaluate(type: ResourceType, condition: Condition, resource: JsonObject): Steps<boolean> {
  const evaluation = newEvaluation();
  const tables = new Map<string, Table>();
  const isKnown = urnsOf(resource);
  const hits = yield* select(condition, [0], function* (written, rows) {
    const leaf = leafIn(written, isKnown);
    let table = tables.get(leaf.attributeKey);
    if (!table) {
      evaluation.work += ROW_WORK * Object.keys(resource).length;
      table = tableAt(type, leaf.path, resource);
      tables.set(leaf.attributeKey, table);
    }
    return (yield* holdsAnywhere(evaluation, table, leaf)) ? rows : [];
  });
  return hits.length > 0;
}

/** The same at once, for a resource and a filter that are known to be small. */
export function matches(type: ResourceType, filter: Filter, resource: JsonObject): boolean {
  return atOnce(evaluate(type, prepare(filter), resource));
}

/** For each element of an attribute whether it matches the filter in brackets. */
export function matchingElements(
  attribute: Attribute | undefined,
  filter: Filter,
  { elements, fold = foldCase }: { elements: readonly Json[]; fold?: (text: string) => string },
): boolean[] {
  const table = newTable(elements, attribute);
  const hits = new Set(selectedRows(table, filter, fold));
  return elements.map((_, row) => hits.has(row));
}

/** The values that a path leads to: of a multi-valued attribute all, or those that its filter selects. */
export function valuesAt(type: ResourceType, written: AttributePath, resource: JsonObject): Json[] {
  const path = readingIn(written, urnsOf(resource));
  const table = tableAt(type, path, resource);
  const { filter, sub } = path;
  const selected = filter
    ? selectedRows(table, filter, foldCase).map((row) => table.rows[row] ?? null)
    : table.rows;
  return selected.flatMap((row) => partOf(row, sub));
}

/**
 * The values that a path leads to in a user: one for a single value, all those selected for a multi-valued attribute,
 * none when it is unassigned. Names, URNs and values compare as their attribute says (RFC 7643 §2.2).
 */
export function readPath(resource: ScimResource, path: AttributePath): Json[] {
  return valuesAt(userType, path, resource);
}

/** Evaluates to the end, awaiting `pause` between the steps. */
export async function inSteps<T>(steps: Steps<T>, pause: () => Promise<void>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    await pause();
    step = steps.next();
  }
  return step.value;
}

function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The rows that match a condition, in their order. An operand is asked only of rows that it can still decide. */
function* select(condition: Condition, rows: number[], ask: Ask): Steps<number[]> {
  if (rows.length === 0) return rows;
  let left = rows;
  switch (condition.op) {
    case 'and':
      for (const operand of condition.operands) left = yield* select(operand, left, ask);
      return left;
    case 'or':
      for (const operand of condition.operands) left = without(left, yield* select(operand, left, ask));
      return without(rows, left);
    case 'not':
      return without(rows, yield* select(condition.operand, rows, ask));
    default:
      return yield* ask(condition, rows);
  }
}

function without(rows: number[], some: number[]): number[] {
  if (some.length === 0) return rows;
  if (some.length === rows.length) return [];
  const gone = new Set(some);
  return rows.filter((row) => !gone.has(row));
}

function* holdsAnywhere(evaluation: Evaluation, table: Table, leaf: Leaf): Steps<boolean> {
  const column = outerColumn(table, leaf);
  if (!column) return false;
  for (const block of table.blocks) {
    if (isDue(evaluation)) yield;
    const rows = leaf.filter ? yield* selectElements(evaluation, table, leaf.filter, block) : block;
    const [hit] = yield* rowsWith(evaluation, { table, column, leaf, atMost: 1 }, rows);
    if (hit !== undefined) return true;
  }
  return false;
}

/** The rows that match the filter in brackets; the parser allows no brackets inside of it. */
function selectElements(
  evaluation: Evaluation,
  table: Table,
  filter: Condition,
  rows: number[],
): Steps<number[]> {
  return select(filter, rows, function* (leaf, some) {
    const column = innerColumn(table, leaf);
    evaluation.work += ROW_WORK;
    return column ? yield* rowsWith(evaluation, { table, column, leaf, atMost: some.length }, some) : [];
  });
}

function selectedRows(table: Table, filter: Filter, fold: (text: string) => string): number[] {
  const evaluation = { ...newEvaluation(), fold };
  const condition = prepare(filter);
  return table.blocks.flatMap((block) => atOnce(selectElements(evaluation, table, condition, block)));
}

/** Counts a row that is looked at, and tells whether the step has lasted long enough. */
function isDue(evaluation: Evaluation): boolean {
  evaluation.work += ROW_WORK;
  if (evaluation.work < STEP_WORK) return false;
  evaluation.work = 0;
  return true;
}

interface Search {
  table: Table;
  column: Column;
  leaf: Leaf;
  atMost: number;
}

function* rowsWith(
  evaluation: Evaluation,
  { table, column, leaf, atMost }: Search,
  rows: number[],
): Steps<number[]> {
  const found: number[] = [];
  for (const row of rows) {
    if (isDue(evaluation)) yield;
    column.cells[row] ??= cellOf(column, leaf, table.rows[row] ?? null);
    if (holdsIn(evaluation, column, { leaf, row })) found.push(row);
    if (found.length === atMost) break;
  }
  return found;
}

function holdsIn(
  evaluation: Evaluation,
  { attribute, cells }: Column,
  at: { leaf: Leaf; row: number },
): boolean {
  const { leaf } = at;
  for (const value of cells[at.row] ?? []) {
    if (leaf.op === 'pr') return true;
    evaluation.work += costOf(leaf, value);
    const { op, comparand } = leaf;
    if (compare({ op, comparand, attribute }, value, evaluation.fold)) return true;
  }
  return false;
}

const nothing: Value[] = [];
const something: Value[] = [{ json: true }];

/** What a leaf looks at in a row: for `pr` whether there is a value. */
function cellOf({ read }: Column, { op }: Leaf, row: Json): Value[] {
  const values = read(row);
  if (op === 'pr') return values.some(isPresent) ? something : nothing;
  const found = values.flatMap((value) => {
    const json = comparable(value);
    return json === undefined ? [] : [{ json }];
  });
  return found.length > 0 ? found : nothing;
}

/** A complex value without a sub-attribute is compared by its `value` (RFC 7644 §3.4.2.2 for multi-valued attributes). */
function comparable(value: Json): Json | undefined {
  return isObject(value) ? ownValue(value, 'value') : value;
}

/** "If the attribute has a non-empty or non-null value" (RFC 7644 §3.4.2.2, `pr`). */
function isPresent(value: Json): boolean {
  if (Array.isArray(value)) return value.some(isPresent);
  return isObject(value) ? Object.values(value).some(isPresent) : value !== null && value !== '';
}

/** The values at `attribute.sub`, where the rows are the values of the attribute. */
function outerColumn({ outer, attribute }: Table, { columnKey, path: { sub } }: Leaf): Column | undefined {
  if (sub !== undefined && isUnknownPart(attribute, sub)) return undefined;
  return keptIn(outer, columnKey, () => ({
    attribute: partAttribute(attribute, sub),
    read: (row) => partOf(row, sub),
    cells: [],
  }));
}

/** The values at a name in brackets, where the rows are the elements in front of them. */
function innerColumn({ inner, attribute }: Table, { columnKey, path }: Leaf): Column | undefined {
  const { attribute: name = '', sub } = path;
  if (isUnknownPart(attribute, name)) return undefined;
  return keptIn(inner, columnKey, () => ({
    attribute: partAttribute(findAttribute(attribute?.subAttributes, name), sub),
    read: (row) => listOf(inElement(row, name)).flatMap((value) => partOf(value, sub)),
    cells: [],
  }));
}

/** A sub-attribute that the schema of its attribute lacks is never kept, so no column is made for it. */
function isUnknownPart(attribute: Attribute | undefined, name: string): boolean {
  return attribute?.type === 'complex' && findAttribute(attribute.subAttributes, name) === undefined;
}

function keptIn(columns: Map<string, Column>, key: string, make: () => Column): Column {
  const known = columns.get(key);
  if (known) return known;
  const made = make();
  columns.set(key, made);
  return made;
}

function partOf(value: Json, sub: string | undefined): Json[] {
  if (sub === undefined) return [value];
  const part = isObject(value) ? ownValue(value, sub) : undefined;
  return part === undefined || part === null ? [] : [part];
}

function partAttribute(attribute: Attribute | undefined, sub: string | undefined): Attribute | undefined {
  if (sub !== undefined) return findAttribute(attribute?.subAttributes, sub);
  return attribute?.type === 'complex' ? findAttribute(attribute.subAttributes, 'value') : attribute;
}

/** An element that is no object has itself as `value`. */
function inElement(element: Json, name: string): Json | undefined {
  if (isObject(element)) return ownValue(element, name);
  return name.toLowerCase() === 'value' ? element : undefined;
}

/** The values of the attribute that a path names. */
function tableAt(type: ResourceType, path: AttributePath, resource: JsonObject): Table {
  const { urn, attribute, name } = resolve(type, path);
  const container = urn === undefined ? resource : ownValue(resource, urn);
  if (name === undefined) return newTable(urn === undefined ? [] : listOf(container), attribute);
  return newTable(isObject(container) ? listOf(ownValue(container, name)) : [], attribute);
}

function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function newEvaluation(): Evaluation {
  return { work: 0, fold: foldCase };
}

function newTable(rows: readonly Json[], attribute: Attribute | undefined): Table {
  const blocks: number[][] = [];
  for (let start = 0; start < rows.length; start += BLOCK) {
    const length = Math.min(BLOCK, rows.length - start);
    blocks.push(Array.from({ length }, (_, index) => start + index));
  }
  return { rows, blocks, attribute, outer: new Map(), inner: new Map() };
}

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

/** Whether a filter asks for anything of these core attributes or extensions; if not, it can be evaluated without them. */
export function mentions(type: ResourceType, filter: Filter, names: readonly string[]): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.operands.some((operand) => mentions(type, operand, names));
    case 'not':
      return mentions(type, filter.operand, names);
    default: {
      const { urn, name } = resolve(type, filter.path);
      return names.includes(urn ?? name ?? '');
    }
  }
}
