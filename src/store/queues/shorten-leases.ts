import { inScope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';

/** The longest durations of leases, in milliseconds. */
export interface MaxLeases {
  /** For each connection, the longest duration of a lease of an identity or of background work. */
  leaseMs: Record<string, number>;
  /** The longest duration of a lease of a webhook. */
  queueLeaseMs: number;
}

/**
 * Shortens leases to their longest duration from now, when the clock of a shared database is found to have been set back, as after a
 * failover to a server whose clock is behind. The leases of the dead would otherwise end after as much more time. None ends at once: its
 * holder may be alive.
 */
export async function shortenLeases(
  { db, scopeOf }: Database,
  now: number,
  { leaseMs, queueLeaseMs }: MaxLeases,
): Promise<void> {
  for (const [connection, ms] of Object.entries(leaseMs)) {
    for (const table of ['identity', 'background_task'] as const) {
      const leased = db.updateTable(table).where(inScope(scopeOf(connection)));
      await leased
        .set({ lease_until: now + ms })
        .where('lease_until', '>', now + ms)
        .execute();
    }
  }
  await db
    .updateTable('travel_delivery_queue')
    .set({ lease_until: now + queueLeaseMs })
    .where('lease_until', '>', now + queueLeaseMs)
    .execute();
}
