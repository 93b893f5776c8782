import type { Kysely, Selectable, Updateable } from 'kysely';
import type { Role } from '../../operations/operation.ts';
import { foldCase } from '../../schema/case-fold.ts';
import type { Database } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Tables } from '../sql/tables.ts';
import { revokeById } from './credentials.ts';

/** A person who may sign in to the admin page. Times are epoch milliseconds, here and below. */
export interface AdminAccount {
  id: string;
  /** The name with which the person signs in: any text or an email address, unique without regard to case. */
  name: string;
  role: Role;
  createdAt: number;
  /** The time at which the account was revoked; undefined while it may sign in. */
  revokedAt: number | undefined;
  lastSignInAt: number | undefined;
  /** False if the person signs in through the OpenID provider only. */
  hasPassword: boolean;
  /** The issuer of the provider that identifies the person; undefined for an account with a password. */
  issuer: string | undefined;
}

/**
 * `gone`: there is no such account, or it was revoked before. `onlyAdmin`: without the account no admin could sign in with a
 * password, also while the OpenID provider is down.
 */
export type AccountChange = 'done' | 'gone' | 'onlyAdmin';

type NewAccount = Pick<AdminAccount, 'id' | 'name' | 'role' | 'createdAt'> & { passwordHash: string };

type AccountWithHash = AdminAccount & { passwordHash: string | undefined };

interface PasswordChange {
  id: string;
  /** The hash of the password that was verified. */
  from: string;
  to: string;
  /** The hash of the session that goes on. */
  session: string;
}

/** The accounts of admins. */
export type AdminAccounts = ReturnType<typeof adminAccounts>;

/** Returns the store of the accounts of admins. Passwords are stored as hashes only. */
export function adminAccounts({ db, transaction, dialect }: Database) {
  return {
    /** False if an account that is not revoked has this name. */
    create: (account: NewAccount): Promise<boolean> => createAccount(db, account),

    /** All accounts, also revoked ones, in the order of their creation. */
    list: async (): Promise<AdminAccount[]> => {
      const accounts = db.selectFrom('admin_account').selectAll();
      return (await accounts.orderBy('created_at').orderBy('id').execute()).map(toAccount);
    },

    /** The account with this name that is not revoked, and the hash of its password. */
    findByName: async (name: string): Promise<AccountWithHash | undefined> => {
      const row = await db
        .selectFrom('admin_account')
        .selectAll()
        .where('name_key', '=', foldCase(name))
        .executeTakeFirst();
      return row && { ...toAccount(row), passwordHash: row.password_hash ?? undefined };
    },

    /** Sets the password and ends all sessions of the account. False if there is no such account, or it is revoked. */
    setPassword: (id: string, passwordHash: string): Promise<boolean> =>
      transaction((tx) => changeAndSignOut(tx, id, { password_hash: passwordHash })),

    /** Replaces a password and ends the other sessions of the account. False if the account has another password by now, or is revoked. */
    changePassword: ({ id, from, to, session }: PasswordChange): Promise<boolean> =>
      transaction((tx) => changeAndSignOut(tx, id, { password_hash: to }, { from, session })),

    setRole: (id: string, role: Role): Promise<AccountChange> =>
      transaction(async (tx) => {
        if (role !== 'admin' && (await isOnlyAdmin(tx, dialect, id))) return 'onlyAdmin';
        return (await changeActive(tx, id, { role })) ? 'done' : 'gone';
      }),

    /** Revokes the account and the tokens that it made, and ends its sessions; with `evenOnlyAdmin` also that of the only admin. */
    revoke: (id: string, now: number, { evenOnlyAdmin } = { evenOnlyAdmin: false }): Promise<AccountChange> =>
      transaction(async (tx) => {
        if (!evenOnlyAdmin && (await isOnlyAdmin(tx, dialect, id))) return 'onlyAdmin';
        if (!(await changeAndSignOut(tx, id, { revoked_at: now, name_key: null }))) return 'gone';
        await revokeTokensOf(tx, id, now);
        return 'done';
      }),

    recordSignIn: async (id: string, now: number): Promise<void> => {
      await db.updateTable('admin_account').set({ last_sign_in_at: now }).where('id', '=', id).execute();
    },
  };
}

async function createAccount(
  db: Kysely<Tables>,
  { id, name, role, passwordHash, createdAt }: NewAccount,
): Promise<boolean> {
  const created = await db
    .insertInto('admin_account')
    .values({
      ...{ id, name, name_key: foldCase(name), role, password_hash: passwordHash },
      ...{ openid_subject: null, created_at: createdAt, revoked_at: null, last_sign_in_at: null },
    })
    .onConflict((same) => same.column('name_key').doNothing())
    .executeTakeFirst();
  return (created.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Locks the admins with a password, so that two of them cannot be revoked at once because the other one is left. */
async function isOnlyAdmin(tx: Kysely<Tables>, dialect: Dialect, id: string): Promise<boolean> {
  const admins = tx
    .selectFrom('admin_account')
    .select('id')
    .where('role', '=', 'admin')
    .where('revoked_at', 'is', null)
    .where('password_hash', 'is not', null)
    .orderBy('id');
  const [first, ...others] = await dialect.lockRows(admins).execute();
  return first?.id === id && others.length === 0;
}

/**
 * Changes an account, unless it is revoked, and ends its sessions, apart from one. With `from` it also does nothing unless the account has
 * this hash. The row is changed, and thereby locked, first: a session that another transaction inserts meanwhile is either seen by the
 * deletion, or sees the change (`adminSessions`).
 */
async function changeAndSignOut(
  tx: Kysely<Tables>,
  id: string,
  change: Updateable<Tables['admin_account']>,
  { from, session }: { from?: string; session?: string } = {},
): Promise<boolean> {
  if (!(await changeActive(tx, id, change, from))) return false;
  let sessions = tx.deleteFrom('admin_session').where('account_id', '=', id);
  if (session !== undefined) sessions = sessions.where('hash', '<>', session);
  await sessions.execute();
  return true;
}

/** Revokes the tokens that an account made. */
export async function revokeTokensOf(tx: Kysely<Tables>, accountId: string, now: number): Promise<void> {
  await tx
    .updateTable('admin_token')
    .set({ revoked_at: now })
    .where('made_by', '=', accountId)
    .where('revoked_at', 'is', null)
    .execute();
}

async function changeActive(
  db: Kysely<Tables>,
  id: string,
  change: Updateable<Tables['admin_account']>,
  passwordHash?: string,
): Promise<boolean> {
  let update = db
    .updateTable('admin_account')
    .set(change)
    .where('id', '=', id)
    .where('revoked_at', 'is', null);
  if (passwordHash !== undefined) update = update.where('password_hash', '=', passwordHash);
  return (await update.executeTakeFirst()).numUpdatedRows > 0n;
}

function toAccount(row: Selectable<Tables['admin_account']>): AdminAccount {
  return {
    id: row.id,
    name: row.name,
    role: toRole(row.role),
    createdAt: row.created_at,
    revokedAt: row.revoked_at ?? undefined,
    lastSignInAt: row.last_sign_in_at ?? undefined,
    hasPassword: row.password_hash !== null,
    issuer: toIssuer(row.openid_subject),
  };
}

/** A subject is the issuer, a space, and the claim `sub`. No URL has a space. */
function toIssuer(subject: string | null): string | undefined {
  return subject?.split(' ')[0];
}

/** A role that this program does not know may do as little as possible. */
function toRole(role: string): Role {
  return role === 'admin' ? 'admin' : 'viewer';
}

/** A signed-in browser. Only a hash of its secret is stored. */
export interface AdminSession {
  hash: string;
  accountId: string;
  name: string;
  role: Role;
  /** False if the person signs in through the OpenID provider. */
  hasPassword: boolean;
  issuer: string | undefined;
  createdAt: number;
  lastSeenAt: number;
}

/** The browser of a session, as it was at the sign-in. */
export interface SessionBrowser {
  address: string | undefined;
  /** The header `User-Agent`, cut. */
  userAgent: string | undefined;
}

type NewSession = Pick<AdminSession, 'hash' | 'accountId' | 'createdAt'> &
  SessionBrowser & {
    /** The hash that was verified; undefined stands for an account without a password. */
    passwordHash: string | undefined;
  };

/** A session in the list of its account. */
export type ListedSession = Pick<AdminSession, 'hash' | 'createdAt' | 'lastSeenAt'> & SessionBrowser;

/** The sessions of all replicas. */
export type AdminSessions = ReturnType<typeof adminSessions>;

/** Returns the store of the sessions of signed-in admins. Uses are not synced at once. */
export function adminSessions({ db, transaction, dialect }: Database) {
  return {
    /** False, and there is no session, if the account is revoked or its password has another hash by now than the one that was verified. */
    create: (session: NewSession): Promise<boolean> => createSession(db, dialect, session),

    /** The sessions of an account, the newest first, whether their time is over or not. */
    listOf: (accountId: string): Promise<ListedSession[]> => listSessions(db, accountId),

    /** The session with this hash whose account is not revoked, whether its time is over or not. */
    find: async (hash: string): Promise<AdminSession | undefined> => {
      const row = await db
        .selectFrom('admin_session as session')
        .innerJoin('admin_account as account', 'account.id', 'session.account_id')
        .select(['account.id', 'account.name', 'account.role'])
        .select(['account.password_hash', 'account.openid_subject'])
        .select(['session.created_at', 'session.last_seen_at'])
        .where('session.hash', '=', hash)
        .where('account.revoked_at', 'is', null)
        .executeTakeFirst();
      return (
        row && {
          ...{ hash, accountId: row.id, name: row.name, role: toRole(row.role) },
          ...{ hasPassword: row.password_hash !== null, issuer: toIssuer(row.openid_subject) },
          ...{ createdAt: row.created_at, lastSeenAt: row.last_seen_at },
        }
      );
    },

    recordUse: (hash: string, now: number): Promise<void> =>
      transaction(
        async (tx) => {
          await tx.updateTable('admin_session').set({ last_seen_at: now }).where('hash', '=', hash).execute();
        },
        { durable: false },
      ),

    remove: async (hash: string): Promise<void> => {
      await db.deleteFrom('admin_session').where('hash', '=', hash).execute();
    },

    /** Removes sessions that were created or used last before these times. */
    removeExpired: async ({
      createdBefore,
      seenBefore,
    }: {
      createdBefore: number;
      seenBefore: number;
    }): Promise<void> => {
      await db
        .deleteFrom('admin_session')
        .where((session) =>
          session.or([session('created_at', '<', createdBefore), session('last_seen_at', '<', seenBefore)]),
        )
        .execute();
    },
  };
}

async function createSession(
  db: Kysely<Tables>,
  dialect: Dialect,
  { hash, accountId, passwordHash, createdAt, address, userAgent }: NewSession,
): Promise<boolean> {
  const account = db
    .selectFrom('admin_account')
    .select(({ val, cast }) => [
      val(hash).as('hash'),
      'id',
      cast<number>(val(createdAt), 'bigint').as('created_at'),
      cast<number>(val(createdAt), 'bigint').as('last_seen_at'),
      val(address ?? null).as('address'),
      val(userAgent ?? null).as('user_agent'),
    ])
    .where('id', '=', accountId)
    .where('revoked_at', 'is', null)
    .where('password_hash', passwordHash === undefined ? 'is' : '=', passwordHash ?? null);
  // Locked, so that a change of the account that is under way is waited for, and then seen.
  const created = await db
    .insertInto('admin_session')
    .columns(['hash', 'account_id', 'created_at', 'last_seen_at', 'address', 'user_agent'])
    .expression(dialect.lockValues(account))
    .executeTakeFirst();
  return (created.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

async function listSessions(db: Kysely<Tables>, accountId: string): Promise<ListedSession[]> {
  const rows = await db
    .selectFrom('admin_session')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    .execute();
  return rows.map((row) => ({
    ...{ hash: row.hash, createdAt: row.created_at, lastSeenAt: row.last_seen_at },
    ...{ address: row.address ?? undefined, userAgent: row.user_agent ?? undefined },
  }));
}

/** A token with which a script calls the admin API. */
export interface AdminToken {
  id: string;
  name: string;
  /** The role at present: it is never higher than that of the maker. */
  role: Role;
  /** The account that made the token, itself or by another token; undefined for a token of an earlier version. */
  maker: Pick<AdminAccount, 'id' | 'name' | 'issuer'> | undefined;
  createdAt: number;
  /** Undefined for a token of an earlier version that does not expire. */
  expiresAt: number | undefined;
  revokedAt: number | undefined;
}

/** The tokens of scripts. */
export type AdminTokens = ReturnType<typeof adminTokens>;

/** Returns the store of the tokens with which scripts call the admin API. Only their hashes are stored. */
export function adminTokens({ db }: Database) {
  return {
    create: async ({
      id,
      hash,
      name,
      role,
      makerId,
      createdAt,
      expiresAt,
    }: Omit<AdminToken, 'revokedAt' | 'maker'> & {
      hash: string;
      makerId: string | undefined;
    }): Promise<void> => {
      const times = { created_at: createdAt, expires_at: expiresAt ?? null, revoked_at: null };
      await db
        .insertInto('admin_token')
        .values({ id, hash, name, role, made_by: makerId ?? null, ...times })
        .execute();
    },

    list: async (): Promise<AdminToken[]> => {
      const rows = await tokensWithMakers(db).orderBy('token.created_at').orderBy('token.id').execute();
      return rows.map(toToken);
    },

    /** False if there is no such token, or it was revoked before. */
    revoke: (id: string, now: number): Promise<boolean> => revokeById(db, 'admin_token', { id, now }),

    /** The token with this hash, unless it or its maker is revoked, or it has expired. */
    findActive: async (hash: string, now: number): Promise<AdminToken | undefined> => {
      const row = await tokensWithMakers(db)
        .where('token.hash', '=', hash)
        .where('token.revoked_at', 'is', null)
        .where('maker.revoked_at', 'is', null)
        .where((one) => one.or([one('token.expires_at', 'is', null), one('token.expires_at', '>', now)]))
        .executeTakeFirst();
      return row && toToken(row);
    },
  };
}

function tokensWithMakers(db: Kysely<Tables>) {
  return db
    .selectFrom('admin_token as token')
    .leftJoin('admin_account as maker', 'maker.id', 'token.made_by')
    .selectAll('token')
    .select([
      'maker.name as maker_name',
      'maker.role as maker_role',
      'maker.openid_subject as maker_subject',
    ]);
}

type TokenRow = Selectable<Tables['admin_token']> &
  Record<'maker_name' | 'maker_role' | 'maker_subject', string | null>;

function toToken(row: TokenRow): AdminToken {
  const { made_by: makerId, maker_name: maker, maker_role: makerRole } = row;
  return {
    id: row.id,
    name: row.name,
    role: toRole(makerRole === 'admin' || makerRole === null ? row.role : 'viewer'),
    maker:
      makerId === null || maker === null
        ? undefined
        : { id: makerId, name: maker, issuer: toIssuer(row.maker_subject) },
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}
