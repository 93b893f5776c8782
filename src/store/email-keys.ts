import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { inScope, type Scope, scopeColumns } from './connection-scopes.ts';
import { compiledInsert, compiledQuery } from './queries.ts';
import { contactKeys } from './search-keys.ts';
import type { Tables } from './tables.ts';

interface EmailOwner {
  id: string;
  desired: Parameters<typeof contactKeys>[0];
}

/** Inserts the keys of new identities: those of email addresses and employee numbers. */
export async function insertEmailKeys(tx: Kysely<Tables>, scope: Scope, owners: EmailOwner[]): Promise<void> {
  const { account, connection_id } = scopeColumns(scope);
  const rows: Tables['identity_email'][] = [];
  for (const { id, desired } of owners)
    for (const key of contactKeys(desired))
      rows.push({ account, connection_id, identity_id: id, email_key: key });
  await insertEmailRows(tx, rows);
}

/** Returns the statements that insert the email keys of a new identity if the identity is stored. */
export function storedIdentityEmails(
  db: Kysely<Tables>,
  scope: Scope,
  { id, desired }: EmailOwner,
): CompiledQuery<unknown>[] {
  return contactKeys(desired).map((key) => insertEmailIfStored.compile(db, { ...scope, id, key }));
}

const insertEmailIfStored = compiledQuery((db, email: Scope & { id: string; key: string }) =>
  db
    .insertInto('identity_email')
    .columns(['account', 'connection_id', 'identity_id', 'email_key'])
    .expression((of) =>
      of
        .selectFrom('identity')
        .select(['account', 'connection_id', 'id', sql<string>`${email.key}`.as('email_key')])
        .where(inScope(email))
        .where('id', '=', email.id),
    ),
);

/** Replaces the email keys of an identity, if they have changed. */
export async function replaceEmailKeys(tx: Kysely<Tables>, scope: Scope, owner: EmailOwner): Promise<void> {
  const { rows } = await selectEmailKeys(tx, { ...scope, id: owner.id });
  const before = rows.map((row) => row.email_key);
  const after = new Set(contactKeys(owner.desired));
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
