import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

type Kind = Tables['tally']['kind'];

/** Opens a connection's tallies at zero. */
export async function openTallies(tx: Kysely<Tables>, connection: string): Promise<void> {
  const kinds: Kind[] = ['live', 'dead', 'group'];
  const rows = kinds.map((kind) => ({ connection_id: connection, kind, count: 0 }));
  await tx
    .insertInto('tally')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Counts rows that came or, negative, went; in the transaction that adds or removes them. */
export async function tally(
  tx: Kysely<Tables>,
  connection: string,
  change: { kind: Kind; by: number },
): Promise<void> {
  if (change.by === 0) return;
  await tx
    .updateTable('tally')
    .set((row) => ({ count: row('count', '+', change.by) }))
    .where('connection_id', '=', connection)
    .where('kind', '=', change.kind)
    .execute();
}

/** The exact number, without counting rows. */
export async function tallied(db: Kysely<Tables>, connection: string, kind: Kind): Promise<number> {
  const row = await db
    .selectFrom('tally')
    .select('count')
    .where('connection_id', '=', connection)
    .where('kind', '=', kind)
    .executeTakeFirst();
  return row?.count ?? 0;
}
