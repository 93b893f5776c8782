import type { Kysely } from 'kysely';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

type Tally = Tables['tally'];

/** Opens a connection's tallies at zero. */
export async function openTallies(tx: Kysely<Tables>, connection: string): Promise<void> {
  const kinds: Tally['kind'][] = ['live', 'dead', 'group'];
  const rows = kinds.map((kind) => ({ connection_id: connection, kind, count: 0, active: 0, last: 0 }));
  await tx
    .insertInto('tally')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** What is added to a tally; `places` are positions that are given away. */
interface Change {
  kind: Tally['kind'];
  count: number;
  active?: number;
  places?: number;
}

/**
 * Counts rows that came or, negative, went, in the transaction that adds or removes them; answers the last position that
 * was ever given away.
 */
export async function tally(
  tx: Kysely<Tables>,
  connection: string,
  { kind, count, active = 0, places = 0 }: Change,
): Promise<number> {
  if (count === 0 && active === 0 && places === 0) return 0;
  const [row] = (await counted(tx, { connection, kind, count, active, places })).rows;
  if (!row) throw new Error('A connection was not opened.');
  return row.last;
}

const counted = prepared(
  (db, { connection, kind, count, active, places }: Required<Change> & { connection: string }) =>
    db
      .updateTable('tally')
      .set((old) => ({
        count: old('count', '+', count),
        active: old('active', '+', active),
        last: old('last', '+', places),
      }))
      .where('connection_id', '=', connection)
      .where('kind', '=', kind)
      .returning('last'),
);

/** The exact numbers, without counting rows. */
export async function tallied(
  db: Kysely<Tables>,
  connection: string,
  kind: Tally['kind'],
): Promise<Pick<Tally, 'count' | 'active'>> {
  const [row] = (await kept(db, { connection, kind })).rows;
  return row ?? { count: 0, active: 0 };
}

const kept = prepared((db, { connection, kind }: { connection: string; kind: Tally['kind'] }) =>
  db
    .selectFrom('tally')
    .select(['count', 'active'])
    .where('connection_id', '=', connection)
    .where('kind', '=', kind),
);
