import type { HoldEffects, HoldGroup, OpenDecision, RulesEffect } from '../../../../operations/holds.ts';
import { valueText } from '../../../../provisioning/rules/value-texts.ts';
import { countText, numberText } from '../../components/texts.ts';

export type Answer = 'approved' | 'discarded';

/** The causes of holds as headings. */
export const causeNames: Record<HoldGroup['cause'], string> = {
  safetyValve: 'Safety valve',
  guarded: 'Administrators',
  neverProvisioned: 'People never sent',
  return: 'People who return',
  rules: 'Other rules or lookups',
  groups: 'Changed groups',
};

/** The number of people of a group, or "more than" it where counting stopped. */
export function peopleText({ people, isMore }: Pick<HoldGroup, 'people' | 'isMore'>): string {
  return isMore ? `more than ${numberText(people - 1)} people` : countText(people, 'person', 'people');
}

/** Returns the text of the link to the people of a group, some of whom an admin can choose. */
export function choiceText(group: Pick<HoldGroup, 'people' | 'isMore' | 'generation'>): string {
  // A change of rules holds most people together, and only those one by one who were due meanwhile.
  if (group.generation !== undefined) return 'Show those who are held one by one';
  return group.people === 1 ? 'Show details' : `Choose among ${peopleText(group)}`;
}

/** Says what a decision does to travelers, in numbers. `others` is the number of people of the group who stay held. */
export function consequenceText(
  answer: Answer,
  { effects: { archived, deleted, changed }, isMore = false, others = 0 }: ConsequenceFacts,
): string {
  const all = archived + deleted + changed;
  const travelers = (count: number) =>
    isMore ? `More than ${numberText(count - 1)} travelers` : countText(count, 'traveler');
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

interface ConsequenceFacts {
  effects: HoldEffects;
  /** True if more people are concerned than were counted. */
  isMore?: boolean;
  others?: number;
}

/** Says what a decision has done. */
export function outcomeText(
  answer: Answer,
  { decided, skipped }: { decided: number; skipped: number },
): string {
  const parts = [
    decided > 0 &&
      `${answer === 'approved' ? 'Approved' : 'Discarded'} for ${countText(decided, 'person', 'people')}.`,
    skipped > 0 &&
      `${countText(skipped, 'other person was', 'other people were')} left out: somebody else has decided, or the identity provider has changed them.`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

/** Says how far a decision is carried out. */
export function progressText({
  people,
  left,
  affected,
}: Pick<OpenDecision, 'people' | 'left' | 'affected'>): string {
  const done = `${numberText(people - left)} of ${countText(people, 'person is', 'people are')} done so far`;
  if (affected === undefined) return left === 0 ? 'It is carried out.' : `${done}.`;
  const who = `the change affects ${countText(affected, 'person', 'people')}`;
  return left === 0 ? `It is carried out: ${who}.` : `${done}; ${who}.`;
}

/** The most frequent changes of the values of a field, with the numbers of people. */
export function valuesText(
  { values, others }: Pick<RulesEffect['fields'][number], 'values' | 'others'>,
  names: RulesEffect['names'],
): string {
  const pairs = values.map(
    ({ before, after, people }) =>
      `${valueText(before, names)} → ${valueText(after, names)} (${numberText(people)})`,
  );
  return [...pairs, ...(others > 0 ? [`other values (${numberText(others)})`] : [])].join(', ');
}
