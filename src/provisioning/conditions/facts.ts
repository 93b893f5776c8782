import type { ListedMode } from '../../store/connection-modes.ts';
import type { PeopleSummary } from '../../store/identities/people-summaries.ts';
import type { PauseReason } from '../calls/circuit-breaker.ts';
import type { AlarmCount } from '../holds/holds.ts';
import type { MissingGroups } from '../rules/missing-groups.ts';
import type { TravelOutage } from '../travel-ports.ts';
import { minuteText } from './texts.ts';

/** The conditions that only a process knows, from its own calls and its memory. */
export const localKinds = [
  'credentialRefused',
  'travelOutage',
  'mappingFaults',
  'staleLookups',
  'restoreSuspected',
  'fileDescriptors',
  'signIns',
] as const;

export type LocalKind = (typeof localKinds)[number];

/** A fact that a process knows from its own calls and its memory. Processes share it through the database while it lasts. */
export interface LocalFact {
  kind: LocalKind;
  /** Empty for the whole service. */
  connection: string;
  /** In epoch milliseconds. */
  since: number;
  /** The people, places of a mapping or attempts that it concerns. */
  count?: number | undefined;
  /** Only of a travel API that cannot be used. */
  status?: number | undefined;
  /** The reason for which a call had no usable answer, the lists that cannot be read, or the share of descriptors that are open. */
  detail?: string | undefined;
  /** Set while the calls of the connection pause. */
  pause?: PauseReason | undefined;
}

/** A local fact that some process has seen lately; `count` and `since` are those of the last time. */
export interface SharedFact {
  fact: LocalFact;
  seenAt: number;
}

/** A token that has an end and is not revoked. */
export interface EndingToken {
  kind: 'tokenEnds' | 'adminTokenEnds';
  /** Undefined for a token of a script. */
  connection: string | undefined;
  name: string;
  expiresAt: number;
}

/** The facts that the database has. */
export interface StoredFacts {
  summaries: PeopleSummary[];
  modes: ListedMode[];
  /** The saved states of imports. */
  imports: { connection: string; state: unknown }[];
  /** The held people by cause, and the other people about whom an operator is alarmed. */
  counts: AlarmCount[];
  tokens: EndingToken[];
  /** The proposed rules that wait for an admin. */
  proposedRules: { connection: string; since: number }[];
  shared: SharedFact[];
}

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
  return kind === 'travelOutage' || kind === 'credentialRefused';
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
