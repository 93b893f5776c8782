import type { Kysely, Selectable } from 'kysely';
import type { Identity } from '../../provisioning/identity.ts';
import type { Database } from '../database.ts';
import { forgetErased } from '../erased-travelers.ts';
import { unlink } from '../identity-changes.ts';
import { toIdentity } from '../identity-row.ts';
import { exactKey, keyOf } from '../keys.ts';
import { batches } from '../statements.ts';
import type { Tables } from '../tables.ts';
import type { Place } from './identities.ts';

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

/** Whether all of these identities are as they were judged, and their leases are still held. */
export async function areUnchanged(
  { db }: Database,
  places: readonly Place[],
  token: string,
): Promise<boolean> {
  for (const { connection, id, version } of places) {
    const row = await db
      .selectFrom('identity')
      .select('id')
      .where('connection_id', '=', connection)
      .where('id', '=', id)
      .where('version', '=', version)
      .where('lease_token', '=', token)
      .executeTakeFirst();
    if (!row) return false;
  }
  return true;
}

/** Whose identities stay, although their erasure had begun. */
export interface Returned {
  account: string;
  identities: readonly Place[];
  travelIds: readonly string[];
  /** Those of the travelers who were erased before. */
  erased: readonly string[];
}

/**
 * Lets the reconciler make a new traveler for a person whom the IdP wants again after their traveler was erased. The hash of an
 * erased traveler stays, so that no import shows what is left of it; that of a traveler who was not erased goes.
 */
export async function keepIdentities({ db }: Database, person: Returned): Promise<void> {
  const { account, identities, travelIds, erased } = person;
  await db.transaction().execute(async (tx) => {
    for (const place of identities) {
      const row = await tx
        .selectFrom('identity')
        .select('travel_id')
        .where('connection_id', '=', place.connection)
        .where('id', '=', place.id)
        .executeTakeFirst();
      if (row && row.travel_id !== null && erased.includes(row.travel_id)) await unlink(tx, place);
    }
    const kept = travelIds.filter((id) => !erased.includes(id));
    await forgetErased(tx, account, kept);
  });
}

/** Those of these travelers who are linked to an identity of anybody. */
export async function linkedAmong({ db }: Database, travelIds: readonly string[]): Promise<Set<string>> {
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
