import type { Migration } from 'kysely';
import { schemaMigration } from './0001-schema.ts';
import { unclaimedPeopleMigration } from './0002-unclaimed-people.ts';
import { connectionModesMigration } from './0003-connection-modes.ts';
import { signInFailuresMigration } from './0004-sign-in-failures.ts';
import { adminAccessMigration } from './0005-admin-access.ts';
import { oneLogMigration } from './0006-one-log.ts';
import { heldPeopleMigration } from './0007-held-people.ts';
import type { ColumnTypes } from './column-types.ts';

/** All migrations, by name, in order; written once for every database. */
export function migrations(types: ColumnTypes): Record<string, Migration> {
  return {
    ...schemaMigration(types),
    ...unclaimedPeopleMigration,
    ...connectionModesMigration(types),
    ...signInFailuresMigration(types),
    ...adminAccessMigration(types),
    ...oneLogMigration(types),
    ...heldPeopleMigration,
  };
}
