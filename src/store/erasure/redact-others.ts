import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely';
import { foldCase } from '../../schema/case-fold.ts';
import type { Json, JsonObject, ScimResource } from '../../schema/resource.ts';
import { inScope } from '../connection-scopes.ts';
import type { Database } from '../database.ts';
import type { Dialect } from '../dialect.ts';
import { desiredColumns, findingsColumns, parseApplied, toAppliedJson } from '../identity-row.ts';
import { batches, parseJson, toJson } from '../queries.ts';
import { caseFoldedKey } from '../search-keys.ts';
import type { Tables } from '../tables.ts';
import { readConnectionIds } from './find-person.ts';
import {
  isManagerMember,
  type NameMatcher,
  redactNames,
  type ValueMatcher,
  withoutReferences,
} from './matchers.ts';

type Row = Selectable<Tables['identity']>;

/** Identities per transaction; some milliseconds of work. */
const BATCH = 200;

/**
 * Recognizes a person in the records of a travel account. More names are known in connections that contained the person
 * than in others.
 */
export interface AccountMatchers {
  account: string;
  matcherFor(connection: string): NameMatcher;
}

/** The person to find in the identities of other people. */
export interface OtherPeopleQuery extends AccountMatchers {
  travelIds: readonly string[];
  /** The identities of the person, as `<connection>/<id>`. */
  own: ReadonlySet<string>;
  /** Receives the number of identities that were looked at since the last call. */
  onRead?(count: number): void;
}

/** Counts the other people whose identities name the person. */
export async function countOtherPeople({ db }: Database, query: OtherPeopleQuery): Promise<number> {
  let count = 0;
  for await (const rows of readIdentitiesNaming(db, query)) count += rows.length;
  return count;
}

/**
 * Removes the person from the identities of others: references to the person, findings and traces that name the
 * person, and values that were sent because of the person. Changed identities become dirty, so that their travelers
 * are updated. Returns the number of identities that were skipped, because a reconciler holds them and would write the
 * old values back.
 */
export async function redactOtherPeople(
  { db, dialect, transaction }: Database,
  query: OtherPeopleQuery,
  now: number,
): Promise<number> {
  let left = 0;
  for await (const rows of readIdentitiesNaming(db, query)) {
    left += await transaction(async (tx) => {
      let held = 0;
      for (const row of rows) if (!(await redactIdentity({ tx, dialect }, row, { query, now }))) held += 1;
      return held;
    });
  }
  return left;
}

async function* readIdentitiesNaming(db: Kysely<Tables>, query: OtherPeopleQuery): AsyncGenerator<Row[]> {
  let last = { connection_id: '', id: '' };
  for (;;) {
    const rows: Row[] = await db
      .selectFrom('identity')
      .selectAll()
      .where('account', '=', query.account)
      .where((row) => row(row.refTuple('connection_id', 'id'), '>', row.tuple(last.connection_id, last.id)))
      .orderBy('connection_id')
      .orderBy('id')
      .limit(BATCH)
      .execute();
    const found: Row[] = [];
    for (const row of rows) if ((await redactionOf(db, row, query)) !== undefined) found.push(row);
    query.onRead?.(rows.length);
    if (found.length > 0) yield found;
    const end = rows.at(-1);
    if (!end) return;
    last = end;
  }
}

const searchedColumns = [
  'desired',
  'applied',
  'refused',
  'observed',
  'progress',
  'origin',
  'findings',
  'trace',
] as const;

/**
 * Returns the columns of an identity without the person; undefined if the identity does not name the person or is the
 * person's own.
 */
async function redactionOf(
  db: Kysely<Tables>,
  row: Row,
  query: OtherPeopleQuery,
): Promise<Partial<Row> | undefined> {
  const matcher = query.matcherFor(row.connection_id);
  if (query.own.has(`${row.connection_id}/${row.id}`) || !namesPerson(row, matcher)) return undefined;
  const desired: ScimResource = parseJson(row.desired);
  const kept = new Set([...ownValues(desired), ...(await managerNamesOfOthers(db, row, query))]);
  return redactColumns(row, matcher, kept);
}

function namesPerson(row: Row, matcher: NameMatcher): boolean {
  return searchedColumns.some((column) => {
    const text = row[column];
    // Findings contain sentences, so a name may be a part of a value.
    return (
      text !== null && (matcher.matchesJson(text) || (column === 'findings' && matcher.matchesSentence(text)))
    );
  });
}

/** Returns the values by which the identity names its manager, if the manager is another person with the same name. */
async function managerNamesOfOthers(
  db: Kysely<Tables>,
  { account, connection_id, id }: Row,
  { own, travelIds }: OtherPeopleQuery,
): Promise<string[]> {
  const rows = await db
    .selectFrom('identity_reference')
    .select(['raw', 'target', 'travel_id'])
    .where(inScope({ account, connection: connection_id }))
    .where('identity_id', '=', id)
    .execute();
  const others = rows.filter(({ target, travel_id }) =>
    target === null
      ? travel_id !== null && !travelIds.includes(travel_id)
      : !own.has(`${connection_id}/${target}`),
  );
  return others.map(({ raw }) => foldCase(raw));
}

function redactColumns(row: Row, matcher: NameMatcher, values: Set<string>): Partial<Row> | undefined {
  const desired: ScimResource = parseJson(row.desired);
  const withoutOwn = (isMeant: (text: string) => boolean) => (text: string) =>
    isMeant(text) && !values.has(foldCase(text));
  const otherMatcher = {
    matchesValue: withoutOwn(matcher.matchesValue),
    matchesUnique: withoutOwn(matcher.matchesUnique),
    matchesSentence: withoutOwn(matcher.matchesSentence),
  };
  const changed: Partial<Row> = {
    ...redactDesired(desired, otherMatcher),
    ...redactApplied(row, otherMatcher),
    ...redactJsonColumn(row, 'refused', (value) => redactNames(value, otherMatcher)),
    ...redactJsonColumn(row, 'progress', (value) => redactNames(value, otherMatcher)),
    ...redactJsonColumn(row, 'observed', (value) => withoutMembers(value, otherMatcher)),
    ...redactJsonColumn(row, 'origin', (value) => redactBaseline(value, otherMatcher)),
    ...redactFindings(row, otherMatcher),
    ...redactJsonColumn(row, 'trace', (value) => redactTrace(value, otherMatcher)),
  };
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/**
 * Returns the names of the user itself. They are not redacted even if the erased person shared them, e.g. an email
 * address.
 */
function ownValues({ userName, externalId, displayName, name, ...lists }: ScimResource): Set<string> {
  const { givenName, familyName, formatted } = isObject(name) ? name : {};
  const elements = [lists.emails, lists.phoneNumbers].flatMap((list) => (Array.isArray(list) ? list : []));
  const own = [userName, externalId, displayName, formatted, `${givenName} ${familyName}`];
  const all = [...own, ...elements.map((one) => (isObject(one) ? one.value : one))];
  return new Set(all.flatMap((text) => (typeof text === 'string' ? foldCase(text) : [])));
}

function redactDesired(desired: ScimResource, matcher: ValueMatcher): Partial<Row> {
  const after = withoutMembers(desired, matcher);
  return toJson(after) === toJson(desired) ? {} : desiredColumns(after);
}

/** Values that become equal by the redaction are stored once. */
function redactApplied(row: Row, matcher: ValueMatcher): Partial<Row> {
  const { applied } = redactJsonColumn(row, 'applied', (value) => redactNames(value, matcher));
  return applied === undefined ? {} : { applied: toAppliedJson(parseApplied(applied)) };
}

type JsonColumn = Exclude<(typeof searchedColumns)[number], 'desired'>;

function redactJsonColumn(row: Row, column: JsonColumn, change: (value: JsonObject) => Json): Partial<Row> {
  const text = row[column];
  if (text === null) return {};
  const after = toJson(change(parseJson(text)));
  return after === text ? {} : { [column]: after };
}

function withoutMembers(object: JsonObject, matcher: ValueMatcher): JsonObject {
  const kept = Object.entries(object).flatMap(([name, value]) => {
    const rest = value === undefined ? undefined : withoutReferences(value, matcher, isManagerMember(name));
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return Object.fromEntries(kept);
}

function redactBaseline(origin: JsonObject, matcher: ValueMatcher): JsonObject {
  const { baseline } = origin;
  return isObject(baseline) ? { ...origin, baseline: withoutMembers(baseline, matcher) } : origin;
}

function redactFindings(row: Row, matcher: Parameters<typeof withoutEntries>[1]): Partial<Row> {
  const { findings } = redactJsonColumn(row, 'findings', (value) => withoutEntries(value, matcher));
  return findings === undefined ? {} : findingsColumns(parseJson(findings));
}

/** The next reconciliation creates findings again, so whole entries are removed. */
function withoutEntries(entries: Json, matcher: ValueMatcher & Pick<NameMatcher, 'matchesSentence'>): Json {
  return Array.isArray(entries) ? entries.filter((entry) => !isEntryAbout(entry, matcher)) : entries;
}

/**
 * Reduces the records that name the person to their field (`ShortTraceRecord`). Without any record, the trace would say
 * that the user had no value.
 */
function redactTrace(trace: Json, matcher: ValueMatcher & Pick<NameMatcher, 'matchesSentence'>): Json {
  if (!Array.isArray(trace)) return trace;
  return trace.map((record) => (isEntryAbout(record, matcher) ? [fieldOf(record) ?? ''] : record));
}

function fieldOf(entry: Json): Json | undefined {
  if (Array.isArray(entry)) return entry[0];
  return isObject(entry) ? entry.field : undefined;
}

/** Findings and traces of managers and findings about swapped addresses contain any name that the IdP gave. */
function isEntryAbout(
  entry: Json,
  { matchesUnique, matchesSentence }: ValueMatcher & Pick<NameMatcher, 'matchesSentence'>,
): boolean {
  const { code } = isObject(entry) ? entry : {};
  const isReferring = fieldOf(entry) === 'managerId' || code === 'emailSwapBlocked';
  return texts(entry).some(isReferring ? matchesSentence : matchesUnique);
}

function texts(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(texts);
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns false if the identity is leased or has changed since it was read. */
async function redactIdentity(
  { tx, dialect }: { tx: Kysely<Tables>; dialect: Dialect },
  row: Row,
  { query, now }: { query: OtherPeopleQuery; now: number },
): Promise<boolean> {
  const changes = (await redactionOf(tx, row, query)) ?? {};
  const isShown = row.deleted_at === null && changes.desired !== undefined;
  // Make the identity dirty only if its traveler must be updated: a tombstone's traveler is archived already, and the
  // travelers of unclaimed identities are never written.
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

/** The ids and names by which the records of other people refer to the person. */
export interface PersonReferences {
  account: string;
  ids: string[];
  travelIds: string[];
  /** Returns the names of the person in a connection of the account. */
  namesIn(connection: string): string[];
}

/** Deletes the references of other identities to the person. */
export async function deleteReferencesTo(
  tx: Kysely<Tables>,
  { account, ids, travelIds, namesIn }: PersonReferences,
): Promise<void> {
  for (const connection of await readConnectionIds(tx, account)) {
    const own = tx.deleteFrom('identity_reference').where(inScope({ account, connection }));
    for (const batch of batches(ids)) await own.where('target', 'in', batch).execute();
    for (const batch of batches(travelIds)) await own.where('travel_id', 'in', batch).execute();
    // A reference that is resolved to another person does not mean this person.
    const open = own.where('target', 'is', null).where('travel_id', 'is', null);
    for (const batch of batches(namesIn(connection).map(caseFoldedKey)))
      await open.where('raw_key', 'in', batch).execute();
  }
}

/** Removes the person from all groups, whichever value was used to add the member. */
export async function deleteMemberships(
  tx: Kysely<Tables>,
  person: PersonReferences,
  now: number,
): Promise<void> {
  for (const connection of await readConnectionIds(tx, person.account)) {
    const values = memberValuesIn(person, connection);
    if (values.all.length === 0) continue;
    const left = await tx
      .deleteFrom('group_member')
      .where(inScope({ account: person.account, connection }))
      .where((member) => isMember(member, values))
      .returning('group_id')
      .execute();
    for (const batch of batches([...new Set(left.map(({ group_id }) => group_id))]))
      await tx
        .updateTable('scim_group')
        .set({ version: sql`version + 1`, last_modified: now })
        .where(inScope({ account: person.account, connection }))
        .where('id', 'in', batch)
        .execute();
  }
}

/** Counts the groups that the person is a member of. */
export async function countGroupsWithMember({ db }: Database, person: PersonReferences): Promise<number> {
  let count = 0;
  for (const connection of await readConnectionIds(db, person.account)) {
    const values = memberValuesIn(person, connection);
    if (values.all.length === 0) continue;
    const rows = await db
      .selectFrom('group_member')
      .select('group_id')
      .distinct()
      .where(inScope({ account: person.account, connection }))
      .where((member) => isMember(member, values))
      .execute();
    count += rows.length;
  }
  return count;
}

/** Returns the values that identify a member as the person: for `value` all of them, for `display` only the names. */
interface MemberValues {
  all: string[];
  names: string[];
}

function memberValuesIn({ ids, namesIn }: PersonReferences, connection: string): MemberValues {
  const names = namesIn(connection);
  return { all: [...ids, ...names], names };
}

/**
 * Compares the value of a member. If the value is not the id of a stored user, compares the display name too; for a
 * stored user, an equal name may be another person's.
 */
function isMember(member: ExpressionBuilder<Tables, 'group_member'>, { all, names }: MemberValues) {
  const known = member
    .selectFrom('identity')
    .select('identity.id')
    .whereRef('identity.account', '=', 'group_member.account')
    .whereRef('identity.connection_id', '=', 'group_member.connection_id')
    .whereRef('identity.id', '=', 'group_member.value');
  const isDisplayed =
    names.length === 0
      ? []
      : [member.and([member('display', 'in', names), member.not(member.exists(known))])];
  return member.or([member('value', 'in', all), ...isDisplayed]);
}
