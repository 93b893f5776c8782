import { type Kysely, sql } from 'kysely';
import type { Identities, NewUserMatches, StoredIdentity } from '../provisioning/store-ports.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import { toIdentity } from './identity-row.ts';
import { atRest, inGroups, toShownIdentity } from './list-definitions.ts';
import { compiledQuery } from './queries.ts';
import { caseFoldedKey, exactKey } from './search-keys.ts';
import type { IdentityTable, Tables } from './tables.ts';

/** Reads an identity that an IdP is about to change. */
export async function findForWrite(
  db: Kysely<Tables>,
  key: Scope & { id: string },
): Promise<StoredIdentity | undefined> {
  const [row] = (await selectForWrite(db, key)).rows;
  if (!row) return undefined;
  return {
    view: toShownIdentity(row),
    isDeleted: row.deleted_at !== null,
    hasReferences: row.has_references === 1,
    generation: row.generation ?? 0,
    parse: () => toIdentity(row),
  };
}

const selectForWrite = compiledQuery((db, key: Scope & { id: string }) =>
  db
    .selectFrom('identity')
    .selectAll()
    .select([
      atRest.as('at_rest'),
      inGroups.as('in_groups'),
      sql<0 | 1>`case when exists (
        select 1 from identity_reference
        where identity_reference.account = identity.account
          and identity_reference.connection_id = identity.connection_id
          and identity_reference.identity_id = identity.id
      ) then 1 else 0 end`.as('has_references'),
    ])
    .select((row) =>
      row
        .selectFrom('rules_in_force')
        .select('rules_in_force.generation')
        .whereRef('rules_in_force.account', '=', 'identity.account')
        .whereRef('rules_in_force.connection_id', '=', 'identity.connection_id')
        .as('generation'),
    )
    .where(inScope(key))
    .where('id', '=', key.id),
);

/** The maximum number of identities that are returned as waiting for one address; more than ever occur. */
export const MAX_WAITERS = 100;

/** Reads the identities with the userName, externalId or address of a new user, in one statement. */
export async function findForNewUser(
  db: Kysely<Tables>,
  scope: Scope,
  { userName, externalId, email }: Parameters<Identities['findForNewUser']>[1],
): Promise<NewUserMatches> {
  const { rows } = await selectForNewUser(db, {
    ...scope,
    userName: caseFoldedKey(userName),
    externalId: externalId === undefined ? null : exactKey(externalId),
    email: email === undefined ? null : caseFoldedKey(email),
  });
  // Only the one row without a match has no columns of an identity.
  const by = (match: Match) =>
    rows
      .filter((row) => row.match === match)
      .map((row) => toIdentity(row as IdentityTable))
      .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
  const holders = by('holder');
  return {
    ...{ userName: by('userName'), externalId: by('externalId'), travelEmail: by('travelEmail') },
    holder: holders.find(({ deletedAt }) => deletedAt === undefined) ?? holders[0],
    creator: by('creator')[0],
    waiters: by('waiter'),
    generation: rows[0]?.generation ?? 0,
  };
}

type Match = 'userName' | 'externalId' | 'travelEmail' | 'holder' | 'creator' | 'waiter';

interface NewUserKeys extends Scope {
  userName: string;
  externalId: string | null;
  email: string | null;
}

/** Returns a row for each match, or one row without a match. */
const selectForNewUser = compiledQuery((db, keys: NewUserKeys) => {
  const { connection, account } = keys;
  return db
    .selectFrom('connection')
    .leftJoin('rules_in_force', (join) =>
      join.on('rules_in_force.account', '=', account).on('rules_in_force.connection_id', '=', connection),
    )
    .leftJoin(selectMatches(db, keys).as('found'), (join) => join.onTrue())
    .selectAll('found')
    .select('rules_in_force.generation')
    .where('connection.id', '=', connection);
});

function selectMatches(
  db: Kysely<Tables>,
  { connection, account, userName, externalId, email }: NewUserKeys,
) {
  const select = (match: Match) =>
    db
      .selectFrom('identity')
      .selectAll()
      .select(sql<Match>`${sql.lit(match)}`.as('match'));
  const inAccount = (match: Match) => select(match).where('account', '=', account);
  const own = (match: Match) => inAccount(match).where('connection_id', '=', connection);
  const claimed = (match: Match) => inAccount(match).where('claimed', '=', sql.lit(1));
  const waiters = inAccount('waiter').where('waiting_for', '=', email).limit(sql.lit(MAX_WAITERS));
  return own('userName')
    .where('user_name_key', '=', userName)
    .unionAll(own('externalId').where('external_id', '=', externalId))
    .unionAll(own('travelEmail').where('travel_email_key', '=', email))
    .unionAll(claimed('holder').where('travel_email_key', '=', email).where('travel_id', 'is not', null))
    .unionAll(claimed('creator').where('creating_key', '=', email))
    .unionAll(db.selectFrom(waiters.as('waiters')).selectAll());
}
