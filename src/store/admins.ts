import type { Kysely, Selectable, Updateable } from 'kysely';
import type { Role } from '../admin/contract/operation.ts';
import type { AdminAccount, AdminAccounts, AdminSessions, AdminToken, AdminTokens } from '../admin/ports.ts';
import { foldCase } from '../schema/case-fold.ts';
import { revokeById } from './credentials.ts';
import type { Database } from './database.ts';
import type { Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/** Returns the store of the accounts of admins. */
export function adminAccounts({ db, transaction, dialect }: Database): AdminAccounts {
  return {
    create: (account) => createAccount(db, account),

    list: async () => {
      const rows = await db
        .selectFrom('admin_account')
        .selectAll()
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(toAccount);
    },

    findByName: async (name) => {
      const row = await db
        .selectFrom('admin_account')
        .selectAll()
        .where('name_key', '=', foldCase(name))
        .executeTakeFirst();
      return row && { ...toAccount(row), passwordHash: row.password_hash ?? undefined };
    },

    setPassword: (id, passwordHash) =>
      transaction((tx) => changeAndSignOut(tx, id, { password_hash: passwordHash })),

    changePassword: ({ id, from, to, session }) =>
      transaction((tx) => changeAndSignOut(tx, id, { password_hash: to }, { from, session })),

    setRole: (id, role) =>
      transaction(async (tx) => {
        if (role !== 'admin' && (await isOnlyAdmin(tx, dialect, id))) return 'onlyAdmin';
        return (await changeActive(tx, id, { role })) ? 'done' : 'gone';
      }),

    revoke: (id, now, { evenOnlyAdmin } = { evenOnlyAdmin: false }) =>
      transaction(async (tx) => {
        if (!evenOnlyAdmin && (await isOnlyAdmin(tx, dialect, id))) return 'onlyAdmin';
        if (!(await changeAndSignOut(tx, id, { revoked_at: now, name_key: null }))) return 'gone';
        await revokeTokensOf(tx, id, now);
        return 'done';
      }),

    recordSignIn: async (id, now) => {
      await db.updateTable('admin_account').set({ last_sign_in_at: now }).where('id', '=', id).execute();
    },
  };
}

async function createAccount(
  db: Kysely<Tables>,
  { id, name, role, passwordHash, createdAt }: Parameters<AdminAccounts['create']>[0],
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

/** Returns the store of the sessions of signed-in admins. Uses are not synced at once. */
export function adminSessions({ db, transaction, dialect }: Database): AdminSessions {
  return {
    create: (session) => createSession(db, dialect, session),

    listOf: (accountId) => listSessions(db, accountId),

    find: async (hash) => {
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

    recordUse: (hash, now) =>
      transaction(
        async (tx) => {
          await tx.updateTable('admin_session').set({ last_seen_at: now }).where('hash', '=', hash).execute();
        },
        { durable: false },
      ),

    remove: async (hash) => {
      await db.deleteFrom('admin_session').where('hash', '=', hash).execute();
    },

    removeExpired: async ({ createdBefore, seenBefore }) => {
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
  { hash, accountId, passwordHash, createdAt, address, userAgent }: Parameters<AdminSessions['create']>[0],
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

async function listSessions(db: Kysely<Tables>, accountId: string): ReturnType<AdminSessions['listOf']> {
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

/** Returns the store of the tokens with which scripts call the admin API. */
export function adminTokens({ db }: Database): AdminTokens {
  return {
    create: async ({ id, hash, name, role, makerId, createdAt, expiresAt }) => {
      const times = { created_at: createdAt, expires_at: expiresAt ?? null, revoked_at: null };
      await db
        .insertInto('admin_token')
        .values({ id, hash, name, role, made_by: makerId ?? null, ...times })
        .execute();
    },

    list: async () => {
      const rows = await tokensWithMakers(db).orderBy('token.created_at').orderBy('token.id').execute();
      return rows.map(toToken);
    },

    revoke: (id, now) => revokeById(db, 'admin_token', { id, now }),

    findActive: async (hash, now) => {
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
