import { sql } from 'kysely';
import { type Progress, retryDelay, type UnconfirmedValue } from '../../provisioning/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { progressColumns } from '../identities/identity-row.ts';
import { isDirty } from '../queues/reconcile-queue.ts';
import type { Database } from './database.ts';
import { batches, parseJson } from './queries.ts';

/**
 * The longest delays that the service sets, in milliseconds. If a stored time is further in the future, a wrong clock
 * has set it.
 */
export interface MaxDelays {
  /** The longest delay until the next attempt at an identity. */
  attemptMs: number;
  /** For each connection, the longest delay until a check for late calls. */
  checkMs: Record<string, number>;
  /** The longest delay until the next attempt at a webhook delivery. */
  deliveryMs: number;
}

/**
 * Resets stored times that are further in the future than any delay of the service. Such a time was stored while the
 * wall clock was ahead, or the clock has been set back since; without a reset, the work would wait until that time.
 * Runs at start, before anything else: within one process the clock never jumps.
 */
export async function repairFutureTimes(database: Database, now: number, bounds: MaxDelays): Promise<void> {
  for (const [connection, checkMs] of Object.entries(bounds.checkMs)) {
    const scope = database.scopeOf(connection);
    await repairQueue(database, scope, { now, latest: now + bounds.attemptMs });
    await repairChecks(database, scope, { now, latest: now + checkMs });
  }
  await repairDeliveries(database, now, bounds.deliveryMs);
}

/** The longest durations of leases, in milliseconds. */
export interface MaxLeases {
  /** For each connection, the longest duration of a lease of an identity or of background work. */
  leaseMs: Record<string, number>;
  /** The longest duration of a lease of a webhook. */
  queueLeaseMs: number;
}

/**
 * Runs when the clock of a shared database is found to have been set back, as after a failover to a server whose clock is behind. The
 * leases of the dead would otherwise end after as much more time. A lease ends after its longest duration from now at the latest, not
 * at once: its holder may be alive. Background work is due at once.
 */
export async function repairAfterSetBack(
  database: Database,
  now: number,
  bounds: MaxDelays & MaxLeases,
): Promise<void> {
  for (const [connection, ms] of Object.entries(bounds.leaseMs)) {
    const scope = database.scopeOf(connection);
    await repairLeases(database, scope, now + ms);
    await repairTasks(database, scope, { now, latest: now + ms });
  }
  const latest = now + bounds.queueLeaseMs;
  await database.db
    .updateTable('travel_delivery_queue')
    .set({ lease_until: latest })
    .where('lease_token', 'is not', null)
    .where('lease_until', '>', latest)
    .execute();
  await repairFutureTimes(database, now, bounds);
}

async function repairLeases({ db }: Database, scope: Scope, latest: number): Promise<void> {
  await db
    .updateTable('identity')
    .set({ lease_until: latest })
    .where(inScope(scope))
    .where('lease_until', '>', latest)
    .execute();
}

async function repairTasks(
  { db }: Database,
  scope: Scope,
  { now, latest }: { now: number; latest: number },
): Promise<void> {
  const task = db.updateTable('background_task').where(inScope(scope));
  await task.set({ lease_until: latest }).where('lease_until', '>', latest).execute();
  await task.set({ due_at: now }).where('due_at', '>', now).execute();
}

async function repairQueue(
  { db }: Database,
  scope: Scope,
  { now, latest }: { now: number; latest: number },
): Promise<void> {
  const identity = db.updateTable('identity').where(inScope(scope));
  await identity.set({ next_attempt_at: now }).where(isDirty).where('next_attempt_at', '>', latest).execute();
  await identity.set({ seen_at: now }).where('seen_at', '>', now).execute();
}

/**
 * Resets the times of checks in both places: in the column by which the queue searches, and in `progress`, which the
 * reconciler reads.
 */
async function repairChecks(
  { db, transaction }: Database,
  scope: Scope,
  { now, latest }: { now: number; latest: number },
): Promise<void> {
  const rows = await db
    .selectFrom('identity')
    .select(['id', 'progress'])
    .where(inScope(scope))
    .where('check_at', '>', sql.lit(0))
    .where('check_at', '>', latest)
    .execute();
  for (const batch of batches(rows)) {
    await transaction(async (tx) => {
      for (const { id, progress } of batch) {
        await tx
          .updateTable('identity')
          .set(progressColumns(withEarlierChecks(parseJson<Progress>(progress), { now, latest })))
          .where(inScope(scope))
          .where('id', '=', id)
          .where('progress', '=', progress)
          .execute();
      }
    });
  }
}

/** The next attempt to send a value that was not applied may be later than any check. */
function withEarlierChecks(
  { late, unconfirmed, suspectedSpellings, ...progress }: Progress,
  { now, latest }: { now: number; latest: number },
): Progress {
  const isTooLate = (key: string, { next, at = 0 }: UnconfirmedValue) =>
    at > (next === 'check' ? latest : now + (retryDelay(key) ?? 0));
  return {
    ...progress,
    ...(late && { late: { ...late, checkAt: Math.min(late.checkAt, latest) } }),
    ...(unconfirmed && {
      unconfirmed: mapValues(unconfirmed, (one, key) => (isTooLate(key, one) ? { ...one, at: latest } : one)),
    }),
    ...(suspectedSpellings && {
      suspectedSpellings: mapValues(suspectedSpellings, (one) => ({ ...one, at: Math.min(one.at, latest) })),
    }),
  };
}

function mapValues<T>(all: Record<string, T>, change: (value: T, key: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, change(value, key)]));
}

async function repairDeliveries({ db }: Database, now: number, deliveryMs: number): Promise<void> {
  await db
    .updateTable('travel_delivery')
    .set({ next_attempt_at: now })
    .where('webhook_id', 'in', (some) =>
      some.selectFrom('travel_delivery_queue').select('webhook_id').where('pending', '>', 0),
    )
    .where('status', '=', sql.lit('pending'))
    .where('next_attempt_at', '>', now + deliveryMs)
    .execute();
  // For a queue without a lease, `lease_until` is the time when it was last served; the queue served least recently
  // comes next.
  await db
    .updateTable('travel_delivery_queue')
    .set({ lease_until: now })
    .where('lease_token', 'is', null)
    .where('lease_until', '>', now)
    .execute();
}
