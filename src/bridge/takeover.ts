import type { TravelUser } from '../translator/travel-user.ts';
import type { TravelAnswer } from './ports.ts';
import type { Task } from './task.ts';

/** Whether a traveler that has the wanted address can become this identity's. */
export type Standing =
  | 'free'
  /** Another identity of the account is linked to it. */
  | 'linked'
  /** The bridge's own credential belongs to it. */
  | 'own'
  /** It administers the travel service. */
  | 'privileged';

/**
 * Judges a traveler found by its address. A tombstone of the same connection gives its traveler up: somebody with the
 * same address is back.
 */
export async function standingOf(task: Task, traveler: TravelUser): Promise<TravelAnswer<Standing>> {
  const self = await task.connection.lookups.self();
  if (self.kind !== 'ok') return self;
  if (self.value.id === traveler.id) return { kind: 'ok', value: 'own' };
  const { account, id: connection } = task.connection;
  const holder = await task.store.identities.holder(account, { travelId: traveler.id });
  if (holder && holder.id !== task.identity.id) {
    const isGivenUp = holder.deletedAt !== undefined && holder.connection === connection;
    if (!isGivenUp) return { kind: 'ok', value: 'linked' };
    await task.store.identities.commit(connection, [{ kind: 'release', id: holder.id }]);
  }
  return { kind: 'ok', value: isPrivileged(traveler) ? 'privileged' : 'free' };
}

/** True when the traveler holds a role that an IdP must not come by through a link. */
export function isPrivileged(traveler: TravelUser): boolean {
  return (traveler.roles ?? []).some((role) => role === 'admin' || role === 'authAdmin');
}
