import type { Request, RequestHandler, Response } from 'express';
import { bearerToken, hashSecret } from '../http/bearer.ts';
import { type Credentials, readOne, type StoredResource, type TravelReading } from './ports.ts';
import { isAdmin } from './resources/user.ts';

/**
 * Lets in who brings the credential of an active admin: "a request without a valid credential gets 401 with an empty
 * body (no JSON)". The scheme is named all the same, as RFC 9110 §11.6.1 demands of a 401.
 */
export function authenticate(reading: TravelReading, credentials: Credentials): RequestHandler {
  return async (request, response, next) => {
    const caller = await admin(request, reading, credentials);
    if (caller) {
      response.locals['caller'] = caller;
      next();
    } else {
      response.status(401).set('WWW-Authenticate', 'Bearer').end();
    }
  };
}

/** The id of the user on whose behalf the request is made. */
export function callerOf(response: Response): string {
  return String(response.locals['caller']);
}

async function admin(
  request: Request,
  reading: TravelReading,
  credentials: Credentials,
): Promise<StoredResource['id'] | undefined> {
  const token = bearerToken(request.get('authorization'));
  const userId = token === undefined ? undefined : await credentials(hashSecret(token));
  const user = userId === undefined ? undefined : await readOne(reading, 'user', userId);
  return user && isAdmin(user.doc) ? user.id : undefined;
}
