import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { NewUser, NewUserCondition, NewUserMatches, StoredIdentity } from '../../model/store-ports.ts';
import { equalInScope, inScope, type Scope, type ScopedId } from '../connection-scopes.ts';
import { inGroups, toShownIdentity } from '../lists/list-definitions.ts';
import { withoutIndex } from '../lists/list-filter.ts';
import { compiledQuery } from '../sql/queries.ts';
import { caseFoldedKey, exactKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { toIdentity } from './identity-row.ts';

/** Reads an identity that an IdP is about to change. */
export async function findForWrite(db: Kysely<Tables>, key: ScopedId): Promise<StoredIdentity | undefined> {
  const [row] = (await selectForWrite(db, key)).rows;
  if (!row) return undefined;
  return {
    view: toShownIdentity(row),
    isDeleted: row.deleted_at !== null,
    // A repeated write ends the findings about values that were left out of an earlier one.
    canAnswerNoOp:
      row.claimed === 1 &&
      row.state !== 'refused' &&
      row.state !== 'held' &&
      // A deactivation that had no effect is sent again.
      row.check_at === 0 &&
      row.decision === '' &&
      !row.origin.includes('"leftOut"') &&
      // What it states of a restored person counts, also where the stored value is equal.
      !row.origin.includes('"stated"'),
    hasReferences: row.has_references === 1,
    generation: row.generation ?? 0,
    parse: () => toIdentity(row),
  };
}

const selectForWrite = compiledQuery((db, key: ScopedId) =>
  db
    .selectFrom('identity')
    .selectAll()
    .select([
      inGroups.as('in_groups'),
      sql<0 | 1>`case when exists (
        select 1 from identity_reference
        where ${equalInScope('identity_reference.identity_id', 'identity.id')}
      ) then 1 else 0 end`.as('has_references'),
    ])
    .select(generationInForce(db, key).as('generation'))
    .where(inScope(key))
    .where('id', '=', key.id),
);

/** Reads the identities with the userName, externalId or address of a new user. */
export async function findForNewUser(
  db: Kysely<Tables>,
  scope: Scope,
  user: NewUser,
): Promise<NewUserMatches> {
  const [rows, inForce] = await Promise.all([
    selectMatches(db, toKeys(scope, user)).execute(),
    generationInForce(db, scope).executeTakeFirst(),
  ]);
  const by = (match: Match) =>
    rows
      .filter((row) => row.match === match)
      .map(toIdentity)
      .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
  const holders = by('holder');
  return {
    userName: by('userName'),
    externalId: by('externalId'),
    travelEmail: by('travelEmail'),
    holder: holders.find(({ deletedAt }) => deletedAt === undefined) ?? holders[0],
    creator: by('creator')[0],
    generation: inForce?.generation ?? 0,
  };
}

type Match = 'userName' | 'externalId' | 'travelEmail' | 'holder' | 'creator';

interface NewUserKeys extends Scope {
  userName: string;
  externalId: string | null;
  email: string | null;
}

function toKeys(scope: Scope, { userName, externalId, email }: NewUser): NewUserKeys {
  return {
    userName: caseFoldedKey(userName),
    externalId: externalId === undefined ? null : exactKey(externalId),
    email: email === undefined ? null : caseFoldedKey(email),
    ...scope,
  };
}

/** The placeholders of `isNewUser`. */
export interface ConditionKeys extends NewUserKeys {
  /** Null without a condition. */
  generation: number | null;
}

export function toConditionKeys(scope: Scope, condition: NewUserCondition | undefined): ConditionKeys {
  const noUser = { userName: '', externalId: undefined, employeeNumber: undefined, email: undefined };
  return { generation: condition?.generation ?? null, ...toKeys(scope, condition ?? noUser) };
}

/** The condition that a user has no match, and that the rules in force are of this generation; true without a condition. */
export function isNewUser(db: Kysely<Tables>, keys: ConditionKeys): RawBuilder<SqlBool> {
  const generation = sql`cast(${keys.generation} as bigint)`;
  return sql`(${generation} is null or (not ${hasMatch(db, keys)} and ${generationInForce(db, keys)} = ${generation}))`;
}

function hasMatch(db: Kysely<Tables>, keys: NewUserKeys): RawBuilder<SqlBool> {
  const matches = Object.values(matchQueries(db, keys)).map((query) => query.select(sql.lit(1).as('one')));
  const conditions = matches.map((query) => sql`exists ${query}`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/** Selects a row for each match. An identity may match several times. */
function selectMatches(db: Kysely<Tables>, keys: NewUserKeys) {
  const queries = matchQueries(db, keys);
  const select = (match: Match) =>
    queries[match].selectAll('identity').select(sql<Match>`${sql.lit(match)}`.as('match'));
  return select('userName')
    .unionAll(select('externalId'))
    .unionAll(select('travelEmail'))
    .unionAll(select('holder'))
    .unionAll(select('creator'));
}

function matchQueries(db: Kysely<Tables>, keys: NewUserKeys) {
  const { connection, account, userName, externalId, email } = keys;
  const inAccount = db.selectFrom('identity').where('account', '=', account);
  const own = inAccount.where('connection_id', '=', connection);
  const claimed = inAccount.where('claimed', '=', sql.lit(1));
  return {
    userName: own.where('user_name_key', '=', userName),
    externalId: own.where('external_id', '=', externalId),
    travelEmail: own.where('travel_email_key', '=', email),
    holder: claimed.where('travel_email_key', '=', email).where(isLinked('identity')),
    creator: claimed.where('creating_key', '=', email),
  } satisfies Record<Match, unknown>;
}

/**
 * The condition that an identity has a traveler, for searches by another column: SQLite would take the index of travelers for
 * it, and read all travelers of the account.
 */
export function isLinked(table: string): RawBuilder<SqlBool> {
  return sql`${withoutIndex(sql`${sql.ref(`${table}.travel_id`)} is not null`)}`;
}

function generationInForce(db: Kysely<Tables>, scope: Scope) {
  return db
    .selectFrom('rules_in_force')
    .select('rules_in_force.generation')
    .where(inScope(scope, 'rules_in_force'));
}
