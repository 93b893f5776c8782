import type { Settings } from '../config/settings.ts';
import type { HeldPerson, HeldRules } from '../provisioning/hold-ports.ts';
import type { Decision, HoldCause } from '../provisioning/identity.ts';
import type { Policies } from '../provisioning/policies.ts';
import { countText } from './output.ts';

/** An admin's decision about a held change: approve or discard. */
export type Answer = Decision['answer'];

/** The people and changes of rules that one decision of an admin applies to. */
export interface HeldItems {
  people: HeldPerson[];
  rules: HeldRules[];
}

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
    discarded: 'the traveler stays active until the IdP changes the person again',
    approved: 'the traveler is changed as the IdP wants',
  },
  guarded: {
    why: () => 'the traveler administers the travel service by a role that the mapping did not give',
    discarded: 'the traveler stays as it is until the IdP changes the person again',
    approved: 'the traveler is linked to the person and changed as the IdP wants',
  },
  return: {
    why: () => 'the person returns under another externalId than the one who left: it may be somebody else',
    discarded: 'the traveler of the one who left stays archived until the IdP changes the person again',
    approved: 'the person gets the traveler of the one who left, and what was theirs is removed from it',
  },
  rules: {
    why: () => 'other rules or lookups would change more than 100 people',
    discarded: 'the traveler stays as it is until the rules or lookups change again',
    approved: 'the traveler is changed as the rules and lookups say',
  },
} satisfies Record<HoldCause, CauseText>;

function safetyValveText(valve: Policies['safetyValve']): string {
  if (!valve) return 'too many people left at once; the safety valve is switched off by now';
  const { share, minimum, windowMs } = valve;
  const percent = Math.round(share * 1_000) / 10;
  return `more people left within ${windowMs / 60_000} minutes than ${minimum} or ${percent} % of the active ones`;
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

function travelerEnd(
  person: HeldPerson,
  policies: Pick<Policies, 'deprovision'> | undefined,
): 'archived' | 'deleted' | undefined {
  const want = requestedChange(person);
  if (want === 'change') return undefined;
  return want === 'delete' && policies?.deprovision === 'delete' ? 'deleted' : 'archived';
}

/** Summarizes the effects of a decision in numbers. */
export function decisionText(
  { people, rules }: HeldItems,
  answer: Answer,
  { connections }: Settings,
): string {
  const parts = answer === 'discarded' ? [discardText(people.length)] : [];
  if (answer === 'approved') {
    const ends = people.map((person) =>
      travelerEnd(person, connections.find(({ id }) => id === person.connection)?.policies),
    );
    const numberOf = (end: 'archived' | 'deleted' | undefined) => ends.filter((one) => one === end).length;
    parts.push(
      travelerCountText(numberOf('archived'), 'will be archived'),
      travelerCountText(numberOf('deleted'), 'will be deleted'),
      travelerCountText(numberOf(undefined), 'will be changed or linked'),
    );
  }
  const change = answer === 'approved' ? 'will follow' : 'will not follow';
  parts.push(
    ...rules.map(
      ({ connection, people: count }) =>
        `${count > 100 ? 'more than 100' : count} people of connection ${connection} ${change} the rules and lookups`,
    ),
  );
  return parts.filter((part) => part !== '').join(', ');
}

function discardText(count: number): string {
  return travelerCountText(count, count === 1 ? 'stays as it is' : 'stay as they are');
}

function travelerCountText(count: number, what: string): string {
  return count === 0 ? '' : `${countText(count, 'traveler')} ${what}`;
}
