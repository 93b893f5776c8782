import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { type ListQuery, STATUS_SOURCE } from '../../travel/ports.ts';
import type { Tables } from '../sql/tables.ts';

/** Counts a filtered list. Unfiltered lists have counters. */
export async function countFiltered(db: Kysely<Tables>, query: ListQuery): Promise<number> {
  const { count } = await db
    .selectFrom('travel_resource')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('type', '=', query.type)
    .where(meetsFilters(query))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The condition that a resource meets all filters of a list. */
export function meetsFilters({ type, where = [] }: ListQuery) {
  return (is: ExpressionBuilder<Tables, 'travel_resource'>) =>
    is.and(
      where.flatMap(({ column, values, from, to }) => {
        const name = `travel_resource.${filterColumns[column]}` as const;
        const bound = (time: string) => (column === 'createdAt' ? Date.parse(time) : time);
        return [
          ...(values && column === 'status'
            ? [is.or([is(name, 'in', values), hasSource(is, type, values)])]
            : []),
          ...(values && column !== 'status' ? [is(name, 'in', values)] : []),
          ...(from === undefined ? [] : [is(name, '>=', bound(from))]),
          ...(to === undefined ? [] : [is(name, '<', bound(to))]),
        ];
      }),
    );
}

const filterColumns = {
  kind: 'kind',
  status: 'status',
  date: 'date',
  createdAt: 'created_at',
  billingProfileId: 'billing_profile_id',
  costCenterId: 'cost_center_id',
} as const;

/** The condition that the status of a resource follows from one that has one of these statuses. */
function hasSource(is: ExpressionBuilder<Tables, 'travel_resource'>, type: string, statuses: string[]) {
  const sources = is
    .selectFrom('travel_resource as source')
    .select(sql<string>`source.type || '/' || source.id`.as('key'))
    .where('source.status', 'in', statuses);
  return is(
    'travel_resource.id',
    'in',
    is
      .selectFrom('travel_index')
      .select('travel_index.id')
      .where('travel_index.type', '=', type)
      .where('travel_index.name', '=', STATUS_SOURCE)
      .where('travel_index.value', 'in', sources),
  );
}
