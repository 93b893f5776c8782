import type { HoldGroup } from '../../../../operations/holds.ts';
import { groupText } from '../../../../provisioning/holds/hold-texts.ts';

/** The causes of holds as headings. */
export const causeNames: Record<HoldGroup['cause'], string> = {
  safetyValve: 'Safety valve',
  guarded: 'Administrators',
  neverProvisioned: 'People never sent',
  rules: 'Other rules or lookups',
};

/** Returns the text of the link to the people of a group, some of whom an admin can choose. */
export function choiceText(group: Pick<HoldGroup, 'people' | 'isMore' | 'generation'>): string {
  // A change of rules holds most people together, and only those one by one who were due meanwhile.
  if (group.generation !== undefined) return 'Show those who are held one by one';
  return group.people === 1 ? 'Show details' : `Choose among ${groupText(group)}`;
}
