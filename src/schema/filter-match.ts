import { chooseReading, extensionTest } from './attribute-names.ts';
import { type Attribute, findAttribute } from './attributes.ts';
import { foldCase } from './case-fold.ts';
import { type Comparand, comparisonCost, matchesComparison, toComparand, type Value } from './compare.ts';
import type { AttributePath, Comparison, Filter } from './filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue } from './resource.ts';
import { type ResourceType, resolveAttribute } from './resource-types.ts';

/** An evaluation that can pause: each `yield` ends a step of a few milliseconds. */
export type Steps<T> = Generator<void, T, void>;

/** How much work a step does, in characters looked at (`costOf`). */
const STEP_WORK = 200_000;

/** What looking at one row or name costs. */
const ROW_WORK = 16;

/** How many elements are asked for a value filter before the first match is used. */
const BLOCK_ROWS = 256;

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
type LeafTest = (leaf: Leaf, rows: number[]) => Steps<number[]>;

/** Whether a resource matches a filter (RFC 7644 §3.4.2.2). An attribute that nobody knows matches nothing. */
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

/** The same at once, for a resource and a filter that are known to be small. */
export function matchesFilter(type: ResourceType, filter: Filter, resource: JsonObject): boolean {
  return runAtOnce(evaluateFilter(type, prepareFilter(filter), resource));
}

/** For each element of an attribute whether it matches the filter in brackets. */
export function matchElements(
  attribute: Attribute | undefined,
  filter: Filter,
  { elements, fold = foldCase }: { elements: readonly Json[]; fold?: (text: string) => string },
): boolean[] {
  const table = newTable(elements, attribute);
  const hits = new Set(selectElementsAtOnce(table, filter, fold));
  return elements.map((_, row) => hits.has(row));
}

/** The values that a path leads to: of a multi-valued attribute all, or those that its filter selects. */
export function readPath(type: ResourceType, written: AttributePath, resource: JsonObject): Json[] {
  const path = chooseReading(written, extensionTest(resource));
  const table = readTable(type, path, resource);
  const { filter, sub } = path;
  const selected = filter
    ? selectElementsAtOnce(table, filter, foldCase).map((row) => table.rows[row] ?? null)
    : table.rows;
  return selected.flatMap((row) => readPart(row, sub));
}

/** Evaluates to the end, awaiting `pause` between the steps. */
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

/** The rows that match a condition, in their order. An operand is asked only of rows that it can still decide. */
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

function excludeRows(rows: number[], some: number[]): number[] {
  if (some.length === 0) return rows;
  if (some.length === rows.length) return [];
  const gone = new Set(some);
  return rows.filter((row) => !gone.has(row));
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

/** The rows that match the filter in brackets; the parser allows no brackets inside of it. */
function selectElements(
  evaluation: Evaluation,
  table: Table,
  filter: Condition,
  rows: number[],
): Steps<number[]> {
  return selectRows(filter, rows, function* (leaf, some) {
    const column = innerColumn(table, leaf);
    evaluation.work += ROW_WORK;
    return column ? yield* findRows(evaluation, { table, column, leaf, atMost: some.length }, some) : [];
  });
}

function selectElementsAtOnce(table: Table, filter: Filter, fold: (text: string) => string): number[] {
  const evaluation = { ...newEvaluation(), fold };
  const condition = prepareFilter(filter);
  return table.blocks.flatMap((block) => runAtOnce(selectElements(evaluation, table, condition, block)));
}

/** Counts a row that is looked at, and tells whether the step has lasted long enough. */
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

/** What a leaf looks at in a row: for `pr` whether there is a value. */
function readCell({ read }: Column, { op }: Leaf, row: Json): Value[] {
  const values = read(row);
  if (op === 'pr') return values.some(isPresent) ? presentValue : noValues;
  const found = values.flatMap((value) => {
    const json = comparable(value);
    return json === undefined ? [] : [{ json }];
  });
  return found.length > 0 ? found : noValues;
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
  if (sub !== undefined && isUndeclaredPart(attribute, sub)) return undefined;
  return getOrCreateColumn(outer, columnKey, () => ({
    attribute: partAttribute(attribute, sub),
    read: (row) => readPart(row, sub),
    cells: [],
  }));
}

/** The values at a name in brackets, where the rows are the elements in front of them. */
function innerColumn({ inner, attribute }: Table, { columnKey, path }: Leaf): Column | undefined {
  const { attribute: name = '', sub } = path;
  if (isUndeclaredPart(attribute, name)) return undefined;
  return getOrCreateColumn(inner, columnKey, () => ({
    attribute: partAttribute(findAttribute(attribute?.subAttributes, name), sub),
    read: (row) => toList(readElementPart(row, name)).flatMap((value) => readPart(value, sub)),
    cells: [],
  }));
}

/** A sub-attribute that the schema of its attribute lacks is never kept, so no column is made for it. */
function isUndeclaredPart(attribute: Attribute | undefined, name: string): boolean {
  return attribute?.type === 'complex' && findAttribute(attribute.subAttributes, name) === undefined;
}

function getOrCreateColumn(columns: Map<string, Column>, key: string, make: () => Column): Column {
  const known = columns.get(key);
  if (known) return known;
  const made = make();
  columns.set(key, made);
  return made;
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

/** An element that is no object has itself as `value`. */
function readElementPart(element: Json, name: string): Json | undefined {
  if (isObject(element)) return ownValue(element, name);
  return name.toLowerCase() === 'value' ? element : undefined;
}

/** The values of the attribute that a path names. */
function readTable(type: ResourceType, path: AttributePath, resource: JsonObject): Table {
  const { urn, attribute, name } = resolveAttribute(type, path);
  const container = urn === undefined ? resource : ownValue(resource, urn);
  if (name === undefined) return newTable(urn === undefined ? [] : toList(container), attribute);
  return newTable(isObject(container) ? toList(ownValue(container, name)) : [], attribute);
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

/** A filter prepared to be asked of many resources: what it compares with is folded and parsed once. */
export type Condition =
  | { op: 'and' | 'or'; operands: Condition[] }
  | { op: 'not'; operand: Condition }
  | Leaf;

/** A condition on the values of one attribute. */
export type Leaf = LeafPath & ({ op: 'pr' } | { op: Exclude<Comparison, 'ne'>; comparand: Comparand });

interface LeafPath {
  path: AttributePath;
  /** The attribute without case, with its URN: the same key is the same attribute. */
  attributeKey: string;
  /** The same for the sub-attribute, and for what of a complex value is compared. */
  columnKey: string;
  /** The value filter in brackets. */
  filter: Condition | undefined;
}

/** Prepares a filter. */
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
  // Null is the same as unassigned (RFC 7643 §2.5), and has no order.
  return op === 'eq' ? { op: 'not', operand: prepareFilter({ op: 'pr', path }) } : { op: 'or', operands: [] };
}

/** A condition as its name divides in a resource that has these URNs. */
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

/** Whether a filter asks for anything of these core attributes or extensions; if not, it can be evaluated without them. */
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
