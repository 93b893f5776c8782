import type { CompiledQuery, Kysely } from 'kysely';
import { inScope, type Scope, scopeColumns } from './connection-scopes.ts';
import { compiledInsert, compiledQuery } from './queries.ts';
import { emailKeys } from './search-keys.ts';
import type { Tables } from './tables.ts';

interface EmailOwner {
  id: string;
  desired: Parameters<typeof emailKeys>[0];
}

/** Inserts the email keys of new identities. */
export async function insertEmailKeys(tx: Kysely<Tables>, scope: Scope, owners: EmailOwner[]): Promise<void> {
  for (const query of emailKeyInserts(tx, scope, owners)) await tx.executeQuery(query);
}

/** Returns the statements that insert the email keys of new identities. */
export function emailKeyInserts(
  db: Kysely<Tables>,
  scope: Scope,
  owners: EmailOwner[],
): CompiledQuery<unknown>[] {
  const rows = owners.flatMap(({ id, desired }) =>
    emailKeys(desired).map((key) => ({ ...scopeColumns(scope), identity_id: id, email_key: key })),
  );
  return insertEmailRows.compile(db, rows);
}

/** Replaces the email keys of an identity, if they have changed. */
export async function replaceEmailKeys(tx: Kysely<Tables>, scope: Scope, owner: EmailOwner): Promise<void> {
  const { rows } = await selectEmailKeys(tx, { ...scope, id: owner.id });
  const before = rows.map((row) => row.email_key);
  const after = new Set(emailKeys(owner.desired));
  if (before.length === after.size && before.every((key) => after.has(key))) return;
  await tx.deleteFrom('identity_email').where(inScope(scope)).where('identity_id', '=', owner.id).execute();
  await insertEmailKeys(tx, scope, [owner]);
}

const insertEmailRows = compiledInsert((db, rows: Tables['identity_email'][]) =>
  db.insertInto('identity_email').values(rows),
);

const selectEmailKeys = compiledQuery((db, key: Scope & { id: string }) =>
  db.selectFrom('identity_email').select('email_key').where(inScope(key)).where('identity_id', '=', key.id),
);
