import { withFixture } from '../fixtures/provisioning.ts';
import { runs } from '../fixtures/runs.ts';
import { playFirstCycle } from '../fixtures/shadow.ts';

/** In CI more than a page of 500; 6,000 before a release. */
const PEOPLE = runs(1_200).numRuns;

test('the report of a large first cycle equals what going live then does, person by person', () =>
  withFixture(
    async (fixture) => {
      const { planned, done } = await playFirstCycle(fixture, PEOPLE);
      expect(Object.keys(done)).toHaveLength(PEOPLE);
      expect(done).toEqual(planned);
    },
    { maxIds: 50 * PEOPLE, policies: { safetyValve: { share: 0.01, minimum: 10, windowMs: 3_600_000 } } },
  ));
