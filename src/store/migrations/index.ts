import { createHash } from 'node:crypto';
import { type Migration, sql } from 'kysely';
import { type ColumnTypes, createTables } from './columns.ts';
import { connectionTables } from './connection-tables.ts';
import { credentialTables } from './credential-tables.ts';
import { groupTables } from './group-tables.ts';
import { holdTables } from './hold-tables.ts';
import { identityTables } from './identity-tables.ts';
import { logTables } from './log-tables.ts';
import { travelTables } from './travel-tables.ts';

/** All tables. Foreign keys require this order: a table follows those that it refers to. */
export const tables = {
  ...connectionTables,
  ...identityTables,
  ...groupTables,
  ...holdTables,
  ...travelTables,
  ...credentialTables,
  ...logTables,
};

/**
 * Returns all migrations, by name, in order. The first one creates all tables; its name has a hash of its statements, so that a database
 * with another schema, which a build before the first release has made, is told from one of this schema and refused.
 */
export function migrations(types: ColumnTypes): Record<string, Migration> {
  const statements = createTables(tables, types);
  const hash = createHash('sha256').update(statements.join(';')).digest('hex').slice(0, 8);
  return {
    [`0001-schema-${hash}`]: {
      up: async (db) => {
        for (const statement of statements) await sql.raw(statement).execute(db);
      },
    },
  };
}
