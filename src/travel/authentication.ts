import type { RequestHandler, Response } from 'express';
import { bearerToken } from '../http/bearer.ts';
import { type Refusal, type RefusalDeps, refuseRequest } from '../http/failed-authentication.ts';
import { markRoutine, noteOf } from '../http/scope.ts';
import { foldCase } from '../schema/case-fold.ts';
import { ApiError } from './errors.ts';
import {
  type Admission,
  type Credentials,
  readOne,
  type StoredResource,
  type TravelReading,
} from './ports.ts';
import { isAdmin } from './resources/user.ts';

/** As the embedded bridge's own credential is called; it reads all day long. */
export const BRIDGE = 'bridge';

/**
 * Lets in who brings the credential of an active admin: "a request without a valid credential gets 401 with an empty
 * body (no JSON)". The scheme is named all the same, as RFC 9110 §11.6.1 demands of a 401; what was wrong with a token,
 * but not why, as RFC 6750 §3.1 wants it. After too many of these from an address it is 429 (RFC 6585 §4), without a body
 * like the 401; a valid credential from there is served all the same.
 */
export function authenticate(
  reading: TravelReading,
  credentials: Credentials,
  refusals?: RefusalDeps,
): RequestHandler {
  return async (request, response, next) => {
    const authorization = request.get('authorization');
    const token = bearerToken(authorization);
    let known: Refusal | undefined;
    const onRefused = (reason: string) => {
      known = { reason };
    };
    const admission = token === undefined ? undefined : await credentials(token, onRefused);
    if (admission && (await isActiveAdmin(reading, admission.userId))) {
      response.locals['caller'] = admission.userId;
      response.locals['credential'] = admission.credential;
      noteOf(response, { credential: loggedCredential(admission) });
      if (admission.credential === BRIDGE && request.method === 'GET') markRoutine(response);
      if (admission.afterwards) response.once('close', admission.afterwards);
      next();
      return;
    }
    if (admission) known = { reason: 'its user is no active admin', credential: loggedCredential(admission) };
    const refused = { authorization, token, known };
    const retryAfter = refusals && (await refuseRequest(response, refused, refusals));
    if (retryAfter !== undefined) {
      response.status(429).set('Retry-After', String(retryAfter)).end();
      return;
    }
    const challenge = token === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
    response.status(401).set('WWW-Authenticate', challenge).end();
  };
}

/** The credential as the log has it: the subject of an OpenID token may be an address, so the id of its admin stands there. */
function loggedCredential({ userId, credential }: Admission): string {
  return credential.startsWith('openid:') ? `openid:${userId}` : credential;
}

/** The id of the user on whose behalf the request is made. */
export function callerOf(response: Response): string {
  return String(response.locals['caller']);
}

/** The user on whose behalf the request is made, and by which credential; undefined when nobody was recognised. */
export function credentialOf(response: Response): { userId: string; credential: string } | undefined {
  const { caller, credential } = response.locals;
  return caller === undefined ? undefined : { userId: String(caller), credential: String(credential) };
}

/** Asked at every request, so that whoever is archived or loses the role is out at once, with all their credentials. */
export async function isActiveAdmin(reading: TravelReading, userId: string): Promise<boolean> {
  const user = await readOne(reading, 'user', userId);
  return user !== undefined && isAdmin(user.doc);
}

/** The active admin with this address, written in any case. */
export async function adminWithEmail(
  reading: TravelReading,
  email: string,
): Promise<StoredResource | undefined> {
  const user = await userWithEmail(reading, email);
  return user && isAdmin(user.doc) ? user : undefined;
}

/** The same for somebody who wants to hear why there is none: the credential must belong to a user with the `admin` role. */
export async function requireAdmin(reading: TravelReading, email: string): Promise<StoredResource> {
  const user = await userWithEmail(reading, email);
  if (!user) throw new ApiError('notFound', `No user of the travel service has the address ${email}.`);
  if (user.doc['archived'] === true) throw new ApiError('forbidden', `The user ${email} is archived.`);
  if (!isAdmin(user.doc)) throw new ApiError('forbidden', `The user ${email} has not the role admin.`);
  return user;
}

async function userWithEmail(reading: TravelReading, email: string): Promise<StoredResource | undefined> {
  const [user] = await reading.find({ type: 'user', name: 'email', values: [foldCase(email)], limit: 1 });
  return user;
}
