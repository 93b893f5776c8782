import type { RequestHandler, Response } from 'express';
import {
  bearerToken,
  type FailedAuthenticationDeps,
  type RefusalReason,
  recordFailedAuthentication,
} from '../http/authentication.ts';
import {
  type Claims,
  discoverJwksUri,
  KeysUnavailable,
  remoteKeyResolver,
  type VerifiedToken,
  verificationFaultText,
  verifyToken,
} from '../http/jwt.ts';
import { addRequestNotes, markRoutine } from '../http/log.ts';
import { foldCase } from '../schema/case-fold.ts';
import { ApiError } from './errors.ts';
import {
  type Authenticator,
  type Principal,
  readResource,
  type StoredResource,
  type TravelReader,
} from './ports.ts';
import { isAdmin } from './resources/user.ts';

/** As the embedded bridge's own credential is called; it reads all day long. */
export const BRIDGE_CREDENTIAL = 'bridge';

/**
 * Lets in who brings the credential of an active admin: "a request without a valid credential gets 401 with an empty
 * body (no JSON)". The scheme is named all the same, as RFC 9110 §11.6.1 demands of a 401; what was wrong with a token,
 * but not why, as RFC 6750 §3.1 wants it. After too many of these from an address it is 429 (RFC 6585 §4), without a body
 * like the 401; a valid credential from there is served all the same.
 */
export function authenticate(
  reading: TravelReader,
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
    if (admission && (await isActiveAdmin(reading, admission.userId))) {
      response.locals['caller'] = admission.userId;
      response.locals['credential'] = admission.credential;
      addRequestNotes(response, { credential: loggedCredential(admission) });
      if (admission.credential === BRIDGE_CREDENTIAL && request.method === 'GET') markRoutine(response);
      if (admission.onResponseClosed) response.once('close', admission.onResponseClosed);
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

/** The credential as the log has it: the subject of an OpenID token may be an address, so the id of its admin stands there. */
function loggedCredential({ userId, credential }: Principal): string {
  return credential.startsWith('openid:') ? `openid:${userId}` : credential;
}

/** The id of the user on whose behalf the request is made. */
export function callerId(response: Response): string {
  return String(response.locals['caller']);
}

/** The user on whose behalf the request is made, and by which credential; undefined when nobody was recognised. */
export function callerCredential(response: Response): { userId: string; credential: string } | undefined {
  const { caller, credential } = response.locals;
  return caller === undefined ? undefined : { userId: String(caller), credential: String(credential) };
}

/** Asked at every request, so that whoever is archived or loses the role is out at once, with all their credentials. */
export async function isActiveAdmin(reading: TravelReader, userId: string): Promise<boolean> {
  const user = await readResource(reading, 'user', userId);
  return user !== undefined && isAdmin(user.doc);
}

/** The active admin with this address, written in any case. */
export async function findAdminByEmail(
  reading: TravelReader,
  email: string,
): Promise<StoredResource | undefined> {
  const user = await findUserByEmail(reading, email);
  return user && isAdmin(user.doc) ? user : undefined;
}

/** The same for somebody who wants to hear why there is none: the credential must belong to a user with the `admin` role. */
export async function requireAdminByEmail(reading: TravelReader, email: string): Promise<StoredResource> {
  const user = await findUserByEmail(reading, email);
  if (!user) throw new ApiError('notFound', `No user of the travel service has the address ${email}.`);
  if (user.doc['archived'] === true) throw new ApiError('forbidden', `The user ${email} is archived.`);
  if (!isAdmin(user.doc)) throw new ApiError('forbidden', `The user ${email} has not the role admin.`);
  return user;
}

async function findUserByEmail(reading: TravelReader, email: string): Promise<StoredResource | undefined> {
  const [user] = await reading.find({ type: 'user', name: 'email', values: [foldCase(email)], limit: 1 });
  return user;
}

/** The OpenID provider whose access tokens are taken, and how a token leads to an admin. */
export interface OpenidProvider {
  issuer: string;
  audience: string;
  /** Undefined: as the provider's discovery document tells. */
  jwksUri?: string | undefined;
  /** A claim that says, beside `email_verified`, that the address belongs to the subject. */
  verifiedClaim?: string | undefined;
  /** The admin's address by the subject of the token, whatever its other claims say. */
  subjects?: Record<string, string> | undefined;
}

/** What the tokens of a provider are checked with. */
export interface OpenidDeps extends OpenidProvider {
  reading: TravelReader;
  now(): number;
  log: { warn(fields: object, message: string): void };
}

/** Three parts of base64url, the first of which is a JSON object (RFC 7515 §7.1). */
const JWT_PATTERN = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/;

/** Access tokens of an OpenID provider as credentials: each is that of the admin with its subject or its verified email. */
export function openidAuthenticator({ reading, now, log, ...provider }: OpenidDeps): Authenticator {
  const { issuer, audience, jwksUri } = provider;
  const keys = remoteKeyResolver(async () => jwksUri ?? discoverJwksUri(issuer), now);
  const verified = async (token: string, onRefused: (reason: string) => void) => {
    try {
      return await verifyToken(token, keys, { issuer, audience, now: now() });
    } catch (error) {
      onRefused(`OpenID token: ${verificationFaultText(error)}`);
      // Without a cause it was told some seconds ago. Why a token is refused is its bearer's business.
      if (error instanceof KeysUnavailable && error.cause)
        log.warn({ err: error }, 'the keys of the OpenID provider cannot be had; its tokens are refused');
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
    const admin = email === undefined ? undefined : await findAdminByEmail(reading, email);
    if (!admin) onRefused('OpenID token: it leads to no admin');
    return admin && { userId: admin.id, credential: `openid:${String(known.claims.sub).slice(0, 255)}` };
  };
}

/** The types of access tokens: none, the one of every JWT, and that of RFC 9068. Each other kind of token names its own (RFC 8725 §3.11). */
const accessTypes = [undefined, 'jwt', 'at+jwt'];

/**
 * Claims of ID tokens (OpenID Connect Core 1.0 §3.3.2.11, FAPI 1.0 Part 2 §5.1) and of logout tokens (OpenID Connect
 * Back-Channel Logout 1.0 §2.4), which have the audience of a client and are shown to browsers.
 */
const foreignClaims = ['at_hash', 'c_hash', 's_hash', 'events'];

/** Claims that access tokens have (RFC 9068 §2.2.3; Okta and Entra ID write `scp`). */
const accessClaims = ['scope', 'scp', 'azp'];

/** A `nonce` is that of an ID token, unless the type or a claim says that this is an access token: Keycloak puts it into both. */
function isAccessToken({ type, claims }: VerifiedToken): boolean {
  const has = (name: string) => Object.hasOwn(claims, name);
  if (!accessTypes.includes(type) || foreignClaims.some(has)) return false;
  return !has('nonce') || type === 'at+jwt' || accessClaims.some(has);
}

/** The address of the admin whose token it is: an address that is not verified may be anybody's (OpenID Connect Core 1.0 §5.7). */
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

/** Some providers write the boolean as text. */
const trueValues: unknown[] = [true, 'true'];

/** Entra ID documents `xms_edov` as a boolean, and writes 1 as well. */
function isVerifiedBy(claims: Claims, name: string | undefined): boolean {
  const value = name !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined;
  return trueValues.includes(value) || value === 1 || value === '1';
}
