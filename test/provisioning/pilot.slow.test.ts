import { withFixture } from '../fixtures/provisioning.ts';
import {
  changePilotAsReported,
  firstCycle,
  goLiveAsReported,
  report,
  sendFirstCycle,
} from '../fixtures/shadow.ts';

const PEOPLE = 200;
const TRAVELERS = 150;
const PILOT = 'groups[display eq "Pilot"]';

test('a pilot of 20 among 200 does to each person what the report says as it is widened and ended, and to nobody else anything', () =>
  withFixture(
    async (fixture) => {
      const cycle = firstCycle(PEOPLE);
      const users = cycle.users.map((user, number) =>
        number % 20 === 10 ? { ...user, title: 'Pilot' } : user,
      );
      const ids = await sendFirstCycle(fixture, { users, travelers: cycle.travelers.slice(0, TRAVELERS) });
      const members = ids.filter((_, number) => number % 20 === 0).map((value) => ({ value }));
      await fixture.bridge.groups.create('default', { displayName: 'Pilot' }, members);
      const steps: [pilot: string | undefined, live: number][] = [
        [PILOT, 10],
        [`${PILOT} or title eq "Pilot"`, 20],
        [PILOT, 10],
        [undefined, 0],
      ];
      for (const [pilot, live] of steps) {
        const { planned, done, sent } = await changePilotAsReported(fixture, pilot);
        expect(sent).toBe(PEOPLE);
        expect(done).toEqual(planned);
        expect((await report(fixture)).sums.live ?? 0).toBe(live);
      }
      const { planned, done } = await goLiveAsReported(fixture);
      expect(done).toEqual(planned);
    },
    { maxIds: 50 * PEOPLE, policies: { safetyValve: { share: 0.01, minimum: 10, windowMs: 3_600_000 } } },
  ));
