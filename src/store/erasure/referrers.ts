import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely';
import type { Json, JsonObject, ScimResource } from '../../schema/resource.ts';
import { equalInScope, inScope, type Scope } from '../connection-scopes.ts';
import { desiredColumns, findingsColumns, parseApplied, toAppliedJson } from '../identities/identity-row.ts';
import type { Database } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { batches, parseJson, toJson } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { readConnectionIds } from './find-person.ts';
import { isManagerMember, type NameMatcher, redactManagers, withoutManagers } from './matchers.ts';

type Row = Selectable<Tables['identity']>;

/** The ids and names by which the records of other people refer to a person. */
export interface PersonReferences {
  account: string;
  ids: string[];
  travelIds: string[];
  /** Returns the names of the person in a connection of the account. */
  namesIn(connection: string): string[];
  /** Recognizes the person in the records of a connection. More names are known in connections that contained the person. */
  matcherFor(connection: string): NameMatcher;
}

/** Identities per statement. */
const BATCH = 200;

/** Finds the identities of other people that refer to a person, e.g. as their manager. */
export async function findReferrers(db: Kysely<Tables>, person: PersonReferences): Promise<Row[]> {
  const found: Row[] = [];
  for (const connection of await readConnectionIds(db, person.account)) {
    const scope = { account: person.account, connection };
    const rows = await db
      .selectFrom('identity')
      .selectAll()
      .where(inScope(scope))
      .where('id', 'in', (one) =>
        one
          .selectFrom('identity_reference')
          .select('identity_id')
          .where((reference) => isReferenceTo(reference, scope, person)),
      )
      .execute();
    found.push(...rows.filter(({ id }) => !person.ids.includes(id)));
  }
  return found;
}

/** A reference that is resolved to another person with the same name does not mean this person. */
function isReferenceTo(
  reference: ExpressionBuilder<Tables, 'identity_reference'>,
  scope: Scope,
  { ids, travelIds, namesIn }: PersonReferences,
): Expression<SqlBool> {
  const keys = namesIn(scope.connection).map(caseFoldedKey);
  const isOpen = [reference('target', 'is', null), reference('travel_id', 'is', null)];
  return reference.and([
    inScope(scope),
    reference.or([
      ...(ids.length === 0 ? [] : [reference('target', 'in', ids)]),
      ...(travelIds.length === 0 ? [] : [reference('travel_id', 'in', travelIds)]),
      ...(keys.length === 0 ? [] : [reference.and([...isOpen, reference('raw_key', 'in', keys)])]),
    ]),
  ]);
}

/**
 * Removes the person from the identities that refer to the person: the manager, its finding and its trace. They become dirty, so that
 * their travelers are updated. Returns the number of identities that were skipped, because a reconciler holds them and would write the
 * old values back.
 */
export async function mendReferrers(
  { db, dialect, transaction }: Database,
  person: PersonReferences,
  now: number,
): Promise<number> {
  let left = 0;
  for (const row of await findReferrers(db, person)) {
    const isMended = await transaction((tx) => mendReferrer({ tx, dialect }, row, { person, now }));
    if (!isMended) left += 1;
  }
  return left;
}

/** Returns false if the identity is leased or has changed since it was read. */
async function mendReferrer(
  { tx, dialect }: { tx: Kysely<Tables>; dialect: Dialect },
  row: Row,
  { person, now }: { person: PersonReferences; now: number },
): Promise<boolean> {
  const changes = withoutPerson(row, person.matcherFor(row.connection_id));
  if (Object.keys(changes).length === 0) return true;
  const isShown = row.deleted_at === null && changes.desired !== undefined;
  // A tombstone's traveler is archived already, and the travelers of unclaimed identities are never written.
  const isFollowed = row.deleted_at === null && row.claimed === 1;
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    .set({
      ...changes,
      revision: row.revision + 1,
      ...(isShown ? { version: row.version + 1, last_modified: now } : {}),
      ...(isFollowed ? { state: 'dirty', next_attempt_at: 0 } : {}),
    })
    .where(inScope({ account: row.account, connection: row.connection_id }))
    .where('id', '=', row.id)
    .where('revision', '=', row.revision)
    .where((one) => one.or([one('lease_until', 'is', null), one('lease_until', '<=', dialect.now(now))]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the columns of an identity that change when the person is removed. */
function withoutPerson(row: Row, matcher: NameMatcher): Partial<Row> {
  const desired: ScimResource = parseJson(row.desired);
  const kept = withoutManagers(desired, matcher);
  const { applied } = changedColumn(row, 'applied', (value) => redactManagers(value, matcher));
  const { findings } = changedColumn(row, 'findings', (value) => withoutManagerEntries(value, []));
  return {
    ...(toJson(kept) === toJson(desired) ? {} : desiredColumns(kept)),
    // Values that become equal are stored once.
    ...(applied === undefined ? {} : { applied: toAppliedJson(parseApplied(applied)) }),
    ...changedColumn(row, 'refused', (value) => redactManagers(value, matcher)),
    ...changedColumn(row, 'progress', (value) => redactManagers(value, matcher)),
    ...changedColumn(row, 'observed', (value) => withoutManagers(value, matcher)),
    ...changedColumn(row, 'origin', (value) => withoutManagers(value, matcher)),
    // The next reconciliation creates the finding again. The trace keeps the field, or it would say that the user had no value.
    ...(findings === undefined ? {} : findingsColumns(parseJson(findings))),
    ...changedColumn(row, 'trace', (value) => withoutManagerEntries(value, [['managerId']])),
  };
}

type JsonColumn = 'applied' | 'refused' | 'observed' | 'progress' | 'origin' | 'findings' | 'trace';

function changedColumn(row: Row, column: JsonColumn, change: (value: JsonObject) => Json): Partial<Row> {
  const text = row[column];
  if (text === null) return {};
  const after = toJson(change(parseJson(text)));
  return after === text ? {} : { [column]: after };
}

/** Replaces the findings or trace records about the manager. */
function withoutManagerEntries(entries: Json, replacement: Json[]): Json {
  if (!Array.isArray(entries)) return entries;
  const isOfManager = (entry: Json) =>
    isManagerMember(String(Array.isArray(entry) ? entry[0] : fieldOf(entry)));
  return entries.flatMap((entry) => (isOfManager(entry) ? replacement : [entry]));
}

function fieldOf(entry: Json): Json | undefined {
  return typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? entry.field : undefined;
}

const searchedColumns = [
  ...(['desired', 'applied', 'refused', 'observed', 'progress', 'origin', 'findings', 'trace'] as const),
];

/**
 * Finds the identities of other people that have an address or id of the person, although they do not refer to the person. `onRead`
 * receives the number of identities that were looked at since the last call.
 */
export async function findOtherMentions(
  { db }: Database,
  person: PersonReferences,
  onRead: (count: number) => void,
): Promise<string[]> {
  const referrers = (await findReferrers(db, person)).map(({ id }) => id);
  const known = new Set([...person.ids, ...referrers]);
  const found: string[] = [];
  for (let last = { connection_id: '', id: '' }; ; ) {
    const rows: Row[] = await db
      .selectFrom('identity')
      .selectAll()
      .where('account', '=', person.account)
      .where((row) => row(row.refTuple('connection_id', 'id'), '>', row.tuple(last.connection_id, last.id)))
      .orderBy('connection_id')
      .orderBy('id')
      .limit(BATCH)
      .execute();
    onRead(rows.length);
    for (const row of rows) {
      const { matchesJson } = person.matcherFor(row.connection_id);
      if (!known.has(row.id) && searchedColumns.some((column) => matchesJson(row[column] ?? '')))
        found.push(`SCIM user ${row.id}`);
    }
    const end = rows.at(-1);
    if (!end) return found;
    last = end;
  }
}

/** Deletes the references of other identities to the person. */
export async function deleteReferencesTo(tx: Kysely<Tables>, person: PersonReferences): Promise<void> {
  for (const connection of await readConnectionIds(tx, person.account)) {
    const scope = { account: person.account, connection };
    await tx
      .deleteFrom('identity_reference')
      .where((reference) => isReferenceTo(reference, scope, person))
      .execute();
  }
}

/** Removes the person from all groups, whichever value was used to add the member. */
export async function deleteMemberships(
  tx: Kysely<Tables>,
  person: PersonReferences,
  now: number,
): Promise<void> {
  for (const connection of await readConnectionIds(tx, person.account)) {
    const scope = { account: person.account, connection };
    const left = await tx
      .deleteFrom('group_member')
      .where((member) => isMembershipOf(member, scope, person))
      .returning('group_id')
      .execute();
    for (const batch of batches([...new Set(left.map(({ group_id }) => group_id))]))
      await tx
        .updateTable('scim_group')
        .set({ version: sql`version + 1`, last_modified: now })
        .where(inScope(scope))
        .where('id', 'in', batch)
        .execute();
  }
}

/** Counts the groups that the person is a member of. */
export async function countGroupsWithMember({ db }: Database, person: PersonReferences): Promise<number> {
  let count = 0;
  for (const connection of await readConnectionIds(db, person.account)) {
    const scope = { account: person.account, connection };
    const rows = await db
      .selectFrom('group_member')
      .select('group_id')
      .distinct()
      .where((member) => isMembershipOf(member, scope, person))
      .execute();
    count += rows.length;
  }
  return count;
}

/**
 * Compares the value of a member with the ids and names. If the value is not the id of a stored user, compares the display name with
 * the names too; for a stored user, an equal name may be another person's.
 */
function isMembershipOf(
  member: ExpressionBuilder<Tables, 'group_member'>,
  scope: Scope,
  { ids, namesIn }: PersonReferences,
): Expression<SqlBool> {
  const names = namesIn(scope.connection);
  const values = [...ids, ...names];
  const known = member
    .selectFrom('identity')
    .select('identity.id')
    .where(equalInScope('identity.id', 'group_member.value'));
  const isDisplayed = member.and([member('display', 'in', names), member.not(member.exists(known))]);
  return member.and([
    inScope(scope),
    member.or([
      ...(values.length === 0 ? [] : [member('value', 'in', values)]),
      ...(names.length === 0 ? [] : [isDisplayed]),
    ]),
  ]);
}
