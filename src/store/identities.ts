import { type Kysely, type QueryResult, sql } from 'kysely';
import type { Identity } from '../provisioning/identity.ts';
import type { Identities, IdentityChange, IdentityMatch, IdentityPage } from '../provisioning/store-ports.ts';
import type { Database } from './database.ts';
import { deleteUnclaimed } from './delete-identities.ts';
import { erasedAmong } from './erased-travelers.ts';
import { giveEmailUp, insert, release, unlink, update } from './identity-changes.ts';
import { toIdentity } from './identity-row.ts';
import { exactKey, keyOf, keyOfAttribute } from './keys.ts';
import { list } from './lists/list.ts';
import { listOne } from './lists/one.ts';
import { type ShownColumns, shownColumns, toShown, userShelf, wholeShelf } from './lists/user-shelf.ts';
import { compiledQuery, inTransaction } from './statements.ts';
import type { IdentityTable, Tables } from './tables.ts';

/** The identities in a database. */
export function identities(database: Database): Identities {
  const { db } = database;
  return {
    findById: async (connection, id) => first(await byId(db, { connection, id })),
    findView: async (connection, id) => {
      const [row] = (await shown(db, { connection, id })).rows;
      return row && toShown(row);
    },
    find: (connection, match) => find(db, connection, match),
    findPage: (connection, offset, limit) => page(db, connection, { offset, limit }),
    list: async (connection, query, scan) => {
      const one = scan.residual ? undefined : await listOne(db, connection, query);
      return one ?? list({ shelf: userShelf, place: { db, connection }, query, scan });
    },
    commit: (connection, changes) => commitChanges(database, connection, changes),
    findHolder: (account, match) => holder(db, account, match),
    isWaitedFor: async (account, email, except) => {
      const waiting = await oneWaiter(db, { account, key: keyOf(email), except });
      return waiting.rows.length > 0;
    },
    isErased: async (account, travelId) => (await erasedAmong(db, account, [travelId])).size > 0,
    findWaiters: async (account, email) => {
      const { rows } = await waiters(db, { account, key: keyOf(email) });
      return rows.map(toIdentity);
    },
  };
}

function first({ rows: [row] }: QueryResult<IdentityTable>): Identity | undefined {
  return row && toIdentity(row);
}

interface Place {
  connection: string;
  id: string;
}

const byId = compiledQuery((db, { connection, id }: Place) =>
  db.selectFrom('identity').selectAll().where('connection_id', '=', connection).where('id', '=', id),
);

const shown = compiledQuery((db, { connection, id }: Place) => {
  const query = sql<ShownColumns>`
    select ${shownColumns} from identity
    where connection_id = ${connection} and id = ${id} and deleted_at is null`;
  return { compile: () => query.compile(db) };
});

async function find(
  db: Kysely<Tables>,
  connection: string,
  { by, value }: IdentityMatch,
): Promise<Identity[]> {
  const { rows } = await finders[by](db, { connection, key: keys[by](value) });
  return rows.map(toIdentity);
}

/** How a value is spelled in the column that it is looked for in. */
const keys: Record<IdentityMatch['by'], (value: string) => string> = {
  id: String,
  travelId: String,
  externalId: exactKey,
  userName: keyOf,
  email: keyOf,
  travelEmail: keyOf,
};

const finders = {
  id: finder('id'),
  userName: finder('user_name_key'),
  externalId: finder('external_id'),
  travelId: finder('travel_id'),
  travelEmail: finder('travel_email_key'),
  email: compiledQuery((db, { connection, key }: { connection: string; key: string }) =>
    newestFirst(db, connection).where('id', 'in', (row) =>
      row
        .selectFrom('identity_email')
        .select('identity_id')
        .where('connection_id', '=', connection)
        .where('email_key', '=', key),
    ),
  ),
};

function finder(column: 'id' | 'user_name_key' | 'external_id' | 'travel_id' | 'travel_email_key') {
  return compiledQuery((db, { connection, key }: { connection: string; key: string }) =>
    newestFirst(db, connection).where(column, '=', key),
  );
}

function newestFirst(db: Kysely<Tables>, connection: string) {
  return db
    .selectFrom('identity')
    .selectAll()
    .where('connection_id', '=', connection)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
}

/** Nobody waits for it as for a request: its steps are short, and it takes no turn. */
async function page(
  db: Kysely<Tables>,
  connection: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<IdentityPage> {
  const scan = { yieldBetweenSteps: async () => {}, residual: undefined };
  const order = { by: 'position', descending: false } as const;
  const query = { where: { all: [] }, order, start: { offset }, limit };
  const { total, rows } = await list({ shelf: wholeShelf, place: { db, connection }, query, scan });
  return { total, identities: rows };
}

async function holder(
  db: Kysely<Tables>,
  account: string,
  match: Parameters<Identities['findHolder']>[1],
): Promise<Identity | undefined> {
  if ('creating' in match) return first(await makerOf(db, { account, key: keyOf(match.creating) }));
  if ('travelId' in match) return first(await holderOfLink(db, { account, key: match.travelId }));
  const key = 'travelEmailKey' in match ? match.travelEmailKey : keyOf(match.travelEmail);
  return first(await holderOfEmail(db, { account, key }));
}

/** Nobody sensible gives one address to more people. */
const WAITERS = 100;

const waiters = compiledQuery((db, { account, key }: Sought) =>
  db
    .selectFrom('identity')
    .selectAll()
    .where('account', '=', account)
    .where('waiting_for', '=', key)
    .limit(sql.lit(WAITERS)),
);

const oneWaiter = compiledQuery((db, { account, key, except }: Sought & { except: string }) =>
  db
    .selectFrom('identity')
    .select('id')
    .where('account', '=', account)
    .where('waiting_for', '=', key)
    .where('id', '<>', except)
    // Someone who is not to travel needs no address at once.
    .where('active', '=', sql.lit(1))
    .where('deleted_at', 'is', null)
    .limit(sql.lit(1)),
);

interface Sought {
  account: string;
  key: string;
}

const makerOf = compiledQuery((db, { account, key }: Sought) =>
  claimedIn(db, account).where('creating_key', '=', key).limit(sql.lit(1)),
);

const holderOfLink = compiledQuery((db, { account, key }: Sought) =>
  linkedIn(db, account).where('travel_id', '=', key),
);

const holderOfEmail = compiledQuery((db, { account, key }: Sought) =>
  linkedIn(db, account).where('travel_email_key', '=', key),
);

function claimedIn(db: Kysely<Tables>, account: string) {
  return db
    .selectFrom('identity')
    .selectAll()
    .where('account', '=', account)
    .where('claimed', '=', sql.lit(1));
}

/** The living before tombstones, the newest first. */
function linkedIn(db: Kysely<Tables>, account: string) {
  return claimedIn(db, account)
    .where('travel_id', 'is not', null)
    .orderBy((of) => of.case().when('deleted_at', 'is', null).then(sql.lit(0)).else(sql.lit(1)).end())
    .orderBy('created_at', 'desc')
    .limit(sql.lit(1));
}

/** Makes the changes in their order, all or none. */
export async function commitChanges(
  { db, isDuplicate }: Database,
  connection: string,
  changes: IdentityChange[],
): Promise<'done' | 'stale' | 'duplicate'> {
  try {
    return await inTransaction<'done' | 'stale'>(db, ['done'], async (tx) => {
      for (const change of changes) {
        if (!(await make(tx, connection, change))) return 'stale';
      }
      return 'done';
    });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // A traveler that another identity was linked to meanwhile is no matter of names: the caller decides anew.
    return (await isNameTaken(db, connection, changes)) ? 'duplicate' : 'stale';
  }
}

/** False when what the change rests on has moved. */
async function make(tx: Kysely<Tables>, connection: string, change: IdentityChange): Promise<boolean> {
  switch (change.kind) {
    case 'insert':
      if (await isReservedInVain(tx, connection, change.identity)) return false;
      await insert(tx, change.identity);
      return true;
    case 'update':
      return update(tx, change.identity, change.expected);
    case 'release':
      return release(tx, change);
    case 'giveEmailUp':
      return giveEmailUp(tx, change);
    case 'unlink':
      return unlink(tx, { connection, id: change.id });
    case 'erase': {
      const erased = await deleteUnclaimed(tx, (row) =>
        row.and([row('connection_id', '=', connection), row('id', '=', change.id)]),
      );
      return erased === 1;
    }
  }
}

/** Whether a traveler of the account got the address that an identity reserves, since that was found to be free. */
async function isReservedInVain(
  tx: Kysely<Tables>,
  connection: string,
  { creating, travelId }: Identity,
): Promise<boolean> {
  if (creating === undefined || travelId !== undefined) return false;
  const [holder] = (await holderOf(tx, { connection, key: keyOf(creating) })).rows;
  return holder !== undefined;
}

const holderOf = compiledQuery((db, { connection, key }: { connection: string; key: string }) =>
  db
    .selectFrom('identity')
    .select(sql.lit(1).as('one'))
    .where('account', '=', db.selectFrom('connection').select('account').where('id', '=', connection))
    .where('travel_email_key', '=', key)
    .where('claimed', '=', sql.lit(1))
    .where('travel_id', 'is not', null)
    .where('deleted_at', 'is', null)
    .limit(sql.lit(1)),
);

/** Whether a live identity other than those being changed has one of their userNames. */
async function isNameTaken(
  db: Kysely<Tables>,
  connection: string,
  changes: IdentityChange[],
): Promise<boolean> {
  const identities = changes.flatMap((change) => ('identity' in change ? [change.identity] : []));
  const names = identities
    .filter(({ deletedAt }) => deletedAt === undefined)
    .map(({ desired }) => keyOfAttribute(desired.userName, keyOf))
    .filter((key) => key !== null);
  const own = changes.map((change) => ('identity' in change ? change.identity.id : change.id));
  if (names.length === 0) return false;
  const taken = await db
    .selectFrom('identity')
    .select(sql.lit(1).as('one'))
    .where('connection_id', '=', connection)
    .where('user_name_key', 'in', names)
    .where('deleted_at', 'is', null)
    .where('id', 'not in', own)
    .executeTakeFirst();
  return taken !== undefined;
}
