import { type Kysely, sql } from 'kysely';
import type { Decision, HoldCause, Identity } from '../../model/identity.ts';
import type { PersonPlace } from '../../model/people.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { batches, groupByVersion, toJson, yieldToEventLoop } from '../sql/queries.ts';
import type { IdentityTable, Tables } from '../sql/tables.ts';
import { creatingColumns, toIdentity } from './identity-row.ts';

const PAGE = 500;

/** The pattern of the column `progress` of people whom a pilot has provisioned (`wasInPilot`). */
export const inPilot = '%"shadow":{"call":"live"%';

/** Some of the people whom the IdP has written and of the travelers whom it has not, and the place to continue from; undefined at the end. */
export interface PlannedPage {
  people: Identity[];
  next: PersonPlace | undefined;
}

/** A user whose traveler is to be created, at the version of the plan. */
export interface PlannedCreate {
  id: string;
  version: number;
  email: string;
}

/** The approval of plans that would count against a limit, at these versions of the people. */
export interface PlanApproval {
  cause: Extract<HoldCause, 'safetyValve'>;
  people: { id: string; version: number }[];
  now: number;
  /** The name of the admin. */
  by: string | undefined;
}

/** The store of what connections in shadow mode plan. */
export function shadowPlans(database: Database) {
  const { db, scopeOf } = database;
  return {
    /**
     * Returns the people after a place in the order of their userNames; of the deleted ones those for whom work remains. A traveler whom
     * the IdP has never sent is a person without a claim.
     */
    findPage: async (
      connection: string,
      after: PersonPlace | undefined,
      limit = PAGE,
    ): Promise<PlannedPage> => {
      const place = after ? sql`and (user_name_key, id) > (${after.key}, ${after.id})` : sql``;
      const { rows } = await sql<IdentityTable>`
        select * from identity where ${inScope(scopeOf(connection))}
          and (claimed = 0 or deleted_at is null or state <> 'synced') ${place}
        order by user_name_key, id limit ${sql.lit(limit)}`.execute(db);
      await yieldToEventLoop();
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return { people: rows.map(toIdentity), next: last && { key: last.user_name_key ?? '', id: last.id } };
    },
  };
}

/**
 * Saves the decision of an admin that these people may be changed, however many they are. People of whom the IdP has written since are
 * left out, and so are those about whom there is a decision. Returns their number.
 */
export async function approvePlans(
  tx: Kysely<Tables>,
  scope: Scope,
  { people, cause, now, by }: PlanApproval,
): Promise<number> {
  const author = by === undefined ? {} : { by };
  let approved = 0;
  for (const [version, ids] of groupByVersion(people)) {
    const decision: Decision = { cause, answer: 'approved', version, ...author, at: now };
    for (const batch of batches(ids)) {
      const { numUpdatedRows } = await tx
        .updateTable('identity')
        .set((row) => ({ decision: toJson(decision), revision: row('revision', '+', 1) }))
        .where(inScope(scope))
        .where('id', 'in', batch)
        .where('version', '=', version)
        .where('decision', '=', '')
        .executeTakeFirst();
      approved += Number(numUpdatedRows);
    }
  }
  return approved;
}

/**
 * Reserves the address of a traveler that is to be created, as the first write of a user does in a live connection. A user of whom the IdP has
 * written since is left out, and so is an address that somebody has by now.
 */
export async function reserveAddress(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, version, email }: PlannedCreate,
): Promise<void> {
  const columns = creatingColumns({ email, key: id });
  const { creating_key: key } = columns;
  await tx
    .updateTable('identity')
    .set(columns)
    .where(inScope(scope))
    .where('id', '=', id)
    .where('version', '=', version)
    .where('travel_id', 'is', null)
    .where('creating_key', 'is', null)
    .where(
      sql<boolean>`not exists (select 1 from identity as other where other.account = ${scope.account}
        and other.claimed = 1 and (other.creating_key = ${key} or other.travel_email_key = ${key}))`,
    )
    .execute();
}
