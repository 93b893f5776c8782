import type { Holds } from '../../store/queues/holds.ts';
import type { Decision, HoldCause } from '../identity.ts';
import type { HeldRules, VersionOfPerson } from './holds.ts';

/** The audit log names up to so many people with a decision. If there are more, it has their number, and the decision lists them. */
const MAX_NAMED = 20;

/** The subject of a decision: held people of one connection and cause, or a held change of rules. */
export interface DecisionSubject {
  connection: string;
  cause: HoldCause;
  people: VersionOfPerson[];
  /** The change of rules, for which `people` is empty. */
  change?: Pick<HeldRules, 'generation' | 'people'>;
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
  { connection, cause, people, change }: DecisionSubject,
  { answer, by, now }: DecidingAdmin,
): Promise<DecisionResult> {
  if (change) {
    const decided = await holds.decideRulesChange(connection, change.generation, answer, now, by);
    return { decided: decided ?? 0, skipped: 0 };
  }
  const decided = await holds.decideVersions(connection, { cause, people }, answer, now, by);
  return { decided, skipped: people.length - decided };
}

/** The details of a decision in the audit log, before it is carried out. */
export function subjectDetails({ people, change }: DecisionSubject): Record<string, unknown> {
  if (change) return { asked: change.people, generation: change.generation };
  const named = people.length <= MAX_NAMED ? { people: people.map(({ id }) => id) } : {};
  return { asked: people.length, ...named };
}

/** The result of a decision, as the audit log and clients get it. Its number is that by which its people are listed. */
export function resultDetails({ decided, skipped }: DecisionResult, { now }: Pick<DecidingAdmin, 'now'>) {
  return { decided, skipped, ...(decided > 0 ? { decision: now } : {}) };
}
