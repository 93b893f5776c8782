import { setupOf } from '../histories/options.ts';
import { playHistory } from '../histories/play.ts';

/** Keeps the test short; `npm run histories` plays longer histories. */
const OPERATIONS = 60;
const TIME_MS = 300_000;

describe.each([
  { travel: 'embedded', seeds: [1, 2] },
  { travel: 'split', seeds: [2, 3] },
  { travel: 'other', seeds: [3, 5] },
] as const)('a random history of writes and faults (travel API: $travel)', ({ travel, seeds }) => {
  it.each(seeds)(
    'ends with the travelers that the IdP wants (seed %d)',
    async (seed) => {
      // The seed also chooses the options: event feed, correction of drift, and the policy for returns.
      await playHistory({ seed, operations: OPERATIONS, setup: { ...setupOf(seed), travel } });
    },
    TIME_MS,
  );
});
