import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from '../sql/tables.ts';
import { createSchema } from './0001-schema.ts';
import { countUnclaimedPeople } from './0002-unclaimed-people.ts';
import { addConnectionModes } from './0003-connection-modes.ts';
import { signInFailureTables } from './0004-sign-in-failures.ts';
import { openidAttemptTables } from './0005-admin-access.ts';
import { replaceLogs } from './0006-one-log.ts';
import { namedGroupTables } from './0007-named-groups.ts';
import { indexHeldPeople } from './0008-held-people.ts';
import { putBackColumns } from './0009-put-back.ts';
import { deletedMemberTables } from './0010-deleted-members.ts';
import { addHeldChanges } from './0011-held-changes.ts';
import { connectionSettingsColumns } from './0012-stored-connections.ts';
import { addReportedConditions } from './0013-reported-conditions.ts';
import { addPersonSearch } from './0014-person-search.ts';
import { changedScopeTables } from './0015-changed-scope.ts';
import { indexStalePeople } from './0016-stale-people.ts';
import { replaceEncryptedLog } from './0017-log-in-clear.ts';
import type { ColumnTypes } from './column-types.ts';
import { addColumns, createTables } from './columns.ts';

/** The name of the migration that deletes the entries of the former logs. */
export const ONE_LOG = '0006-one-log';

/**
 * Returns all migrations, by name, in order; written once for every database. The effect of a migration stays as it is. The name of the first
 * one tells the databases that it has made from those that earlier statements have made, which are refused.
 */
export function migrations(types: ColumnTypes): Record<string, Migration> {
  const steps: Record<string, Statements | ((db: Kysely<Tables>) => Promise<void>)> = {
    [types.firstMigration]: createSchema(types),
    '0002-unclaimed-people': countUnclaimedPeople,
    '0003-connection-modes': addConnectionModes(types),
    // Counts of refused sign-ins, by which the answers to further ones wait (docs/decisions/0046).
    '0004-sign-in-failures': createTables(signInFailureTables, types),
    '0005-admin-access': createTables(openidAttemptTables, types),
    [ONE_LOG]: replaceLogs(types),
    '0007-named-groups': createTables(namedGroupTables, types),
    '0008-held-people': indexHeldPeople,
    '0009-put-back': addColumns(types, 'rules_in_force', putBackColumns),
    '0010-deleted-members': createTables(deletedMemberTables, types),
    '0011-held-changes': addHeldChanges(types),
    '0012-stored-connections': addColumns(types, 'connection', connectionSettingsColumns),
    '0013-reported-conditions': addReportedConditions(types),
    '0014-person-search': addPersonSearch,
    '0015-changed-scope': createTables(changedScopeTables, types),
    '0016-stale-people': indexStalePeople,
    '0017-log-in-clear': replaceEncryptedLog(types),
  };
  return Object.fromEntries(
    Object.entries(steps).map(([name, step]): [string, Migration] => [
      name,
      { up: typeof step === 'function' ? step : (db) => runAll(db, step) },
    ]),
  );
}

type Statements = readonly string[];

async function runAll(db: Kysely<Tables>, statements: Statements): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
