import type { Kysely } from 'kysely';
import { type Scope, scopeColumns } from '../connection-scopes.ts';
import { compiledInsert, compiledQuery } from '../sql/queries.ts';
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

/** Changes the keys of an identity that has had those of `before`. */
export async function updateEmailKeys(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, desired, before }: EmailOwner & { before: EmailOwner['desired'] },
): Promise<void> {
  const [former, wanted] = [contactKeys(before), contactKeys(desired)];
  const owner = { ...scopeColumns(scope), identity_id: id };
  const gone = former.filter((key) => !wanted.includes(key));
  const added = wanted.filter((key) => !former.includes(key));
  // Mostly one key takes the place of another one, such as the key that begins with the name.
  for (const [index, email_key] of gone.entries()) {
    const replacement = added[index];
    if (replacement === undefined) await deleteKey(tx, { ...owner, email_key });
    else await replaceKey(tx, { ...owner, email_key, replacement });
  }
  const further = added.slice(gone.length);
  await insertKeys(
    tx,
    further.map((email_key) => ({ ...owner, email_key })),
  );
}

const replaceKey = compiledQuery((db, key: Tables['identity_email'] & { replacement: string }) =>
  db
    .updateTable('identity_email')
    .set({ email_key: key.replacement })
    .where('account', '=', key.account)
    .where('connection_id', '=', key.connection_id)
    .where('identity_id', '=', key.identity_id)
    .where('email_key', '=', key.email_key),
);

const deleteKey = compiledQuery((db, key: Tables['identity_email']) =>
  db
    .deleteFrom('identity_email')
    .where('account', '=', key.account)
    .where('connection_id', '=', key.connection_id)
    .where('identity_id', '=', key.identity_id)
    .where('email_key', '=', key.email_key),
);
