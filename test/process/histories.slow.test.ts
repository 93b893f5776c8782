import { setupOf } from '../histories/options.ts';
import { playHistory } from '../histories/play.ts';

/** Keeps the test short; `npm run histories` plays longer histories. */
const OPERATIONS = 60;
const TIME_MS = 300_000;

/** In CI one history for each kind of travel API; the others in `npm run test:all`. */
const isWhole = process.env['JETBRIDGE_TEST_RING'] === 'all';

describe.each([
  { travel: 'embedded', seeds: isWhole ? [1, 2] : [1] },
  { travel: 'split', seeds: isWhole ? [2, 3] : [2] },
  { travel: 'other', seeds: isWhole ? [3, 5] : [3] },
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
