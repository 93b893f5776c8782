import type { Selectable } from 'kysely';
import type { Database } from '../sql/database.ts';
import type { Tables } from '../sql/tables.ts';
import { revokeById } from './credentials.ts';

/** The password of the built-in admin, as it is stored. */
export interface AdminPassword {
  /** Another one with each password. Sessions name the password with which they began. */
  id: string;
  hash: string;
}

/** The one row of the table. */
const ROW = 1;

/** Returns the store of the password of the built-in admin. There is none before the first start has ended. */
export function adminPassword({ db }: Database) {
  return {
    read: (): Promise<AdminPassword | undefined> =>
      db.selectFrom('admin_password').select(['id', 'hash']).executeTakeFirst(),

    /** False if there is a password already, which is kept. */
    create: async (password: AdminPassword): Promise<boolean> => {
      const created = await db
        .insertInto('admin_password')
        .values({ one: ROW, ...password })
        .onConflict((same) => same.doNothing())
        .executeTakeFirst();
      return (created.numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    /** Sets the password. The sessions that began with another one are over. */
    replace: async (password: AdminPassword): Promise<void> => {
      await db
        .insertInto('admin_password')
        .values({ one: ROW, ...password })
        .onConflict((same) => same.column('one').doUpdateSet(password))
        .execute();
    },
  };
}

export type AdminPasswords = ReturnType<typeof adminPassword>;

/** Somebody who may use the admin page: the built-in admin, or a person whom the OpenID provider has identified. */
export interface Admin {
  name: string;
  role: Role;
  /** Of a person: the issuer of the provider, a space, and the claim `sub`. Undefined for the built-in admin. */
  subject: string | undefined;
}

/** A signed-in browser. Only a hash of its secret is stored. Times are epoch milliseconds, here and below. */
export interface AdminSession extends Admin {
  hash: string;
  createdAt: number;
  lastSeenAt: number;
  /** The address of the browser at the sign-in. */
  address: string | undefined;
  /** The header `User-Agent` at the sign-in, cut. */
  userAgent: string | undefined;
}

interface NewSession extends Omit<AdminSession, 'lastSeenAt'> {
  /** The id of the password that was verified; undefined for a person of the OpenID provider. */
  passwordId: string | undefined;
}

/** The sessions of all replicas. */
export type AdminSessions = ReturnType<typeof adminSessions>;

/** Returns the store of the sessions of signed-in admins. Uses are not synced at once. */
export function adminSessions(database: Database) {
  const { db, transaction } = database;
  /** A session that began with a password that was replaced since is over, also if it is stored after the replacement. */
  const selectValid = () =>
    db
      .selectFrom('admin_session as session')
      .leftJoin('admin_password as password', 'password.id', 'session.password_id')
      .selectAll('session')
      .where((row) => row.or([row('session.subject', 'is not', null), row('password.id', 'is not', null)]));
  return {
    create: async ({ hash, name, role, subject, passwordId, createdAt, ...browser }: NewSession) => {
      await db
        .insertInto('admin_session')
        .values({
          ...{ hash, name, role, subject: subject ?? null, password_id: passwordId ?? null },
          ...{ created_at: createdAt, last_seen_at: createdAt },
          ...{ address: browser.address ?? null, user_agent: browser.userAgent ?? null },
        })
        .execute();
    },

    /** The valid sessions, the newest first, whether their time is over or not. */
    list: async (): Promise<AdminSession[]> => {
      const rows = selectValid().orderBy('session.created_at', 'desc').orderBy('session.hash');
      return (await rows.execute()).map(toSession);
    },

    /** The valid session with this hash, whether its time is over or not. */
    find: async (hash: string): Promise<AdminSession | undefined> => {
      const row = await selectValid().where('session.hash', '=', hash).executeTakeFirst();
      return row && toSession(row);
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
    removeExpired: async (times: { createdBefore: number; seenBefore: number }): Promise<void> => {
      const { createdBefore, seenBefore } = times;
      await db
        .deleteFrom('admin_session')
        .where(({ or, eb }) =>
          or([eb('created_at', '<', createdBefore), eb('last_seen_at', '<', seenBefore)]),
        )
        .execute();
    },

    /** Gives the sessions of a person the present name and role. The tokens that a viewer made as an admin are those of a viewer from now on. */
    updatePerson: (person: Admin & { subject: string }): Promise<void> => updatePerson(database, person),

    /** Ends the sessions of a person, and revokes the tokens that the person made. */
    endAccess: (subject: string, now: number): Promise<void> => endAccess(database, subject, now),
  };
}

function updatePerson(
  { transaction }: Database,
  { subject, name, role }: Admin & { subject: string },
): Promise<void> {
  return transaction(async (tx) => {
    await tx.updateTable('admin_session').set({ name, role }).where('subject', '=', subject).execute();
    if (role === 'viewer')
      await tx.updateTable('admin_token').set({ role }).where('maker_subject', '=', subject).execute();
  });
}

function endAccess({ transaction }: Database, subject: string, now: number): Promise<void> {
  return transaction(async (tx) => {
    await tx.deleteFrom('admin_session').where('subject', '=', subject).execute();
    await tx
      .updateTable('admin_token')
      .set({ revoked_at: now })
      .where('maker_subject', '=', subject)
      .where('revoked_at', 'is', null)
      .execute();
  });
}

function toSession(row: Selectable<Tables['admin_session']>): AdminSession {
  return {
    ...{ hash: row.hash, name: row.name, role: toRole(row.role), subject: row.subject ?? undefined },
    ...{ createdAt: row.created_at, lastSeenAt: row.last_seen_at },
    ...{ address: row.address ?? undefined, userAgent: row.user_agent ?? undefined },
  };
}

/** A role that this program does not know may do as little as possible. */
function toRole(role: string): Role {
  return role === 'admin' ? 'admin' : 'viewer';
}

/** A token with which a script calls the admin API. */
export interface AdminToken {
  id: string;
  name: string;
  role: Role;
  /** Who made the token, directly or by another token. */
  maker: Omit<Admin, 'role'>;
  createdAt: number;
  expiresAt: number;
  revokedAt: number | undefined;
}

/** The tokens of scripts. */
export type AdminTokens = ReturnType<typeof adminTokens>;

/** Returns the store of the tokens with which scripts call the admin API. Only their hashes are stored. */
export function adminTokens({ db }: Database) {
  return {
    create: async (token: Omit<AdminToken, 'revokedAt'> & { hash: string }): Promise<void> => {
      const { id, hash, name, role, maker, createdAt, expiresAt } = token;
      await db
        .insertInto('admin_token')
        .values({
          ...{ id, hash, name, role, created_at: createdAt, expires_at: expiresAt, revoked_at: null },
          ...{ maker_name: maker.name, maker_subject: maker.subject ?? null },
        })
        .execute();
    },

    list: async (): Promise<AdminToken[]> => {
      const tokens = db.selectFrom('admin_token').selectAll().orderBy('created_at').orderBy('id');
      return (await tokens.execute()).map(toToken);
    },

    /** False if there is no such token, or it was revoked before. */
    revoke: (id: string, now: number): Promise<boolean> => revokeById(db, 'admin_token', { id, now }),

    /** The token with this hash, unless it is revoked or has expired. */
    findActive: async (hash: string, now: number): Promise<AdminToken | undefined> => {
      const row = await db
        .selectFrom('admin_token')
        .selectAll()
        .where('hash', '=', hash)
        .where('revoked_at', 'is', null)
        .where('expires_at', '>', now)
        .executeTakeFirst();
      return row && toToken(row);
    },
  };
}

function toToken(row: Selectable<Tables['admin_token']>): AdminToken {
  return {
    ...{ id: row.id, name: row.name, role: toRole(row.role) },
    maker: { name: row.maker_name, subject: row.maker_subject ?? undefined },
    ...{ createdAt: row.created_at, expiresAt: row.expires_at, revokedAt: row.revoked_at ?? undefined },
  };
}

/** The roles of callers: a viewer reads, an admin changes too. */
export type Role = 'viewer' | 'admin';
