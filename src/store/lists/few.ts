import { sql } from 'kysely';
import type { Comparison, SortKey } from '../../provisioning/list-ports.ts';
import { inScope } from '../connection-scopes.ts';
import { conditionOf, isOwned } from './condition.ts';
import { type IndexRange, indexRangesOf, type RangePart, rowsIn, sortValue } from './index-range.ts';
import { type Lead, leadsOf } from './leads.ts';
import type { ListDefinition, ListScope, OwnedColumn, Sql } from './list-definition.ts';
import { comparing } from './order.ts';
import { edge, readKeys, readRows, STEP } from './statements.ts';
import type { ListTask } from './task.ts';

/** So few rows of a lead are read at once, keys and all. */
const AT_ONCE = 50;

/** How many keys are sorted in memory. */
const MOST = 5000;

/** A row that was found, read already or not. */
export interface FoundRow<Row> {
  key: SortKey;
  row?: Row;
}

/**
 * All that columns answer, in order, where indexes lead to few rows; undefined: they do not. These rows are sorted here:
 * asked for an order, a planner would rather walk through all there are.
 */
export async function findFew<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
): Promise<FoundRow<Row>[] | undefined> {
  const { definition, scope, query } = task;
  const leads = leadsOf(definition.fields, query.where);
  if (!leads) return undefined;
  const sources = () => leads.map((lead) => sourceOf(definition, scope, lead));
  const found = (await readAtOnce(task, questionsOf(task, leads))) ?? (await readAllKeys(task, sources()));
  return found?.sort(byKey(query.order.descending));
}

function byKey(descending: boolean) {
  const compare = comparing(descending);
  return (left: { key: SortKey }, right: { key: SortKey }) => compare(left.key, right.key);
}

/** The rows that a lead leads to: along the range of an index, here or in the table that has the values. */
interface Source {
  range: IndexRange;
  within(part: RangePart): Sql;
  /** What the rows must meet besides. */
  fits: Sql;
}

function sourceOf<Field extends string, By extends string>(
  definition: ListDefinition<Field, By, unknown>,
  scope: ListScope,
  { field, comparisons, where }: Lead<Field>,
): Source {
  const column = definition.fields[field];
  const fits = conditionOf(definition, scope, where);
  if (isOwned(column))
    return { ...ownedSource(definition, scope, { column, value: comparisons[0]?.value ?? '' }), fits };
  const of = { ...column, nullable: false };
  const [range] = indexRangesOf(definition, scope, { of, base: comparisons, descending: false });
  if (!range) throw new Error('An order has no range.');
  return { range, within: (part) => rowsIn(range, part), fits };
}

/** In front of the rows stand those of the other table, as each of them tells which row is meant. */
function ownedSource<Field extends string>(
  { live }: Pick<ListDefinition<Field, string, unknown>, 'live'>,
  scope: ListScope,
  { column, value }: { column: OwnedColumn; value: string | number | boolean },
): Omit<Source, 'fits'> {
  const { owned, key } = column;
  const owner = sql.ref(owned.owner);
  const range: IndexRange = {
    table: sql.table(owned.table),
    base: sql`${inScope(scope)} and ${sql.ref(column.column)} = ${key(value)}`,
    bounds: [],
    value: owned.owner,
    hasTies: false,
    rows: 'all',
    descending: false,
  };
  return {
    range,
    within: (part) =>
      sql`${inScope(scope)} and ${live} and id in (
        select ${owner} from ${range.table} where ${rowsIn(range, part)})`,
  };
}

/** Rows that one statement reads. */
interface Question {
  where: Sql;
  fits: Sql | undefined;
}

/** Leads that ask for nothing but values of one field are one statement, as a client may name hundreds of addresses. */
function questionsOf<Field extends string, By extends string, Row>(
  { definition, scope }: ListTask<Field, By, Row>,
  leads: Lead<Field>[],
): Question[] {
  const lists = new Map<Field, Comparison<Field>[]>();
  const others: Question[] = [];
  for (const lead of leads) {
    const { field, where } = lead;
    if ('field' in where && where.operator === 'eq') lists.set(field, [...(lists.get(field) ?? []), where]);
    else {
      const { within, fits } = sourceOf(definition, scope, lead);
      others.push({ where: within({ after: undefined, until: undefined }), fits });
    }
  }
  const together = [...lists.values()].map((any) => {
    const listed = conditionOf(definition, scope, { any });
    return {
      where: sql`${inScope(scope)} and ${definition.live} and ${listed}`,
      fits: undefined,
    };
  });
  return [...together, ...others];
}

/** The rows themselves; undefined: there are more than a few. */
async function readAtOnce<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  questions: Question[],
): Promise<FoundRow<Row>[] | undefined> {
  const { definition, scope, scan } = task;
  const found = new Map<number, FoundRow<Row>>();
  for (const question of questions) {
    await scan.yieldBetweenSteps();
    const rows = await readRows(scope, definition, { ...readingOf(task), ...question, take: AT_ONCE + 1 });
    if (rows.length > AT_ONCE) return undefined;
    for (const { row, key, fits } of rows) if (fits) found.set(key.position, { row, key });
    if (found.size > AT_ONCE) return undefined;
  }
  return [...found.values()];
}

/** The keys alone; undefined: there are too many to be sorted here. */
async function readAllKeys<Field extends string, By extends string, Row>(
  task: ListTask<Field, By, Row>,
  sources: Source[],
): Promise<FoundRow<Row>[] | undefined> {
  const { scope, scan } = task;
  const found = new Map<number, FoundRow<Row>>();
  let passed = 0;
  for (const { range, within, fits } of sources) {
    let after: SortKey | undefined;
    do {
      await scan.yieldBetweenSteps();
      const until: SortKey | undefined = await edge(scope, range, { after, until: undefined });
      passed += until ? STEP : 0;
      if (Math.max(passed, found.size) > MOST) return undefined;
      const reading = { ...readingOf(task), where: within({ after, until }), fits, take: STEP };
      for (const key of await readKeys(scope, reading)) found.set(key.position, { key });
      after = until;
    } while (after);
  }
  return [...found.values()];
}

function readingOf<Field extends string, By extends string, Row>({
  definition,
  query,
}: ListTask<Field, By, Row>) {
  const { column } = definition.orders[query.order.by];
  return {
    table: sql.table(definition.table),
    value: sortValue({ value: column === 'position' ? undefined : column }),
  };
}
