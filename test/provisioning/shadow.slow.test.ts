import { withFixture } from '../fixtures/provisioning.ts';
import { playFirstCycle } from '../fixtures/shadow.ts';

test('the report of a first cycle of 10,000 people equals what going live then does, person by person', () =>
  withFixture(
    async (fixture) => {
      const { planned, done } = await playFirstCycle(fixture, 10_000);
      expect(Object.keys(done)).toHaveLength(10_000);
      expect(done).toEqual(planned);
    },
    { maxIds: 100_000, policies: { safetyValve: { share: 0.01, minimum: 10, windowMs: 3_600_000 } } },
  ));
