import type { Database } from './database.ts';

/**
 * The number of inserted identities after which the statistics of the tables are updated, once. PostgreSQL does so itself, but only
 * once a minute: until then it takes the tables for empty, and reads them from the beginning for each search.
 */
const STATISTICS_AFTER = 500;

/** Returns a function that receives the number of identities that were just inserted, and updates the statistics when they are due. */
export function statisticsOfIdentities({ db, dialect }: Database): (inserted: number) => Promise<void> {
  let total = 0;
  return async (inserted) => {
    const isDue = total < STATISTICS_AFTER && total + inserted >= STATISTICS_AFTER;
    total += inserted;
    if (isDue) await dialect.updateStatistics(db, ['identity', 'identity_email']);
  };
}
