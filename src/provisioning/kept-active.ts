import type { HoldCause, Identity, StatedDeparture } from './identity.ts';
import { isInactive } from './identity.ts';

/** The causes for which the departure of a person is held. */
export const departureCauses = [
  'safetyValve',
  'guarded',
  'neverProvisioned',
] as const satisfies readonly HoldCause[];

export function isDepartureCause(cause: HoldCause | undefined): boolean {
  return departureCauses.some((one) => one === cause);
}

/** True if the departure of this person waits for an admin, or if an admin has discarded it: nothing may end it but a decision. */
export function isDepartureOpen(identity: Identity): boolean {
  const { hold, decision, version } = identity;
  const isApproved = decision?.answer === 'approved' && decision.version === version;
  return isKeptActive(identity) || (isInactive(identity) && isDepartureCause(hold?.cause) && !isApproved);
}

/**
 * True if an admin has discarded the departure of this person, and the IdP has not stated it again since. The traveler stays
 * active, and nothing waits for an admin.
 */
export function isKeptActive(
  identity: Pick<Identity, 'decision' | 'origin' | 'version' | KeptColumns>,
): boolean {
  const { decision, origin, version } = identity;
  if (decision?.answer !== 'discarded' || !isInactive(identity)) return false;
  return isDepartureCause(decision.cause) && (origin.statedDeparture?.version ?? version) <= decision.version;
}

type KeptColumns = 'desired' | 'deletedAt';

/**
 * Returns the last statement of the departure after a write of the IdP that leaves the user inactive or deleted. `wasLeftActive`: see
 * `isLeftActive`.
 */
export function statedDepartureAfter(
  before: Identity,
  { isStated, wasLeftActive = false }: { isStated: boolean; wasLeftActive?: boolean },
): StatedDeparture {
  // Without a statement in this write, the last one is in the version before, at the latest.
  if (!isStated) return before.origin.statedDeparture ?? { version: before.version };
  const isRepeated =
    wasLeftActive ||
    isKeptActive(before) ||
    (isInactive(before) && before.origin.statedDeparture?.isRepeated === true);
  return { version: before.version + 1, ...(isRepeated ? { isRepeated } : {}) };
}
