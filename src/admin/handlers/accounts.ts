import { hashSecret, newSecret } from '../../http/authentication.ts';
import { addRequestNotes } from '../../http/log.ts';
import { noSuch, OperationError } from '../../operations/errors.ts';
import type { Role } from '../../operations/operation.ts';
import { toTime } from '../../operations/schemas.ts';
import type { accountsContract } from '../contract/accounts.ts';
import type { AdminDeps } from '../deps.ts';
import { BUILT_IN_ADMIN } from '../first-admin.ts';
import { shownName } from '../openid/person.ts';
import { type AdminContext, type Handlers, recordRefusal, withAuditEntry } from '../router.ts';
import { type Caller, endSession, listSessions, SESSION_MAX_MS, startSession } from '../sessions.ts';

/** Handles signing in and out, sessions, and tokens of scripts. */
export function accountHandlers(deps: AdminDeps): Handlers<typeof accountsContract> {
  const { sessions, tokens, now } = deps;
  return {
    signIn: async ({ body }, context) => {
      if (deps.acceptsPasswords) return signIn(body, context, deps);
      throw new OperationError('forbidden', PASSWORDS_ARE_OFF);
    },
    readSession: async (_request, { caller }) => sessionBody(required(caller)),
    signOut: (_request, { caller, response }) => endSession(response, required(caller), deps),
    listSessions: async (_request, { caller }) => ({
      sessions: (await listSessions(required(caller), deps)).map((session) => ({
        ...{ ...session, name: shownName(session) },
      })),
    }),
    endSession: async ({ params }, { caller, note }) => {
      const session = (await listSessions(required(caller), deps)).find(({ id }) => id === params.id);
      if (!session) throw noSuch('session');
      note({ name: shownName(session), address: session.address, userAgent: session.userAgent });
      await sessions.remove(session.hash);
    },
    listAdminTokens: async () => ({
      tokens: (await tokens.list()).map((token) => ({ ...token, maker: shownName(token.maker) })),
    }),
    createAdminToken: ({ body }, context) => createToken(body, context, deps),
    revokeAdminToken: async ({ params }, { note }) => {
      const token = (await tokens.list()).find(({ id }) => id === params.id);
      if (token) note({ name: token.name });
      if (!(await tokens.revoke(params.id, now()))) throw noSuch('token');
    },
  };
}

async function createToken(
  { name, role, days }: { name: string; role: Role; days: number },
  { caller, note }: AdminContext,
  { tokens, now, newId }: AdminDeps,
) {
  const [id, token, createdAt] = [newId(), newSecret('admin'), now()];
  const expiresAt = createdAt + days * DAY_MS;
  note({ id, name, role, expiresAt: toTime(expiresAt) });
  const { admin: maker } = required(caller);
  await tokens.create({ id, hash: hashSecret(token), name, role, maker, createdAt, expiresAt });
  return { id, token };
}

const DAY_MS = 24 * 60 * 60_000;

async function signIn(
  { name, password }: { name: string; password: string },
  context: AdminContext,
  deps: AdminDeps,
) {
  const { address, response } = context;
  const client = { name, address };
  const isKnown = name.toLowerCase() === BUILT_IN_ADMIN;
  const stored = isKnown ? await deps.password.read() : undefined;
  const isRight = await deps.limit.verify(client, password, stored?.hash);
  if (!stored || !isRight) {
    await recordRefusal(context, { action: 'signIn', account: stored && BUILT_IN_ADMIN }, deps);
    await deps.limit.delayRefusal(client);
    throw new OperationError('notSignedIn', 'The name or the password is wrong.');
  }
  addRequestNotes(response, { credential: `admin:${BUILT_IN_ADMIN}` });
  const actor = { actor: BUILT_IN_ADMIN, actorKind: 'account', address } as const;
  const entry = { ...actor, action: 'signIn', details: {} };
  const admin = { name: BUILT_IN_ADMIN, role: 'admin', subject: undefined, passwordId: stored.id } as const;
  const csrfToken = await withAuditEntry(() => startSession(response, admin, deps), entry, deps);
  return {
    ...{ name: admin.name, role: admin.role, kind: 'account' as const, csrfToken },
    expiresAt: deps.now() + SESSION_MAX_MS,
  };
}

const PASSWORDS_ARE_OFF =
  'Passwords do not open this page (adminPage.passwordSignIn). Sign in through the OpenID provider.';

/** The router has refused a call without a caller, unless anyone may make it. */
function required(caller: Caller | undefined): Caller {
  if (!caller) throw new OperationError('notSignedIn');
  return caller;
}

function sessionBody({ name, role, kind, session }: Caller) {
  const expiresAt = session && session.createdAt + SESSION_MAX_MS;
  return { name, role, kind, csrfToken: session?.csrfToken, expiresAt };
}
