import { type Kysely, type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** What only the reconciler reads of an identity, and what a new row has there until it is written. */
const wide = { applied: '{}', refused: '{}', observed: undefined, findings: '[]', trace: '[]' };

/**
 * Moves the wide columns of identities to the end of the row. SQLite reads a row from its beginning, page by page: what
 * every answer needs stood behind some thousand characters of what none needs.
 */
export function narrowFirst({ json }: ColumnTypes): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      const names = Object.keys(wide);
      for (const [name, empty] of Object.entries(wide)) {
        await db.schema
          .alterTable('identity')
          .addColumn(`${name}_moved`, json, (one) => (empty ? one.notNull().defaultTo(empty) : one))
          .execute();
      }
      const moves = names.map((name) => `${name}_moved = ${name}`).join(', ');
      await sql.raw(`update identity set ${moves}`).execute(db);
      for (const name of names) {
        await db.schema.alterTable('identity').dropColumn(name).execute();
        await db.schema.alterTable('identity').renameColumn(`${name}_moved`, name).execute();
      }
    },
  };
}
