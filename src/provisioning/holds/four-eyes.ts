import type { Holds } from '../../store/queues/holds.ts';
import type { Decision, HoldCause } from '../identity.ts';
import type { VersionOfPerson } from './holds.ts';

/** Who decides what, and whether an approval needs a second admin. */
export interface DecidingAdmin {
  answer: Decision['answer'];
  /** The name by which one admin is told from another. */
  approver: string;
  now: number;
  /** The setting `holds.fourEyes`. */
  fourEyes: boolean;
}

type Approvals = Pick<Holds, 'approvePeople' | 'approveRulesChange'>;

/** The numbers of people whose change still needs a second admin. */
export interface SecondNeeded {
  /** Approved now, by the first admin. */
  requested: number;
  /** Approved before by the same admin. */
  repeated: number;
}

/** Returns the people about whom the decision is carried out now. A discard, and any decision without four eyes, needs one admin. */
export async function confirmPeople(
  holds: Approvals,
  { connection, cause }: { connection: string; cause?: HoldCause },
  people: VersionOfPerson[],
  { answer, approver, now, fourEyes }: DecidingAdmin,
): Promise<SecondNeeded & { ready: VersionOfPerson[] }> {
  if (!fourEyes || answer !== 'approved') return { ready: people, requested: 0, repeated: 0 };
  return holds.approvePeople(connection, { cause, people }, approver, now);
}

/** Returns whether the decision about a change of rules, which affects this number of people, is carried out now. */
export async function confirmRulesChange(
  holds: Approvals,
  { connection, generation, people }: { connection: string; generation: number; people: number },
  { answer, approver, now, fourEyes }: DecidingAdmin,
): Promise<SecondNeeded & { isReady: boolean }> {
  const none = { requested: 0, repeated: 0 };
  if (!fourEyes || answer !== 'approved') return { isReady: true, ...none };
  const approval = await holds.approveRulesChange(connection, generation, approver, now);
  if (approval === 'requested' || approval === 'repeated')
    return { isReady: false, ...none, [approval]: people };
  return { isReady: approval === 'ready', ...none };
}

/** Tells the admin who approves the same twice. */
export function approvedAlreadyText(approver: string): string {
  return `${approver} has approved this already. A second admin must approve it, too: nothing has changed.`;
}
