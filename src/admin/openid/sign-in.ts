import type { Response } from 'express';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { z } from 'zod';
import { hashSecret } from '../../http/authentication.ts';
import { withAuditEntry } from '../../operations/audited.ts';
import { type Operations, operationWith } from '../../operations/operation.ts';
import { optionalText } from '../../operations/schemas.ts';
import type { AuditLog } from '../../store/credentials/audit-log.ts';
import type { OpenidAttempts } from '../../store/credentials/openid-attempts.ts';
import type { AdminContext, RouterDeps } from '../router.ts';
import type { FairQueue } from '../sign-in/fair-queue.ts';
import type { RefusedSignIns } from '../sign-in/refused-sign-ins.ts';
import {
  cookieName,
  cookieOptions,
  readCookie,
  type SessionDeps,
  startSession,
} from '../sign-in/sessions.ts';
import {
  failureText,
  SignInFailure,
  type SignInFailureCode,
  signInFailureCodes,
  toSignInFailure,
} from './failures.ts';
import { type AdmissionRules, identifyPerson, type Person, shownName } from './person.ts';
import type { OpenidProvider, SignInAttempt } from './provider.ts';

/** Dependencies of signing in through an OpenID provider. */
export interface OpenidDeps extends SessionDeps {
  openidAttempts: OpenidAttempts;
  audit: AuditLog;
  refusedSignIns: RefusedSignIns;
  /** Undefined if none is configured. */
  openid: OpenidSignIn | undefined;
  log: RouterDeps['log'];
  /** Writes a failed sign-in to the log, each kind once a minute. */
  logFailure(failure: SignInFailure): void;
}

/** The configured provider, and what its sign-ins need. */
export interface OpenidSignIn {
  /** The name of the provider on the page. */
  label: string;
  rules: AdmissionRules;
  provider: OpenidProvider;
  /** The exchanges with the provider. It is not the queue of passwords, so that neither way to sign in closes the other. */
  exchanges: FairQueue;
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

/** A repeated parameter counts as none. */
const text = optionalText.catch(undefined);

const operation = operationWith<OpenidDeps, AdminContext>();

/** The ways to sign in, and signing in through the OpenID provider. Browsers follow the redirects; scripts have tokens. */
export const openidOperations = {
  describeSignIn: operation(
    {
      ...{ method: 'get', path: '/sign-in', tag: 'Session', access: 'anyone' },
      summary: 'List the ways to sign in',
      query: z.strictObject({
        failure: z
          .enum(signInFailureCodes)
          .optional()
          .catch(undefined)
          .describe('Of a sign-in through the OpenID provider: asks for its text'),
      }),
      result: z.object({
        password: z.boolean().describe('False if only the OpenID provider opens the page'),
        openid: z.object({ label: z.string() }).optional(),
        failure: optionalText.describe('The text of the failure that the query names'),
      }),
    },
    async ({ query: { failure } }, { openid, acceptsPasswords }) => ({
      password: acceptsPasswords,
      ...(openid && { openid: { label: openid.label } }),
      ...(failure && { failure: failureText(failure, acceptsPasswords) }),
    }),
  ),
  beginOpenidSignIn: operation(
    {
      ...{ method: 'get', path: '/sign-in/openid', tag: 'Session', access: 'anyone', isNavigation: true },
      summary: 'Go to the OpenID provider to sign in',
      query: z.looseObject({ returnTo: text.describe('The address on the page to return to') }),
    },
    ({ query }, deps, { response }) => {
      const returnTo = pageAddress(query.returnTo);
      return navigate(deps, (configured) => beginSignIn(returnTo, response, configured), returnTo);
    },
  ),
  signInWithOpenid: operation(
    {
      ...{ method: 'get', path: '/sign-in/openid/callback', tag: 'Session', access: 'anyone' },
      isNavigation: true,
      summary: 'Return from the OpenID provider; recorded in the audit log',
      query: z.looseObject({ code: text, state: text, error: text }),
    },
    (_input, deps, { response, address }) => {
      const { openid } = deps;
      const attempt = openid && takeAttempt(response, { ...deps, openid });
      const run = (configured: ConfiguredDeps) => completeSignIn(attempt, { response, address }, configured);
      return navigate(deps, run, attempt?.returnTo ?? PAGE);
    },
  ),
} satisfies Operations;

/** Runs a step of a sign-in, which returns the address to go to. After a failure this is the page, which tells it. */
async function navigate(
  deps: OpenidDeps,
  run: (configured: ConfiguredDeps) => Promise<string>,
  returnTo: string,
): Promise<{ location: string }> {
  const { openid } = deps;
  try {
    if (!openid) throw new SignInFailure('notConfigured');
    return { location: await run({ ...deps, openid }) };
  } catch (error) {
    const failure = toSignInFailure(error);
    deps.logFailure(failure);
    return { location: withFailure(returnTo, failure.code) };
  }
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
  await useOnce(attempt, deps);
  const found = await openid.exchanges
    .run({ address, name: '' }, () => openid.provider.readClaims(attempt, returned))
    .then((claims) => identifyPerson(claims, openid.rules))
    .catch(toSignInFailure);
  if (found instanceof SignInFailure) {
    await recordRefusal(found, address, deps);
    throw found;
  }
  await letIn(found, address, deps, async () => {
    await startSession(response, await admitPerson(found, deps), deps);
  });
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

const ACTION = 'signInWithOpenid';

/** Records that the provider has identified nobody. Anyone can cause it, so these refusals are summed up. */
function recordRefusal(
  { status, code }: SignInFailure,
  address: string,
  { refusedSignIns }: ConfiguredDeps,
): Promise<void> {
  return refusedSignIns.record({ action: ACTION, address, status, reason: code });
}

/** Lets a person in between the two writes of an entry, or records why the person is not let in, and throws it. */
function letIn(
  person: Person,
  address: string,
  deps: ConfiguredDeps,
  begin: () => Promise<void>,
): Promise<void> {
  const { name, ...facts } = person;
  const details: Record<string, unknown> = facts;
  const actor = shownName(person);
  const refusal = (error: unknown) => {
    const { status, code } = toSignInFailure(error);
    deps.refusedSignIns.count(ACTION);
    details['refused'] = code;
    return status;
  };
  const entry = { actor, actorKind: 'nobody', address, action: ACTION, details } as const;
  return withAuditEntry(begin, entry, deps, { done: 303, refusal });
}

/** Gives the other sessions of a person the present name and role. Throws, and ends them, if the person has no role any more. */
async function admitPerson({ role, ...person }: Person, { sessions, now }: ConfiguredDeps) {
  if (role === undefined) {
    await sessions.endAccess(person.subject, now());
    throw new SignInFailure('noRole');
  }
  const admitted = { ...person, role };
  await sessions.updatePerson(admitted);
  return admitted;
}

/** Anyone can begin a sign-in, so each kind of failure is logged once in this time, in milliseconds. */
const LOG_EVERY_MS = 60_000;

/**
 * Returns a function that logs the failures that the provider or this service has caused, which are for the operator; the others are in
 * the audit log.
 */
export function failureLog({ log, now }: Pick<OpenidDeps, 'log' | 'now'>): OpenidDeps['logFailure'] {
  const loggedAt = new Map<SignInFailureCode, number>();
  return ({ code, message, cause }) => {
    const isOperators = ['failed', 'unavailable', 'misconfigured', 'invalidAnswer', 'noName'].includes(code);
    // The absolute difference is compared, because the clock can be set back.
    if (!isOperators || Math.abs(now() - (loggedAt.get(code) ?? 0)) < LOG_EVERY_MS) return;
    loggedAt.set(code, now());
    if (code === 'failed') log.error({ err: cause }, 'a sign-in through the OpenID provider failed');
    else log.warn({ reason: message }, 'the OpenID provider of the admin page did not identify a person');
  };
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
