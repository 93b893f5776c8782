import { arrangementOf } from '../histories/from-environment.ts';
import { playHistory } from '../histories/runner.ts';

/** Each seed is another arrangement: feed on or off, drift reported or corrected. `npm run histories` plays longer ones. */
const OPERATIONS = 60;
const TIME_MS = 300_000;

describe.each(['embedded', 'split', 'other'] as const)('a random history (travel API: %s)', (travel) => {
  it.each([1, 2, 3])(
    'ends as the IdP wants, whatever happened on the way (seed %d)',
    async (seed) => {
      await playHistory({ seed, operations: OPERATIONS, arrangement: { ...arrangementOf(seed), travel } });
    },
    TIME_MS,
  );
});
