import { isParkingAddress } from '../../../model/addresses.ts';
import { isAdministrator } from '../../../model/traveler.ts';
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
  const isNeeded =
    (yield* findEmailHolder(context, observed.email)) ?? (yield* perform('isWaitedFor', observed.email));
  return isNeeded ? ((yield* newParkingAddress(context, draft)) ?? 'own') : 'own';
}
