import { sql } from 'kysely';
import type { Progress } from '../provisioning/identity.ts';
import type { LeaseRequest } from '../provisioning/store-ports.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import { recordErasedTraveler } from './identities/erased-travelers.ts';
import { leases } from './identities/leases.ts';
import type { TaskKind } from './queues/background-tasks.ts';
import type { Database } from './sql/database.ts';
import { batches, parseJson } from './sql/queries.ts';

/** The background work that plays and removes the demo day. Its row exists as long as the demo day does. */
const KIND: TaskKind = 'demoDay';

/** The demo day as stored. */
export interface StoredDemoDay {
  /** The travel account of its connection. */
  account: string;
  /** The state that the task has saved; undefined before the first time. */
  state: unknown;
  /** True while a replica plays or removes it. */
  isHeld: boolean;
}

/** Reads the demo day of a connection; undefined if there is none. */
export async function findDemoDay(
  { db, dialect }: Database,
  connection: string,
  now: number,
): Promise<StoredDemoDay | undefined> {
  const row = await db
    .selectFrom('background_task')
    .select(['account', 'state'])
    .select(sql<number>`coalesce(lease_until, 0) - ${dialect.now(now)}`.as('leasedMs'))
    .where('connection_id', '=', connection)
    .where('kind', '=', KIND)
    .executeTakeFirst();
  if (!row) return undefined;
  const state = row.state === '' ? undefined : parseJson<unknown>(row.state);
  return { account: row.account, state, isHeld: Number(row.leasedMs) > 0 };
}

/** True if the connection has users, tombstones or groups. */
export async function hasRecords({ db }: Database, connection: string): Promise<boolean> {
  for (const table of ['identity', 'scim_group'] as const) {
    const rows = db.selectFrom(table).select('id').where('connection_id', '=', connection).limit(1);
    if (await rows.executeTakeFirst()) return true;
  }
  return false;
}

/** An identity of the demo day. */
export interface DemoIdentity extends IdentityVersion {
  /** Undefined if a search has found the traveler and no request has claimed it: the demo day has not created it. */
  travelId: string | undefined;
  /** The email addresses of travelers that calls without an answer may have created for it. */
  unconfirmed: string[];
}

/** Lists all identities of a connection, deleted ones included. It has few. */
export async function listIdentities({ db }: Database, scope: Scope): Promise<DemoIdentity[]> {
  const rows = await db
    .selectFrom('identity')
    .select(['id', 'version', 'travel_id', 'claimed', 'creating', 'progress'])
    .where(inScope(scope))
    .orderBy('id')
    .execute();
  return rows.map(({ id, version, travel_id, claimed, creating, progress }) => {
    const { late } = parseJson<Progress>(progress);
    const lateAddresses = (late?.creates ?? []).map(({ reservation }) => reservation.email);
    return {
      ...{ connection: scope.connection, id, version },
      travelId: claimed === 1 ? (travel_id ?? undefined) : undefined,
      unconfirmed: creating === null ? lateAddresses : [creating, ...lateAddresses],
    };
  });
}

/** An identity of the demo day. */
interface IdentityVersion {
  connection: string;
  id: string;
  version: number;
}

/**
 * Takes the leases of identities, so that no reconciler sends anything for them meanwhile. Takes none and returns
 * false while a reconciler holds one of them.
 */
export async function leaseIdentities(
  database: Database,
  places: readonly IdentityVersion[],
  lease: LeaseRequest,
): Promise<boolean> {
  const held = leases(database);
  const taken: IdentityVersion[] = [];
  for (const place of places) {
    if (!(await held.acquire(place.connection, place.id, lease))) {
      await releaseIdentities(database, taken, lease.token);
      return false;
    }
    taken.push(place);
  }
  return true;
}

/** Releases the leases. */
export async function releaseIdentities(
  database: Database,
  places: readonly IdentityVersion[],
  token: string,
): Promise<void> {
  for (const { connection, id } of places) await leases(database).release(connection, id, token);
}

/** Records the travelers of the person as erased: imports skip them from now on, and no identity is linked to them. */
export async function recordErasedTravelers(
  { transaction, dialect }: Database,
  { account, travelIds }: { account: string; travelIds: readonly string[] },
  now: number,
): Promise<void> {
  await transaction(async (tx) => {
    // Waits for imports that have looked for erased travelers before. Their rows refer to the connection.
    const connections = tx.selectFrom('connection').select('id').where('account', '=', account).orderBy('id');
    await dialect.lockRows(connections).execute();
    for (const travelId of travelIds) await recordErasedTraveler(tx, { account, travelId, now });
  });
}

/** Returns those travelers that are linked to an identity. */
export async function findLinkedTravelers(
  { db }: Database,
  travelIds: readonly string[],
): Promise<Set<string>> {
  const linked = new Set<string>();
  for (const batch of batches([...travelIds])) {
    const rows = await db
      .selectFrom('identity')
      .select('travel_id')
      .where('travel_id', 'in', batch)
      .execute();
    for (const { travel_id } of rows) if (travel_id !== null) linked.add(travel_id);
  }
  return linked;
}
