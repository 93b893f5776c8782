import { ownableKeys, readField } from '../translator/fields.ts';
import type { Applied } from '../translator/result.ts';
import type { Identity } from './identity.ts';
import { type Draft, isApproved } from './task.ts';

/** True while somebody waits for an admin before the traveler of a leaver becomes theirs. */
export function isReturnHeld(identity: Identity): boolean {
  const { returnAt = 0 } = identity.origin;
  return returnAt > (identity.progress.resetDone ?? 0) && !isApproved(identity, 'return');
}

/** True while a traveler must still be cleared of what it was for somebody else. */
export function isResetPending(
  { origin }: Pick<Identity, 'origin'>,
  { progress }: Pick<Draft, 'progress'>,
): boolean {
  return progress.reset === true || lastReset(origin) > (progress.resetDone ?? 0);
}

/** The draft once the traveler has nothing left of somebody else. */
export function withResetDone({ origin }: Pick<Identity, 'origin'>, draft: Draft): Draft {
  if (!isResetPending({ origin }, draft)) return draft;
  const { reset: _, ...progress } = draft.progress;
  return { ...draft, progress: { ...progress, resetDone: lastReset(origin) } };
}

/** Everything that a traveler has, as if it had been sent: what is not wanted is then removed, by whomever it was made. */
export function resettingApplied({ applied, observed }: Draft): Applied {
  if (!observed) return applied;
  const { email, archived } = applied;
  const reset: Applied = { ...(email ? { email } : {}), ...(archived ? { archived } : {}) };
  for (const key of ownableKeys(observed)) {
    const value = readField(observed, key) ?? null;
    reset[key] = { sent: value, answered: value, source: null, unsure: true };
  }
  return reset;
}

function lastReset({ resetAt = 0, returnAt = 0 }: Identity['origin']): number {
  return Math.max(resetAt, returnAt);
}
