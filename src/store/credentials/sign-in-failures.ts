import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { foldCase } from '../../schema/case-fold.ts';
import type { Database } from '../sql/database.ts';

/**
 * The number of counters. Names share them by a hash, so that names without an account are counted like others, and cannot fill the
 * database. Two names of one counter only make each other's refusals wait longer.
 */
const BUCKETS = 1_024;

/** A counter begins again when this time has passed without a failure, in milliseconds. */
const FORGET_MS = 15 * 60_000;

/** The counters of refused sign-ins. */
export type SignInFailures = ReturnType<typeof signInFailures>;

/** Returns the counters of refused sign-ins, which all replicas share. After a power failure the latest counts may be lost. */
export function signInFailures({ transaction }: Database) {
  return {
    /** Counts a refusal for a name, and returns the number of them, which begins again after a time without any. */
    count: (name: string, now: number): Promise<number> =>
      transaction(
        async (tx) => {
          const { failures } = await tx
            .insertInto('sign_in_failure')
            .values({ bucket: bucketOf(name), failures: 1, failed_at: now })
            .onConflict((same) =>
              same.column('bucket').doUpdateSet({
                failures: sql<number>`case
                  when sign_in_failure.failed_at < excluded.failed_at - ${sql.lit(FORGET_MS)} then 1
                  when sign_in_failure.failures < ${sql.lit(MAX_COUNT)} then sign_in_failure.failures + 1
                  else sign_in_failure.failures end`,
                failed_at: now,
              }),
            )
            .returning('failures')
            .executeTakeFirstOrThrow();
          return failures;
        },
        { durable: false },
      ),
  };
}

/** Beyond this the wait does not grow, and the column must not overflow. */
const MAX_COUNT = 1_000;

function bucketOf(name: string): number {
  return createHash('sha256').update(foldCase(name)).digest().readUInt32BE() % BUCKETS;
}
