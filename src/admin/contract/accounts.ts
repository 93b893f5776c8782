import { z } from 'zod';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../passwords.ts';
import type { Contract } from './operation.ts';
import { id, name, role, time } from './schemas.ts';

const password = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `has at least ${MIN_PASSWORD_LENGTH} characters`)
  .max(MAX_PASSWORD_LENGTH, `has at most ${MAX_PASSWORD_LENGTH} characters`);

const account = z
  .object({
    id,
    name,
    role,
    hasPassword: z.boolean().meta({ description: 'False if the OpenID provider gives name and role' }),
    createdAt: time,
    lastSignInAt: time.optional(),
    revokedAt: time.optional(),
  })
  .meta({ id: 'AdminAccount', description: 'A person who may sign in to the admin page' });

const token = z
  .object({
    id,
    name,
    role,
    createdAt: time,
    expiresAt: time.optional(),
    revokedAt: time.optional(),
  })
  .meta({ id: 'AdminToken', description: 'A token with which a script calls this API' });

const session = z
  .object({
    name,
    role,
    kind: z.enum(['account', 'token']),
    hasPassword: z.boolean().meta({ description: 'True if the caller signed in with a password' }),
    csrfToken: z
      .string()
      .optional()
      .meta({ description: 'Send it as X-CSRF-Token with each request that changes something' }),
    expiresAt: time
      .optional()
      .meta({ description: 'The time at which the session ends even if it is used until then' }),
  })
  .meta({ id: 'Session', description: 'The caller: the account that is signed in, or a token' });

const accountParams = z.object({ id });

/** Signing in and out, accounts, and tokens of scripts. */
export const accountsContract = {
  signIn: {
    ...{ method: 'post', path: '/sign-in', tag: 'Session', access: 'anyone' },
    summary: 'Sign in with a password',
    body: z.strictObject({ name, password: z.string().max(MAX_PASSWORD_LENGTH) }),
    // Name and password of 200 characters each, also if every character is escaped.
    ...{ isSignIn: true, maxBodyBytes: 4_096 },
    result: session,
    errors: ['notSignedIn', 'tooManyAttempts'],
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
  changeOwnPassword: {
    ...{ method: 'put', path: '/session/password', tag: 'Session', access: 'viewer' },
    summary: 'Change the own password; the other sessions of the account end',
    body: z.strictObject({ current: z.string().max(MAX_PASSWORD_LENGTH), password }),
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
    params: accountParams,
    result: z.object({ password: z.string() }),
    errors: ['conflict'],
  },
  changeRole: {
    ...{ method: 'patch', path: '/accounts/{id}', tag: 'Accounts', access: 'admin' },
    summary: 'Change the role of an account',
    params: accountParams,
    body: z.strictObject({ role }),
    errors: ['conflict'],
  },
  revokeAccount: {
    ...{ method: 'delete', path: '/accounts/{id}', tag: 'Accounts', access: 'admin' },
    summary: 'Revoke an account; its sessions end',
    params: accountParams,
    errors: ['conflict'],
  },
  restoreAccount: {
    ...{ method: 'post', path: '/accounts/{id}/restoration', tag: 'Accounts', access: 'admin' },
    summary: 'Let the person of a revoked account sign in through the OpenID provider again',
    params: accountParams,
  },
  listAdminTokens: {
    ...{ method: 'get', path: '/admin-tokens', tag: 'Accounts', access: 'viewer' },
    summary: 'List the tokens of scripts',
    result: z.object({ tokens: z.array(token) }),
  },
  createAdminToken: {
    ...{ method: 'post', path: '/admin-tokens', tag: 'Accounts', access: 'admin' },
    summary: 'Create a token that is shown once',
    body: z.strictObject({ name, role, days: z.int().min(1).max(3650).optional() }),
    result: z.object({ id, token: z.string() }),
  },
  revokeAdminToken: {
    ...{ method: 'delete', path: '/admin-tokens/{id}', tag: 'Accounts', access: 'admin' },
    summary: 'Revoke a token',
    params: accountParams,
  },
} as const satisfies Contract;
