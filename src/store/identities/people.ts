import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { HoldCause, IdentityState } from '../../model/identity.ts';
import {
  displayNameOf,
  hasWantedFinding,
  type ListedPerson,
  type ListedState,
  type People,
  type PeopleFilter,
  type PeoplePage,
  type PersonPlace,
} from '../../model/people.ts';
import type { Finding } from '../../model/translation.ts';
import { foldCase } from '../../schema/case-fold.ts';
import type { JsonObject } from '../../schema/resource.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { readOwnTravelId } from '../queues/background-tasks.ts';
import type { Database } from '../sql/database.ts';
import { batches, parseJson, yieldToEventLoop } from '../sql/queries.ts';
import { inRange, personKeys, prefixRange, type TextRange } from '../sql/search-keys.ts';
import type { IdentityTable, Tables } from '../sql/tables.ts';
import { hasText, idsWithText, mayHaveText } from './search-people.ts';

/** The rows that one step reads. */
const STEP = 500;

/**
 * Up to this number of people, a page is read through an index with another order and sorted. Otherwise it is read along the index of the
 * order, because each page would sort all of them.
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
    findByText: (connection, text, limit) =>
      readByText(db, { scope: scopeOf(connection), text: foldCase(text), limit }),
    findByIds: (connection, ids) => readByIds(db, scopeOf(connection), ids),
    findExample: (connection) => findExample(db, scopeOf(connection)),
    findOwnTravelId: (connection) => readOwnTravelId(db, scopeOf(connection)),
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

/** The states in the order by state: those first who need an admin. */
const stateOrder = [
  ...['refused', 'held', 'pending', 'dirty', 'synced', 'unmanaged'],
] as const satisfies ListedState[];

/** Reads a page in the order by state, which is that of userNames in each state. The key of a place begins with the number of the state. */
async function readPageByState(db: Kysely<Tables>, request: PageRequest): Promise<PeoplePage> {
  const { after = { key: '0', id: '' }, filter } = request;
  const number = Number(after.key.slice(0, 1));
  const { people, next } = await readPage(db, {
    ...request,
    filter: { ...filter, sort: undefined, state: stateOrder[number] ?? 'unmanaged' },
    after: after.id === '' ? undefined : { key: after.key.slice(1), id: after.id },
  });
  if (next) return { people, next: { ...next, key: `${number}${next.key}` } };
  return { people, next: number < stateOrder.length - 1 ? { key: `${number + 1}`, id: '' } : undefined };
}

async function readPage(db: Kysely<Tables>, request: PageRequest): Promise<PeoplePage> {
  const { scope, filter, after } = request;
  const { sort = 'userName' } = filter;
  const ownTravelId = await readOwnTravelId(db, scope);
  const search = filter.search === undefined ? undefined : foldCase(filter.search);
  if (sort === 'state' && filter.state === undefined) return readPageByState(db, request);
  const order = orders[sort === 'state' ? 'userName' : sort];
  const few =
    search === undefined ? await findFew(db, scope, filter) : await findFewWithText(db, scope, search);
  // Only a text that too many people have is compared with each person here.
  const text = few ? undefined : search;
  const place = after ? sql`and ${order.isAfter(after)}` : sql``;
  const { rows } = await sql<PersonRow & { sort_key: string | number | null }>`
    select ${columns({ ...filter, scope, ownTravelId, text })}, ${order.key} as sort_key
    from ${few ? order.few(scope, few) : order.all({ scope, place })}
    where ${inScope(scope)} ${place} ${few || order !== orders.userName ? sql`` : indexConditions(filter)}
    order by ${order.by} limit ${sql.lit(STEP)}`.execute(db);
  const people: ListedPerson[] = [];
  let last: (typeof rows)[number] | undefined;
  for (const row of rows) {
    if (people.length === request.limit) break;
    last = row;
    const person = toPerson(row, text);
    if (person && hasWantedFinding(person.findings, filter)) people.push(person);
  }
  const isEnd = rows.length < STEP && last === rows.at(-1);
  return { people, next: last && !isEnd ? { key: String(last.sort_key ?? ''), id: last.id } : undefined };
}

/** An order of people, and the relations that contain the people with its key: all, from a place on; and few people. */
interface Order {
  key: RawBuilder<unknown>;
  by: RawBuilder<unknown>;
  isAfter(place: PersonPlace): RawBuilder<SqlBool>;
  all(walk: { scope: Scope; place: RawBuilder<unknown> }): RawBuilder<unknown>;
  few(scope: Scope, few: RawBuilder<unknown>): RawBuilder<unknown>;
}

const byUserName: Order = {
  key: sql`user_name_key`,
  by: sql`user_name_key, id`,
  isAfter: ({ key, id }) => sql`(user_name_key, id) > (${key}, ${id})`,
  all: () => sql`identity`,
  few: (_scope, few) => few,
};

const orders = {
  userName: byUserName,
  changed: {
    ...byUserName,
    key: sql`last_modified`,
    by: sql`last_modified desc, id desc`,
    isAfter: ({ key, id }) => sql`(last_modified, id) < (${Number(key) || 0}, ${id})`,
  },
  unchanged: {
    ...byUserName,
    key: sql`last_modified`,
    by: sql`last_modified, id`,
    isAfter: ({ key, id }) => sql`(last_modified, id) > (${Number(key) || 0}, ${id})`,
  },
  // The keys of people begin with their names.
  name: {
    key: sql`name_key`,
    by: sql`name_key, id`,
    isAfter: ({ key, id }) => sql`(name_key, id) > (${key}, ${id})`,
    all: ({ scope, place }) => sql`(select identity.*, name_key from (
        select id as named, name_key from (select account, connection_id, identity_id as id, email_key as name_key
          from identity_email) as keyed
        where ${inScope(scope)} and ${inRange('name_key', personKeys)} ${place} order by name_key, id limit ${sql.lit(STEP)}
      ) as page join identity on ${inScope(scope, 'identity')} and identity.id = named) as identity`,
    few: (scope, few) => sql`(select identity.*, (select min(email_key) from identity_email
      where ${inScope(scope)} and identity_id = identity.id and ${inRange('email_key', personKeys)}) as name_key
      from ${few}) as identity`,
  },
} satisfies Record<string, Order>;

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
  const ownTravelId = await readOwnTravelId(db, scope);
  const { rows } = await sql<PersonRow>`
    select ${columns({ scope, ownTravelId })} from identity
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

async function readByIds(db: Kysely<Tables>, scope: Scope, ids: string[]): Promise<ListedPerson[]> {
  const ownTravelId = await readOwnTravelId(db, scope);
  const found: ListedPerson[] = [];
  for (const batch of batches(ids)) {
    const { rows } = await sql<PersonRow>`select ${columns({ scope, ownTravelId })} from identity
      where ${inScope(scope)} and id in (${sql.join(batch)}) and deleted_at is null`.execute(db);
    found.push(...rows.flatMap((row) => toPerson(row) ?? []));
  }
  return found;
}

function selectsFindings({ finding, field, value, hasFindings }: PeopleFilter): boolean {
  return [finding, field, value, hasFindings].some((one) => one !== undefined);
}

/** True for the states whose people have an index in the order of userNames. */
function isAtRest(state: ListedState): state is 'refused' | 'held' | 'pending' {
  return state !== 'synced' && state !== 'unmanaged' && state !== 'dirty';
}

/**
 * Returns the people of an index whose order is another one, if they are few: a page sorts all of them. Most people are synced, so that
 * the others are few.
 */
async function findFew(
  db: Kysely<Tables>,
  scope: Scope,
  filter: PeopleFilter,
): Promise<RawBuilder<unknown> | undefined> {
  const condition = fewCondition(filter);
  if (!condition) return undefined;
  // The limit keeps both databases from the index of userNames, whose order the outer query may ask for.
  const few = sql`(select * from identity where ${inScope(scope)} ${condition} limit ${sql.lit(FEW + 1)}) as identity`;
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${few}`.execute(db);
  return Number(rows[0]?.count ?? 0) <= FEW ? few : undefined;
}

/** With the condition of the partial index of unsettled identities both databases use it for dirty people. */
function fewCondition({ sort, ...filter }: PeopleFilter): RawBuilder<unknown> | undefined {
  if (filter.state === 'dirty') return sql`and state = 'dirty' and state <> 'synced'`;
  const isSelective =
    selectsFindings(filter) ||
    filter.archived === true ||
    filter.userNamePrefix !== undefined ||
    (filter.state !== undefined && isAtRest(filter.state));
  return sort !== undefined && sort !== 'state' && isSelective ? indexConditions(filter) : undefined;
}

/** Up to this number of people with a text are sorted. */
const FEW_WITH_TEXT = 2_000;

async function findFewWithText(
  db: Kysely<Tables>,
  scope: Scope,
  text: string,
): Promise<RawBuilder<unknown> | undefined> {
  const found = new Set<string>();
  for await (const ids of idsWithText(db, { scope, text })) {
    for (const id of ids) found.add(id);
    if (found.size > FEW_WITH_TEXT) return undefined;
  }
  const isFound = found.size === 0 ? sql`1 = 0` : sql`id in (${sql.join([...found])})`;
  return sql`(select * from identity where ${inScope(scope)} and ${isFound} limit ${sql.lit(FEW_WITH_TEXT)}) as identity`;
}

/** The people whom the index gives are read until there are enough, since some are deleted. */
async function readByText(
  db: Kysely<Tables>,
  { scope, text, limit }: { scope: Scope; text: string; limit: number },
): Promise<ListedPerson[]> {
  const found = new Map<string, ListedPerson>();
  const ownTravelId = await readOwnTravelId(db, scope);
  for await (const ids of idsWithText(db, { scope, text }))
    for (const batch of batches(ids, limit)) {
      const { rows } = await sql<PersonRow>`select ${columns({ scope, ownTravelId })} from identity
        where ${inScope(scope)} and id in (${sql.join(batch)})`.execute(db);
      const people = new Map(rows.map((row) => [row.id, toPerson(row)]));
      for (const id of batch) {
        const person = people.get(id);
        if (person) found.set(id, person);
      }
      if (found.size >= limit) return [...found.values()].slice(0, limit);
    }
  return [...found.values()];
}

/**
 * The condition of a partial index, word for word: otherwise the databases do not use it. With the conditions of several, one of them would
 * be used and all of its people read, because few match the other.
 */
function indexConditions({ state, archived, userNamePrefix, ...filter }: PeopleFilter): RawBuilder<unknown> {
  const inPrefix =
    userNamePrefix === undefined ? sql`` : sql`and ${inRange('user_name_key', prefixRange(userNamePrefix))}`;
  if (state !== undefined && isAtRest(state)) return sql`and state = ${sql.lit(state)} ${inPrefix}`;
  if (selectsFindings(filter)) return sql`and finding_codes <> '' ${inPrefix}`;
  return archived ? sql`and (active = 0 or deleted_at is not null) ${inPrefix}` : inPrefix;
}

/** The columns of a person. Only matching rows have the wide ones; the others are needed for their place alone. */
type PersonRow = Pick<
  IdentityTable,
  'connection_id' | 'id' | 'user_name_key' | 'state' | 'claimed' | 'hold_cause' | 'travel_id' | 'active'
> &
  Pick<IdentityTable, 'deleted_at' | 'last_modified' | 'next_attempt_at'> & {
    desired: string | null;
    findings: string | null;
  };

/** The conditions on the columns of a person. `text`: a part of a name, address, number, id or value of a finding, folded. */
type Conditions = Pick<PeopleFilter, 'state' | 'finding' | 'archived' | 'userNamePrefix'> & {
  scope: Scope;
  /** The traveler whose credential the bridge uses, who is no person while unmanaged. */
  ownTravelId: string | undefined;
  text?: string | undefined;
};

function columns(conditions: Conditions): RawBuilder<unknown> {
  const matches = matchCondition(conditions);
  return sql`connection_id, id, user_name_key, state, claimed, hold_cause, travel_id, active, deleted_at, last_modified,
    next_attempt_at,
    case when ${matches} then desired end as desired, case when ${matches} then findings end as findings`;
}

function matchCondition({
  state,
  finding,
  archived,
  userNamePrefix,
  scope,
  ownTravelId,
  text,
}: Conditions): RawBuilder<SqlBool> {
  const conditions = [
    archived
      ? sql<SqlBool>`(active = 0 or deleted_at is not null)`
      : sql<SqlBool>`(deleted_at is null or state <> 'synced' or ${isKept})`,
    sql<SqlBool>`(claimed = 1 or travel_id is null or travel_id <> ${ownTravelId ?? ''})`,
    ...(state === undefined ? [] : [stateCondition(state)]),
    // The code is compared exactly when the findings are parsed.
    ...(finding === undefined ? [] : [sql<SqlBool>`findings like ${`%${JSON.stringify(finding)}%`}`]),
    ...(userNamePrefix === undefined ? [] : [inRange('user_name_key', prefixRange(userNamePrefix))]),
    ...(text === undefined ? [] : [mayHaveText({ scope, text })]),
  ];
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
}

/** The parameter keeps the planner from the index of unsettled identities, whose order is another one. */
function stateCondition(state: ListedState): RawBuilder<SqlBool> {
  if (state === 'unmanaged')
    return sql`state = ${'synced' satisfies IdentityState} and claimed = 0 and deleted_at is null`;
  return state === 'synced'
    ? sql`state = ${state} and (claimed = 1 or deleted_at is not null)`
    : sql`state = ${state}`;
}

/** The condition of people whose departure an admin has discarded: their travelers are active. */
const isKept = sql<SqlBool>`(decision <> '' and finding_codes like '%keptActive%')`;

/** Returns the person of a row; undefined if the row does not match, or the person has not the text. */
function toPerson(row: PersonRow, text?: string): ListedPerson | undefined {
  if (row.desired === null || row.findings === null) return undefined;
  const desired = parseJson<JsonObject>(row.desired);
  const person = toListed(row, desired, parseJson(row.findings));
  return text === undefined || hasText(person, desired, text) ? person : undefined;
}

function toListed(row: PersonRow, desired: JsonObject, findings: Finding[]): ListedPerson {
  return {
    connection: row.connection_id,
    id: row.id,
    userName: typeof desired.userName === 'string' ? desired.userName : '',
    name: displayNameOf(desired),
    state: row.state as IdentityState, // The column contains only states of identities.
    ...(row.hold_cause === null ? {} : { holdCause: row.hold_cause as HoldCause }), // It contains only hold causes.
    ...(row.travel_id === null ? {} : { travelId: row.travel_id }),
    isUnmanaged: row.claimed === 0 && row.deleted_at === null,
    isActive: row.active === 1,
    isDeleted: row.deleted_at !== null,
    findings,
    lastModified: row.last_modified,
    ...(row.next_attempt_at === 0 ? {} : { nextAttemptAt: row.next_attempt_at }),
  };
}
