import type { Identity } from './identity.ts';

/** The identity with what every write of an IdP sets besides the desired state: it is claimed, dirty, and due at once. */
export function rewritten(before: Identity, now: number): Identity {
  return {
    ...before,
    claimed: true,
    version: before.version + 1,
    lastModified: now,
    state: 'dirty',
    attempts: 0,
    nextAttemptAt: undefined,
  };
}
