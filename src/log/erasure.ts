import type { Kysely } from 'kysely';
import type { Database } from '../store/sql/database.ts';
import { batches } from '../store/sql/queries.ts';
import type { ExchangeTable, Tables } from '../store/sql/tables.ts';
import { BRIDGE_CREDENTIAL } from './exchange.ts';
import { decodeExchange } from './exchange-row.ts';
import { replaceExchange } from './exchange-store.ts';
import type { LogKeys } from './keys.ts';

/** A person to erase from the log. */
export interface PersonInLog {
  /** The SCIM ids: the exchanges about them are deleted. */
  ids: readonly string[];
  /** The ids in the embedded travel service. */
  travelIds: readonly string[];
  /** The addresses, former ones too, that nobody else has. */
  addresses: readonly string[];
  /** Other userNames. Searches for them are deleted, but bodies may have the same text as a role or a title. */
  userNames: readonly string[];
}

/** Counts the exchanges that an erasure would delete or change. Those that no key decrypts are not counted. */
export async function countExchanges({ db }: Database, keys: LogKeys, person: PersonInLog): Promise<number> {
  const { deleted, blanked } = await findExchanges(db, keys, person);
  return new Set([...deleted, ...blanked]).size;
}

/**
 * Deletes the exchanges about a person and those that search for the person, and the bodies of others that name the person. Exchanges
 * that no key decrypts are deleted, because they may be about the person. Calls of the bridge as the embedded travel service has received them
 * keep their lines without bodies, unless `keepsOwnCalls` is false.
 */
export async function eraseFromLog(
  database: Database,
  keys: LogKeys,
  person: PersonInLog,
  { keepsOwnCalls = true }: { keepsOwnCalls?: boolean } = {},
): Promise<void> {
  const { db, transaction } = database;
  const { deleted, blanked } = await findExchanges(db, keys, person);
  const known = keys.map(({ id }) => id);
  await transaction((tx) => tx.deleteFrom('exchange').where('key_id', 'not in', known).execute());
  for (const positions of batches(deleted))
    await transaction((tx) => tx.deleteFrom('exchange').where('position', 'in', positions).execute());
  for (const positions of batches(blanked)) {
    const named = db.selectFrom('exchange').selectAll().where('position', 'in', positions);
    const rows = await named.execute();
    await transaction(async (tx) => {
      if (!keepsOwnCalls)
        await tx
          .deleteFrom('exchange')
          .where('position', 'in', positions)
          .where('credential', '=', BRIDGE_CREDENTIAL)
          .execute();
      for (const row of rows)
        if (keepsOwnCalls || row.credential !== BRIDGE_CREDENTIAL) await blank(tx, row, { keys, person });
    });
  }
}

/** Deletes the bodies of an exchange, and the caller if that is the person. */
async function blank(
  tx: Kysely<Tables>,
  row: ExchangeTable,
  { keys, person }: { keys: LogKeys; person: PersonInLog },
): Promise<void> {
  const exchange = decodeExchange(row, keys);
  if (!exchange) return;
  const { requestBody: _request, responseBody: _response, userId, credential, ...rest } = exchange;
  const isCaller = userId !== undefined && person.travelIds.includes(userId);
  await replaceExchange(tx, row, isCaller ? rest : { ...rest, userId, credential }, keys[0]);
}

/** Finds the exchanges about a person and those that search for the person, and others whose bodies or callers are the person. */
async function findExchanges(
  db: Kysely<Tables>,
  keys: LogKeys,
  { ids, travelIds, addresses, userNames }: PersonInLog,
): Promise<{ deleted: number[]; blanked: number[] }> {
  const deleted = new Set<number>();
  const blanked = new Set<number>();
  for (const batch of batches(ids)) {
    const rows = await db.selectFrom('exchange').select('position').where('person', 'in', batch).execute();
    for (const { position } of rows) deleted.add(position);
  }
  const note = async (names: readonly string[], isNamedByBodies: boolean) => {
    for (const batch of batches(keys.flatMap((key) => names.map(key.hash)))) {
      const query = db.selectFrom('exchange_name').select(['position', 'asked']).where('name', 'in', batch);
      for (const { position, asked } of await query.execute())
        if (asked === 1) deleted.add(position);
        else if (isNamedByBodies) blanked.add(position);
    }
  };
  await note([...ids, ...travelIds, ...addresses], true);
  await note(userNames, false);
  for (const batch of batches(travelIds)) {
    const rows = await db.selectFrom('exchange').select('position').where('user_id', 'in', batch).execute();
    for (const { position } of rows) blanked.add(position);
  }
  return { deleted: [...deleted], blanked: [...blanked].filter((position) => !deleted.has(position)) };
}

/** Finds the userNames and addresses that a person has had, in the bodies of the exchanges about the person. */
export async function findFormerNames(
  { db }: Database,
  keys: LogKeys,
  ids: readonly string[],
): Promise<string[]> {
  const found = new Set<string>();
  for (const batch of batches(ids)) {
    const rows = await db.selectFrom('exchange').selectAll().where('person', 'in', batch).execute();
    for (const row of rows) {
      const { requestBody, responseBody } = decodeExchange(row, keys) ?? {};
      for (const body of [requestBody, responseBody])
        for (const name of ownNames(body?.text)) found.add(name);
    }
  }
  return [...found];
}

/** Returns the userName and the addresses of the user in a body of SCIM or of the travel API: a resource, or the operations of a PATCH. */
function ownNames(body = ''): string[] {
  const { userName, emails, data, Operations } = parseObject(body);
  const operations = Array.isArray(Operations) ? Operations.map(Object) : [];
  const values = operations.flatMap(({ path, value }) => {
    if (typeof path !== 'string') return [Object(value)['userName'], ...addressesOf(Object(value)['emails'])];
    return /^(userName|emails)\b/i.test(path) ? [value, ...addressesOf(value)] : [];
  });
  const all: unknown[] = [userName, Object(data)['email'], ...addressesOf(emails), ...values];
  return all.filter((name) => typeof name === 'string').filter((name) => name !== '');
}

function addressesOf(emails: unknown): unknown[] {
  return [emails].flat().map((one: unknown) => Object(one)['value']);
}

/** Returns an object without members for a text that is no JSON, such as a truncated one. */
function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
