import { countText } from '../../model/texts.ts';
import type { ShadowOutcome } from './report.ts';

// The words in which the page and the commands tell of the report of a connection in shadow mode. The page has this file, too.

/** What going live does with a person, in the order of the report. */
export const outcomeTexts = {
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
