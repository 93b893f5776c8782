import type { Kysely } from 'kysely';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import { compiledInsert } from '../sql/queries.ts';
import { contactKeys } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';

interface EmailOwner {
  id: string;
  desired: Parameters<typeof contactKeys>[0];
}

/** Inserts the keys of new identities: those of email addresses and employee numbers. */
export async function insertEmailKeys(tx: Kysely<Tables>, scope: Scope, owners: EmailOwner[]): Promise<void> {
  const rows = owners.flatMap(({ id, desired }) =>
    contactKeys(desired).map((key) => ({ ...scopeColumns(scope), identity_id: id, email_key: key })),
  );
  await insertKeys(tx, rows);
}

const insertKeys = compiledInsert((db, rows: Tables['identity_email'][]) =>
  db.insertInto('identity_email').values(rows),
);

/** Replaces the email keys of an identity, if they have changed. */
export async function replaceEmailKeys(tx: Kysely<Tables>, scope: Scope, owner: EmailOwner): Promise<void> {
  const rows = await tx
    .selectFrom('identity_email')
    .select('email_key')
    .where(inScope(scope))
    .where('identity_id', '=', owner.id)
    .execute();
  const after = new Set(contactKeys(owner.desired));
  if (rows.length === after.size && rows.every(({ email_key }) => after.has(email_key))) return;
  await tx.deleteFrom('identity_email').where(inScope(scope)).where('identity_id', '=', owner.id).execute();
  await insertEmailKeys(tx, scope, [owner]);
}
