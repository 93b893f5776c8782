import type { Kysely } from 'kysely';
import type { ResourceRef } from '../../travel/ports.ts';
import type { Encryption } from '../credentials/encryption.ts';
import type { Database } from '../sql/database.ts';
import type { Tables } from '../sql/tables.ts';

/** Saves a new secret of a resource. The earlier ones expire at `othersEnd`, in epoch milliseconds. */
export async function saveSecret(
  tx: Kysely<Tables>,
  encryption: Encryption,
  { ref: { type, id }, secret, othersEnd }: { ref: ResourceRef; secret: string; othersEnd: number },
): Promise<void> {
  await tx
    .updateTable('travel_secret')
    .set({ until: othersEnd })
    .where('type', '=', type)
    .where('id', '=', id)
    .where('until', 'is', null)
    .execute();
  await tx
    .insertInto('travel_secret')
    .values({ type, id, sealed: encryption.encrypt(secret, encryptionContext({ type, id })), until: null })
    .execute();
}

/**
 * Reads the secrets of a resource that are valid at a time, newest first. Leaves out those that cannot be decrypted.
 */
export async function readSecrets(
  db: Kysely<Tables>,
  encryption: Encryption,
  { ref: { type, id }, now }: { ref: ResourceRef; now: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('travel_secret')
    .select(['sealed', 'until'])
    .where('type', '=', type)
    .where('id', '=', id)
    .where((row) => row.or([row('until', 'is', null), row('until', '>', now)]))
    .execute();
  const endOf = ({ until }: { until: number | null }) => until ?? Number.MAX_SAFE_INTEGER;
  return rows
    .sort((one, other) => endOf(other) - endOf(one))
    .flatMap((row) => encryption.decrypt(row.sealed, encryptionContext({ type, id })) ?? []);
}

/** True if the database contains any secret. */
export async function hasSecrets(db: Kysely<Tables>): Promise<boolean> {
  return (await db.selectFrom('travel_secret').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Counts the valid secrets that cannot be decrypted. */
export async function countUnreadableSecrets(
  db: Kysely<Tables>,
  encryption: Encryption,
  now: number,
): Promise<number> {
  const rows = await db
    .selectFrom('travel_secret')
    .selectAll()
    .where((row) => row.or([row('until', 'is', null), row('until', '>', now)]))
    .execute();
  return rows.filter((row) => encryption.decrypt(row.sealed, encryptionContext(row)) === undefined).length;
}

/**
 * Encrypts the secrets that only the previous key decrypts again, with the current key: all of them or none. Returns
 * how many were encrypted again, and how many valid secrets neither key decrypts. If there are any of the latter,
 * nothing is written.
 */
export async function reencryptStoredSecrets(
  { transaction }: Database,
  { current, previous }: { current: Encryption; previous: Encryption | undefined },
  now: number,
): Promise<{ resealed: number; unreadable: number }> {
  return transaction(async (tx) => {
    const rows = await tx.selectFrom('travel_secret').selectAll().execute();
    const old = rows.filter((row) => current.decrypt(row.sealed, encryptionContext(row)) === undefined);
    const opened = old.map((row) => ({ row, text: previous?.decrypt(row.sealed, encryptionContext(row)) }));
    const unreadable = opened.filter(({ row, text }) => text === undefined && (row.until ?? now + 1) > now);
    if (unreadable.length > 0) return { resealed: 0, unreadable: unreadable.length };
    let resealed = 0;
    for (const { row, text } of opened) {
      if (text === undefined) continue;
      await tx
        .updateTable('travel_secret')
        .set({ sealed: current.encrypt(text, encryptionContext(row)) })
        .where('type', '=', row.type)
        .where('id', '=', row.id)
        .where('sealed', '=', row.sealed)
        .execute();
      resealed += 1;
    }
    return { resealed, unreadable: 0 };
  });
}

/** Deletes at most `limit` secrets that expired before a time. Returns their number. */
export async function deleteExpiredSecrets(
  db: Kysely<Tables>,
  before: number,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('travel_secret')
    .where('sealed', 'in', (ended) =>
      ended.selectFrom('travel_secret').select('sealed').where('until', '<', before).limit(limit),
    )
    .where('until', '<', before)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function encryptionContext({ type, id }: ResourceRef): string {
  return `${type}/${id}`;
}
