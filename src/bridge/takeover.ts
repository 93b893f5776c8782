import type { Applied } from '../translator/result.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import type { Identity } from './identity.ts';
import type { TravelAnswer } from './ports.ts';
import type { Task } from './task.ts';

/** Whether a traveler that has the wanted address can become this identity's. */
export type Standing =
  /** With what was applied by the one who gives it up, so that what is no longer wanted is removed. */
  | { is: 'free'; applied: Applied }
  /** Another identity of the account is linked to it, or is just making it. */
  | { is: 'linked' }
  /** The bridge's own credential belongs to it. */
  | { is: 'own' }
  /** It administers the travel service. */
  | { is: 'privileged' };

/**
 * Judges a traveler found by its address. A tombstone of the same connection gives its traveler up: somebody with the
 * same address is back.
 */
export async function standingOf(task: Task, traveler: TravelUser): Promise<TravelAnswer<Standing>> {
  const self = await task.connection.lookups.self();
  if (self.kind !== 'ok') return self;
  if (self.value.id === traveler.id) return { kind: 'ok', value: { is: 'own' } };
  const { account } = task.connection;
  const maker = await task.store.identities.holder(account, { creating: traveler.email });
  // Found before its maker has noted that it is theirs.
  if (maker && maker.id !== task.identity.id) return { kind: 'ok', value: { is: 'linked' } };
  const holder = await task.store.identities.holder(account, { travelId: traveler.id });
  const other = holder?.id === task.identity.id ? undefined : holder;
  if (other && !isGivenUp(task, other)) return { kind: 'ok', value: { is: 'linked' } };
  const applied = other?.applied ?? {};
  // Whoever was ours before came by the role under our eyes.
  if (applied.email === undefined && isPrivileged(traveler))
    return { kind: 'ok', value: { is: 'privileged' } };
  if (!other || (await takeFrom(task, other))) return { kind: 'ok', value: { is: 'free', applied } };
  return {
    kind: 'unavailable',
    text: 'the traveler is just being taken out of use, or taken over by another',
  };
}

/** Work that is under way at the tombstone would come after what is sent from here. */
async function takeFrom(task: Task, { id, leasedUntil }: Identity): Promise<boolean> {
  if (leasedUntil !== undefined && leasedUntil > task.now()) return false;
  const release = { kind: 'release', id, leasedUntil } as const;
  return (await task.store.identities.commit(task.connection.id, [release])) === 'done';
}

/** True for a tombstone of the same connection: its traveler is there for whoever has the address now. */
export function isGivenUp({ connection }: Task, holder: Identity): boolean {
  return holder.deletedAt !== undefined && holder.connection === connection.id;
}

/** True when the traveler holds a role that an IdP must not come by through a link. */
export function isPrivileged(traveler: TravelUser): boolean {
  return (traveler.roles ?? []).some((role) => role === 'admin' || role === 'authAdmin');
}
