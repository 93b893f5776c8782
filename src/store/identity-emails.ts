import type { Kysely } from 'kysely';
import { batches } from './batches.ts';
import { emailKeys } from './keys.ts';
import { pick, prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

interface Owner {
  connection: string;
  id: string;
  desired: Parameters<typeof emailKeys>[0];
}

/** Keeps the addresses that new identities are found by. */
export async function addEmails(tx: Kysely<Tables>, owners: Owner[]): Promise<void> {
  const rows = owners.flatMap(({ connection, id, desired }) =>
    emailKeys(desired).map((key) => ({ connection_id: connection, identity_id: id, email_key: key })),
  );
  const [first, ...others] = rows;
  if (first && others.length === 0) await added(tx, first);
  else for (const batch of batches(rows)) await tx.insertInto('identity_email').values(batch).execute();
}

/** Keeps the addresses of an identity that had others, or the same, before. */
export async function replaceEmails(tx: Kysely<Tables>, owner: Owner): Promise<void> {
  const { rows } = await kept(tx, { connection: owner.connection, id: owner.id });
  const before = rows.map((row) => row.email_key);
  const after = new Set(emailKeys(owner.desired));
  if (before.length === after.size && before.every((key) => after.has(key))) return;
  await tx
    .deleteFrom('identity_email')
    .where('connection_id', '=', owner.connection)
    .where('identity_id', '=', owner.id)
    .execute();
  await addEmails(tx, [owner]);
}

const added = prepared((db, blanks: Tables['identity_email']) =>
  db.insertInto('identity_email').values(pick(blanks, ['connection_id', 'identity_id', 'email_key'])),
);

const kept = prepared((db, { connection, id }: { connection: string; id: string }) =>
  db
    .selectFrom('identity_email')
    .select('email_key')
    .where('connection_id', '=', connection)
    .where('identity_id', '=', id),
);
