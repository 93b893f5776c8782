import type { Request, RequestHandler, Response } from 'express';
import {
  bearerToken,
  type FailedAuthenticationDeps,
  type RefusalReason,
  recordFailedAuthentication,
} from '../../http/authentication.ts';
import {
  type Claims,
  discoverJwksUri,
  KeysUnavailable,
  remoteKeyResolver,
  type VerifiedToken,
  verificationFaultText,
  verifyToken,
} from '../../http/jwt.ts';
import { addRequestNotes, markRoutine } from '../../http/log.ts';
import { BRIDGE_CREDENTIAL } from '../../model/exchange.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { ApiError } from '../errors.ts';
import {
  type Authenticator,
  type Principal,
  readResource,
  type StoredResource,
  type TravelReader,
} from '../ports.ts';
import { isAdmin } from '../resources/user.ts';

/**
 * Admits only requests with the credential of an active admin: "a request without a valid credential gets 401 with an
 * empty body (no JSON)". The 401 carries `WWW-Authenticate` (RFC 9110 §11.6.1), with `error="invalid_token"` if there
 * was a token, but no reason (RFC 6750 §3.1). After too many failures an address gets 429 (RFC 6585 §4), also without a
 * body; a valid credential is still served from that address.
 */
export function authenticate(
  reader: TravelReader,
  credentials: Authenticator,
  refusals?: FailedAuthenticationDeps,
): RequestHandler {
  return async (request, response, next) => {
    const authorization = request.get('authorization');
    const token = bearerToken(authorization);
    let known: RefusalReason | undefined;
    const onRefused = (reason: string) => {
      known = { reason };
    };
    const admission = token === undefined ? undefined : await credentials(token, onRefused);
    if (admission && (await isActiveAdmin(reader, admission.userId))) {
      setCaller(response, admission);
      addRequestNotes(response, { credential: loggedCredential(admission) });
      // The bridge's own reads are too frequent to be logged like others.
      if (admission.credential === BRIDGE_CREDENTIAL && request.method === 'GET') markRoutine(response);
      if (admission.onResponseClosed) response.once('close', admission.onResponseClosed);
      if (admission.isReadOnly && request.method !== 'GET' && request.method !== 'HEAD')
        throw new ApiError('forbidden', 'This API key can only read.');
      next();
      return;
    }
    if (admission) known = { reason: 'its user is no active admin', credential: loggedCredential(admission) };
    const refused = { authorization, token, known };
    const retryAfter = refusals && (await recordFailedAuthentication(response, refused, refusals));
    if (retryAfter !== undefined) {
      response.status(429).set('Retry-After', String(retryAfter)).end();
      return;
    }
    const challenge = token === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
    response.status(401).set('WWW-Authenticate', challenge).end();
  };
}

/** The credential as written to the log. The subject of an OpenID token can be an email address, so the user id replaces it. */
function loggedCredential({ userId, credential }: Principal): string {
  return credential.startsWith('openid:') ? `openid:${userId}` : credential;
}

/** Admits the requests whose caller `findCaller` finds; it answers the others. Their callers need not be users of the travel service. */
export function admitCallers(
  findCaller: (request: Request, response: Response) => Promise<Principal | undefined>,
): RequestHandler {
  return async (request, response, next) => {
    const caller = await findCaller(request, response);
    if (!caller) return;
    setCaller(response, caller);
    next();
  };
}

function setCaller(response: Response, { userId, credential }: Principal): void {
  Object.assign(response.locals, { caller: userId, credential });
}

/** Returns the id of the authenticated user. */
export function callerId(response: Response): string {
  return String(response.locals['caller']);
}

/** Returns the authenticated user and credential, or undefined if authentication failed. */
export function callerCredential(response: Response): { userId: string; credential: string } | undefined {
  const { caller, credential } = response.locals;
  return caller === undefined ? undefined : { userId: String(caller), credential: String(credential) };
}

/**
 * Reports whether the user is an active admin. It is checked at every request, so that archiving a user or removing the
 * role ends all of the user's credentials at once.
 */
export async function isActiveAdmin(reader: TravelReader, userId: string): Promise<boolean> {
  const user = await readResource(reader, 'user', userId);
  return user !== undefined && isAdmin(user.doc);
}

/** Finds the active admin with this email, compared without case. */
export async function findAdminByEmail(
  reader: TravelReader,
  email: string,
): Promise<StoredResource | undefined> {
  const user = await findUserByEmail(reader, email);
  return user && isAdmin(user.doc) ? user : undefined;
}

/**
 * Like `findAdminByEmail`, but throws an ApiError that says why there is no such admin: the user does not exist, is
 * archived, or lacks the role `admin`.
 */
export async function requireAdminByEmail(reader: TravelReader, email: string): Promise<StoredResource> {
  const user = await findUserByEmail(reader, email);
  if (!user) throw new ApiError('notFound', `No user of the travel service has the address ${email}.`);
  if (user.doc['archived'] === true) throw new ApiError('forbidden', `The user ${email} is archived.`);
  if (!isAdmin(user.doc)) throw new ApiError('forbidden', `The user ${email} has not the role admin.`);
  return user;
}

/** Finds a user by the email address, without case. */
export async function findUserByEmail(
  reader: TravelReader,
  email: string,
): Promise<StoredResource | undefined> {
  const [user] = await reader.find({ type: 'user', name: 'email', values: [foldCase(email)], limit: 1 });
  return user;
}

/** Reads the email addresses of users by their ids. Users who are gone are left out. */
export async function readEmails(
  reader: Pick<TravelReader, 'read'>,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const users = await reader.read([...new Set(ids)].map((id) => ({ type: 'user', id })));
  return new Map(users.map(({ id, doc }) => [id, String(doc['email'])]));
}

/** The OpenID provider whose access tokens are accepted, and the rules that map a token to an admin. */
export interface OpenidProvider {
  issuer: string;
  audience: string;
  /** If undefined, the URL comes from the provider's discovery document. */
  jwksUri?: string | undefined;
  /** The name of a claim that, like `email_verified`, confirms that the email belongs to the subject. */
  verifiedClaim?: string | undefined;
  /** Maps subjects of tokens to the emails of admins. An entry takes precedence over the email claim. */
  subjects?: Record<string, string> | undefined;
}

/** Dependencies for checking the tokens of an OpenID provider. */
export interface OpenidDeps extends OpenidProvider {
  reader: TravelReader;
  now(): number;
  log: { warn(fields: object, message: string): void };
}

/**
 * Recognizes a JSON Web Token by its form: three parts in base64url, the first of which is a JSON object (RFC 7515
 * §7.1).
 */
const JWT_PATTERN = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

/**
 * Authenticates requests by access tokens of an OpenID provider. A token acts for the admin with its mapped subject or
 * its verified email.
 */
export function openidAuthenticator({ reader, now, log, ...provider }: OpenidDeps): Authenticator {
  const { issuer, audience, jwksUri } = provider;
  const keys = remoteKeyResolver(async () => jwksUri ?? discoverJwksUri(issuer), now);
  const verified = async (token: string, onRefused: (reason: string) => void) => {
    try {
      return await verifyToken(token, keys, { issuer, audience, now: now() });
    } catch (error) {
      onRefused(`OpenID token: ${verificationFaultText(error, now())}`);
      // An error without a cause repeats one that was logged seconds ago. Refused tokens are not logged here: only
      // their sender can mend them.
      if (error instanceof KeysUnavailable && error.cause)
        log.warn(
          { err: error },
          'the public keys of the OpenID provider could not be fetched; refusing its tokens',
        );
      return undefined;
    }
  };
  return async (token, onRefused = () => {}) => {
    const known = JWT_PATTERN.test(token) ? await verified(token, onRefused) : undefined;
    if (!known) return undefined;
    if (!isAccessToken(known)) {
      onRefused('OpenID token: it is no access token');
      return undefined;
    }
    const email = verifiedEmailOf(known.claims, provider);
    const admin = email === undefined ? undefined : await findAdminByEmail(reader, email);
    if (!admin) onRefused('OpenID token: it leads to no admin');
    return admin && { userId: admin.id, credential: `openid:${String(known.claims.sub).slice(0, 255)}` };
  };
}

/**
 * The accepted `typ` headers: none, the general one of JWTs, and that of RFC 9068. Every other kind of token names its
 * own type (RFC 8725 §3.11).
 */
const accessTypes = [undefined, 'jwt', 'at+jwt'];

/**
 * Claims that only ID tokens (OpenID Connect Core 1.0 §3.3.2.11, FAPI 1.0 Part 2 §5.1) and logout tokens (OpenID
 * Connect Back-Channel Logout 1.0 §2.4) have. Both are addressed to a client and visible to browsers, so they are not
 * accepted.
 */
const foreignClaims = ['at_hash', 'c_hash', 's_hash', 'events'];

/** Claims that mark an access token (RFC 9068 §2.2.3; Okta and Entra ID write `scp`). */
const accessClaims = ['scope', 'scp', 'azp'];

/** A `nonce` marks an ID token, unless the type or another claim marks an access token: Keycloak puts a `nonce` into both. */
function isAccessToken({ type, claims }: VerifiedToken): boolean {
  const has = (name: string) => Object.hasOwn(claims, name);
  if (!accessTypes.includes(type) || foreignClaims.some(has)) return false;
  return !has('nonce') || type === 'at+jwt' || accessClaims.some(has);
}

/**
 * Returns the email of the admin that the token belongs to. An unverified email can be anyone's, so it counts as none
 * (OpenID Connect Core 1.0 §5.7).
 */
function verifiedEmailOf(
  claims: Claims,
  { verifiedClaim, subjects = {} }: OpenidProvider,
): string | undefined {
  const { sub, email } = claims;
  if (sub !== undefined && Object.hasOwn(subjects, sub)) return subjects[sub];
  const isVerified = trueValues.includes(claims['email_verified']) || isVerifiedBy(claims, verifiedClaim);
  const isAddress = typeof email === 'string' && /^[^\s\p{C}]{1,320}$/u.test(email);
  return isAddress && isVerified ? email : undefined;
}

/** Some providers write the boolean as a string. */
const trueValues: unknown[] = [true, 'true'];

/** Entra ID documents `xms_edov` as a boolean but also writes 1. */
function isVerifiedBy(claims: Claims, name: string | undefined): boolean {
  const value = name !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined;
  return trueValues.includes(value) || value === 1 || value === '1';
}
