import type { HeldPerson } from '../../src/provisioning/holds/holds.ts';
import type { HistoryRecord } from '../histories/invariants.ts';
import { comeToRest } from './rest.ts';
import type { World } from './world.ts';

/** A decision may show the next change to decide about, such as a return after a departure. */
const MAX_DECISIONS = 5;

/**
 * An admin decides about everything that is held, until nothing is. Returns the holds that never end, in words. The travelers concerned are
 * not compared with the rules any more: an admin has decided about them.
 */
export async function decideHolds(world: World, record: HistoryRecord): Promise<string | undefined> {
  const { random, story, store, time, replicas } = world;
  for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
    const held = await store.holds.findHeldPeople({ limit: 100 });
    if (held.length === 0) return undefined;
    for (const person of held) {
      const { connection, id } = person;
      for (const traveler of await travelersOf(world, person)) {
        record.guarded.add(traveler);
        world.decided.add(traveler);
      }
      const answer = random.pick(['approved', 'discarded'] as const);
      story.tell(`an admin answers the hold ${person.hold.cause} of ${person.userName} (${id}): ${answer}`);
      await store.holds.decide(connection, { ids: [id] }, answer, time.now(), 'admin');
    }
    for (const { service } of replicas()) service.wake();
    const left = await comeToRest(world, { withImport: false });
    if (left !== undefined) return left;
  }
  return 'a hold has no end';
}

/** The travelers that a decision is about: that of the person, and that of the leaver whose place the person takes. */
async function travelersOf({ store }: World, { connection, id }: HeldPerson): Promise<string[]> {
  const identity = await store.identities.findById(connection, id);
  return [identity?.travelId, identity?.progress.predecessor?.travelId].filter((one) => one !== undefined);
}
