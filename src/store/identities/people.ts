import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { HoldCause, IdentityState } from '../../provisioning/identity.ts';
import {
  displayNameOf,
  hasWantedFinding,
  type ListedPerson,
  type People,
  type PeopleFilter,
  type PeoplePage,
  type PersonPlace,
} from '../../provisioning/people/people.ts';
import type { JsonObject } from '../../schema/resource.ts';
import type { Finding } from '../../translator/translation.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { parseJson, yieldToEventLoop } from '../sql/queries.ts';
import { inRange, prefixRange, type TextRange } from '../sql/search-keys.ts';
import type { IdentityTable, Tables } from '../sql/tables.ts';

/** The rows that one step reads. */
const STEP = 500;

/**
 * Up to this number of dirty people, a page is read through the index of unsettled identities and sorted. Otherwise it is read along the
 * index of userNames, because each page would sort all of them.
 */
const FEW = 5_000;

/** Returns the store of people for lists. */
export function people({ db, scopeOf }: Database): People {
  return {
    findPage: async (connection, filter, after, limit = STEP) => {
      const scope = scopeOf(connection);
      const page = await readPage(db, { scope, filter, after, limit });
      await yieldToEventLoop();
      return page;
    },
    findByPrefix: (connection, prefix, limit) =>
      readByPrefix(db, { scope: scopeOf(connection), range: prefixRange(prefix), limit }),
    findExample: (connection) => findExample(db, scopeOf(connection)),
    countOutOfScope: () => countOutOfScope(db),
  };
}

interface PageRequest {
  scope: Scope;
  filter: PeopleFilter;
  after: PersonPlace | undefined;
  limit: number;
}

/** The people changed last among whom an example is searched first. */
const LATELY = 100;

/** Searches among those who were changed last, then in the index by rules, which has everybody else whom an IdP has sent. */
async function findExample(db: Kysely<Tables>, scope: Scope): Promise<string | undefined> {
  const latest = sql`select id, claimed from identity where ${inScope(scope)} and deleted_at is null
    order by last_modified desc, id desc limit ${sql.lit(LATELY)}`;
  const any = sql`select id from identity where ${inScope(scope)} and claimed = 1 and state <> 'dirty'`;
  for (const query of [sql`select id from (${latest}) as latest where claimed = 1`, any]) {
    const { rows } = await sql<{ id: string }>`${query} limit 1`.execute(db);
    if (rows[0]) return rows[0].id;
  }
  return undefined;
}

/** The index by which people are counted has all columns. */
async function countOutOfScope(db: Kysely<Tables>): Promise<{ connection: string; count: number }[]> {
  const { rows } = await sql<{ connection: string; count: number }>`
    select connection_id as connection, count(*) as count from identity
    where finding_codes <> '' and deleted_at is null and finding_codes like '%outOfScope%'
    group by account, connection_id`.execute(db);
  return rows.map(({ connection, count }) => ({ connection, count: Number(count) }));
}

async function readPage(db: Kysely<Tables>, request: PageRequest): Promise<PeoplePage> {
  const { scope, filter, after } = request;
  const { userNamePrefix } = filter;
  const step = doAllMatch(filter) ? Math.min(request.limit, STEP) : STEP;
  const { rows } = await sql<PersonRow>`
    select ${columns(filter)} from ${await sourceOf(db, scope, filter)}
    where ${inScope(scope)} ${afterPlace(after)} ${indexCondition(filter)}
      ${userNamePrefix === undefined ? sql`` : sql`and ${inRange('user_name_key', prefixRange(userNamePrefix))}`}
    order by user_name_key, id limit ${sql.lit(step)}`.execute(db);
  const people: ListedPerson[] = [];
  let last: PersonRow | undefined;
  for (const row of rows) {
    if (people.length === request.limit) break;
    last = row;
    const person = toPerson(row);
    if (person && hasWantedFinding(person.findings, filter)) people.push(person);
  }
  const isEnd = rows.length < step && last === rows.at(-1);
  return { people, next: last && !isEnd ? { key: last.user_name_key ?? '', id: last.id } : undefined };
}

/**
 * Each of the three indexes gives at most `limit` ids, so that a short text costs no more than a long one. The people are
 * sorted here, because SQLite would walk along the index of all userNames for their order.
 */
async function readByPrefix(
  db: Kysely<Tables>,
  { scope, range, limit }: { scope: Scope; range: TextRange; limit: number },
): Promise<ListedPerson[]> {
  const ids = (table: string, id: string, column: string, condition = sql``) =>
    sql`select id from (select ${sql.ref(id)} as id from ${sql.table(table)}
      where ${inScope(scope)} and ${inRange(column, range)} ${condition}
      order by ${sql.ref(column)} limit ${sql.lit(limit)}) as ${sql.ref(column)}`;
  const isLive = sql`and deleted_at is null`;
  const { rows } = await sql<PersonRow>`
    select ${columns({})} from identity
    where ${inScope(scope)} and id in (
      ${ids('identity', 'id', 'user_name_key', isLive)}
      union ${ids('identity', 'id', 'display_name_key', isLive)}
      union ${ids('identity_email', 'identity_id', 'email_key')})`.execute(db);
  const keyOf = ({ user_name_key, id }: PersonRow) => `${user_name_key} ${id}`;
  return rows
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .flatMap((row) => toPerson(row) ?? [])
    .slice(0, limit);
}

/** True if the people that the indexes give all match, apart from deleted ones without a state. */
function doAllMatch({ state, archived, ...filter }: PeopleFilter): boolean {
  return !selectsFindings(filter) && archived !== true && (state === undefined || isAtRest(state));
}

function selectsFindings({ finding, field, value, hasFindings }: PeopleFilter): boolean {
  return [finding, field, value, hasFindings].some((one) => one !== undefined);
}

/** True for the states whose people have an index in the order of userNames. */
function isAtRest(state: IdentityState): boolean {
  return state !== 'synced' && state !== 'dirty';
}

/** Returns the relation from which a page is read: all people, or only the dirty ones if they are wanted and few. */
async function sourceOf(
  db: Kysely<Tables>,
  scope: Scope,
  { state }: PeopleFilter,
): Promise<RawBuilder<unknown>> {
  if (state !== 'dirty') return sql`identity`;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${dirtyPeople(scope)}`.execute(db);
  return Number(rows[0]?.count ?? 0) <= FEW ? dirtyPeople(scope) : sql`identity`;
}

/**
 * The dirty people, if they are few. With the condition of the partial index of unsettled identities both databases use it; the limit keeps
 * them from the index of userNames, whose order the outer query asks for.
 */
function dirtyPeople(scope: Scope): RawBuilder<unknown> {
  return sql`(select * from identity where ${inScope(scope)} and state = 'dirty' and state <> 'synced'
    limit ${sql.lit(FEW + 1)}) as identity`;
}

/**
 * The condition of a partial index, word for word: otherwise the databases do not use it. With the conditions of several, one of them would
 * be used and all of its people read, because few match the other.
 */
function indexCondition({ state, archived, ...filter }: PeopleFilter): RawBuilder<unknown> {
  if (state !== undefined && isAtRest(state)) return sql`and state = ${sql.lit(state)}`;
  if (selectsFindings(filter)) return sql`and finding_codes <> ''`;
  return archived ? sql`and (active = 0 or deleted_at is not null)` : sql``;
}

function afterPlace(after: PersonPlace | undefined): RawBuilder<unknown> {
  return after ? sql`and (user_name_key, id) > (${after.key}, ${after.id})` : sql``;
}

/** The columns of a person. Only matching rows have the wide ones; the others are needed for their place alone. */
type PersonRow = Pick<
  IdentityTable,
  'connection_id' | 'id' | 'user_name_key' | 'state' | 'hold_cause' | 'travel_id' | 'active' | 'deleted_at'
> &
  Pick<IdentityTable, 'last_modified' | 'next_attempt_at'> & {
    desired: string | null;
    findings: string | null;
  };

function columns(filter: PeopleFilter): RawBuilder<unknown> {
  const matches = matchCondition(filter);
  return sql`connection_id, id, user_name_key, state, hold_cause, travel_id, active, deleted_at, last_modified,
    next_attempt_at,
    case when ${matches} then desired end as desired, case when ${matches} then findings end as findings`;
}

function matchCondition({ state, finding, archived }: PeopleFilter): RawBuilder<SqlBool> {
  const conditions = [
    archived
      ? sql<SqlBool>`(active = 0 or deleted_at is not null)`
      : sql<SqlBool>`(deleted_at is null or state <> 'synced' or ${isKept})`,
    // The parameter keeps the planner from the index of unsettled identities, whose order is another one.
    ...(state === undefined ? [] : [sql<SqlBool>`state = ${state}`]),
    // The code is compared exactly when the findings are parsed.
    ...(finding === undefined ? [] : [sql<SqlBool>`findings like ${`%${JSON.stringify(finding)}%`}`]),
  ];
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
}

/** The condition of people whose departure an admin has discarded: their travelers are active. */
const isKept = sql<SqlBool>`(decision <> '' and finding_codes like '%keptActive%')`;

function toPerson(row: PersonRow): ListedPerson | undefined {
  if (row.desired === null || row.findings === null) return undefined;
  const desired = parseJson<JsonObject>(row.desired);
  return {
    connection: row.connection_id,
    id: row.id,
    userName: typeof desired.userName === 'string' ? desired.userName : '',
    name: displayNameOf(desired),
    state: row.state as IdentityState, // The column contains only states of identities.
    ...(row.hold_cause === null ? {} : { holdCause: row.hold_cause as HoldCause }), // It contains only hold causes.
    ...(row.travel_id === null ? {} : { travelId: row.travel_id }),
    isActive: row.active === 1,
    isDeleted: row.deleted_at !== null,
    findings: parseJson<Finding[]>(row.findings),
    lastModified: row.last_modified,
    ...(row.next_attempt_at === 0 ? {} : { nextAttemptAt: row.next_attempt_at }),
  };
}
