import type { Response } from 'express';
import { hashSecret, newSecret } from '../../http/authentication.ts';
import { addRequestNotes } from '../../http/log.ts';
import { invalidField, noSuch, OperationError } from '../../operations/errors.ts';
import type { Role } from '../../operations/operation.ts';
import { toTime } from '../../operations/schemas.ts';
import type { AccountChange, AdminAccount, AdminToken } from '../../store/credentials/admins.ts';
import type { accountsContract } from '../contract/accounts.ts';
import type { AdminDeps } from '../deps.ts';
import { shownName } from '../openid/person.ts';
import { findPasswordWeakness } from '../password-rules.ts';
import { hashPassword, newPassword } from '../passwords.ts';
import { type AdminContext, type Handlers, recordRefusal, withAuditEntry } from '../router.ts';
import {
  type Caller,
  endSession,
  listOwnSessions,
  SESSION_MAX_MS,
  type SessionDeps,
  startSession,
} from '../sessions.ts';

/** Handles signing in and out, accounts, and tokens of scripts. */
export function accountHandlers(deps: AdminDeps): Handlers<typeof accountsContract> {
  const { accounts, tokens, now } = deps;
  return {
    signIn: async ({ body }, context) => {
      if (deps.acceptsPasswords) return signIn(body, context, deps);
      throw new OperationError('forbidden', PASSWORDS_ARE_OFF);
    },
    readSession: async (_request, { caller }) => sessionBody(required(caller)),
    signOut: (_request, { caller, response }) => endSession(response, required(caller), deps),
    listOwnSessions: async (_request, { caller }) => ({
      sessions: (await listOwnSessions(required(caller), deps)).map((session) => ({
        ...{ ...session, lastUsedAt: session.lastSeenAt },
      })),
    }),
    endOwnSession: ({ params }, context) => endOwnSession(params.id, context, deps),
    changeOwnPassword: ({ body }, context) => changeOwnPassword(body, context, deps),
    listAccounts: async () => ({ accounts: await accounts.list() }),
    createAccount: ({ body }, { note }) => createAccount(body, note, deps),
    resetPassword: ({ params }, { note }) => resetPassword(params.id, note, deps),
    changeRole: async ({ params, body: { role } }, { note }) => {
      const account = await findAccount(params.id, deps);
      note({ name: account.name, role });
      requirePassword(account, 'its role at each sign-in');
      requireDone(await accounts.setRole(account.id, role));
    },
    revokeAccount: async ({ params }, { note }) => {
      const account = await findAccount(params.id, deps);
      const tokensOfIt = await activeTokensOf(account.id, deps);
      note({ name: account.name, tokens: tokensOfIt.length > 0 ? tokensOfIt : undefined });
      requireDone(await accounts.revoke(account.id, now()));
    },
    restoreAccount: async ({ params }, { note }) => {
      note({ name: (await findAccount(params.id, deps)).name });
      if (!(await deps.openidAccounts.restore(params.id)))
        throw new OperationError(
          'notFound',
          'There is no revoked account of the OpenID provider with this id.',
        );
    },
    listAdminTokens: async () => ({ tokens: (await tokens.list()).map(toToken) }),
    createAdminToken: ({ body }, context) => createToken(body, context, deps),
    revokeAdminToken: async ({ params }, { note }) => {
      const token = (await tokens.list()).find(({ id }) => id === params.id);
      if (token) note({ name: token.name });
      if (!(await tokens.revoke(params.id, now()))) throw noSuch('token');
    },
  };
}

/** Creates an account and returns its password, which is shown once. */
async function createAccount(
  { name, role }: { name: string; role: Role },
  note: AdminContext['note'],
  deps: AdminDeps,
) {
  requirePasswordSignIn(deps);
  const { accounts, now, newId, passwordCosts } = deps;
  const [id, password] = [newId(), newPassword()];
  note({ id, name, role });
  const passwordHash = await hashPassword(password, passwordCosts);
  const created = await accounts.create({ id, name, role, passwordHash, createdAt: now() });
  if (!created) throw new OperationError('conflict', `There is already an account named ${name}.`);
  return { id, password };
}

async function resetPassword(id: string, note: AdminContext['note'], deps: AdminDeps) {
  const account = await findAccount(id, deps);
  note({ name: account.name });
  requirePassword(account, 'who may sign in');
  requirePasswordSignIn(deps);
  const password = newPassword();
  const passwordHash = await hashPassword(password, deps.passwordCosts);
  if (!(await deps.accounts.setPassword(id, passwordHash))) throw noSuch('account');
  return { password };
}

async function createToken(
  { name, role, days }: { name: string; role: Role; days: number },
  { caller, note }: AdminContext,
  { tokens, now, newId }: AdminDeps,
) {
  const [id, token, createdAt] = [newId(), newSecret('admin'), now()];
  const expiresAt = createdAt + days * DAY_MS;
  note({ id, name, role, expiresAt: toTime(expiresAt) });
  const makerId = required(caller).accountId;
  await tokens.create({ id, hash: hashSecret(token), name, role, makerId, createdAt, expiresAt });
  return { id, token };
}

/** The names of the tokens that an account made, and that are neither revoked nor expired. */
async function activeTokensOf(accountId: string, { tokens, now }: AdminDeps): Promise<string[]> {
  const isActive = ({ maker, revokedAt, expiresAt = Number.POSITIVE_INFINITY }: AdminToken) =>
    maker?.id === accountId && revokedAt === undefined && expiresAt > now();
  return (await tokens.list()).filter(isActive).map(({ name }) => name);
}

const DAY_MS = 24 * 60 * 60_000;

async function signIn(
  { name, password }: { name: string; password: string },
  context: AdminContext,
  deps: AdminDeps,
) {
  const { address, response } = context;
  const client = { name, address };
  const account = await deps.accounts.findByName(name);
  const isRight = await deps.limit.verify(client, password, account?.passwordHash);
  if (!account || !isRight) {
    await recordRefusal(context, { action: 'signIn', account: account?.name }, deps);
    await deps.limit.delayRefusal(client);
    throw wrongPassword();
  }
  addRequestNotes(response, { credential: `admin:${account.id}` });
  const actor = { actor: account.name, actorKind: 'account', address } as const;
  const entry = { ...actor, action: 'signIn', details: {} };
  const csrfToken = await withAuditEntry(() => beginSession(response, account, deps), entry, deps);
  return {
    ...{ name: account.name, role: account.role, kind: 'account' as const, hasPassword: true, csrfToken },
    expiresAt: deps.now() + SESSION_MAX_MS,
  };
}

/** Starts the session of an account whose password was verified. */
async function beginSession(
  response: Response,
  { id, passwordHash }: { id: string; passwordHash: string | undefined },
  deps: AdminDeps,
): Promise<string> {
  const csrfToken = await startSession(response, { accountId: id, passwordHash }, deps);
  if (csrfToken === undefined) throw wrongPassword();
  await deps.accounts.recordSignIn(id, deps.now());
  return csrfToken;
}

function wrongPassword(): OperationError {
  return new OperationError('notSignedIn', 'The name or the password is wrong.');
}

async function changeOwnPassword(
  { current, password }: { current: string; password: string },
  { caller, address }: AdminContext,
  { accounts, limit, passwordCosts }: AdminDeps,
): Promise<void> {
  if (!caller?.session) throw new OperationError('conflict', 'A token has no password.');
  if (!caller.hasPassword)
    throw new OperationError(
      'conflict',
      'You sign in through the OpenID provider, which alone changes your password.',
    );
  await requireStrongPassword(password);
  const client = { name: caller.name, address };
  const { passwordHash: from = '' } = (await accounts.findByName(caller.name)) ?? {};
  if (!(await limit.verify(client, current, from))) {
    await limit.delayRefusal(client);
    throw invalidField('current', 'is wrong');
  }
  const to = await hashPassword(password, passwordCosts);
  const { hash: session } = caller.session;
  if (!(await accounts.changePassword({ id: caller.id, from, to, session })))
    throw new OperationError(
      'conflict',
      'Your password was changed by somebody else meanwhile. Sign in again.',
    );
}

async function endOwnSession(id: string, { caller, note }: AdminContext, deps: SessionDeps): Promise<void> {
  const session = (await listOwnSessions(required(caller), deps)).find((one) => one.id === id);
  if (!session) throw new OperationError('notFound', 'Your account has no such session, or it is over.');
  note({ address: session.address, userAgent: session.userAgent });
  await deps.sessions.remove(session.hash);
}

async function requireStrongPassword(password: string): Promise<void> {
  const weakness = await findPasswordWeakness(password);
  if (weakness === undefined) return;
  throw invalidField(
    'password',
    `${weakness}: choose another one, e.g. four words that do not belong together`,
  );
}

function requireDone(change: AccountChange): void {
  if (change === 'gone') throw noSuch('account');
  if (change === 'done') return;
  throw new OperationError(
    'conflict',
    'This is the only account with the role admin and a password. Create another one first.',
  );
}

const PASSWORDS_ARE_OFF =
  'Passwords do not open this page (adminPage.passwordSignIn). Sign in through the OpenID provider.';

/** A password that opens nothing is not made. */
function requirePasswordSignIn({ acceptsPasswords }: AdminDeps): void {
  if (acceptsPasswords) return;
  throw new OperationError(
    'conflict',
    'Passwords do not open this page (adminPage.passwordSignIn), and the OpenID provider decides who may sign in.',
  );
}

/** The OpenID provider decides over the accounts of its people. */
function requirePassword({ name, hasPassword }: AdminAccount, subject: string): void {
  if (hasPassword) return;
  throw new OperationError(
    'conflict',
    `${name} signs in through the OpenID provider, which decides ${subject}.`,
  );
}

async function findAccount(id: string, { accounts }: AdminDeps): Promise<AdminAccount> {
  const account = (await accounts.list()).find((one) => one.id === id);
  if (!account) throw noSuch('account');
  return account;
}

/** The router has refused a call without a caller, unless anyone may make it. */
function required(caller: Caller | undefined): Caller {
  if (!caller) throw new OperationError('notSignedIn');
  return caller;
}

function sessionBody({ name, role, kind, hasPassword, session }: Caller) {
  const expiresAt = session && session.createdAt + SESSION_MAX_MS;
  return { name, role, kind, hasPassword, csrfToken: session?.csrfToken, expiresAt };
}

function toToken({ maker, ...token }: AdminToken) {
  return { ...token, maker: maker && { id: maker.id, name: shownName(maker) } };
}
