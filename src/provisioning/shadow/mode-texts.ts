import { numberText, peopleText } from '../conditions/texts.ts';
import type { ConnectionMode } from '../policies.ts';

// The words in which the page and the commands tell of the modes of connections. The page has this file, too.

/** The effect of each mode, and the change when a connection is put into it. */
export const modeTexts = {
  live: {
    does: 'What the identity provider states is carried out.',
    change:
      'What the identity provider states is carried out, also what was planned until now. The travelers of these people are read again first, and the safety valve applies.',
  },
  shadow: {
    does: 'Everything is planned and reported, and nothing is sent to the travel API.',
    change:
      'Nothing is sent to the travel API any more, departures included. The report shows what going live would do.',
  },
  paused: {
    does: 'Only people whom the identity provider writes since the pause began are provisioned.',
    change:
      'Only people whom the identity provider writes from now on are provisioned. The changes of all others wait, departures included.',
  },
} satisfies Record<ConnectionMode, { does: string; change: string }>;

/** The number of people whose changes wait in a paused connection, by what would be sent. */
type WaitingPeople = Record<'create' | 'reactivate' | 'end' | 'change', number>;

/** Says how many people wait in a paused connection, in the beginning of a sentence. */
export function waitingText(people: WaitingPeople): string {
  const count = countWaiting(people);
  return count === 0 ? 'No changes wait' : `The changes of ${peopleText(count)} wait`;
}

/** The changes that wait, in numbers; empty if there are none. */
export function changesText({ create, reactivate, end, change }: WaitingPeople): string {
  const parts: [number, string][] = [
    [create, 'would be created'],
    [reactivate, 'activated again'],
    [end, 'archived or deleted'],
    [change, 'changed in another way'],
  ];
  return parts.flatMap(([count, text]) => (count > 0 ? [`${numberText(count)} ${text}`] : [])).join(', ');
}

/** Says what happens when a paused connection goes on. */
export function resumeText(people: WaitingPeople): string {
  const count = countWaiting(people);
  return count === 0
    ? 'No changes wait.'
    : `The travelers of ${peopleText(count)} are read again, and the stored values are sent where they differ: ${changesText(people)}.`;
}

/** The warning before a connection goes on that was not imported since the pause. */
export const NOT_IMPORTED_TEXT =
  'No import has ended since the pause, so more people may be concerned. Wait for it if you can.';

function countWaiting({ create, reactivate, end, change }: WaitingPeople): number {
  return create + reactivate + end + change;
}
