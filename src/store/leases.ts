import type { Kysely } from 'kysely';
import type { Identity, Outcome } from '../bridge/identity.ts';
import type { Leases } from '../bridge/ports.ts';
import { announce } from './announce.ts';
import type { Database } from './database.ts';
import { finish } from './finish.ts';
import { observedColumns, toIdentity } from './identity-row.ts';
import { keyOf } from './keys.ts';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

/** The leases in a database. */
export function leases(database: Database): Leases {
  const { db } = database;
  const held = (connection: string, id: string, token: string) =>
    db
      .updateTable('identity')
      .where('connection_id', '=', connection)
      .where('id', '=', id)
      .where('lease_token', '=', token);
  return {
    take: (connection, id, lease) => database.lightly(db, (light) => take(light, { connection, id }, lease)),
    announce: (connection, id, token, news) => announce(database, { connection, id, token }, news),
    waitFor: async (connection, id, token, email) => {
      await held(connection, id, token)
        .set({ waiting_for: keyOf(email) })
        .execute();
    },
    finish: (connection, id, token, revision, outcome: Outcome) =>
      finish(database, { connection, id, token }, { revision, outcome }),
    release: async (connection, id, token) => {
      await held(connection, id, token).set({ lease_token: null, lease_until: null }).execute();
    },
    releaseAll: async () => {
      await db
        .updateTable('identity')
        .set({ lease_token: null, lease_until: null, ...observedColumns(undefined) })
        .where('lease_until', 'is not', null)
        .execute();
    },
  };
}

interface Lease {
  token: string;
  until: number;
  now: number;
}

interface Place {
  connection: string;
  id: string;
}

async function take(db: Kysely<Tables>, place: Place, lease: Lease): Promise<Identity | undefined> {
  const [row] = (await taken(db, { ...place, ...lease })).rows;
  return row && toIdentity(row);
}

const taken = prepared((db, { connection, id, token, until, now }: Place & Lease) =>
  db
    .updateTable('identity')
    .set((of) => {
      // Only a holder that died leaves its token behind: what it had sent is not known.
      const ifGivenBack = of.case().when('lease_token', 'is', null);
      return {
        lease_token: token,
        lease_until: until,
        observed: ifGivenBack.then(of.ref('observed')).else(null).end(),
        travel_email_key: ifGivenBack.then(of.ref('travel_email_key')).else(null).end(),
      };
    })
    .where('connection_id', '=', connection)
    .where('id', '=', id)
    .where((of) => of.or([of('lease_until', 'is', null), of('lease_until', '<=', now)]))
    .returningAll(),
);
