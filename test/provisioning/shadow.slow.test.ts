import { person, withFixture } from '../fixtures/provisioning.ts';
import { runs } from '../fixtures/runs.ts';
import { approve, playFirstCycle, report, toShadow } from '../fixtures/shadow.ts';

/** In CI more than a page of 500; 6,000 before a release. */
const PEOPLE = runs(1_200).numRuns;

const users = 'default';

test('the report of a large first cycle equals what going live then does, person by person', () =>
  withFixture(
    async (fixture) => {
      const { planned, done, sent } = await playFirstCycle(fixture, PEOPLE);
      expect(sent).toBe(PEOPLE);
      expect(done).toEqual(planned);
    },
    { maxIds: 50 * PEOPLE, policies: { safetyValve: { share: 0.01, minimum: 10, windowMs: 3_600_000 } } },
  ));

/** More people than a change of rules may concern without a hold. */
test('in shadow mode a change of rules for everybody is not held, and follows with the plan', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, store } = fixture;
    const ids: string[] = [];
    for (let number = 0; number < 110; number += 1)
      ids.push((await bridge.users.create(users, person(`P${number}`))).id);
    await toShadow(fixture);
    travel.lookupData = {
      ...travel.lookupData,
      scimUserMappings: [{ scimAttribute: 'name.familyName', userAttribute: 'firstName' }],
    };
    await bridge.startBackground().stop();
    await bridge.reconcileDue();
    const { digest, sums } = await report(fixture);
    expect(sums).toEqual({ change: 110, notSent: 1 });
    expect(await store.holds.countHolds()).toEqual([]);
    await approve(fixture, digest);
    expect(await fixture.traveler(ids[0] ?? '')).toMatchObject({ firstName: 'Smith' });
    expect(await store.holds.countHolds()).toEqual([]);
  }));
