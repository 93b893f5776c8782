import { createHash } from 'node:crypto';
import { type Migration, sql } from 'kysely';
import { adminTables } from './admin-tables.ts';
import type { ColumnTypes } from './column-types.ts';
import { connectionTables } from './connection-tables.ts';
import { credentialTables } from './credential-tables.ts';
import { exchangeTables } from './exchange-tables.ts';
import { groupTables } from './group-tables.ts';
import { holdTables } from './hold-tables.ts';
import { identityTables } from './identity-tables.ts';
import { replicaTables } from './replica-tables.ts';
import { requestLogTable } from './request-log-table.ts';
import { travelTables } from './travel-tables.ts';
import { webhookTables } from './webhook-tables.ts';

/** Foreign keys require this order: a table follows those that it refers to. */
const families = [
  connectionTables,
  identityTables,
  groupTables,
  holdTables,
  replicaTables,
  travelTables,
  webhookTables,
  credentialTables,
  requestLogTable,
  adminTables,
  exchangeTables,
];

/**
 * Returns the migration that creates all tables and indexes, under its name; `src/store/tables.ts` describes the columns. The name
 * contains a digest of the statements: before the first release they change without further migrations, and a database that other
 * statements have made is then refused as one of an earlier version.
 */
export function schemaMigration(types: ColumnTypes): Record<string, Migration> {
  const statements = families.flatMap((family) => family(types));
  const digest = createHash('sha256').update(statements.join(';')).digest('hex').slice(0, 8);
  const up: Migration['up'] = async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  };
  return { [`0001-schema-${digest}`]: { up } };
}
