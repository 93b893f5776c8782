import type { HeldPerson } from '../../model/holds.ts';
import type { Decision, HoldCause, Identity } from '../../model/identity.ts';
import { displayNameOf } from '../../model/people.ts';
import type { Policies } from '../../model/policies.ts';
import { countText } from '../../model/texts.ts';
import { isActive } from '../../schema/resource.ts';

interface CauseText {
  why(policies: Policies | undefined): string;
  /** The effect on the traveler if the change is discarded. */
  discarded: string;
  /** The effect on the traveler if the change of an active person is approved. */
  approved: string;
}

/**
 * The texts for each cause of a hold. If the person is inactive or deleted, an approval archives or deletes the
 * traveler instead.
 */
export const causeTexts = {
  safetyValve: {
    why: (policies) => safetyValveText(policies?.safetyValve),
    discarded: 'the traveler stays active until the IdP deactivates or deletes the person again',
    approved: 'the traveler is archived until the person is in the scope of the mapping again',
  },
  guarded: {
    why: () => 'the traveler administers the travel service by a role that the mapping did not give',
    discarded: 'the traveler stays as it is until the IdP changes the person again',
    approved: 'the traveler is linked to the person and changed as the IdP wants',
  },
  neverProvisioned: {
    why: () => 'the identity provider has deleted a person whom it had never sent',
    discarded: 'the traveler stays as it is, and the person is listed again',
    approved: 'the traveler is archived',
  },
} satisfies Record<HoldCause, CauseText>;

function safetyValveText(valve: Policies['safetyValve']): string {
  const others = 'the departure was discarded before or comes from a backup';
  if (!valve) return `many people left at once, and by now the connection has no limit, or ${others}`;
  const { share, minimum, windowMs } = valve;
  const percent = Math.round(share * 1_000) / 10;
  return `more people left within ${countText(windowMs / 60_000, 'minute', 'minutes')} than ${minimum} or ${percent} % of the active ones, or ${others}`;
}

/** Returns the change that the IdP requested for a held person. */
export function requestedChange({ isActive, isDeleted }: HeldPerson): 'change' | 'deactivate' | 'delete' {
  if (isDeleted) return 'delete';
  return isActive ? 'change' : 'deactivate';
}

/** Describes the effect of an approval on one person's traveler. */
export function approvalText(
  person: HeldPerson,
  policies: Pick<Policies, 'deprovision'> | undefined,
): string {
  const end = travelerEnd(person, policies);
  return end === undefined ? causeTexts[person.hold.cause].approved : `the traveler will be ${end}`;
}

/** Returns the effect of an approval on the traveler of a person who left; undefined if the person did not leave. */
export function travelerEnd(
  person: HeldPerson,
  policies: Pick<Policies, 'deprovision'> | undefined,
): 'archived' | 'deleted' | undefined {
  const want = requestedChange(person);
  if (want === 'change') return undefined;
  return want === 'delete' && policies?.deprovision === 'delete' ? 'deleted' : 'archived';
}

/** Returns an identity as a held person; undefined if it is not held. */
export function toHeldPerson(identity: Identity): HeldPerson | undefined {
  const { connection, id, desired, hold, version, deletedAt } = identity;
  if (!hold) return undefined;
  const isDeleted = deletedAt !== undefined;
  return {
    ...{ connection, id, hold, version, isDeleted },
    userName: String(desired.userName),
    name: displayNameOf(desired),
    isActive: isActive(desired),
  };
}

/** The decision about the present version of a held person; undefined if there is none. */
export function answerTo({ hold, decision, version }: Identity): Decision['answer'] | undefined {
  const isCurrent = decision?.cause === hold?.cause && decision?.version === version;
  return isCurrent ? decision?.answer : undefined;
}
