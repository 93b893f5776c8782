import type { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import { exactKey, keyOf } from '../keys.ts';
import { batches } from '../statements.ts';
import type { Tables } from '../tables.ts';

/** The names of a person, and where they are looked for. */
export interface Asked {
  account: string;
  /** The identities of the person, as `<connection>/<id>`. */
  own: ReadonlySet<string>;
  names: readonly string[];
}

/** The connections of a travel account. */
export async function connectionsOf(db: Kysely<Tables>, account: string): Promise<string[]> {
  const rows = await db.selectFrom('connection').select('id').where('account', '=', account).execute();
  return rows.map(({ id }) => id);
}

/**
 * Those of the names that another identity of the account has as userName, externalId, display name or address, each with
 * the connections in which it does.
 */
export async function sharedNames({ db }: Database, asked: Asked): Promise<Map<string, Set<string>>> {
  const shared = new Map<string, Set<string>>();
  const byKey = grouped(asked.names, keyOf);
  const byExactKey = grouped(asked.names, exactKey);
  const note = (names: Map<string, string[]>, rows: Holder[]) => {
    for (const { connection_id, id, key } of rows) {
      if (asked.own.has(`${connection_id}/${id}`)) continue;
      for (const name of names.get(key ?? '') ?? [])
        shared.set(name, (shared.get(name) ?? new Set<string>()).add(connection_id));
    }
  };
  for (const column of ['user_name_key', 'display_name_key', 'travel_email_key'] as const)
    note(byKey, await holders(db, asked.account, { column, keys: [...byKey.keys()] }));
  note(byExactKey, await holders(db, asked.account, { column: 'external_id', keys: [...byExactKey.keys()] }));
  note(byKey, await addressees(db, asked.account, [...byKey.keys()]));
  return shared;
}

function grouped(names: readonly string[], key: (name: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const name of names) groups.set(key(name), [...(groups.get(key(name)) ?? []), name]);
  return groups;
}

interface Holder {
  connection_id: string;
  id: string;
  key: string | null;
}

async function holders(
  db: Kysely<Tables>,
  account: string,
  {
    column,
    keys,
  }: { column: 'user_name_key' | 'display_name_key' | 'travel_email_key' | 'external_id'; keys: string[] },
): Promise<Holder[]> {
  const found: Holder[] = [];
  for (const batch of batches(keys))
    found.push(
      ...(await db
        .selectFrom('identity')
        .select(['connection_id', 'id', `${column} as key`])
        .where('account', '=', account)
        .where(column, 'in', batch)
        .execute()),
    );
  return found;
}

async function addressees(db: Kysely<Tables>, account: string, keys: string[]): Promise<Holder[]> {
  const found: Holder[] = [];
  for (const batch of batches(keys))
    found.push(
      ...(await db
        .selectFrom('identity_email as email')
        .innerJoin('connection', 'connection.id', 'email.connection_id')
        .select(['email.connection_id', 'email.identity_id as id', 'email.email_key as key'])
        .where('connection.account', '=', account)
        .where('email.email_key', 'in', batch)
        .execute()),
    );
  return found;
}
