import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { HoldCause, IdentityState } from '../provisioning/identity.ts';
import {
  displayNameOf,
  type ListedPerson,
  type People,
  type PeopleFilter,
  type PeoplePage,
  type PersonPlace,
} from '../provisioning/people.ts';
import type { JsonObject } from '../schema/resource.ts';
import type { Finding } from '../translator/translation.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import type { Database } from './database.ts';
import { parseJson, yieldToEventLoop } from './queries.ts';
import type { IdentityTable, Tables } from './tables.ts';

/** The rows that one step reads. */
const STEP = 500;

/**
 * Up to this number of people in a state, a page is read through the index of unsettled identities and sorted.
 * Otherwise it is read along the index of userNames, because each page would sort all of them.
 */
const FEW = 5_000;

/** Returns the store of people for lists. */
export function people({ db, scopeOf }: Database): People {
  return {
    findPage: async (connection, filter, after) => {
      const scope = scopeOf(connection);
      const page = await readPage(db, { scope, filter, after });
      await yieldToEventLoop();
      return page;
    },
  };
}

interface PageRequest {
  scope: Scope;
  filter: PeopleFilter;
  after: PersonPlace | undefined;
}

async function readPage(db: Kysely<Tables>, request: PageRequest): Promise<PeoplePage> {
  const { state, finding } = request.filter;
  const isIndexed = state !== undefined && state !== 'synced' && (await areFew(db, request.scope, state));
  const { rows } = await sql<PersonRow>`
    select ${columns(request.filter)} from ${isIndexed ? peopleIn(request.scope, state) : sql`identity`}
    where ${inScope(request.scope)} ${afterPlace(request.after)}
    order by user_name_key, id limit ${sql.lit(STEP)}`.execute(db);
  const last = rows.at(-1);
  const matching = rows.flatMap((row) => toListedPerson(row) ?? []);
  const isMeant = ({ findings }: ListedPerson) => findings.some(({ code }) => code === finding);
  return {
    people: finding === undefined ? matching : matching.filter(isMeant),
    next: last && rows.length === STEP ? { key: last.user_name_key ?? '', id: last.id } : undefined,
  };
}

async function areFew(db: Kysely<Tables>, scope: Scope, state: IdentityState): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${peopleIn(scope, state)}`.execute(db);
  return Number(rows[0]?.count ?? 0) <= FEW;
}

/**
 * The people in a state other than `synced`, if they are few. With the condition of the partial index of unsettled
 * identities both databases use it; the limit keeps them from the index of userNames, whose order the outer query asks for.
 */
function peopleIn(scope: Scope, state: IdentityState): RawBuilder<unknown> {
  return sql`(select * from identity where ${inScope(scope)} and state = ${sql.lit(state)} and state <> 'synced'
    limit ${sql.lit(FEW + 1)}) as identity`;
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
      : sql<SqlBool>`(deleted_at is null or state <> 'synced')`,
    // The parameter keeps the planner from the index of unsettled identities, whose order is another one.
    ...(state === undefined ? [] : [sql<SqlBool>`state = ${state}`]),
    // The code is compared exactly when the findings are parsed.
    ...(finding === undefined ? [] : [sql<SqlBool>`findings like ${`%${JSON.stringify(finding)}%`}`]),
  ];
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
}

function toListedPerson(row: PersonRow): ListedPerson | undefined {
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
