import { type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** Adds the counts of refused sign-ins, by which the answers to further ones wait (docs/decisions/0046). */
export function signInFailuresMigration({ bigint }: ColumnTypes): Record<string, Migration> {
  const statement = `create table sign_in_failure (
      bucket integer primary key,
      failures integer not null,
      failed_at ${bigint} not null
    )`;
  return { '0004-sign-in-failures': { up: async (db) => void (await sql.raw(statement).execute(db)) } };
}
