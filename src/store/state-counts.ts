import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * How many identities of each connection are in each state, tombstones included. Nearly all are synced, so only the
 * others are counted; the synced ones are the rest of the tally.
 */
export async function stateCounts(
  db: Kysely<Tables>,
): Promise<{ connection: string; state: string; count: number }[]> {
  const all = db
    .selectFrom('tally')
    .select((row) => [
      'connection_id as connection',
      sql.lit('synced').as('state'),
      row.fn.sum<number>('count').as('count'),
    ])
    .where('kind', 'in', ['live', 'dead'])
    .groupBy('connection_id');
  const unsettled = db
    .selectFrom('identity')
    .select((row) => ['connection_id as connection', 'state', row.fn.countAll<number>().as('count')])
    .where('state', '<>', sql.lit('synced'))
    .groupBy(['connection_id', 'state']);
  // One statement, so that both halves are of one moment.
  const rows = await all.unionAll(unsettled).execute();
  const counts = rows.map((row) => ({ ...row, count: Number(row.count) }));
  return counts.map((row) => {
    if (row.state !== 'synced') return row;
    const others = counts.filter(
      ({ connection, state }) => connection === row.connection && state !== 'synced',
    );
    return { ...row, count: row.count - others.reduce((sum, { count }) => sum + count, 0) };
  });
}
