import { countText, numberText, peopleText } from '../conditions/texts.ts';
import { valueText } from '../rules/value-texts.ts';

// The words in which the page and the commands tell of holds and decisions. The page has this file, too.

/** The decision about held changes. */
export type HoldAnswer = 'approved' | 'discarded';

/** The number of people of a group, or "more than" it where counting stopped. */
export function groupText({ people, isMore }: { people: number; isMore: boolean }): string {
  return isMore ? `more than ${peopleText(people - 1)}` : peopleText(people);
}

interface ConsequenceFacts {
  /** The number of travelers by what an approval does to them. */
  effects: { archived: number; deleted: number; changed: number };
  /** True if more people are concerned than were counted. */
  isMore?: boolean;
  /** The number of people of the group who stay held. */
  others?: number;
}

/** Says what a decision does to travelers, in numbers. */
export function consequenceText(
  answer: HoldAnswer,
  { effects: { archived, deleted, changed }, isMore = false, others = 0 }: ConsequenceFacts,
): string {
  const all = archived + deleted + changed;
  const travelers = (count: number) =>
    isMore ? `More than ${numberText(count - 1)} travelers` : countText(count, 'traveler', 'travelers');
  const parts =
    answer === 'discarded'
      ? [`${travelers(all)} ${all === 1 ? 'stays as it is' : 'stay as they are'}`]
      : [
          archived > 0 &&
            `${travelers(archived)} will be archived and ${archived === 1 ? 'loses' : 'lose'} access`,
          deleted > 0 && `${travelers(deleted)} will be deleted`,
          changed > 0 && `${travelers(changed)} will be changed`,
        ].filter((part) => part !== false);
  if (others > 0) parts.push(`${countText(others, 'other person stays', 'other people stay')} held`);
  return `${parts.join('; ')}.`;
}

/** Says what a decision has done. */
export function outcomeText(
  answer: HoldAnswer,
  { decided, skipped }: { decided: number; skipped: number },
): string {
  const parts = [
    decided > 0 && `${answer === 'approved' ? 'Approved' : 'Discarded'} for ${peopleText(decided)}.`,
    skipped > 0 &&
      `${countText(skipped, 'other person was', 'other people were')} left out: somebody else has decided, or the identity provider has changed them.`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

interface Progress {
  people: number;
  left: number;
  /** Of a change of rules: the number of people whom it affects. */
  affected?: number | undefined;
}

/** Says how far a decision is carried out. */
export function progressText({ people, left, affected }: Progress): string {
  const done = `${numberText(people - left)} of ${countText(people, 'person is', 'people are')} done so far`;
  if (affected === undefined) return left === 0 ? 'It is carried out.' : `${done}.`;
  const who = `the change affects ${peopleText(affected)}`;
  return left === 0 ? `It is carried out: ${who}.` : `${done}; ${who}.`;
}

interface FieldValues {
  /** The most frequent changes of values. */
  values: readonly { before?: unknown; after?: unknown; people: number }[];
  /** The number of people with other changes of values. */
  others: number;
}

/** The most frequent changes of the values of a field, with the numbers of people. */
export function valuesText({ values, others }: FieldValues, names: Partial<Record<string, string>>): string {
  const pairs = values.map(
    ({ before, after, people }) =>
      `${valueText(before, names)} → ${valueText(after, names)} (${numberText(people)})`,
  );
  return [...pairs, ...(others > 0 ? [`other values (${numberText(others)})`] : [])].join(', ');
}
