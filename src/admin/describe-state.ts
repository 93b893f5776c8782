import type { PauseReason } from '../provisioning/circuit-breaker.ts';
import type { IdentityState } from '../provisioning/identity.ts';
import type { ConnectionMode } from '../provisioning/policies.ts';

/** The facts from which the sentence of a connection is made. Times are epoch milliseconds. */
export interface ConnectionFacts {
  id: string;
  pause: PauseReason | undefined;
  /** The last call of the travel API, if its failure lies with the travel API or the credential. */
  outage: { status: number | undefined; error: string | undefined } | undefined;
  /** The time of the last usable answer of the travel API; undefined if it is not known. */
  lastAnswer: number | undefined;
  dirty: number;
  mode?: ConnectionMode;
  /** The number of people whose last attempt has failed, and the time at which the oldest of their changes was written. */
  failing: { people: number; oldest: number } | undefined;
}

interface StateFacts {
  /** The reason for which the database cannot be written; undefined while it can. */
  storeFault: string | undefined;
  total: number;
  states: Record<IdentityState, number>;
  /** False as long as no IdP has written a person. */
  hasUsers: boolean;
  connections: ConnectionFacts[];
  now: number;
}

interface DescribedState {
  state: 'inStep' | 'working' | 'attention' | 'failing' | 'empty';
  sentence: string;
}

/** Returns the state of the service, and one sentence about it for a person who is woken at night. */
export function describeState(facts: StateFacts): DescribedState {
  const { storeFault, total, states, hasUsers, connections, now } = facts;
  if (storeFault !== undefined)
    return { state: 'failing', sentence: `The database cannot be written: ${storeFault}.` };
  const broken = connections.filter(isBroken);
  if (broken.length > 0)
    return { state: 'failing', sentence: outageSentence(broken, { isNamed: connections.length > 1, now }) };
  if (!hasUsers) return { state: 'empty', sentence: 'No identity provider has sent a person yet.' };
  const failing = sum(connections.map((one) => one.failing?.people ?? 0));
  const waitingIn = (mode: ConnectionMode) =>
    connections.filter((one) => one.mode === mode).map(({ dirty }) => dirty);
  const [paused, shadow] = [waitingIn('paused'), waitingIn('shadow')];
  const open = [
    paused.length > 0 && `${counted(sum(paused), 'waits', 'wait')} in a paused connection`,
    shadow.length > 0 && `${counted(sum(shadow), 'is', 'are')} planned in shadow mode, where nothing is sent`,
    failing > 0 && `${counted(failing, 'waits', 'wait')} after a failed attempt`,
    states.held > 0 && `${counted(states.held, 'is', 'are')} held`,
    states.refused > 0 && `${counted(states.refused, 'is', 'are')} refused`,
    states.pending > 0 && `${counted(states.pending, 'lacks', 'lack')} data`,
  ].filter((part) => part !== false);
  if (open.length > 0)
    return {
      state: 'attention',
      sentence: `${number(states.synced)} of ${people(total)} ${states.synced === 1 ? 'is' : 'are'} in step with the travel service; ${open.join(', ')}.`,
    };
  if (states.dirty > 0)
    return {
      state: 'working',
      sentence: `The changes of ${people(states.dirty)} are on their way to the travel service.`,
    };
  const all = total === 1 ? 'The only person is' : `All ${people(total)} are`;
  return { state: 'inStep', sentence: `${all} in step with the travel service.` };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function isBroken({ pause, outage, failing }: ConnectionFacts): boolean {
  return pause !== undefined || (outage !== undefined && failing !== undefined);
}

function outageSentence(
  broken: ConnectionFacts[],
  { isNamed, now }: { isNamed: boolean; now: number },
): string {
  const cause = broken.map((one) => `the travel API${isNamed ? ` of ${one.id}` : ''} ${causeText(one)}`);
  const waiting = sum(broken.map(({ dirty }) => dirty));
  const causes = cause.join(', and ');
  if (waiting === 0) return `${causes[0]?.toUpperCase()}${causes.slice(1)}. No change waits for it.`;
  // A change that was written long ago can have been waiting since the outage only.
  const since = broken.flatMap(({ failing, lastAnswer = 0 }) =>
    failing ? [Math.max(failing.oldest, lastAnswer)] : [],
  );
  const verb = waiting === 1 ? 'has' : 'have';
  const changes = counted(waiting, 'change', 'changes');
  if (since.length === 0) return `${changes} ${waiting === 1 ? 'waits' : 'wait'}: ${causes}.`;
  return `${changes} ${verb} waited for ${durationText(now - Math.min(...since))}: ${causes}.`;
}

const pauseTexts: Record<PauseReason, string> = {
  throttled: 'asks to be called later',
  unanswered: 'does not answer',
  unauthorized: 'refuses the credential (401)',
};

function causeText({ outage, pause }: ConnectionFacts): string {
  if (!outage) return pause ? pauseTexts[pause] : 'fails';
  const { status, error } = outage;
  if (status === undefined) return `does not answer${error === undefined ? '' : ` (${error})`}`;
  return status === 401 || status === 403 ? `refuses the credential (${status})` : `answers ${status}`;
}

/** Returns a duration in its largest whole unit, e.g. `12 minutes`. */
function durationText(ms: number): string {
  const seconds = Math.max(1, Math.floor(ms / 1000));
  const units: [string, number][] = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ];
  const [name, length] = units.find(([, unit]) => seconds >= unit) ?? ['second', 1];
  const whole = Math.floor(seconds / length);
  return `${whole} ${name}${whole === 1 ? '' : 's'}`;
}

function people(count: number): string {
  return counted(count, 'person', 'people');
}

/** Returns a number and the word that follows it: the first one after 1. */
function counted(count: number, one: string, many: string): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}
