import { type Kysely, sql } from 'kysely';
import type { Identity } from '../bridge/identity.ts';
import type { Identities, IdentityMatch, IdentityPage } from '../bridge/ports.ts';
import { commit } from './commit.ts';
import type { Database } from './database.ts';
import { toIdentity } from './identity-row.ts';
import { exactKey, keyOf } from './keys.ts';
import { list } from './lists/list.ts';
import { toShown, userShelf, wholeShelf } from './lists/user-shelf.ts';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

/** The identities in a database. */
export function identities(database: Database): Identities {
  const { db } = database;
  return {
    byId: async (connection, id) => {
      const row = await db
        .selectFrom('identity')
        .selectAll()
        .where('connection_id', '=', connection)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && toIdentity(row);
    },
    shown: shown(db),
    find: (connection, match) => find(db, connection, match),
    page: (connection, offset, limit) => page(db, connection, { offset, limit }),
    list: (connection, query, scan) => list({ shelf: userShelf, place: { db, connection }, query, scan }),
    commit: (connection, changes) => commit(database, connection, changes),
    holder: (account, match) => holder(db, account, match),
  };
}

function shown(db: Kysely<Tables>): Identities['shown'] {
  const rows = prepared(db, ({ connection, id }: { connection: string; id: string }) =>
    db
      .selectFrom('identity')
      .select(['id', 'desired', 'extensions', 'version', 'created_at', 'last_modified', 'travel_id'])
      .where('connection_id', '=', connection)
      .where('id', '=', id)
      .where('deleted_at', 'is', null),
  );
  return async (connection, id) => {
    const [row] = await rows({ connection, id });
    return row && toShown(row);
  };
}

async function find(db: Kysely<Tables>, connection: string, match: IdentityMatch): Promise<Identity[]> {
  const rows = await db
    .selectFrom('identity')
    .selectAll()
    .where('connection_id', '=', connection)
    .where((row) => {
      switch (match.by) {
        case 'id':
          return row('id', '=', match.value);
        case 'userName':
          return row('user_name_key', '=', keyOf(match.value));
        case 'externalId':
          return row('external_id', '=', exactKey(match.value));
        case 'travelId':
          return row('travel_id', '=', match.value);
        case 'travelEmail':
          return row('travel_email_key', '=', keyOf(match.value));
        case 'email':
          return row(
            'id',
            'in',
            row
              .selectFrom('identity_email')
              .select('identity_id')
              .where('connection_id', '=', connection)
              .where('email_key', '=', keyOf(match.value)),
          );
      }
    })
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toIdentity);
}

/** Nobody waits for it as for a request: its steps are short, and it takes no turn. */
async function page(
  db: Kysely<Tables>,
  connection: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<IdentityPage> {
  const scan = { step: async () => {}, residual: undefined };
  const order = { by: 'position', descending: false } as const;
  const query = { where: { all: [] }, order, place: { offset }, limit };
  const { total, rows } = await list({ shelf: wholeShelf, place: { db, connection }, query, scan });
  return { total, identities: rows };
}

async function holder(
  db: Kysely<Tables>,
  account: string,
  match: Parameters<Identities['holder']>[1],
): Promise<Identity | undefined> {
  const claimed = db
    .selectFrom('identity')
    .selectAll()
    .where('account', '=', account)
    .where('claimed', '=', sql.lit(1));
  if ('creating' in match) {
    const maker = await claimed.where('creating_key', '=', keyOf(match.creating)).executeTakeFirst();
    return maker && toIdentity(maker);
  }
  const row = await claimed
    .where('travel_id', 'is not', null)
    .where((of) =>
      'travelId' in match
        ? of('travel_id', '=', match.travelId)
        : of('travel_email_key', '=', keyOf(match.travelEmail)),
    )
    .orderBy((of) => of.case().when('deleted_at', 'is', null).then(0).else(1).end())
    .orderBy('created_at', 'desc')
    .executeTakeFirst();
  return row && toIdentity(row);
}
