import { sql } from 'kysely';
import type { Decision, HoldCause, Identity } from '../../provisioning/identity.ts';
import type { PersonPlace } from '../../provisioning/people/people.ts';
import { inScope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { batches, toJson, yieldToEventLoop } from '../sql/queries.ts';
import { toIdentity } from './identity-row.ts';

const PAGE = 500;

/** Some of the people whom the IdP has written, and the place to continue from; undefined at the end. */
export interface PlannedPage {
  people: Identity[];
  next: PersonPlace | undefined;
}

/** The approval of plans that would count against a limit, at these versions of the people. */
export interface PlanApproval {
  cause: Extract<HoldCause, 'safetyValve' | 'groups'>;
  people: { id: string; version: number }[];
  now: number;
  /** The name of the admin. */
  by: string | undefined;
}

/** The store of what connections in shadow mode plan. */
export function shadowPlans({ db, scopeOf, transaction }: Database) {
  return {
    /** Returns the people after a place in the order of their userNames; of the deleted ones those for whom work remains. */
    findPage: async (
      connection: string,
      after: PersonPlace | undefined,
      limit = PAGE,
    ): Promise<PlannedPage> => {
      const place = after ? sql`and (user_name_key, id) > (${after.key}, ${after.id})` : sql``;
      const { rows } = await sql<Parameters<typeof toIdentity>[0]>`
        select * from identity where ${inScope(scopeOf(connection))} and claimed = 1
          and (deleted_at is null or state <> 'synced') ${place}
        order by user_name_key, id limit ${sql.lit(limit)}`.execute(db);
      await yieldToEventLoop();
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return {
        people: rows.map(toIdentity),
        next: last && { key: last.user_name_key ?? '', id: last.id },
      };
    },
    /**
     * Saves the decision of an admin that these people may be changed, however many they are. People of whom the IdP has written since are
     * left out, and so are those about whom there is a decision. Returns their number.
     */
    approve: async (connection: string, { cause, people, now, by }: PlanApproval): Promise<number> => {
      const versions = new Map<number, string[]>();
      for (const { id, version } of people) versions.set(version, [...(versions.get(version) ?? []), id]);
      let approved = 0;
      for (const [version, ids] of versions) {
        const decision: Decision = {
          cause,
          answer: 'approved',
          version,
          ...(by === undefined ? {} : { by }),
          at: now,
        };
        for (const batch of batches(ids)) {
          const { numUpdatedRows } = await transaction((tx) =>
            tx
              .updateTable('identity')
              .set((row) => ({ decision: toJson(decision), revision: row('revision', '+', 1) }))
              .where(inScope(scopeOf(connection)))
              .where('id', 'in', batch)
              .where('version', '=', version)
              .where('decision', '=', '')
              .executeTakeFirst(),
          );
          approved += Number(numUpdatedRows);
        }
      }
      return approved;
    },
  };
}
