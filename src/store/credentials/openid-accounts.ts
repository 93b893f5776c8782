import type { Kysely } from 'kysely';
import type { Role } from '../../operations/operation.ts';
import { foldCase } from '../../schema/case-fold.ts';
import type { Database } from '../sql/database.ts';
import type { Tables } from '../sql/tables.ts';
import { revokeTokensOf } from './admins.ts';

/** A person whom the OpenID provider has identified, at a sign-in. */
interface OpenidPerson {
  /** The id of the account, if it is created now. */
  id: string;
  /** The issuer, a space, and the claim `sub`, which never changes and is never given to somebody else. */
  subject: string;
  name: string;
  role: Role;
  now: number;
}

type SignedIn = { accountId: string } | { refused: 'nameTaken' | 'revoked' };

/** The accounts of people who sign in through the OpenID provider. */
export type OpenidAccounts = ReturnType<typeof openidAccounts>;

/**
 * Returns the store of the accounts of people who sign in through the OpenID provider. Their subjects identify them; the names are unique
 * among all accounts.
 */
export function openidAccounts({ db, transaction }: Database) {
  return {
    /** Creates the account of a person, or gives it the present name and role. */
    signIn: (person: OpenidPerson): Promise<SignedIn> => transaction((tx) => signIn(tx, person)),

    /** Ends the sessions of a subject and revokes the tokens that it made, if it has an account. */
    endAccess: (subject: string, now: number): Promise<void> =>
      transaction(async (tx) => {
        const account = await tx
          .selectFrom('admin_account')
          .select('id')
          .where('openid_subject', '=', subject)
          .executeTakeFirst();
        if (!account) return;
        await tx.deleteFrom('admin_session').where('account_id', '=', account.id).execute();
        await revokeTokensOf(tx, account.id, now);
      }),

    /** Lets a revoked account sign in again. False if there is no such account, or it is not revoked. */
    restore: async (id: string): Promise<boolean> => {
      const restored = await db
        .updateTable('admin_account')
        .set({ revoked_at: null })
        .where('id', '=', id)
        .where('revoked_at', 'is not', null)
        .where('openid_subject', 'is not', null)
        .executeTakeFirst();
      return restored.numUpdatedRows > 0n;
    },
  };
}

/** A name belongs to one account; only its person changes it, by signing in with another name. */
async function signIn(tx: Kysely<Tables>, { id, subject, name, role, now }: OpenidPerson): Promise<SignedIn> {
  const accounts = tx.selectFrom('admin_account').select(['id', 'openid_subject', 'revoked_at']);
  const holder = await accounts.where('name_key', '=', foldCase(name)).executeTakeFirst();
  if (holder && holder.openid_subject !== subject) return { refused: 'nameTaken' };
  const shown = { name, name_key: foldCase(name), role, last_sign_in_at: now };
  const others = { password_hash: null, openid_subject: subject, created_at: now, revoked_at: null };
  await tx
    .insertInto('admin_account')
    .values({ id, ...shown, ...others })
    .onConflict((any) => any.doNothing())
    .execute();
  const account = await accounts.where('openid_subject', '=', subject).executeTakeFirst();
  // Another person has taken the name since it was looked up.
  if (!account) return { refused: 'nameTaken' };
  if (account.revoked_at !== null) return { refused: 'revoked' };
  await tx.updateTable('admin_account').set(shown).where('id', '=', account.id).execute();
  return { accountId: account.id };
}

/** The number of attempts that are kept, so that strangers who begin sign-ins cannot fill the disk. */
const MAX_ATTEMPTS = 10_000;
/** At most as many are removed with each one that is added. */
const REMOVED_AT_ONCE = 10;

/** The sign-ins through the OpenID provider that have come back, for all replicas. */
export type OpenidAttempts = ReturnType<typeof openidAttempts>;

/** Returns the store of the attempts that have come back. Beyond `max`, those that expire first are forgotten. */
export function openidAttempts({ transaction }: Database, max = MAX_ATTEMPTS) {
  return {
    /** Records that an attempt has come back. False if it has done so before. `expiresAt` is the time from which no replica accepts it. */
    useOnce: ({ hash, expiresAt }: { hash: string; expiresAt: number }, now: number): Promise<boolean> =>
      transaction(async (tx) => {
        await tx.deleteFrom('openid_attempt').where('expires_at', '<=', now).execute();
        const used = await tx
          .insertInto('openid_attempt')
          .values({ hash, expires_at: expiresAt })
          .onConflict((same) => same.doNothing())
          .executeTakeFirst();
        const oldest = tx
          .selectFrom('openid_attempt')
          .select('hash')
          .orderBy('expires_at', 'desc')
          .orderBy('hash')
          .limit(REMOVED_AT_ONCE)
          .offset(max);
        await tx.deleteFrom('openid_attempt').where('hash', 'in', oldest).execute();
        return (used.numInsertedOrUpdatedRows ?? 0n) > 0n;
      }),
  };
}
