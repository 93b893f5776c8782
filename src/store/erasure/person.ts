import type { Kysely, Selectable } from 'kysely';
import type { Identity } from '../../provisioning/identity.ts';
import type { Database } from '../database.ts';
import { toIdentity } from '../identity-row.ts';
import { exactKey, keyOf } from '../keys.ts';
import type { Tables } from '../tables.ts';

type Row = Selectable<Tables['identity']>;

/** An identity with the travel account that it belongs to. */
export interface Belonging extends Identity {
  account: string;
}

/**
 * The people whom a userName, address, SCIM id, externalId or travel id names, each with all of their identities: tombstones,
 * those of other connections of the account that moved the person, and those that are linked to the same traveler.
 */
export async function findPeople(
  { db }: Database,
  text: string,
  connection: string | undefined,
): Promise<Belonging[][]> {
  const named = (await rowsNamed(db, text)).filter(
    (row) => connection === undefined || row.connection_id === connection,
  );
  const people: Row[][] = [];
  for (const row of named) {
    if (people.some((person) => person.some((one) => isSame(one, row)))) continue;
    people.push(await allOf(db, row));
  }
  return people.map((rows) => rows.map((row) => ({ ...toIdentity(row), account: row.account })));
}

async function rowsNamed(db: Kysely<Tables>, text: string): Promise<Row[]> {
  const key = keyOf(text);
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
            .whereRef('email.connection_id', '=', 'identity.connection_id')
            .whereRef('email.identity_id', '=', 'identity.id')
            .where('email.email_key', '=', key),
        ),
      ]),
    )
    .orderBy('created_at')
    .execute();
}

/** Follows what ties identities together until nothing is added. */
async function allOf(db: Kysely<Tables>, first: Row): Promise<Row[]> {
  const all = [first];
  for (const row of all) {
    for (const other of await neighbours(db, row)) {
      if (!all.some((one) => isSame(one, other)) && isSamePerson(row, other)) all.push(other);
    }
  }
  return all;
}

function isSame(one: Row, other: Row): boolean {
  return one.connection_id === other.connection_id && one.id === other.id;
}

async function neighbours(
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
 * One traveler is one person. Within a connection the externalId tells, or, where one of the two has none, the userName; in
 * another connection only a person who has moved is the same. Two who are linked to different travelers are two people.
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
