import { countText, numberText, peopleText } from '../../model/texts.ts';

// The words in which the page and the commands tell of holds and decisions. The page has this file, too.

/** The decision about held changes. */
export type HoldAnswer = 'approved' | 'discarded';

interface ConsequenceFacts {
  /** The number of travelers by what an approval does to them. */
  effects: { archived: number; deleted: number; changed: number };
  /** The number of people of the group who stay held. */
  others?: number;
}

/** Says what a decision does to travelers, in numbers. */
export function consequenceText(
  answer: HoldAnswer,
  { effects: { archived, deleted, changed }, others = 0 }: ConsequenceFacts,
): string {
  const all = archived + deleted + changed;
  const travelers = (count: number) => countText(count, 'traveler', 'travelers');
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

/** Says how far a decision is carried out. */
export function progressText({ people, left }: { people: number; left: number }): string {
  if (left === 0) return 'It is carried out.';
  return `${numberText(people - left)} of ${countText(people, 'person is', 'people are')} done so far.`;
}
