import type { Settings } from '../config/settings.ts';
import { type HeldPerson, type HeldRules, travelerEnd } from '../provisioning/holds.ts';
import type { Decision } from '../provisioning/identity.ts';
import { countText } from './output.ts';

/** An admin's decision about a held change: approve or discard. */
export type Answer = Decision['answer'];

/** The people and changes of rules that one decision of an admin applies to. */
export interface HeldItems {
  people: HeldPerson[];
  rules: HeldRules[];
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
