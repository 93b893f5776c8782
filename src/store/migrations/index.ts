import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from '../sql/tables.ts';
import { createSchema } from './0001-schema.ts';
import { countUnclaimedPeople } from './0002-unclaimed-people.ts';
import { addConnectionModes } from './0003-connection-modes.ts';
import { addSignInFailures } from './0004-sign-in-failures.ts';
import { addAdminAccess } from './0005-admin-access.ts';
import { replaceLogs } from './0006-one-log.ts';
import { addNamedGroups } from './0007-named-groups.ts';
import { indexHeldPeople } from './0008-held-people.ts';
import { addPutBack } from './0009-put-back.ts';
import { addDeletedMembers } from './0010-deleted-members.ts';
import { addHeldChanges } from './0011-held-changes.ts';
import { addConnectionSettings } from './0012-stored-connections.ts';
import { addReportedConditions } from './0013-reported-conditions.ts';
import { addPersonSearch } from './0014-person-search.ts';
import type { ColumnTypes } from './column-types.ts';

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
    '0004-sign-in-failures': addSignInFailures(types),
    '0005-admin-access': addAdminAccess(types),
    [ONE_LOG]: replaceLogs(types),
    '0007-named-groups': addNamedGroups(types),
    '0008-held-people': indexHeldPeople,
    '0009-put-back': addPutBack(types),
    '0010-deleted-members': addDeletedMembers(types),
    '0011-held-changes': addHeldChanges(types),
    '0012-stored-connections': addConnectionSettings(types),
    '0013-reported-conditions': addReportedConditions(types),
    '0014-person-search': addPersonSearch,
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
