import { z } from 'zod';
import { type JsonObject, stringMember } from '../json.ts';
import type { FilterCondition, FilterValues } from '../ports.ts';

/** The fields by which a list can be filtered, by the column that has their values. */
export type FilterBy = { [Column in keyof FilterValues]: string };

/** Makes the query parameters of the filters: one for each field, named as the field, and two for each time. */
export function filterParameters(filterBy: FilterBy | undefined, fields: z.ZodRawShape): z.ZodRawShape {
  if (!filterBy) return {};
  const { date, ...others } = filterBy;
  const equal = Object.values(others).map((field) => {
    const { enum: known } = z.globalRegistry.get(fields[field] ?? z.unknown()) ?? {};
    return [field, oneOfList(field, Array.isArray(known) ? known.map(String) : undefined)] as const;
  });
  const times = ['created', ...(date === undefined ? [] : ['date'])].flatMap((name) => [
    [`${name}From`, time(`Only what has this time or a later one in \`${fieldOf(name)}\`.`)] as const,
    [`${name}To`, time(`Only what has an earlier time in \`${fieldOf(name)}\`.`)] as const,
  ]);
  return Object.fromEntries([...equal, ...times]);
}

function fieldOf(time: string): string {
  return time === 'created' ? 'createdAt' : time;
}

const MAX_VALUES = 50;

function oneOfList(field: string, known: string[] | undefined) {
  const error = known
    ? `one or several of ${known.join(', ')}, separated by commas`
    : `at most ${MAX_VALUES} ids, separated by commas`;
  const value = known ? `(${known.map((one) => one.replaceAll('.', '\\.')).join('|')})` : '[\\w@~.-]{1,50}';
  const pattern = `^${value}(,${value}){0,${MAX_VALUES - 1}}$`;
  return matching(pattern, error)
    .transform((list) => [...new Set(list.split(','))])
    .optional()
    .meta({
      ...{ type: 'string', pattern },
      description: `Only what has one of these values in \`${field}\`, separated by commas.`,
      examples: [known?.[0] ?? '5d3b0a1c9e8f7a6b5c4d3e2f'],
    });
}

const TIME = '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ)?$';

function time(description: string) {
  return matching(TIME, 'a date or a UTC date-time, such as 2026-11-01 or 2026-11-01T00:00:00Z')
    .transform((given) => new Date(given).toISOString().replace('.000Z', 'Z'))
    .optional()
    .meta({ type: 'string', pattern: TIME, description, examples: ['2026-11-01'] });
}

function matching(pattern: string, error: string) {
  const expression = new RegExp(pattern);
  return z.string(error).refine((given) => expression.test(given), error);
}

/** Returns the conditions that the query parameters of a list state. */
export function filterConditions(
  filterBy: FilterBy | undefined,
  given: Record<string, unknown>,
): FilterCondition[] {
  const { date: _, ...others } = filterBy ?? {};
  const equal = Object.entries(others).flatMap(([column, field]) => {
    const values = given[field];
    return Array.isArray(values)
      ? [{ column: column as keyof FilterValues, values: values.map(String) }]
      : [];
  });
  const times = (['createdAt', 'date'] as const).flatMap((column) =>
    (['From', 'To'] as const).flatMap((end) => {
      const value = given[`${column === 'createdAt' ? 'created' : column}${end}`];
      return typeof value === 'string' ? [{ column, [end === 'From' ? 'from' : 'to']: value }] : [];
    }),
  );
  return [...equal, ...times];
}

/** Returns the values by which a document is found. */
export function filterValues(filterBy: FilterBy | undefined, doc: JsonObject): FilterValues {
  const values = Object.entries(filterBy ?? {}).map(([column, field]) => [column, stringMember(doc, field)]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
