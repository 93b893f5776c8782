import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Identity } from '../../provisioning/identity.ts';
import type {
  NewUser,
  NewUserCondition,
  NewUserMatches,
  StoredIdentity,
} from '../../provisioning/store-ports.ts';
import { equalInScope, inScope, type Scope, type ScopedId } from '../connection-scopes.ts';
import { inGroups, toShownIdentity } from '../lists/list-definitions.ts';
import { withoutIndex } from '../lists/list-filter.ts';
import { compiledQuery } from '../sql/queries.ts';
import { caseFoldedKey, exactKey, numberSearchKey } from '../sql/search-keys.ts';
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
      row.decision === '' &&
      !row.origin.includes('"leftOut"'),
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
    employeeNumber: withoutPlaceholder(by('employeeNumber')),
    generation: inForce?.generation ?? 0,
  };
}

type Match = 'userName' | 'externalId' | 'travelEmail' | 'holder' | 'creator' | 'employeeNumber';

/** The maximum number of people with one employee number that are compared; more have a placeholder, such as "n/a". */
const MAX_NUMBER_HOLDERS = 20;

function withoutPlaceholder(holders: Identity[]): Identity[] | undefined {
  return holders.length > MAX_NUMBER_HOLDERS ? undefined : holders;
}

/** Finds the identities of an account by employee number. */
export async function findByEmployeeNumber(
  db: Kysely<Tables>,
  account: string,
  number: string,
): Promise<Identity[] | undefined> {
  const rows = await withNumber(db, { account, employeeNumber: numberSearchKey(number) })
    .selectAll('identity')
    .limit(sql.lit(MAX_NUMBER_HOLDERS + 1))
    .execute();
  return withoutPlaceholder(rows.map(toIdentity));
}

interface NumberKey {
  account: string;
  employeeNumber: string | null;
}

/** Searches each connection of the account, because the index of the keys begins with it. */
function withNumber(db: Kysely<Tables>, { account, employeeNumber }: NumberKey) {
  return db
    .selectFrom('identity')
    .where('identity.account', '=', account)
    .where('identity.claimed', '=', sql.lit(1))
    .where(
      sql<SqlBool>`(identity.connection_id, identity.id) in (
        select of_number.connection_id, of_number.identity_id from identity_email as of_number
        where of_number.account = ${account} and of_number.email_key = ${employeeNumber}
          and of_number.connection_id in (select connection.id from connection where connection.account = ${account}))`,
    );
}

interface NewUserKeys extends Scope {
  userName: string;
  externalId: string | null;
  email: string | null;
  employeeNumber: string | null;
}

function toKeys(scope: Scope, { userName, externalId, email, employeeNumber }: NewUser): NewUserKeys {
  return {
    userName: caseFoldedKey(userName),
    externalId: externalId === undefined ? null : exactKey(externalId),
    email: email === undefined ? null : caseFoldedKey(email),
    employeeNumber: employeeNumber === undefined ? null : numberSearchKey(employeeNumber),
    ...scope,
  };
}

/** The placeholders of `isNewUser`. */
export interface ConditionKeys extends NewUserKeys {
  generation: number;
}

export function toConditionKeys(scope: Scope, { generation, ...user }: NewUserCondition): ConditionKeys {
  return { generation, ...toKeys(scope, user) };
}

/** The condition that a user has no match, and that the rules in force are of this generation. */
export function isNewUser(db: Kysely<Tables>, keys: ConditionKeys): RawBuilder<SqlBool> {
  return sql`not ${hasMatch(db, keys)} and ${generationInForce(db, keys)} = ${keys.generation}`;
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
  const numbers = select('employeeNumber').limit(sql.lit(MAX_NUMBER_HOLDERS + 1));
  return select('userName')
    .unionAll(select('externalId'))
    .unionAll(select('travelEmail'))
    .unionAll(select('holder'))
    .unionAll(select('creator'))
    .unionAll(db.selectFrom(numbers.as('numbers')).selectAll());
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
    employeeNumber: withNumber(db, keys),
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
