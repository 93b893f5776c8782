import { foldCase } from '../schema/case-fold.ts';
import { isGuarded } from './guard.ts';
import type { Identity } from './identity.ts';
import type { OutcomeDraft, ReconcileContext } from './reconcile-context.ts';

/** The search for a cycle of identities that wait for each other's addresses stops after this many identities. */
export const LONGEST_CHAIN = 50;

/**
 * A chain of identities, each of which waits for the address of the next. It begins with the identity that has the
 * wanted address.
 */
interface WaitChain {
  members: Identity[];
  /**
   * The end of the chain. `cycle`: its last member waits for the address that this identity has, or had before its
   * parking address. `open`: its last member waits for a free address. `blocked`: its last member keeps its address.
   */
  end: 'cycle' | 'open' | 'blocked';
}

export async function followWaitChain(
  context: ReconcileContext,
  { observed, progress }: OutcomeDraft,
  holder: Identity,
): Promise<WaitChain> {
  const members: Identity[] = [];
  // Use the addresses of the draft: if a process died during a call, the store may not have the current address.
  const own =
    observed && [observed.email, progress.parkedFrom].flatMap((one) => (one ? [foldCase(one)] : []));
  let next: Identity | undefined = holder;
  for (let step = 0; next && step < LONGEST_CHAIN; step += 1) {
    if (next.waitingFor === undefined || !mayMove(next)) return { members, end: 'blocked' };
    members.push(next);
    if (own?.includes(next.waitingFor)) return { members, end: 'cycle' };
    next = await context.identities.findHolder(context.connection.account, {
      travelEmailKey: next.waitingFor,
    });
    if (next?.id === context.identity.id) return { members, end: 'cycle' };
  }
  return { members, end: next ? 'blocked' : 'open' };
}

/**
 * False for an identity whose address cannot change without an admin or the IdP: a tombstone, a held identity, or a
 * guarded traveler.
 */
export function mayMove({ applied, deletedAt, hold, observed }: Identity): boolean {
  if (deletedAt !== undefined || (hold !== undefined && hold.cause !== 'safetyValve')) return false;
  return observed === undefined || !isGuarded(observed, applied);
}
