import { addressKey, isParkingAddress } from '../../../model/addresses.ts';
import { isInactive, userNameOf } from '../../../model/identity.ts';
import { isAdministrator } from '../../../model/traveler.ts';
import { emailsOf } from '../../../schema/resource.ts';
import type { OutcomeDraft, ReconcileContext } from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { findEmailHolder, newParkingAddress } from './addresses.ts';

/**
 * Chooses the address of the traveler of a leaver: a parking address if somebody needs the one that it has, and undefined if it has a parking
 * address already, which stays until the person returns. `own`: the address is that of the rules.
 */
export function* chooseLeaverEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<string | undefined | 'own'> {
  const { observed } = draft;
  if (!observed || isAdministrator(observed)) return 'own';
  if (isParkingAddress(context.connection, observed.email)) return undefined;
  if (!(yield* isNeededByOthers(context, observed.email))) return 'own';
  return (yield* newParkingAddress(context, draft)) ?? 'own';
}

/** True if the traveler of another identity has the address, or if an active user waits for it, or is the newcomer who has no traveler without it. */
function* isNeededByOthers(context: ReconcileContext, email: string): Program<boolean> {
  if (yield* findEmailHolder(context, email)) return true;
  if (yield* perform('isWaitedFor', email)) return true;
  const { successor } = context.identity.origin;
  if (successor?.row !== 3 || successor.id === undefined) return false;
  const newcomer = yield* perform('findIdentity', successor.connection, successor.id);
  if (!newcomer || isInactive(newcomer) || newcomer.travelId !== undefined) return false;
  const addresses = [...emailsOf(newcomer.desired), userNameOf(newcomer)];
  return addresses.some((one) => addressKey(one) === addressKey(email));
}
