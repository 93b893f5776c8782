import type { Kysely, Selectable } from 'kysely';
import type { Identity } from '../../provisioning/identity.ts';
import { employeeNumberKey } from '../../schema/resource.ts';
import { equalInScope } from '../connection-scopes.ts';
import { toIdentity } from '../identities/identity-row.ts';
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

async function findRelatedRows(db: Kysely<Tables>, row: Row): Promise<Row[]> {
  const columns = ['travel_id', 'external_id', 'user_name_key'] as const;
  return db
    .selectFrom('identity')
    .selectAll()
    .where('account', '=', row.account)
    .where((one) =>
      one.or(columns.flatMap((name) => (row[name] === null ? [] : [one(name, '=', row[name])]))),
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

/** Returns those of a person's names that another person in the account has too, as userName, externalId, employee number or address. */
export async function findSharedNames(
  { db }: Database,
  { account, ids, names }: { account: string; ids: readonly string[]; names: readonly string[] },
): Promise<Set<string>> {
  const shared = new Set<string>();
  for (const batch of batches(names)) {
    for (const [column, toKey] of nameColumns) {
      const rows = await db
        .selectFrom('identity')
        .leftJoin('identity_email', (join) =>
          join.on(equalInScope('identity_email.identity_id', 'identity.id')),
        )
        .select(`${column} as key`)
        .where('identity.account', '=', account)
        .where('identity.id', 'not in', ['', ...ids])
        .where(column, 'in', batch.map(toKey))
        .execute();
      const keys = new Set(rows.map(({ key }) => key));
      for (const name of batch) if (keys.has(toKey(name))) shared.add(name);
    }
  }
  return shared;
}

const nameColumns = [
  ['user_name_key', caseFoldedKey],
  ['display_name_key', caseFoldedKey],
  ['travel_email_key', caseFoldedKey],
  ['external_id', exactKey],
  ['email_key', caseFoldedKey],
  ['email_key', (name: string) => numberSearchKey(employeeNumberKey(name) ?? '')],
] as const;
