import type { RequestHandler, Response } from 'express';
import { bearerToken } from '../http/bearer.ts';
import { markRoutine } from '../http/scope.ts';
import { isActiveAdmin } from './admins.ts';
import type { Credentials, TravelReading } from './ports.ts';

/** As the embedded bridge's own credential is called; it reads all day long. */
export const BRIDGE = 'bridge';

/**
 * Lets in who brings the credential of an active admin: "a request without a valid credential gets 401 with an empty
 * body (no JSON)". The scheme is named all the same, as RFC 9110 §11.6.1 demands of a 401; what was wrong with a token,
 * but not why, as RFC 6750 §3.1 wants it.
 */
export function authenticate(reading: TravelReading, credentials: Credentials): RequestHandler {
  return async (request, response, next) => {
    const token = bearerToken(request.get('authorization'));
    const admission = token === undefined ? undefined : await credentials(token);
    if (admission && (await isActiveAdmin(reading, admission.userId))) {
      response.locals['caller'] = admission.userId;
      response.locals['credential'] = admission.credential;
      if (admission.credential === BRIDGE && request.method === 'GET') markRoutine(response);
      if (admission.afterwards) response.once('close', admission.afterwards);
      next();
      return;
    }
    const challenge = token === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
    response.status(401).set('WWW-Authenticate', challenge).end();
  };
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
