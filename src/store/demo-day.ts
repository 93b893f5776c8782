import { sql } from 'kysely';
import type { Progress } from '../provisioning/identity.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import type { IdentityVersion } from './erasure/find-person.ts';
import type { TaskKind } from './queues/background-tasks.ts';
import type { Database } from './sql/database.ts';
import { parseJson } from './sql/queries.ts';

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
