import { countText, numberText } from '../../model/texts.ts';
import type { PilotPreview } from './pilot.ts';
import type { ShadowOutcome, ShadowSums } from './report.ts';

// The words in which the page and the commands tell of the report of a connection in shadow mode. The page has this file, too.

/** What going live does with a person, in the order of the report. */
export const outcomeTexts = {
  live: 'In the pilot: changes are carried out.',
  create: 'A traveler is created.',
  link: 'Linked to a traveler that exists.',
  change: 'The traveler is changed.',
  reactivate: 'The archived traveler is activated again.',
  end: 'The traveler is archived or deleted.',
  leftOut: 'Left out, or an admin must decide first.',
  same: 'Nothing changes.',
  unplanned: 'Not planned yet: look again in a minute.',
  notSent: 'Not sent by the identity provider: stays as it is.',
} satisfies Record<ShadowOutcome, string>;

/** Says of how many people changes are carried out, and of how many they are planned. */
export function pilotText({ live, notSent: _, ...planned }: ShadowSums['people']): string {
  const sum = Object.values(planned).reduce((total, count) => total + count, 0);
  return `${numberText(live)} live, ${numberText(sum)} planned`;
}

/** Says what becomes of the people if the pilot is replaced by the one of a preview. */
export function pilotChangeText({ live, planned, entering, leaving, unknownGroups }: PilotPreview): string {
  const entered = Object.values(entering).reduce((total, count) => total + count, 0);
  const texts = unknownGroups.map((name) => `The identity provider has no group "${name}" now.`);
  if (entered > 0)
    texts.push(`${countText(entered, 'person enters', 'people enter')} the pilot: ${planText(entering)}`);
  if (leaving > 0)
    texts.push(
      `${countText(leaving, 'person leaves', 'people leave')} it, and their travelers stay as they are.`,
    );
  return [...texts, `Then ${numberText(live)} live, ${numberText(planned)} planned.`].join(' ');
}

/** The effect of plans on travelers, in numbers. */
export function planText({ create, link, change, reactivate, end }: Record<ShadowOutcome, number>): string {
  const parts = [
    `${countText(create, 'traveler is', 'travelers are')} created`,
    `${numberText(link)} linked`,
    `${numberText(change + reactivate)} changed`,
    `${numberText(end)} archived or deleted`,
  ];
  return `${parts.join(', ')}.`;
}

/** Says how many plans have changed since the report. */
export function changedText(changed: number): string {
  return `${countText(changed, 'plan has', 'plans have')} changed since the report, or people were added or removed. These changes are not approved: departures among them wait for an admin if they are many.`;
}

/** Says what going live has done. */
export function liveText(
  connection: string,
  { approved, changed }: { approved: number; changed: number },
): string {
  const counted = `${countText(approved, 'departure was', 'departures were')} approved as planned`;
  const others =
    changed === 0
      ? ''
      : `, and ${countText(changed, 'plan has', 'plans have')} changed since, whose departures wait for an admin if they are many`;
  return `${connection} is live: ${counted}${others}.`;
}
