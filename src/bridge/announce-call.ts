import type { Draft, Task } from './task.ts';

/**
 * Commits what the draft announces before a call to its traveler is made. A traveler that was found in this attempt is
 * linked by the same commit, with what is applied to it; false when the call must not be made, as the lease ended or another
 * identity is linked to the traveler.
 */
export async function announceCall(
  { connection, identity, token, store }: Task,
  { travelId, applied, progress }: Draft,
): Promise<boolean> {
  const isLinked = travelId === undefined || travelId === identity.travelId;
  const news = isLinked ? { progress } : { travelId, applied, progress };
  return (await store.leases.announce(connection.id, identity.id, token, news)) === 'done';
}
