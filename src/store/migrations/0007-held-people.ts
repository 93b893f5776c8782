import { type Migration, sql } from 'kysely';

/** Adds the state to the index of held people: an active person may be held because of the scope of the mapping. */
export const heldPeopleMigration: Record<string, Migration> = {
  '0007-held-people': {
    up: async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  },
};

const statements = [
  'drop index identity_held',
  `create index identity_held on identity
    (account, connection_id, hold_cause, hold_since, active, deleted_at, travel_id, decision, version, state)
    where hold_cause is not null`,
];
