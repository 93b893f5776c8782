import { setupOf } from '../histories/options.ts';
import { playHistory } from '../histories/play.ts';

/** The seed decides on feed, drift and returns, too. `npm run histories` plays longer ones. */
const OPERATIONS = 60;
const TIME_MS = 300_000;

describe.each([
  { travel: 'embedded', seeds: [1, 2] },
  { travel: 'split', seeds: [2, 3] },
  { travel: 'other', seeds: [3, 5] },
] as const)('a random history (travel API: $travel)', ({ travel, seeds }) => {
  it.each(seeds)(
    'ends as the IdP wants, whatever happened on the way (seed %d)',
    async (seed) => {
      await playHistory({ seed, operations: OPERATIONS, setup: { ...setupOf(seed), travel } });
    },
    TIME_MS,
  );
});
