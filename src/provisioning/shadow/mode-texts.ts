import type { ConnectionMode } from '../../model/policies.ts';

// The words in which the page and the commands tell of the modes of connections. The page has this file, too.

/** The effect of the mode of a connection. */
export function modeText({ mode, pilot }: { mode: ConnectionMode; pilot?: string | undefined }): string {
  if (pilot === undefined) return modeTexts[mode].does;
  return `People who match ${pilot} are provisioned; all others are planned and reported, and nothing is sent for them.`;
}

/** The effect of each mode, and the change when a connection is put into it. */
export const modeTexts = {
  live: {
    does: 'What the identity provider states is carried out.',
    change:
      'What the identity provider states is carried out, also what was planned until now. The travelers of these people are read again first, and many departures at once wait for an admin.',
  },
  shadow: {
    does: 'Everything is planned and reported, and nothing is sent to the travel API.',
    change:
      'Nothing is sent to the travel API any more, departures included. The report shows what going live would do.',
  },
} satisfies Record<ConnectionMode, { does: string; change: string }>;
