import { type Kysely, sql } from 'kysely';
import { inScope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import type { Tables } from '../sql/tables.ts';

/** The store of what an admin decides about people of a restored backup. */
export function restoredPeople({ db, scopeOf }: Database) {
  return {
    /**
     * Has the stored values of a person, or of everybody, sent again, as if the IdP had stated them. Returns the number of people; those whose
     * traveler agrees with the backup are left out.
     */
    sendAgain: async (connection: string, id: string | undefined, now: number): Promise<number> => {
      const person = id === undefined ? sql`` : sql`and id = ${id}`;
      const { numAffectedRows = 0n } = await sql`
        update identity set
          origin = ${withMember(sql`'"stated":[[]]'`)},
          hold_cause = null, hold_since = null,
          state = 'dirty', attempts = 0, next_attempt_at = ${now}, revision = revision + 1
        where ${inScope(scopeOf(connection))} ${person} and (deleted_at is null or travel_id is not null)
          and origin like '%"stated":%' and progress not like '%"written":["*"]%'`.execute(db);
      return Number(numAffectedRows);
    },
  };
}

/**
 * Makes everybody whom an IdP has written newly imported (docs/architecture.md, A restored backup). The user as stored becomes the baseline,
 * and what was known of calls, travelers and approvals is forgotten; the fields that were sent stay owned. An attempt that runs loses its lease.
 */
export async function makeNewlyImported(tx: Kysely<Tables>, now: number): Promise<void> {
  await sql`
    update identity set
      origin = ${withMember(sql`'"baseline":' || desired || ',"stated":[]'`)},
      progress = '{}', refused = '{}', observed = null, travel_email_key = null, read_again_at = null, check_at = 0,
      creating = null, creating_key = null, waiting_for = null, hold_cause = null, hold_since = null,
      decision = case when decision like '%"answer":"approved"%' then '' else decision end,
      lease_token = null, lease_until = null,
      state = 'dirty', attempts = 0, next_attempt_at = ${now}, revision = revision + 1
    where claimed = 1`.execute(tx);
}

/** Adds members to the JSON of `origin`. Of members with one name, the last one counts. */
function withMember(members: ReturnType<typeof sql>) {
  return sql`substr(origin, 1, length(origin) - 1) || case when origin = '{}' then '' else ',' end || ${members} || '}'`;
}
