import {
  approvedAlreadyText,
  type DecisionSubject,
  decide,
  resultDetails,
  subjectDetails,
} from '../provisioning/holds/decide.ts';
import type { holdsContract } from './contract/holds.ts';
import type { HandlerRequest } from './contract/operation.ts';
import { type AdminDeps, findConnection } from './deps.ts';
import { AdminError } from './errors.ts';
import type { AdminContext } from './router.ts';

type Decided = HandlerRequest<(typeof holdsContract)['decideHolds']>['body'];

/** Carries out the decision of an admin, or records it where a second admin is needed. */
export async function decideHolds(
  body: Decided,
  { note, caller }: Pick<AdminContext, 'note' | 'caller'>,
  { store: { holds }, settings, now, ...deps }: AdminDeps,
) {
  const { connection, cause, answer } = body;
  note({ connection, cause, answer, asked: body.people?.length ?? body.count });
  findConnection(deps, connection);
  const subject = await toSubject(body, holds);
  note(subjectDetails(subject));
  const { shownName: by = '', approver = '' } = caller ?? {};
  const admin = { answer, by, approver, now: now(), fourEyes: settings.fourEyes, mayReverse: false };
  const result = await decide(holds, subject, admin);
  const details = resultDetails(result, admin);
  note(details);
  if (result.decided + result.requested === 0)
    throw new AdminError('conflict', result.repeated > 0 ? approvedAlreadyText(approver) : NOBODY_LEFT);
  deps.provisioning.wake();
  return details;
}

const NOBODY_LEFT =
  'None of these people waits for this decision any more: somebody else has decided, or the identity provider has changed them. Nothing was decided now.';

/** Throws 409 if a group is not as large any more as the admin has seen it. */
async function toSubject(
  { connection, cause, people, count = 0, generation }: Decided,
  holds: AdminDeps['store']['holds'],
): Promise<DecisionSubject> {
  if (people) return { connection, cause, people };
  if (cause === 'rules' && generation !== undefined)
    return { connection, cause, people: [], change: { generation, people: count } };
  const waiting = await holds.findUndecided(connection, cause);
  if (waiting.length > 0 && waiting.length !== count)
    throw new AdminError(
      'conflict',
      `${waiting.length} people wait by now, not ${count}. Nothing was decided; look again.`,
    );
  return { connection, cause, people: waiting };
}
