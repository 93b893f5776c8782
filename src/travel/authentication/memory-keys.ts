import { hashSecret } from '../../http/authentication.ts';
import { BRIDGE_CREDENTIAL } from '../../model/exchange.ts';
import type { TravelDeps } from '../collection.ts';
import type { Authenticator } from '../ports.ts';
import { ensureFirstAdmin } from './api-keys.ts';
import { isActiveAdmin } from './authentication.ts';

/** Combines authenticators: they are called in order until one accepts the token. */
export function firstAccepting(authenticators: Authenticator[]): Authenticator {
  return async (token, onRefused) => {
    for (const authenticate of authenticators) {
      const admission = await authenticate(token, onRefused);
      if (admission) return admission;
    }
    return undefined;
  };
}

/**
 * The bridge acts on behalf of the first admin. When that user is no active admin any more, the bridge acts on behalf of
 * another, so that changes among the admins do not end the provisioning.
 */
export function bridgeAuthenticator(
  key: string,
  deps: Omit<TravelDeps, 'onChange'>,
  firstAdmin: string,
): Authenticator {
  let admin = firstAdmin;
  return memoryKeyAuthenticator(BRIDGE_CREDENTIAL, key, async () => {
    if (!(await isActiveAdmin(deps.store, admin))) admin = await ensureFirstAdmin(deps);
    return admin;
  });
}

/** Accepts one key that is not stored. `credential` is its name in the log. */
export function memoryKeyAuthenticator(
  credential: string,
  key: string | undefined,
  owner: () => string | Promise<string>,
): Authenticator {
  const hash = key === undefined ? undefined : hashSecret(key);
  return async (token) => (hashSecret(token) === hash ? { userId: await owner(), credential } : undefined);
}
