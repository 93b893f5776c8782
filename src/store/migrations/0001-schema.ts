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

/** Creates all tables and indexes. `src/store/tables.ts` describes their columns. */
export function schema(types: ColumnTypes): Migration {
  return {
    up: async (db) => {
      // Foreign keys require this order: a table follows those that it refers to.
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
      for (const statements of families) {
        for (const statement of statements(types)) await sql.raw(statement).execute(db);
      }
    },
  };
}
