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

/** The answer of an admin, and the conditions under which it is given. */
export interface DecidingAdmin {
  answer: Decision['answer'];
  /** The name that findings and the audit log show. */
  by: string;
  /** The name by which one admin is told from another. */
  approver: string;
  /** The number of the decision, too. */
  now: number;
  /** The setting `holds.fourEyes`. */
  fourEyes: boolean;
  /** True if the decision may replace an earlier one. */
  mayReverse: boolean;
}

/** The result of a decision, in numbers of people. */
export interface DecisionResult {
  decided: number;
  /** Approved by the first of two admins. */
  requested: number;
  /** Approved again by the first of two admins. */
  repeated: number;
  /** Left out: they have a decision or another version by now. */
  skipped: number;
  /** The people about whom the decision is carried out; all of the subject if it is a change of rules. */
  ready: VersionOfPerson[];
}

/** Carries out a decision. Where an approval needs two admins, the first one is recorded. */
export async function decide(
  holds: Holds,
  subject: DecisionSubject,
  admin: DecidingAdmin,
): Promise<DecisionResult> {
  const { change, people } = subject;
  if (!admin.fourEyes || admin.answer !== 'approved') return carryOut(holds, subject, admin);
  const { connection, cause } = subject;
  if (!change) {
    const { ready, ...first } = await holds.approvePeople(
      connection,
      { cause, people },
      admin.approver,
      admin.now,
    );
    const { decided } = await carryOut(holds, { ...subject, people: ready }, admin);
    const skipped = people.length - decided - first.requested - first.repeated;
    return { ...first, decided, skipped, ready };
  }
  const approval = await holds.approveRulesChange(connection, change.generation, admin.approver, admin.now);
  if (approval === 'ready') return carryOut(holds, subject, admin);
  const none = { decided: 0, requested: 0, repeated: 0, skipped: 0, ready: [] };
  return approval === 'gone' ? none : { ...none, [approval]: change.people };
}

async function carryOut(
  holds: Holds,
  { connection, cause, people, change }: DecisionSubject,
  { answer, by, now, mayReverse }: DecidingAdmin,
): Promise<DecisionResult> {
  const first = { requested: 0, repeated: 0, ready: people };
  if (change) {
    const { generation } = change;
    const decided = await holds.decideRulesChange(connection, { generation, mayReverse }, answer, now, by);
    return { ...first, decided: decided ?? 0, skipped: 0 };
  }
  const decided = await holds.decideVersions(connection, { cause, people, mayReverse }, answer, now, by);
  return { ...first, decided, skipped: people.length - decided };
}

/** The details of a decision in the audit log, before it is carried out. */
export function subjectDetails({ people, change }: DecisionSubject): Record<string, unknown> {
  if (change) return { asked: change.people, generation: change.generation };
  const named = people.length <= MAX_NAMED ? { people: people.map(({ id }) => id) } : {};
  return { asked: people.length, ...named };
}

/** The result of a decision, as the audit log and clients get it. Its number is that by which its people are listed. */
export function resultDetails(
  { decided, requested, skipped }: DecisionResult,
  { now }: Pick<DecidingAdmin, 'now'>,
) {
  return { decided, requested, skipped, ...(decided > 0 ? { decision: now } : {}) };
}

/** Tells the admin who approves the same twice. */
export function approvedAlreadyText(approver: string): string {
  return `${approver} has approved this already. A second admin must approve it, too: nothing has changed.`;
}
