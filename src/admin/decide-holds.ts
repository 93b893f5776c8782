import {
  approvedAlreadyText,
  confirmPeople,
  confirmRulesChange,
  type DecidingAdmin,
} from '../provisioning/holds/four-eyes.ts';
import type { VersionOfPerson } from '../provisioning/holds/holds.ts';
import type { holdsContract } from './contract/holds.ts';
import type { HandlerRequest } from './contract/operation.ts';
import { type AdminDeps, findConnection } from './deps.ts';
import { AdminError } from './errors.ts';
import { MAX_NAMED } from './open-decisions.ts';
import type { AdminContext } from './router.ts';

type Decided = HandlerRequest<(typeof holdsContract)['decideHolds']>['body'];

interface DecisionDeps extends DecidingAdmin {
  holds: AdminDeps['store']['holds'];
  by: string | undefined;
  note: AdminContext['note'];
}

/** Carries out the decision of an admin, or records it where a second admin is needed. */
export async function decideHolds(
  body: Decided,
  { note, caller }: Pick<AdminContext, 'note' | 'caller'>,
  { store, settings, now, ...deps }: AdminDeps,
) {
  const { connection, cause, answer, people } = body;
  note({ connection, cause, answer, asked: people?.length ?? body.count });
  findConnection(deps, connection);
  const approver = caller?.approver ?? '';
  const admin = { answer, approver, now: now(), fourEyes: settings.fourEyes };
  const decision = { ...admin, holds: store.holds, by: caller?.shownName, note };
  const { repeated, ...counts } = people
    ? await decidePeople(body, people, decision)
    : await decideGroup(body, decision);
  const result = { ...counts, ...(counts.decided > 0 ? { decision: admin.now } : {}) };
  note(result);
  if (counts.decided + counts.requested === 0)
    throw new AdminError('conflict', repeated > 0 ? approvedAlreadyText(approver) : NOBODY_LEFT);
  deps.provisioning.wake();
  return result;
}

const NOBODY_LEFT =
  'None of these people waits for this decision any more: somebody else has decided, or the identity provider has changed them. Nothing was decided now.';

async function decidePeople(
  { connection, cause, answer }: Decided,
  people: VersionOfPerson[],
  { holds, by, note, ...admin }: DecisionDeps,
) {
  if (people.length <= MAX_NAMED) note({ people: people.map(({ id }) => id) });
  const { ready, requested, repeated } = await confirmPeople(holds, { connection, cause }, people, admin);
  const decided = await holds.decideUndecided(connection, { cause, people: ready }, answer, admin.now, by);
  return { decided, requested, repeated, skipped: people.length - decided - requested - repeated };
}

/** Decides about everybody in a group, if the group is still as large as the admin has seen it. */
async function decideGroup(body: Decided, deps: DecisionDeps) {
  const { connection, cause, count = 0, generation } = body;
  if (cause === 'rules' && generation !== undefined)
    return decideRulesChange({ ...body, generation, people: count }, deps);
  const people = await deps.holds.findUndecided(connection, cause);
  if (people.length > 0 && people.length !== count)
    throw new AdminError(
      'conflict',
      `${people.length} people wait by now, not ${count}. Nothing was decided; look again.`,
    );
  return decidePeople(body, people, deps);
}

async function decideRulesChange(
  change: Pick<Decided, 'connection' | 'answer'> & { generation: number; people: number },
  { holds, by, note, ...admin }: DecisionDeps,
) {
  const { connection, answer, generation } = change;
  note({ generation });
  const { isReady, ...needed } = await confirmRulesChange(holds, change, admin);
  const decided = isReady
    ? await holds.decideRulesChange(connection, generation, answer, admin.now, by)
    : undefined;
  return { decided: decided ?? 0, ...needed, skipped: 0 };
}
