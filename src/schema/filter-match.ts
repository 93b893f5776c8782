import { chooseReading, extensionTest } from './attribute-names.ts';
import { type Attribute, findAttribute } from './attributes.ts';
import { foldCase } from './case-fold.ts';
import { comparisonCost, matchesComparison, type Value } from './compare.ts';
import { type Condition, type Leaf, prepareFilter, resolveLeaf } from './filter-condition.ts';
import type { AttributePath, Filter } from './filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue } from './resource.ts';
import { type ResolvedAttribute, type ResourceType, resolveAttribute } from './resource-types.ts';

/** A computation in steps of a few milliseconds. It yields after each step, so that other requests can be served. */
export type Steps<T> = Generator<void, T, void>;

/** The work of one step, in characters read (`comparisonCost`). */
const STEP_WORK = 200_000;

/** The cost of visiting one row or name, in characters read. */
const ROW_WORK = 16;

/** A value filter is evaluated on this many elements at a time, so that an early match ends the search early. */
const BLOCK_ROWS = 256;

/** The state of one evaluation: the work since the last pause, and a cached `foldCase`. */
interface Evaluation {
  work: number;
  fold(text: string): string;
}

/** The values of one attribute, one row per value. Columns are cached for further comparisons. */
interface Table {
  rows: readonly Json[];
  /** The indexes of all rows, in blocks of `BLOCK_ROWS`. */
  blocks: number[][];
  attribute: Attribute | undefined;
  /** The columns by `columnKey`: `outer` for paths outside of brackets, `inner` for names inside of brackets. */
  outer: Map<string, Column>;
  inner: Map<string, Column>;
}

/** The values of one sub-attribute in all rows of a table. Each cell is read when it is first needed. */
interface Column {
  attribute: Attribute | undefined;
  read(row: Json): Json[];
  cells: (Value[] | undefined)[];
}

/** Returns those of the rows for which one comparison is true. */
type LeafTest = (leaf: Leaf, rows: number[]) => Steps<number[]>;

/** Tells whether a resource matches a filter (RFC 7644 §3.4.2.2). An unknown attribute has no values. */
export function* evaluateFilter(
  type: ResourceType,
  condition: Condition,
  resource: JsonObject,
): Steps<boolean> {
  const evaluation = newEvaluation();
  const tables = new Map<string, Table>();
  const isKnown = extensionTest(resource);
  const hits = yield* selectRows(condition, [0], function* (written, rows) {
    const leaf = resolveLeaf(written, isKnown);
    let table = tables.get(leaf.attributeKey);
    if (!table) {
      evaluation.work += ROW_WORK * Object.keys(resource).length;
      table = readTable(type, leaf.path, resource);
      tables.set(leaf.attributeKey, table);
    }
    return (yield* anyRowMatches(evaluation, table, leaf)) ? rows : [];
  });
  return hits.length > 0;
}

/** Like `evaluateFilter` without pauses, for small filters and resources. */
export function matchesFilter(type: ResourceType, filter: Filter, resource: JsonObject): boolean {
  return runAtOnce(evaluateFilter(type, prepareFilter(filter), resource));
}

/** Up to this number of comparisons, it is faster to read and fold the values for each of them than to cache them. */
const MAX_UNCACHED_COMPARISONS = 8;

/** Makes a function like `matchesFilter` for one filter and many resources. */
export function filterTest(type: ResourceType, filter: Filter): (resource: JsonObject) => boolean {
  const condition = prepareFilter(filter);
  if (countLeaves(condition) > MAX_UNCACHED_COMPARISONS)
    return (resource) => runAtOnce(evaluateFilter(type, condition, resource));
  return conditionTest(type, condition);
}

function countLeaves(condition: Condition): number {
  switch (condition.op) {
    case 'and':
    case 'or':
      return condition.operands.reduce((count, operand) => count + countLeaves(operand), 0);
    case 'not':
      return countLeaves(condition.operand);
    default:
      return 1;
  }
}

function conditionTest(type: ResourceType, condition: Condition): (resource: JsonObject) => boolean {
  switch (condition.op) {
    case 'and':
    case 'or': {
      const tests = condition.operands.map((operand) => conditionTest(type, operand));
      if (condition.op === 'and') return (resource) => tests.every((test) => test(resource));
      return (resource) => tests.some((test) => test(resource));
    }
    case 'not': {
      const test = conditionTest(type, condition.operand);
      return (resource) => !test(resource);
    }
    default:
      return leafTest(type, condition);
  }
}

function leafTest(type: ResourceType, leaf: Leaf): (resource: JsonObject) => boolean {
  const { path, filter } = leaf;
  if (path.readings || filter) return (resource) => runAtOnce(evaluateFilter(type, leaf, resource));
  const resolved = resolveAttribute(type, path);
  const { sub } = path;
  if (sub !== undefined && isUndeclaredPart(resolved.attribute, sub)) return () => false;
  const read = (row: Json) => readPart(row, sub);
  const attribute = partAttribute(resolved.attribute, sub);
  return (resource) =>
    rowsOf(resolved, resource).some((row) =>
      readCell({ read }, leaf, row).some((value) => matchesLeaf(leaf, value, attribute)),
    );
}

function matchesLeaf(leaf: Leaf, value: Value, attribute: Attribute | undefined): boolean {
  if (leaf.op === 'pr') return true;
  const { op, comparand } = leaf;
  return matchesComparison({ op, comparand, attribute }, value);
}

/** Returns for each element of an attribute whether it matches a value filter, i.e. the filter in brackets. */
export function matchElements(
  attribute: Attribute | undefined,
  filter: Filter,
  { elements, fold = foldCase }: { elements: readonly Json[]; fold?: (text: string) => string },
): boolean[] {
  const table = newTable(elements, attribute);
  const hits = new Set(selectElementsAtOnce(table, filter, fold));
  return elements.map((_, row) => hits.has(row));
}

/**
 * Makes a function that reads the values at a path: all elements of a multi-valued attribute, or those that match its
 * value filter.
 */
export function pathReader(type: ResourceType, written: AttributePath): (resource: JsonObject) => Json[] {
  const { readings } = written;
  if (readings)
    return (resource) => readerOf(type, chooseReading(written, extensionTest(resource)))(resource);
  return readerOf(type, written);
}

function readerOf(type: ResourceType, path: AttributePath): (resource: JsonObject) => Json[] {
  const resolved = resolveAttribute(type, path);
  const { filter, sub } = path;
  if (!filter) return (resource) => rowsOf(resolved, resource).flatMap((row) => readPart(row, sub));
  return (resource) => {
    const table = newTable(rowsOf(resolved, resource), resolved.attribute);
    const selected = selectElementsAtOnce(table, filter, foldCase).map((row) => table.rows[row] ?? null);
    return selected.flatMap((row) => readPart(row, sub));
  };
}

/** Runs all steps of an evaluation, and awaits `pause` between them. */
export async function runInSteps<T>(steps: Steps<T>, pause: () => Promise<void>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    await pause();
    step = steps.next();
  }
  return step.value;
}

function runAtOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Returns the rows that match a condition, in order. Rows that earlier operands decide are not tested again. */
function* selectRows(condition: Condition, rows: number[], ask: LeafTest): Steps<number[]> {
  if (rows.length === 0) return rows;
  let left = rows;
  switch (condition.op) {
    case 'and':
      for (const operand of condition.operands) left = yield* selectRows(operand, left, ask);
      return left;
    case 'or':
      for (const operand of condition.operands)
        left = excludeRows(left, yield* selectRows(operand, left, ask));
      return excludeRows(rows, left);
    case 'not':
      return excludeRows(rows, yield* selectRows(condition.operand, rows, ask));
    default:
      return yield* ask(condition, rows);
  }
}

function excludeRows(rows: number[], excluded: number[]): number[] {
  if (excluded.length === 0) return rows;
  if (excluded.length === rows.length) return [];
  const removed = new Set(excluded);
  return rows.filter((row) => !removed.has(row));
}

function* anyRowMatches(evaluation: Evaluation, table: Table, leaf: Leaf): Steps<boolean> {
  const column = outerColumn(table, leaf);
  if (!column) return false;
  for (const block of table.blocks) {
    if (isPauseDue(evaluation)) yield;
    const rows = leaf.filter ? yield* selectElements(evaluation, table, leaf.filter, block) : block;
    const [hit] = yield* findRows(evaluation, { table, column, leaf, atMost: 1 }, rows);
    if (hit !== undefined) return true;
  }
  return false;
}

/** Returns the rows that match the filter in brackets. Brackets cannot be nested. */
function selectElements(
  evaluation: Evaluation,
  table: Table,
  filter: Condition,
  rows: number[],
): Steps<number[]> {
  return selectRows(filter, rows, function* (leaf, candidates) {
    const column = innerColumn(table, leaf);
    evaluation.work += ROW_WORK;
    const atMost = candidates.length;
    return column ? yield* findRows(evaluation, { table, column, leaf, atMost }, candidates) : [];
  });
}

function selectElementsAtOnce(table: Table, filter: Filter, fold: (text: string) => string): number[] {
  const evaluation = { ...newEvaluation(), fold };
  const condition = prepareFilter(filter);
  return table.blocks.flatMap((block) => runAtOnce(selectElements(evaluation, table, condition, block)));
}

/** Counts the work of visiting a row. Returns true if the step has done enough work and must pause. */
function isPauseDue(evaluation: Evaluation): boolean {
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

function* findRows(
  evaluation: Evaluation,
  { table, column, leaf, atMost }: Search,
  rows: number[],
): Steps<number[]> {
  const found: number[] = [];
  for (const row of rows) {
    if (isPauseDue(evaluation)) yield;
    column.cells[row] ??= readCell(column, leaf, table.rows[row] ?? null);
    if (rowMatches(evaluation, column, { leaf, row })) found.push(row);
    if (found.length === atMost) break;
  }
  return found;
}

function rowMatches(
  evaluation: Evaluation,
  { attribute, cells }: Column,
  at: { leaf: Leaf; row: number },
): boolean {
  const { leaf } = at;
  for (const value of cells[at.row] ?? []) {
    if (leaf.op === 'pr') return true;
    evaluation.work += comparisonCost(leaf, value);
    const { op, comparand } = leaf;
    if (matchesComparison({ op, comparand, attribute }, value, evaluation.fold)) return true;
  }
  return false;
}

const noValues: Value[] = [];
const presentValue: Value[] = [{ json: true }];

/** Reads the values of a row that a comparison needs; for `pr` one value is enough. */
function readCell({ read }: Pick<Column, 'read'>, { op }: Leaf, row: Json): Value[] {
  const values = read(row);
  if (op === 'pr') return values.some(isPresent) ? presentValue : noValues;
  const found = values.flatMap((value) => {
    const json = comparable(value);
    return json === undefined ? [] : [{ json }];
  });
  return found.length > 0 ? found : noValues;
}

/** A path without a sub-attribute compares the `value` of a complex value (RFC 7644 §3.4.2.2, multi-valued attributes). */
function comparable(value: Json): Json | undefined {
  return isObject(value) ? ownValue(value, 'value') : value;
}

/** "If the attribute has a non-empty or non-null value" (RFC 7644 §3.4.2.2, `pr`). */
function isPresent(value: Json): boolean {
  if (Array.isArray(value)) return value.some(isPresent);
  return isObject(value) ? Object.values(value).some(isPresent) : value !== null && value !== '';
}

/** Returns the column of `attribute.sub` in the table of the attribute's values. */
function outerColumn({ outer, attribute }: Table, { columnKey, path: { sub } }: Leaf): Column | undefined {
  if (sub !== undefined && isUndeclaredPart(attribute, sub)) return undefined;
  return getOrCreateColumn(outer, columnKey, () => ({
    attribute: partAttribute(attribute, sub),
    read: (row) => readPart(row, sub),
    cells: [],
  }));
}

/** Returns the column of a name inside of brackets, in the table of the elements that the brackets filter. */
function innerColumn({ inner, attribute }: Table, { columnKey, path }: Leaf): Column | undefined {
  const { attribute: name = '', sub } = path;
  if (isUndeclaredPart(attribute, name)) return undefined;
  return getOrCreateColumn(inner, columnKey, () => ({
    attribute: partAttribute(findAttribute(attribute?.subAttributes, name), sub),
    read: (row) => toList(readElementPart(row, name)).flatMap((value) => readPart(value, sub)),
    cells: [],
  }));
}

/** Returns true for an undeclared sub-attribute of a complex attribute. No resource has one. */
function isUndeclaredPart(attribute: Attribute | undefined, name: string): boolean {
  return attribute?.type === 'complex' && findAttribute(attribute.subAttributes, name) === undefined;
}

function getOrCreateColumn(columns: Map<string, Column>, key: string, create: () => Column): Column {
  const existing = columns.get(key);
  if (existing) return existing;
  const created = create();
  columns.set(key, created);
  return created;
}

function readPart(value: Json, sub: string | undefined): Json[] {
  if (sub === undefined) return [value];
  const part = isObject(value) ? ownValue(value, sub) : undefined;
  return part === undefined || part === null ? [] : [part];
}

function partAttribute(attribute: Attribute | undefined, sub: string | undefined): Attribute | undefined {
  if (sub !== undefined) return findAttribute(attribute?.subAttributes, sub);
  return attribute?.type === 'complex' ? findAttribute(attribute.subAttributes, 'value') : attribute;
}

/** An element that is not an object is its own `value`. */
function readElementPart(element: Json, name: string): Json | undefined {
  if (isObject(element)) return ownValue(element, name);
  return name.toLowerCase() === 'value' ? element : undefined;
}

/** Makes the table of the values of the attribute that a path names. */
function readTable(type: ResourceType, path: AttributePath, resource: JsonObject): Table {
  const resolved = resolveAttribute(type, path);
  return newTable(rowsOf(resolved, resource), resolved.attribute);
}

/** Returns the values of an attribute. */
function rowsOf({ urn, name }: ResolvedAttribute, resource: JsonObject): readonly Json[] {
  const container = urn === undefined ? resource : ownValue(resource, urn);
  if (name === undefined) return urn === undefined ? [] : toList(container);
  return isObject(container) ? toList(ownValue(container, name)) : [];
}

function toList(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function newEvaluation(): Evaluation {
  return { work: 0, fold: foldCase };
}

function newTable(rows: readonly Json[], attribute: Attribute | undefined): Table {
  const blocks: number[][] = [];
  for (let start = 0; start < rows.length; start += BLOCK_ROWS) {
    const length = Math.min(BLOCK_ROWS, rows.length - start);
    blocks.push(Array.from({ length }, (_, index) => start + index));
  }
  return { rows, blocks, attribute, outer: new Map(), inner: new Map() };
}
