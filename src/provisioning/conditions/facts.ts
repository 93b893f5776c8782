import { type Acknowledgement, type Condition, type LocalFact, outageKinds } from '../../model/conditions.ts';
import { minuteText } from '../../model/texts.ts';
import type { PauseReason, TravelOutage } from '../../model/travel-ports.ts';
import type { StoredFacts } from '../../store/condition-facts.ts';
import type { MissingGroups } from '../rules/missing-groups.ts';

/** The facts from which the conditions are found. */
export interface ConditionFacts extends StoredFacts {
  /** In epoch milliseconds. */
  now: number;
  /** The facts that only this process knows. A command has none. */
  local: LocalFact[];
  /** Read from the rules in force and the groups in the database. */
  missingGroups: MissingGroups[];
  /** The reason for which the database cannot be written. */
  storeFault?: string | undefined;
  certificate?: { validFrom: number; validTo: number } | undefined;
}

/** A shared fact that no process has seen for this time, in milliseconds, counts no longer. */
const SHARED_MS = 60_000;

/** Returns the facts of this process, and those of others that it has not seen itself. The earliest begin counts. */
export function mergeFacts({
  local,
  shared,
  now,
}: Pick<ConditionFacts, 'local' | 'shared' | 'now'>): LocalFact[] {
  const recent = shared.filter(({ seenAt }) => Math.abs(now - seenAt) < SHARED_MS).map(({ fact }) => fact);
  const isSame = (one: LocalFact) => (other: LocalFact) =>
    other.kind === one.kind && other.connection === one.connection;
  return [
    ...local.map((fact) => ({
      ...fact,
      since: Math.min(fact.since, recent.find(isSame(fact))?.since ?? fact.since),
    })),
    ...recent.filter((fact) => !local.some(isSame(fact))),
  ];
}

/** Returns the acknowledgement of a condition, or of all conditions of its kind, that is in force. */
export function acknowledgementOf(
  reported: StoredFacts['reported'],
  { kind, connection = '', subject = '' }: Pick<Condition, 'kind' | 'connection' | 'subject'>,
  now: number,
): Acknowledgement | undefined {
  return reported.find(
    (one) =>
      one.kind === kind &&
      one.acknowledged !== undefined &&
      one.acknowledged.until > now &&
      (one.acknowledged.isOfKind || (one.connection === connection && one.subject === subject)),
  )?.acknowledged;
}

/** Returns what a process knows of the travel API of a connection; undefined while it can be used. */
export function outageFact(
  connection: string,
  { outage, paused, now }: { outage: TravelOutage | undefined; paused: PauseReason | undefined; now: number },
): LocalFact[] {
  if (!outage && !paused) return [];
  const isRefused = outage ? outage.status === 401 : paused === 'unauthorized';
  return [
    {
      kind: isRefused ? 'credentialRefused' : 'travelOutage',
      ...{ connection, pause: paused, since: outage?.since ?? now },
      ...{ status: outage?.status, detail: outage?.error },
    },
  ];
}

const pauseTexts: Record<PauseReason, string> = {
  throttled: 'asks to be called later',
  unanswered: 'does not answer',
  unauthorized: 'refuses the credential (401)',
};

/** Says what the travel API does and since when, as a clause, e.g. `the travel API answers 503 since 2026-11-20T14:02Z`. */
export function outageClause(fact: LocalFact, ofConnection = ''): string {
  return `the travel API${ofConnection} ${outageVerb(fact)} since ${minuteText(fact.since)}`;
}

/** True for a travel API that cannot be used. */
export function isOutage({ kind }: LocalFact): boolean {
  return outageKinds.some((one) => one === kind);
}

/** Says in a clause why the travel API of a connection cannot be used; undefined while it can. */
export function describeOutage(
  connection: string,
  facts: Pick<ConditionFacts, 'local' | 'shared' | 'now'>,
): string | undefined {
  const fact = mergeFacts(facts).find((one) => one.connection === connection && isOutage(one));
  return fact && outageClause(fact);
}

function outageVerb({ status, detail, pause, kind }: LocalFact): string {
  if (kind === 'credentialRefused') return pauseTexts.unauthorized;
  if (status === undefined)
    return detail === undefined && pause
      ? pauseTexts[pause]
      : `does not answer${detail === undefined ? '' : ` (${detail})`}`;
  return `answers ${status}${detail === undefined ? '' : ` (${detail})`}`;
}
