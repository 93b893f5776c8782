import type { Kysely } from 'kysely';
import { userNameOf } from '../../model/identity.ts';
import { displayNameOf } from '../../model/people.ts';
import type { ScimResource } from '../../schema/resource.ts';
import { equalInScope, inScope, type Scope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { batches, parseJson, yieldToEventLoop } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { displayNameOf as groupNameOf } from './groups.ts';
import { readCounter } from './list-counters.ts';

/** A group with the number of its members. */
export interface GroupSummary {
  id: string;
  name: string;
  members: number;
  lastModified: number;
}

/** A member with its name. `unknown`: no person and no group of the connection has its id. */
export interface MemberSummary {
  id: string;
  kind: 'person' | 'group' | 'unknown';
  name: string;
  userName: string | undefined;
}

/** A request for the rows whose names contain a text, after the last row of the page before. */
export interface SearchPage<After> {
  search: string;
  after: After | undefined;
  limit: number;
}

/** The groups of a connection in the order of their names, and the members of one, page by page. */
export type GroupPages = ReturnType<typeof groupPages>;

/** Creates the pages of groups that admins read. A page may be short, or empty, although others follow. */
export function groupPages({ db, scopeOf }: Database) {
  return {
    count: async (connection: string) => (await readCounter(db, scopeOf(connection), 'group')).count,
    /** `isMeant` tests a group by its id and name. */
    listGroups: (connection: string, page: SearchPage<string>, isMeant: (group: GroupName) => boolean) =>
      listGroups(db, scopeOf(connection), { ...page, isMeant }),
    findGroup: async (connection: string, id: string): Promise<GroupSummary | undefined> => {
      const scope = scopeOf(connection);
      const [row] = await selectGroups(db, scope).where('id', '=', id).execute();
      return row && (await withCounts(db, scope, [row]))[0];
    },
    listMembers: (connection: string, group: string, page: SearchPage<number>) =>
      listMembers(db, { ...scopeOf(connection), group }, page),
  };
}

/** The rows that one step reads, some milliseconds of work, and the steps of one page. */
const STEP = 1_000;
const MAX_STEPS = 10;

/** Reads steps until the page is full, the rows end, or the steps do. `readStep` returns the rows after a place. */
async function readSteps<Row, Place>(
  { limit, after }: Pick<SearchPage<Place>, 'limit' | 'after'>,
  {
    readStep,
    placeOf,
    isMeant,
  }: {
    readStep: (after: Place | undefined) => Promise<Row[]>;
    placeOf: (row: Row) => Place;
    isMeant: (row: Row) => boolean;
  },
): Promise<{ rows: Row[]; next: Place | undefined }> {
  const found: Row[] = [];
  let place = after;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const rows = await readStep(place);
    for (const row of rows) {
      if (found.length === limit) return { rows: found, next: place };
      if (isMeant(row)) found.push(row);
      place = placeOf(row);
    }
    if (rows.length < STEP) return { rows: found, next: undefined };
    await yieldToEventLoop();
  }
  return { rows: found, next: place };
}

type GroupName = Pick<GroupSummary, 'id' | 'name'>;

function selectGroups(db: Kysely<Tables>, scope: Scope) {
  return db
    .selectFrom('scim_group')
    .select(['id', 'attributes', 'display_name_key', 'last_modified'])
    .where(inScope(scope));
}

type GroupRow = Awaited<ReturnType<ReturnType<typeof selectGroups>['execute']>>[number];

/** The keys of names are unique in a connection, so that one is the place of a group. */
async function listGroups(
  db: Kysely<Tables>,
  scope: Scope,
  { search, isMeant, ...page }: SearchPage<string> & { isMeant: (group: GroupName) => boolean },
): Promise<{ groups: GroupSummary[]; next: string | undefined }> {
  const text = caseFoldedKey(search);
  const { rows, next } = await readSteps(page, {
    readStep: (after = '') =>
      selectGroups(db, scope)
        .where('display_name_key', '>', after)
        .orderBy('display_name_key')
        .limit(STEP)
        .execute(),
    placeOf: (row) => row.display_name_key ?? '',
    isMeant: (row) =>
      (row.display_name_key ?? '').includes(text) &&
      isMeant({ id: row.id, name: groupNameOf(row.attributes) }),
  });
  return { groups: await withCounts(db, scope, rows), next };
}

async function withCounts(db: Kysely<Tables>, scope: Scope, rows: GroupRow[]): Promise<GroupSummary[]> {
  const counts = new Map<string, number>();
  for (const ids of batches(rows.map(({ id }) => id))) {
    const counted = await db
      .selectFrom('group_member')
      .select(({ fn }) => ['group_id', fn.countAll<number>().as('members')])
      .where(inScope(scope))
      .where('group_id', 'in', ids)
      .groupBy('group_id')
      .execute();
    for (const { group_id, members } of counted) counts.set(group_id, Number(members));
  }
  return rows.map(({ id, attributes, last_modified }) => ({
    ...{ id, name: groupNameOf(attributes), members: counts.get(id) ?? 0, lastModified: last_modified },
  }));
}

function selectMembers(db: Kysely<Tables>, scope: Scope, group: string) {
  return db
    .selectFrom('group_member as member')
    .leftJoin('identity as person', (join) => join.on(equalInScope('person.id', 'member.value')))
    .select(['member.value', 'member.position', 'member.display'])
    .select(['person.user_name_key', 'person.display_name_key'])
    .where(inScope(scope, 'member'))
    .where('member.group_id', '=', group);
}

async function listMembers(
  db: Kysely<Tables>,
  { group, ...scope }: Scope & { group: string },
  { search, ...page }: SearchPage<number>,
): Promise<{ members: MemberSummary[]; next: number | undefined }> {
  const text = caseFoldedKey(search);
  const { rows, next } = await readSteps(page, {
    readStep: (after = -1) =>
      selectMembers(db, scope, group)
        .where('member.position', '>', after)
        .orderBy('member.position')
        .limit(STEP)
        .execute(),
    placeOf: (row) => row.position,
    isMeant: ({ user_name_key, display_name_key, display }) =>
      [user_name_key, display_name_key, caseFoldedKey(display ?? '')].some((key) => key?.includes(text)),
  });
  const names = await readNames(
    db,
    scope,
    rows.map(({ value }) => value),
  );
  return {
    members: rows.map(({ value, display }) => ({
      ...{ id: value, kind: 'unknown' as const, name: display ?? value, userName: undefined },
      ...names.get(value),
    })),
    next,
  };
}

/** Reads what the ids of members name. Only the rows of one page are read whole. */
async function readNames(
  db: Kysely<Tables>,
  scope: Scope,
  ids: string[],
): Promise<Map<string, Omit<MemberSummary, 'id'>>> {
  const named = new Map<string, Omit<MemberSummary, 'id'>>();
  for (const some of batches(ids)) {
    const people = db.selectFrom('identity').select(['id', 'desired']).where(inScope(scope));
    for (const { id, desired } of await people.where('id', 'in', some).execute()) {
      const person = { desired: parseJson<ScimResource>(desired) };
      const userName = userNameOf(person);
      named.set(id, { kind: 'person', name: displayNameOf(person.desired) || userName, userName });
    }
    const groups = selectGroups(db, scope).where('id', 'in', some);
    for (const { id, attributes } of await groups.execute())
      named.set(id, { kind: 'group', name: groupNameOf(attributes), userName: undefined });
  }
  return named;
}
