import { z } from 'zod';
import { hashSecret, newSecret } from '../../http/authentication.ts';
import { addRequestNotes } from '../../http/log.ts';
import { withAuditEntry } from '../../operations/audited.ts';
import { noSuch, OperationError } from '../../operations/errors.ts';
import { type Operations, operationWith } from '../../operations/operation.ts';
import { id, name, optionalText, optionalTime, role, time, toTime } from '../../operations/schemas.ts';
import type { Role } from '../../store/credentials/admins.ts';
import type { AdminDeps } from '../deps.ts';
import { shownName } from '../openid/person.ts';
import { type AdminContext, recordRefusal } from '../router.ts';
import { BUILT_IN_ADMIN } from './first-admin.ts';
import { type Caller, endSession, listSessions, SESSION_MAX_MS, startSession } from './sessions.ts';

/** The time of hashing grows with the length. ADMIN_PASSWORD may be as long. */
const MAX_PASSWORD_LENGTH = 200;

const token = z
  .object({
    id,
    name: z.string(),
    role,
    maker: z.string().describe('The name of who made the token, as in the audit log'),
    createdAt: time,
    expiresAt: time,
    revokedAt: optionalTime,
  })
  .meta({ id: 'AdminToken', description: 'A token with which a script calls this API' });

export type AdminToken = z.input<typeof token>;

const session = z
  .object({
    name: z.string(),
    role,
    kind: z.enum(['account', 'token']),
    csrfToken: optionalText.describe('Send it as X-CSRF-Token with each request that changes something'),
    expiresAt: optionalTime.describe('The time at which the session ends even if it is used until then'),
  })
  .meta({ id: 'Session', description: 'The caller: somebody who is signed in, or a token' });

export type Session = z.input<typeof session>;

const listedSession = z
  .object({
    id,
    name: z.string().describe('As in the audit log'),
    role,
    createdAt: time,
    lastSeenAt: time.describe('The last use, to the minute'),
    address: optionalText.describe('The address of the browser at the sign-in'),
    userAgent: optionalText.describe('The header User-Agent at that time, cut'),
    isOwn: z.boolean().describe('True for a session of the caller'),
    isCurrent: z.boolean().describe('True for the session of this request'),
  })
  .meta({ id: 'ListedSession', description: 'A browser in which somebody is signed in' });

export type ListedSession = z.input<typeof listedSession>;

/** The days until a token expires, unless the caller chooses another number, and the largest number. */
const TOKEN_DAYS = 90;

const MAX_TOKEN_DAYS = 365;

const operation = operationWith<AdminDeps, AdminContext>();

/** Signing in and out, sessions, and tokens of scripts. */
export const signInOperations = {
  signIn: operation(
    {
      ...{ method: 'post', path: '/sign-in', tag: 'Session', access: 'anyone' },
      summary: 'Sign in as the built-in admin, whose name is admin',
      body: z.strictObject({ name, password: z.string().max(MAX_PASSWORD_LENGTH) }),
      // Name and password of 200 characters each, also if every character is escaped.
      ...{ isSignIn: true, maxBodyBytes: 4_096 },
      result: session,
      errors: ['notSignedIn', 'forbidden', 'tooManyAttempts'],
    },
    async ({ body }, deps, context) => {
      if (deps.acceptsPasswords) return signIn(body, context, deps);
      throw new OperationError('forbidden', PASSWORDS_ARE_OFF);
    },
  ),
  readSession: operation(
    {
      ...{ method: 'get', path: '/session', tag: 'Session', access: 'viewer' },
      summary: 'Tell who is signed in',
      result: session,
    },
    async (_request, _deps, { caller }) => sessionBody(required(caller)),
  ),
  signOut: operation(
    {
      ...{ method: 'delete', path: '/session', tag: 'Session', access: 'viewer' },
      summary: 'Sign out',
    },
    (_request, deps, { caller, response }) => endSession(response, required(caller), deps),
  ),
  listSessions: operation(
    {
      ...{ method: 'get', path: '/sessions', tag: 'Session', access: 'viewer' },
      summary: 'List the sessions of everybody, the newest first; a viewer sees the own ones',
      result: z.object({ sessions: z.array(listedSession) }),
    },
    async (_request, deps, { caller }) => ({
      sessions: (await listSessions(required(caller), deps)).map((session) => ({
        ...{ ...session, name: shownName(session) },
      })),
    }),
  ),
  endSession: operation(
    {
      ...{ method: 'delete', path: '/sessions/{id}', tag: 'Session', access: 'viewer' },
      summary: 'End a session; a viewer ends the own ones',
    },
    async ({ params }, deps, { caller, note }) => {
      const session = (await listSessions(required(caller), deps)).find(({ id }) => id === params.id);
      if (!session) throw noSuch('session');
      note({ name: shownName(session), address: session.address, userAgent: session.userAgent });
      await deps.sessions.remove(session.hash);
    },
  ),
  listAdminTokens: operation(
    {
      ...{ method: 'get', path: '/admin-tokens', tag: 'Tokens', access: 'viewer' },
      summary: 'List the tokens of scripts',
      result: z.object({ tokens: z.array(token) }),
    },
    async (_input, deps) => ({
      tokens: (await deps.tokens.list()).map((token) => ({ ...token, maker: shownName(token.maker) })),
    }),
  ),
  createAdminToken: operation(
    {
      ...{ method: 'post', path: '/admin-tokens', tag: 'Tokens', access: 'admin' },
      summary: 'Create a token that is shown once',
      body: z.strictObject({
        name,
        role: role.describe('If the maker loses the role admin later, so does the token'),
        days: z
          .int()
          .min(1)
          .max(MAX_TOKEN_DAYS)
          .default(TOKEN_DAYS)
          .describe('The days until the token expires'),
      }),
      result: z.object({ id, token: z.string() }),
    },
    ({ body }, deps, context) => createToken(body, context, deps),
  ),
  revokeAdminToken: operation(
    {
      ...{ method: 'delete', path: '/admin-tokens/{id}', tag: 'Tokens', access: 'admin' },
      summary: 'Revoke a token',
    },
    async ({ params }, deps, { note }) => {
      const token = (await deps.tokens.list()).find(({ id }) => id === params.id);
      if (token) note({ name: token.name });
      if (!(await deps.tokens.revoke(params.id, deps.now()))) throw noSuch('token');
    },
  ),
} satisfies Operations;

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
