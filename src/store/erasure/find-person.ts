import type { Kysely, Selectable } from 'kysely';
import type { Identity } from '../../provisioning/identity.ts';
import { employeeNumberKey } from '../../schema/resource.ts';
import { equalInScope, inScope } from '../connection-scopes.ts';
import { deleteErasedTravelers } from '../identities/erased-travelers.ts';
import { toIdentity } from '../identities/identity-row.ts';
import { unlinkTraveler } from '../identities/traveler-links.ts';
import type { Database } from '../sql/database.ts';
import { batches } from '../sql/queries.ts';
import { caseFoldedKey, exactKey, numberSearchKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';

type Row = Selectable<Tables['identity']>;

/** An identity with its travel account. */
export interface IdentityInAccount extends Identity {
  account: string;
}

/**
 * Finds the people whose userName, email address, SCIM id, externalId or travel id this is. The result contains all
 * identities of each person: tombstones, those in connections between which the person moved, and those linked to the
 * same traveler.
 */
export async function findPeople(
  { db }: Database,
  text: string,
  connection: string | undefined,
): Promise<IdentityInAccount[][]> {
  const named = (await findRowsNamed(db, text)).filter(
    (row) => connection === undefined || row.connection_id === connection,
  );
  const people: Row[][] = [];
  for (const row of named) {
    if (people.some((person) => person.some((one) => isSameIdentity(one, row)))) continue;
    people.push(await findRowsOfPerson(db, row));
  }
  return people.map((rows) => rows.map((row) => ({ ...toIdentity(row), account: row.account })));
}

async function findRowsNamed(db: Kysely<Tables>, text: string): Promise<Row[]> {
  const key = caseFoldedKey(text);
  return db
    .selectFrom('identity')
    .selectAll()
    .where((row) =>
      row.or([
        row('id', '=', text),
        row('travel_id', '=', text),
        row('external_id', '=', exactKey(text)),
        row('user_name_key', '=', key),
        row('travel_email_key', '=', key),
        row('creating_key', '=', key),
        row.exists(
          row
            .selectFrom('identity_email as email')
            .select('email.email_key')
            .where(equalInScope('email.identity_id', 'identity.id'))
            .where('email.email_key', '=', key),
        ),
      ]),
    )
    .orderBy('created_at')
    .execute();
}

/** Collects all rows of a person: searches for rows related to those found, until there are no more. */
async function findRowsOfPerson(db: Kysely<Tables>, first: Row): Promise<Row[]> {
  const all = [first];
  for (const row of all) {
    for (const other of await findRelatedRows(db, row)) {
      if (!all.some((one) => isSameIdentity(one, other)) && isSamePerson(row, other)) all.push(other);
    }
  }
  return all;
}

function isSameIdentity(one: Row, other: Row): boolean {
  return one.connection_id === other.connection_id && one.id === other.id;
}

async function findRelatedRows(
  db: Kysely<Tables>,
  { account, travel_id, external_id, user_name_key }: Row,
): Promise<Row[]> {
  return db
    .selectFrom('identity')
    .selectAll()
    .where('account', '=', account)
    .where((row) =>
      row.or([
        ...(travel_id === null ? [] : [row('travel_id', '=', travel_id)]),
        ...(external_id === null ? [] : [row('external_id', '=', external_id)]),
        ...(user_name_key === null ? [] : [row('user_name_key', '=', user_name_key)]),
      ]),
    )
    .execute();
}

/**
 * Returns true if two identities are the same person. If both are linked, they are the same person exactly if they have
 * the same traveler. Otherwise, within a connection, their externalIds are compared, or the userNames if one of them
 * has no externalId. Across connections, they are the same person only if the person has moved.
 */
function isSamePerson(one: Row, other: Row): boolean {
  if (one.travel_id !== null && other.travel_id !== null) return one.travel_id === other.travel_id;
  const hasSameName = one.user_name_key !== null && one.user_name_key === other.user_name_key;
  if (one.connection_id !== other.connection_id)
    return hasSameName && (isMove(one, other) || isMove(other, one));
  if (one.external_id !== null && other.external_id !== null) return one.external_id === other.external_id;
  return hasSameName;
}

function isMove(from: Row, to: Row): boolean {
  return toIdentity(from).origin.movedTo === to.connection_id;
}

/** An identity of the person, at the version at which the erasure was planned. */
export interface IdentityVersion {
  connection: string;
  id: string;
  version: number;
}

/** Returns true if these identities still have the planned versions and the caller still holds their leases. */
export async function areIdentitiesUnchanged(
  { db, scopeOf }: Database,
  places: readonly IdentityVersion[],
  token: string,
): Promise<boolean> {
  for (const { connection, id, version } of places) {
    const row = await db
      .selectFrom('identity')
      .select('id')
      .where(inScope(scopeOf(connection)))
      .where('id', '=', id)
      .where('version', '=', version)
      .where('lease_token', '=', token)
      .executeTakeFirst();
    if (!row) return false;
  }
  return true;
}

/** A person whose identities are not deleted, because the IdP wrote them during the erasure. */
export interface ReturnedPerson {
  account: string;
  identities: readonly IdentityVersion[];
  travelIds: readonly string[];
  /** The travel ids of the person's travelers that are already erased. */
  erased: readonly string[];
}

/**
 * Handles a person whom the IdP has written during the erasure. Unlinks the travelers that are already erased, so that
 * the reconciler creates a new one; their records stay, so that no import lists them again. Deletes the records of the
 * travelers that were not erased yet.
 */
export async function keepReturnedPerson({ transaction }: Database, person: ReturnedPerson): Promise<void> {
  const { account, identities, travelIds, erased } = person;
  await transaction(async (tx) => {
    for (const { connection, id } of identities) {
      if (erased.length > 0) await unlinkTraveler(tx, { account, connection, id }, erased);
    }
    const kept = travelIds.filter((id) => !erased.includes(id));
    await deleteErasedTravelers(tx, account, kept);
  });
}

/** Returns those travelers that are linked to an identity. */
export async function findLinkedTravelers(
  { db }: Database,
  travelIds: readonly string[],
): Promise<Set<string>> {
  const linked = new Set<string>();
  for (const batch of batches([...travelIds])) {
    const rows = await db
      .selectFrom('identity')
      .select('travel_id')
      .where('travel_id', 'in', batch)
      .execute();
    for (const { travel_id } of rows) if (travel_id !== null) linked.add(travel_id);
  }
  return linked;
}

/** A person's names, and the account in which to search for other people with the same names. */
export interface SharedNamesQuery {
  account: string;
  /** The identities of the person, as `<connection>/<id>`. */
  own: ReadonlySet<string>;
  names: readonly string[];
}

/** Returns the ids of the connections of a travel account. */
export async function readConnectionIds(db: Kysely<Tables>, account: string): Promise<string[]> {
  const rows = await db.selectFrom('connection').select('id').where('account', '=', account).execute();
  return rows.map(({ id }) => id);
}

/**
 * Returns the names that another person in the account has too, as userName, externalId, display name, employee number or email address.
 * Each name is returned with the connections in which the other person has it.
 */
export async function findSharedNames(
  { db }: Database,
  { account, own, names }: SharedNamesQuery,
): Promise<Map<string, Set<string>>> {
  const shared = new Map<string, Set<string>>();
  for (const batch of batches([...names])) {
    for (const [column, toKey] of nameColumns) {
      const holders = selectHolders(db, account, column).where(column, 'in', batch.map(toKey));
      for (const { connection_id, id, key } of await holders.execute())
        for (const name of own.has(`${connection_id}/${id}`) ? [] : batch)
          if (toKey(name) === key) shared.set(name, (shared.get(name) ?? new Set()).add(connection_id));
    }
  }
  return shared;
}

/**
 * Returns the texts by which others name the person, by connection: those that were resolved to the person. A mapping may have managers
 * named by any attribute.
 */
export async function findNamesInReferences(
  { db }: Database,
  { account, ids, travelIds }: { account: string; ids: readonly string[]; travelIds: readonly string[] },
): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  for (const [column, values] of [['target', ids] as const, ['travel_id', travelIds] as const]) {
    for (const batch of batches([...values])) {
      const rows = await db
        .selectFrom('identity_reference')
        .select(['connection_id', 'raw'])
        .distinct()
        .where('account', '=', account)
        .where(column, 'in', batch)
        .execute();
      for (const { connection_id, raw } of rows)
        names.set(connection_id, [...(names.get(connection_id) ?? []), raw]);
    }
  }
  return names;
}

const nameColumns = [
  ['user_name_key', caseFoldedKey],
  ['display_name_key', caseFoldedKey],
  ['travel_email_key', caseFoldedKey],
  ['external_id', exactKey],
  ['email_key', caseFoldedKey],
  ['email_key', (name: string) => numberSearchKey(employeeNumberKey(name) ?? '')],
] as const;

/** Selects the identities of an account with one of their names. */
function selectHolders(db: Kysely<Tables>, account: string, column: (typeof nameColumns)[number][0]) {
  return db
    .selectFrom('identity')
    .leftJoin('identity_email', (join) => join.on(equalInScope('identity_email.identity_id', 'identity.id')))
    .select(['identity.connection_id', 'identity.id', `${column} as key`])
    .where('identity.account', '=', account);
}
