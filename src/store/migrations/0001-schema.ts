import { type Migration, sql } from 'kysely';
import { adminTables } from './admin-tables.ts';
import type { ColumnTypes } from './column-types.ts';
import { createTables } from './columns.ts';
import { connectionTables } from './connection-tables.ts';
import { credentialTables } from './credential-tables.ts';
import { groupTables } from './group-tables.ts';
import { holdTables } from './hold-tables.ts';
import { identityTables } from './identity-tables.ts';
import { replicaTables } from './replica-tables.ts';
import { travelTables } from './travel-tables.ts';
import { webhookTables } from './webhook-tables.ts';

/** Foreign keys require this order: a table follows those that it refers to. */
const tables = {
  ...connectionTables,
  ...identityTables,
  ...groupTables,
  ...holdTables,
  ...replicaTables,
  ...travelTables,
  ...webhookTables,
  ...credentialTables,
  ...adminTables,
};

/**
 * Returns the migration that creates all tables and indexes, under its name. Later changes of the schema are migrations of their own. The name tells the databases that it has made from those that earlier statements have made, which are refused.
 */
export function schemaMigration(types: ColumnTypes): Record<string, Migration> {
  const statements = createTables(tables, types);
  const up: Migration['up'] = async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  };
  return { [types.firstMigration]: { up } };
}
