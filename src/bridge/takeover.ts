import type { TravelUser } from '../translator/travel-user.ts';
import type { Identity } from './identity.ts';
import type { TravelAnswer } from './ports.ts';
import type { Task } from './task.ts';

/** Whether a traveler that has the wanted address can become this identity's. */
export type Standing =
  | 'free'
  /** Another identity of the account is linked to it, or is just making it. */
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
  const maker = await task.store.identities.holder(account, { creating: traveler.email });
  // Found before its maker has noted that it is theirs.
  if (maker && maker.id !== task.identity.id) return { kind: 'ok', value: 'linked' };
  const holder = await task.store.identities.holder(account, { travelId: traveler.id });
  if (holder && holder.id !== task.identity.id) {
    if (!isGivenUp(task, holder)) return { kind: 'ok', value: 'linked' };
    // What is under way there would come after what is sent from here.
    if (holder.leasedUntil !== undefined && holder.leasedUntil > task.now())
      return { kind: 'unavailable', text: 'the traveler is just being taken out of use' };
    const { id, leasedUntil } = holder;
    const release = { kind: 'release', id, leasedUntil } as const;
    if ((await task.store.identities.commit(connection, [release])) !== 'done')
      return { kind: 'unavailable', text: 'the traveler was just taken by somebody else' };
  }
  return { kind: 'ok', value: isPrivileged(traveler) ? 'privileged' : 'free' };
}

/** True for a tombstone of the same connection: its traveler is there for whoever has the address now. */
export function isGivenUp({ connection }: Task, holder: Identity): boolean {
  return holder.deletedAt !== undefined && holder.connection === connection.id;
}

/** True when the traveler holds a role that an IdP must not come by through a link. */
export function isPrivileged(traveler: TravelUser): boolean {
  return (traveler.roles ?? []).some((role) => role === 'admin' || role === 'authAdmin');
}
