import type { VersionOfPerson } from '../../model/holds.ts';
import type { Decision, HoldCause } from '../../model/identity.ts';
import type { Holds } from '../../store/queues/holds.ts';

/** The audit log names up to so many people with a decision. If there are more, it has their number, and the decision lists them. */
const MAX_NAMED = 20;

/** The subject of a decision: held people of one connection and cause. */
export interface DecisionSubject {
  connection: string;
  cause: HoldCause;
  people: VersionOfPerson[];
}

/** The answer of an admin. */
export interface DecidingAdmin {
  answer: Decision['answer'];
  /** The name that findings and the audit log show. */
  by: string;
  /** The number of the decision, too. */
  now: number;
}

/** The result of a decision, in numbers of people. */
export interface DecisionResult {
  decided: number;
  /** Left out: they have a decision or another version by now. */
  skipped: number;
}

/** Carries out the decision of an admin. */
export async function decide(
  holds: Holds,
  { connection, cause, people }: DecisionSubject,
  { answer, by, now }: DecidingAdmin,
): Promise<DecisionResult> {
  const decided = await holds.decideVersions(connection, { cause, people }, answer, now, by);
  return { decided, skipped: people.length - decided };
}

/** The details of a decision in the audit log, before it is carried out. */
export function subjectDetails({ people }: DecisionSubject): Record<string, unknown> {
  const named = people.length <= MAX_NAMED ? { people: people.map(({ id }) => id) } : {};
  return { asked: people.length, ...named };
}

/** The result of a decision, as the audit log and clients get it. Its number is that by which its people are listed. */
export function resultDetails({ decided, skipped }: DecisionResult, { now }: Pick<DecidingAdmin, 'now'>) {
  return { decided, skipped, ...(decided > 0 ? { decision: now } : {}) };
}
