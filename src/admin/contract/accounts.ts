import { z } from 'zod';
import type { Declarations } from '../../operations/operation.ts';
import { id, name, optionalText, optionalTime, role, time } from '../../operations/schemas.ts';

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

/** Signing in and out, sessions, and tokens of scripts. */
export const accountsContract = {
  signIn: {
    ...{ method: 'post', path: '/sign-in', tag: 'Session', access: 'anyone' },
    summary: 'Sign in as the built-in admin, whose name is admin',
    body: z.strictObject({ name, password: z.string().max(MAX_PASSWORD_LENGTH) }),
    // Name and password of 200 characters each, also if every character is escaped.
    ...{ isSignIn: true, maxBodyBytes: 4_096 },
    result: session,
    errors: ['notSignedIn', 'forbidden', 'tooManyAttempts'],
  },
  readSession: {
    ...{ method: 'get', path: '/session', tag: 'Session', access: 'viewer' },
    summary: 'Tell who is signed in',
    result: session,
  },
  signOut: {
    ...{ method: 'delete', path: '/session', tag: 'Session', access: 'viewer' },
    summary: 'Sign out',
  },
  listSessions: {
    ...{ method: 'get', path: '/sessions', tag: 'Session', access: 'viewer' },
    summary: 'List the sessions of everybody, the newest first; a viewer sees the own ones',
    result: z.object({ sessions: z.array(listedSession) }),
  },
  endSession: {
    ...{ method: 'delete', path: '/sessions/{id}', tag: 'Session', access: 'viewer' },
    summary: 'End a session; a viewer ends the own ones',
  },
  listAdminTokens: {
    ...{ method: 'get', path: '/admin-tokens', tag: 'Tokens', access: 'viewer' },
    summary: 'List the tokens of scripts',
    result: z.object({ tokens: z.array(token) }),
  },
  createAdminToken: {
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
  revokeAdminToken: {
    ...{ method: 'delete', path: '/admin-tokens/{id}', tag: 'Tokens', access: 'admin' },
    summary: 'Revoke a token',
  },
} as const satisfies Declarations;
