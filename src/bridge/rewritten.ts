import type { Identity } from './identity.ts';
import type { Surroundings } from './ports.ts';

/** The identity with what every write of an IdP sets besides the desired state: it is claimed, dirty, and due at once. */
export function rewritten(
  before: Identity,
  { now, wallClock }: Pick<Surroundings, 'now' | 'wallClock'>,
): Identity {
  return {
    ...before,
    claimed: true,
    version: before.version + 1,
    lastModified: wallClock(),
    writtenAt: now(),
    state: 'dirty',
    attempts: 0,
    nextAttemptAt: undefined,
  };
}
