import type { Response } from 'express';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { hashSecret } from '../../http/authentication.ts';
import { foldCase } from '../../schema/case-fold.ts';
import type { openidContract } from '../contract/openid.ts';
import type { Handlers } from '../contract/operation.ts';
import { AUDIT_MS, FIRST_ADMIN } from '../handlers/accounts.ts';
import type { AuditLog, OpenidAccounts, OpenidAttempts } from '../ports.ts';
import type { AdminContext } from '../router.ts';
import { cookieName, cookieOptions, readCookie, type SessionDeps, startSession } from '../sessions.ts';
import type { SignInLimit } from '../sign-in-limit.ts';
import { failureText, SignInFailure, type SignInFailureCode, toSignInFailure } from './failures.ts';
import { type AdmissionRules, identifyPerson, type Person, shownName } from './person.ts';
import type { OpenidProvider, SignInAttempt } from './provider.ts';

/** Dependencies of signing in through an OpenID provider. */
export interface OpenidDeps extends SessionDeps {
  openidAccounts: OpenidAccounts;
  openidAttempts: OpenidAttempts;
  audit: AuditLog;
  newId(): string;
  /** Undefined if none is configured. */
  openid: OpenidSignIn | undefined;
  log: Log;
}

interface Log {
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** The configured provider, and what its sign-ins need. */
export interface OpenidSignIn {
  /** The name of the provider on the page. */
  label: string;
  rules: AdmissionRules;
  provider: OpenidProvider;
  /** Counts the attempts that fail. It is not that of passwords, so that neither way to sign in closes the other. */
  limit: SignInLimit;
  /** Encrypts with a key that all replicas have. */
  encryption: {
    encrypt(text: string, place: string): string;
    decrypt(sealed: string, place: string): string | undefined;
  };
  /** Scheme and host of the page. */
  publicUrl: string;
}

/** The content of the cookie while the person is at the provider. */
interface Attempt extends SignInAttempt {
  /** The address on the page to which the person returns. */
  returnTo: string;
  expiresAt: number;
}

/** The time for a sign-in at the provider, in milliseconds. */
const ATTEMPT_MS = 10 * 60_000;
/** The record that the cookie is, for its encryption. */
const PLACE = 'cookie of a sign-in';
/** The path of the operation `signInWithOpenid`, to which the provider sends the browser back. */
const RETURN_PATH = '/admin/api/sign-in/openid/callback';

/** Describes the ways to sign in, and handles the two navigations of a sign-in: to the provider, and back. */
export function openidHandlers(deps: OpenidDeps): Handlers<typeof openidContract, AdminContext> {
  const { openid } = deps;
  const onPage = async (run: (configured: ConfiguredDeps) => Promise<string>, returnTo: string) => {
    try {
      if (!openid) throw new SignInFailure('notConfigured');
      return { location: await run({ ...deps, openid }) };
    } catch (error) {
      const failure = toSignInFailure(error);
      logFailure(failure, deps);
      return { location: withFailure(returnTo, failure.code) };
    }
  };
  return {
    describeSignIn: async ({ query: { failure } }) => ({
      password: deps.acceptsPasswords,
      ...(openid && { openid: { label: openid.label } }),
      ...(failure && { failure: failureText(failure, deps.acceptsPasswords) }),
    }),
    beginOpenidSignIn: ({ query }, { response }) => {
      const returnTo = pageAddress(query.returnTo);
      return onPage((configured) => beginSignIn(returnTo, response, configured), returnTo);
    },
    signInWithOpenid: (_request, { response, address }) => {
      const attempt = openid && takeAttempt(response, { ...deps, openid });
      const run = (configured: ConfiguredDeps) => completeSignIn(attempt, { response, address }, configured);
      return onPage(run, attempt?.returnTo ?? PAGE);
    },
  };
}

type ConfiguredDeps = OpenidDeps & { openid: OpenidSignIn };

/** Returns the address at the provider, and sets a cookie by which the same browser is known when it returns. */
async function beginSignIn(
  returnTo: string,
  response: Response,
  { openid, now, isSecure }: ConfiguredDeps,
): Promise<string> {
  const attempt: Attempt = {
    ...{ state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() },
    ...{ returnTo, expiresAt: now() + ATTEMPT_MS },
  };
  const redirectUri = openid.publicUrl + RETURN_PATH;
  const address = await openid.provider.authorizationUrl(attempt, redirectUri);
  const secure = isSecure(response.req);
  const sealed = openid.encryption.encrypt(JSON.stringify(attempt), PLACE);
  response.cookie(attemptCookie(secure), sealed, { ...cookieOptions(secure), maxAge: ATTEMPT_MS });
  return address;
}

/** Reads and removes the cookie of a sign-in. Undefined if there is none, or its time is over. */
function takeAttempt(
  response: Response,
  { openid: { encryption }, now, isSecure }: ConfiguredDeps,
): Attempt | undefined {
  const secure = isSecure(response.req);
  const cookie = readCookie(response.req, attemptCookie(secure));
  if (cookie === undefined) return undefined;
  response.clearCookie(attemptCookie(secure), cookieOptions(secure));
  const text = encryption.decrypt(cookie, PLACE);
  // This file alone encrypts for the place.
  const attempt = text === undefined ? undefined : (JSON.parse(text) as Attempt);
  return attempt && now() < attempt.expiresAt ? attempt : undefined;
}

/** Starts the session of a person who returns from the provider. Returns the address on the page. */
async function completeSignIn(
  attempt: Attempt | undefined,
  { response, address }: Pick<AdminContext, 'response' | 'address'>,
  deps: ConfiguredDeps,
): Promise<string> {
  const { openid } = deps;
  const { originalUrl } = response.req;
  const returned = new URL(openid.publicUrl + RETURN_PATH);
  returned.search = new URL(originalUrl, returned).search;
  // A return that this browser did not begin leaves no entry, so that nobody can fill the audit log with such requests.
  if (!attempt || returned.searchParams.get('state') !== attempt.state) throw new SignInFailure('expired');
  openid.limit.count(attempt.state, address);
  await useOnce(attempt, deps);
  const found = await openid.provider
    .readClaims(attempt, returned)
    .then((claims) => identifyPerson(claims, openid.rules))
    .catch(toSignInFailure);
  await withAuditEntry(found, address, deps, async (person) => {
    const accountId = await updateAccount(person, deps);
    await startSession(response, accountId, deps);
  });
  openid.limit.reset(attempt.state, address);
  return attempt.returnTo;
}

/**
 * Throws if the attempt has come back before. The provider should refuse the second use of a code, but a code whose first exchange failed
 * may still be good, and a copied cookie with it.
 */
async function useOnce(
  { state, expiresAt }: Attempt,
  { openidAttempts, now }: ConfiguredDeps,
): Promise<void> {
  // The clocks of other replicas may be behind.
  const forgottenAt = expiresAt + ATTEMPT_MS;
  const isFirst = await openidAttempts.useOnce({ hash: hashSecret(state), expiresAt: forgottenAt }, now());
  if (!isFirst) throw new SignInFailure('expired', 'its sign-in has come back before');
}

/** Lets a person in between the two writes of an entry, or records why nobody is let in, and throws it. */
async function withAuditEntry(
  found: Person | SignInFailure,
  address: string,
  { audit, now, log }: ConfiguredDeps,
  letIn: (person: Person) => Promise<void>,
): Promise<void> {
  const { name, issuer, ...details } =
    found instanceof SignInFailure ? { name: '', issuer: undefined } : found;
  const actor = shownName({ name, issuer });
  const entry = { actor, actorKind: 'nobody', address, action: 'signInWithOpenid', details } as const;
  await audit.removeBefore(now() - AUDIT_MS);
  const position = await audit.begin({ at: now(), ...entry });
  const finish = (status: number, refused?: SignInFailureCode) =>
    audit.finish(position, { status, details: { ...details, refused } }).catch((error: unknown) => {
      log.error({ err: error, position }, 'the outcome of a change could not be added to the audit log');
    });
  try {
    if (found instanceof SignInFailure) throw found;
    await letIn(found);
    await finish(303);
  } catch (error) {
    const { status, code } = toSignInFailure(error);
    await finish(status, code);
    throw error;
  }
}

/** Gives the account of a person the present name and role, or creates it, and returns its id. Throws if the person may not sign in. */
async function updateAccount(
  { subject, name, role }: Person,
  { openidAccounts, newId, now }: ConfiguredDeps,
): Promise<string> {
  if (role === undefined) {
    await openidAccounts.endAccess(subject, now());
    throw new SignInFailure('noRole');
  }
  if (foldCase(name) === FIRST_ADMIN) throw new SignInFailure('nameReserved');
  const signedIn = await openidAccounts.signIn({ id: newId(), subject, name, role, now: now() });
  if ('refused' in signedIn) throw new SignInFailure(signedIn.refused);
  return signedIn.accountId;
}

/** Failures that the provider or this service has caused are for the operator; the others are in the audit log. */
function logFailure(failure: SignInFailure, { log }: OpenidDeps): void {
  const { code, message, cause } = failure;
  if (code === 'failed') log.error({ err: cause }, 'a sign-in through the OpenID provider failed');
  else if (['unavailable', 'misconfigured', 'invalidAnswer', 'noName'].includes(code))
    log.warn({ reason: message }, 'the OpenID provider of the admin page did not identify a person');
}

/** The address of the page without a view. */
const PAGE = '/admin';

/** Addresses on the page are resolved against it. */
const ANY_ORIGIN = 'http://page.invalid';

/** Returns an address on the page without scheme and host: the given one if it has the path of a view, else that of the page. */
function pageAddress(text: string | undefined): string {
  if (text === undefined || !URL.canParse(text, ANY_ORIGIN)) return PAGE;
  const { pathname, search, hash } = new URL(text, ANY_ORIGIN);
  const isView = pathname.startsWith(`${PAGE}/`) && !pathname.startsWith(`${PAGE}/api/`);
  return isView ? pathname + search + hash : PAGE;
}

/** Adds a failure to an address on the page, where the sign-in form shows its text. */
function withFailure(address: string, code: SignInFailureCode): string {
  const url = new URL(address, ANY_ORIGIN);
  url.searchParams.set('signInFailure', code);
  return url.pathname + url.search + url.hash;
}

function attemptCookie(secure: boolean): string {
  return `${cookieName(secure)}-openid`;
}
