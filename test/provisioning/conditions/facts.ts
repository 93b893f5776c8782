import type { ConditionFacts } from '../../../src/provisioning/conditions/facts.ts';

export const NOW = Date.UTC(2026, 10, 20, 14, 30);
export const MINUTE = 60_000;

type Summary = ConditionFacts['summaries'][number];

/** The people of a connection, all of them in step. */
export function summaryOf(connection: string, { states, ...more }: SummaryChange = {}): Summary {
  return {
    connection,
    states: { synced: 2_001, dirty: 0, pending: 0, refused: 0, held: 0, ...states },
    ...{
      unmanaged: 0,
      keptActive: 0,
      failing: undefined,
      waitingSince: undefined,
      hasUsers: true,
      findings: new Map(),
      withFindings: 0,
      areFindingsCut: false,
    },
    ...more,
  };
}

type SummaryChange = Partial<Omit<Summary, 'states' | 'connection'>> & {
  states?: Partial<Summary['states']>;
};

/** The state of a live connection. */
export function connectionState(
  connection: string,
  change: Partial<ConditionFacts['connections'][number]> = {},
): ConditionFacts['connections'][number] {
  const live = { mode: 'live', since: undefined, pilot: undefined, generation: 1 } as const;
  const none = { proposedSince: undefined, importState: undefined, settings: null };
  return { connection, ...live, ...none, ...change };
}

/** The facts of a service of one connection in which nothing is wrong. */
export const soundFacts: ConditionFacts = {
  ...{
    now: NOW,
    local: [],
    shared: [],
    tokens: [],
    counts: [],
    missingGroups: [],
    reported: [],
  },
  connections: [connectionState('okta')],
  summaries: [summaryOf('okta')],
};
