import { type DecisionSubject, decide } from '../../src/provisioning/holds/decide.ts';
import { isDepartureCause, isInactive } from '../../src/provisioning/identity.ts';
import type { HistoryRecord } from '../histories/record.ts';
import { comeToRest } from './rest.ts';
import type { World } from './world.ts';

/** A decision may show the next change to decide about, such as a return after a departure. */
const MAX_DECISIONS = 8;

/** An admin decides about everything that is held, until nothing is. Returns the holds that never end, in words. */
export async function decideHolds(world: World, record: HistoryRecord): Promise<string | undefined> {
  for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
    if ((await decideOnce(world, record)) === 0) return undefined;
    const left = await comeToRest(world, { withImport: false });
    if (left !== undefined) return left;
  }
  return 'a hold has no end';
}

/** An admin decides about everything that is held at this moment. Returns the number of decisions. */
export async function decideOnce(world: World, record: HistoryRecord): Promise<number> {
  const { random, story, store, replicas } = world;
  const pickAnswer = () => random.pick(['approved', 'discarded'] as const);
  let decisions = 0;
  for (const { connection, id, userName, hold, version } of await store.holds.findHeldPeople({
    limit: 100,
  })) {
    const answer = pickAnswer();
    const identity = await store.identities.findById(connection, id);
    if (hold.cause === 'guarded' && answer === 'approved' && identity?.travelId !== undefined)
      record.approvedGuarded.add(identity.travelId);
    if (identity?.travelId !== undefined && !isInactive(identity) && isDepartureCause(hold.cause)) {
      // The scope leaves the person out.
      if (answer === 'discarded') record.keptOutOfScope.add(identity.travelId);
      else record.keptOutOfScope.delete(identity.travelId);
    }
    story.tell(`an admin answers the hold ${hold.cause} of ${userName} (${id}): ${answer}`);
    const subject = { connection, cause: hold.cause, people: [{ id, version }] };
    decisions += await decideAs(world, subject, answer);
  }
  for (const { service } of replicas()) service.wake();
  return decisions;
}

/** An admin decides. Returns the number of people about whom is decided. */
async function decideAs(
  { store: { holds }, time }: World,
  subject: DecisionSubject,
  answer: 'approved' | 'discarded',
): Promise<number> {
  const admin = { answer, by: 'admin', now: time.now() };
  return (await decide(holds, subject, admin)).decided;
}
