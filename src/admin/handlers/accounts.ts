import { hashSecret, newSecret } from '../../http/authentication.ts';
import type { accountsContract } from '../contract/accounts.ts';
import type { Handlers, Role } from '../contract/operation.ts';
import { toTime } from '../contract/schemas.ts';
import { AdminError } from '../errors.ts';
import { hashPassword, newPassword, verifyPassword } from '../passwords.ts';
import type { AdminAccount, AdminAccounts, AdminToken, AuditLog } from '../ports.ts';
import type { AdminContext } from '../router.ts';
import { type Caller, endSession, SESSION_MAX_MS, type SessionDeps, startSession } from '../sessions.ts';
import type { SignInLimit } from '../sign-in-limit.ts';

/** Dependencies of signing in and of the accounts. */
export interface AccountDeps extends SessionDeps {
  accounts: AdminAccounts;
  audit: AuditLog;
  limit: SignInLimit;
  newId(): string;
}

/** Handles signing in and out, accounts, and tokens of scripts. */
export function accountHandlers(deps: AccountDeps): Handlers<typeof accountsContract, AdminContext> {
  const { accounts, tokens, now } = deps;
  return {
    describeSignIn: async () => ({ password: true }),
    signIn: ({ body }, context) => signIn(body, context, deps),
    readSession: async (_request, { caller }) => sessionBody(required(caller)),
    signOut: (_request, { caller, response }) => endSession(response, required(caller), deps),
    changeOwnPassword: ({ body }, context) => changeOwnPassword(body, context, deps),
    listAccounts: async () => ({ accounts: (await accounts.list()).map(toAccount) }),
    createAccount: ({ body }, { note }) => createAccount(body, note, deps),
    resetPassword: async ({ params }, { note }) => {
      note(await nameOf(params.id, deps));
      const password = newPassword();
      if (!(await accounts.setPassword(params.id, await hashPassword(password)))) throw noSuchAccount();
      return { password };
    },
    changeRole: async ({ params, body: { role } }, { note }) => {
      note({ ...(await nameOf(params.id, deps)), role });
      if (role !== 'admin') await requireAnotherAdmin(params.id, deps);
      if (!(await accounts.setRole(params.id, role))) throw noSuchAccount();
    },
    revokeAccount: async ({ params }, { note }) => {
      note(await nameOf(params.id, deps));
      await requireAnotherAdmin(params.id, deps);
      if (!(await accounts.revoke(params.id, now()))) throw noSuchAccount();
    },
    listAdminTokens: async () => ({ tokens: (await tokens.list()).map(toToken) }),
    createAdminToken: ({ body }, { note }) => createToken(body, note, deps),
    revokeAdminToken: async ({ params }, { note }) => {
      const token = (await tokens.list()).find(({ id }) => id === params.id);
      if (token) note({ name: token.name });
      if (!(await tokens.revoke(params.id, now())))
        throw new AdminError('notFound', 'There is no such token, or it was revoked before.');
    },
  };
}

/** Creates an account and returns its password, which is shown once. */
async function createAccount(
  { name, role }: { name: string; role: Role },
  note: AdminContext['note'],
  { accounts, now, newId }: Pick<AccountDeps, 'accounts' | 'now' | 'newId'>,
) {
  const [id, password] = [newId(), newPassword()];
  note({ id, name, role });
  const passwordHash = await hashPassword(password);
  const created = await accounts.create({ id, name, role, passwordHash, createdAt: now() });
  if (!created) throw new AdminError('conflict', `There is already an account named ${name}.`);
  return { id, password };
}

async function createToken(
  { name, role, days }: { name: string; role: Role; days?: number | undefined },
  note: AdminContext['note'],
  { tokens, now, newId }: AccountDeps,
) {
  const [id, token, createdAt] = [newId(), newSecret('admin'), now()];
  const expiresAt = days === undefined ? undefined : createdAt + days * DAY_MS;
  note({ id, name, role, expiresAt: toTime(expiresAt) });
  await tokens.create({ id, hash: hashSecret(token), name, role, createdAt, expiresAt });
  return { id, token };
}

const DAY_MS = 24 * 60 * 60_000;
/** The time for which entries of the audit log are kept. Each sign-in removes older ones. */
const AUDIT_MS = 400 * DAY_MS;

async function signIn(
  { name, password }: { name: string; password: string },
  { address, response }: AdminContext,
  deps: AccountDeps,
) {
  deps.limit.count(name, address);
  const account = await deps.accounts.findByName(name);
  if (!(await verifyPassword(password, account?.passwordHash)) || !account)
    throw new AdminError('notSignedIn', 'The name or the password is wrong.');
  deps.limit.reset(name, address);
  await deps.audit.removeBefore(deps.now() - AUDIT_MS);
  const csrfToken = await startSession(response, account.id, deps);
  await deps.accounts.recordSignIn(account.id, deps.now());
  return {
    ...{ name: account.name, role: account.role, kind: 'account' as const, csrfToken },
    expiresAt: toTime(deps.now() + SESSION_MAX_MS),
  };
}

async function changeOwnPassword(
  { current, password }: { current: string; password: string },
  { caller, address }: AdminContext,
  { accounts, limit }: AccountDeps,
): Promise<void> {
  if (caller?.kind !== 'account') throw new AdminError('conflict', 'A token has no password.');
  limit.count(caller.name, address);
  const account = await accounts.findByName(caller.name);
  if (!(await verifyPassword(current, account?.passwordHash)))
    throw new AdminError('invalid', undefined, { faults: [{ field: 'current', message: 'is wrong' }] });
  limit.reset(caller.name, address);
  await accounts.setPassword(caller.id, await hashPassword(password));
}

/** Without an active admin nobody could create one on the page. */
async function requireAnotherAdmin(id: string, { accounts }: AccountDeps): Promise<void> {
  const active = (await accounts.list()).filter(({ revokedAt }) => revokedAt === undefined);
  if (active.some((account) => account.id !== id && account.role === 'admin')) return;
  throw new AdminError(
    'conflict',
    'This is the only account with the role admin. Give another one that role first.',
  );
}

async function nameOf(id: string, { accounts }: AccountDeps): Promise<{ name: string }> {
  const account = (await accounts.list()).find((one) => one.id === id);
  if (!account) throw noSuchAccount();
  return { name: account.name };
}

function noSuchAccount(): AdminError {
  return new AdminError('notFound', 'There is no such account, or it was revoked before.');
}

/** The router has refused a call without a caller, unless anyone may make it. */
function required(caller: Caller | undefined): Caller {
  if (!caller) throw new AdminError('notSignedIn');
  return caller;
}

function sessionBody({ name, role, kind, session }: Caller) {
  return {
    ...{ name, role, kind },
    ...(session && { csrfToken: session.csrfToken, expiresAt: toTime(session.createdAt + SESSION_MAX_MS) }),
  };
}

function toAccount({ createdAt, lastSignInAt, revokedAt, ...account }: AdminAccount) {
  return {
    ...account,
    createdAt: toTime(createdAt),
    lastSignInAt: toTime(lastSignInAt),
    revokedAt: toTime(revokedAt),
  };
}

function toToken({ createdAt, expiresAt, revokedAt, ...token }: AdminToken) {
  return {
    ...token,
    createdAt: toTime(createdAt),
    expiresAt: toTime(expiresAt),
    revokedAt: toTime(revokedAt),
  };
}
