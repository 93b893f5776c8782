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

/** Returns the statements that create the tables and indexes of the first version. Later changes of the schema are migrations of their own. */
export function createSchema(types: ColumnTypes): string[] {
  return createTables(tables, types);
}
