import { z } from 'zod';
import type { Declarations } from '../../operations/operation.ts';
import { id, name, optionalText, optionalTime, role, time } from '../../operations/schemas.ts';
import { MAX_PASSWORD_LENGTH, MAX_READ_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../password-rules.ts';

const password = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `has at least ${MIN_PASSWORD_LENGTH} characters`)
  .max(MAX_PASSWORD_LENGTH, `has at most ${MAX_PASSWORD_LENGTH} characters`)
  .describe('None of the most common passwords');

const account = z
  .object({
    id,
    name: z.string(),
    role,
    hasPassword: z.boolean().describe('False if the OpenID provider gives name and role'),
    issuer: optionalText.describe(
      'Of the OpenID provider that identifies the person; absent with a password',
    ),
    createdAt: time,
    lastSignInAt: optionalTime,
    revokedAt: optionalTime,
  })
  .meta({ id: 'AdminAccount', description: 'A person who may sign in to the admin page' });
export type AdminAccount = z.input<typeof account>;

const token = z
  .object({
    id,
    name: z.string(),
    role: role.describe('The role at present: never higher than that of the maker'),
    maker: z
      .object({ id, name: z.string().describe('As in the audit log') })
      .optional()
      .describe('The account that made the token; absent for a token of an earlier version'),
    createdAt: time,
    expiresAt: optionalTime.describe('Absent for a token of an earlier version that does not expire'),
    revokedAt: optionalTime,
  })
  .meta({ id: 'AdminToken', description: 'A token with which a script calls this API' });
export type AdminToken = z.input<typeof token>;

const session = z
  .object({
    name: z.string(),
    role,
    kind: z.enum(['account', 'token']),
    hasPassword: z.boolean().describe('True if the caller signed in with a password'),
    csrfToken: optionalText.describe('Send it as X-CSRF-Token with each request that changes something'),
    expiresAt: optionalTime.describe('The time at which the session ends even if it is used until then'),
  })
  .meta({ id: 'Session', description: 'The caller: the account that is signed in, or a token' });
export type Session = z.input<typeof session>;

const ownSession = z
  .object({
    id,
    createdAt: time,
    lastUsedAt: time.describe('To the minute'),
    address: optionalText.describe('The address from which the account signed in'),
    userAgent: optionalText.describe('The header User-Agent at that time, cut'),
    isCurrent: z.boolean().describe('True for the session of this request'),
  })
  .meta({ id: 'OwnSession', description: 'A browser in which the own account is signed in' });
export type OwnSession = z.input<typeof ownSession>;

/** The days until a token expires, unless the caller chooses another number, and the largest number. */
const TOKEN_DAYS = 90;
const MAX_TOKEN_DAYS = 365;

/** Signing in and out, accounts, and tokens of scripts. */
export const accountsContract = {
  signIn: {
    ...{ method: 'post', path: '/sign-in', tag: 'Session', access: 'anyone' },
    summary: 'Sign in with a password',
    body: z.strictObject({ name, password: z.string().max(MAX_READ_PASSWORD_LENGTH) }),
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
  listOwnSessions: {
    ...{ method: 'get', path: '/sessions', tag: 'Session', access: 'viewer' },
    summary: 'List the sessions of the own account, the newest first',
    result: z.object({ sessions: z.array(ownSession) }),
  },
  endOwnSession: {
    ...{ method: 'delete', path: '/sessions/{id}', tag: 'Session', access: 'viewer' },
    summary: 'End a session of the own account',
  },
  changeOwnPassword: {
    ...{ method: 'put', path: '/session/password', tag: 'Session', access: 'viewer' },
    summary: 'Change the own password; the other sessions of the account end',
    body: z.strictObject({ current: z.string().max(MAX_READ_PASSWORD_LENGTH), password }),
    errors: ['tooManyAttempts', 'conflict'],
  },
  listAccounts: {
    ...{ method: 'get', path: '/accounts', tag: 'Accounts', access: 'viewer' },
    summary: 'List the accounts',
    result: z.object({ accounts: z.array(account) }),
  },
  createAccount: {
    ...{ method: 'post', path: '/accounts', tag: 'Accounts', access: 'admin' },
    summary: 'Create an account with a password that is shown once',
    body: z.strictObject({ name, role }),
    result: z.object({ id, password: z.string() }),
    errors: ['conflict'],
  },
  resetPassword: {
    ...{ method: 'post', path: '/accounts/{id}/password', tag: 'Accounts', access: 'admin' },
    summary: 'Give an account a new password that is shown once; its sessions end',
    result: z.object({ password: z.string() }),
    errors: ['conflict'],
  },
  changeRole: {
    ...{ method: 'patch', path: '/accounts/{id}', tag: 'Accounts', access: 'admin' },
    summary: 'Change the role of an account',
    body: z.strictObject({ role }),
    errors: ['conflict'],
  },
  revokeAccount: {
    ...{ method: 'delete', path: '/accounts/{id}', tag: 'Accounts', access: 'admin' },
    summary: 'Revoke an account and the tokens that it made; its sessions end',
    errors: ['conflict'],
  },
  restoreAccount: {
    ...{ method: 'post', path: '/accounts/{id}/restoration', tag: 'Accounts', access: 'admin' },
    summary: 'Let the person of a revoked account sign in through the OpenID provider again',
  },
  listAdminTokens: {
    ...{ method: 'get', path: '/admin-tokens', tag: 'Accounts', access: 'viewer' },
    summary: 'List the tokens of scripts',
    result: z.object({ tokens: z.array(token) }),
  },
  createAdminToken: {
    ...{ method: 'post', path: '/admin-tokens', tag: 'Accounts', access: 'admin' },
    summary: 'Create a token that is shown once',
    body: z.strictObject({
      name,
      role: role.describe('If the role of the maker is lowered later, it is the limit'),
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
    ...{ method: 'delete', path: '/admin-tokens/{id}', tag: 'Accounts', access: 'admin' },
    summary: 'Revoke a token',
  },
} as const satisfies Declarations;
