import { doubtDifferences } from '../translator/plan.ts';
import type { Applied } from '../translator/result.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { addressKey } from './address.ts';
import { amend, type Gone } from './amend.ts';
import { findings } from './findings.ts';
import { standingOf } from './takeover.ts';
import { type Draft, failed, noting, type Settled, settled, type Task } from './task.ts';

/** Links the traveler that has one of the addresses, if it may be; else tells whether there is none, or somebody's. */
export async function linkExisting(
  task: Task,
  draft: Draft,
  addresses: string[],
): Promise<Settled | Gone | 'none' | 'taken'> {
  const answer = await task.connection.travel.byEmail(addresses);
  if (answer.kind !== 'ok') return failed(draft, answer);
  // Under the announced address stands our own work; another that has the new address is somebody else.
  const ours = answer.value.filter(({ email }) => isAnnounced(task, email));
  for (const traveler of [...ours, ...answer.value.filter((one) => !ours.includes(one))]) {
    const standing = await standingOf(task, traveler);
    if (standing.kind !== 'ok') return failed(draft, standing);
    if (standing.value.is === 'privileged')
      return settled({ ...noting(draft, findings.privileged()), creating: undefined }, 'held');
    if (standing.value.is !== 'free') continue;
    const adopted = await adopt(task, draft, { traveler, inherited: standing.value.applied });
    if (adopted !== 'taken') return adopted;
  }
  return answer.value.length > 0 ? 'taken' : 'none';
}

async function adopt(
  task: Task,
  draft: Draft,
  { traveler, inherited }: { traveler: TravelUser; inherited: Applied },
): Promise<Settled | Gone | 'taken'> {
  // A traveler under an announced address is most likely our own work, whose answer was lost.
  const isOurs = isAnnounced(task, traveler.email);
  const mayLink = task.connection.policies.onExistingUser === 'link' || isOurs;
  if (!mayLink)
    return settled(
      noting({ ...draft, creating: undefined }, findings.existingUser(traveler.email)),
      'pending',
    );
  // Before the first patch: of two who find one traveler at the same moment, one must not write it.
  const { connection, identity, token, store } = task;
  const link = await store.leases.announce(connection.id, identity.id, token, { travelId: traveler.id });
  if (link === 'taken') return 'taken';
  if (link === 'lost')
    return failed(draft, { kind: 'unavailable', text: 'the lease ran out before the link was made' });
  return amend(task, {
    ...draft,
    travelId: traveler.id,
    observed: traveler,
    // What a lost create had sent is ours to take away again; what became of the last call of whoever gave the traveler up
    // may not be known.
    applied: doubtDifferences(isOurs ? draft.applied : inherited, traveler),
    creating: undefined,
  });
}

/** True for the address under which an earlier attempt announced a create. */
export function isAnnounced({ identity: { creating } }: Task, email: string): boolean {
  return creating !== undefined && addressKey(creating) === addressKey(email);
}
