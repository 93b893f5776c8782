import { defaultPolicies, type Policies } from '../../src/model/policies.ts';
import { seededRandom } from '../fixtures/seeded.ts';
import type { TravelHabits } from './travel-api.ts';

/** What a history plays on: the policies, the habits of the travel API, and the processes of the bridge. */
export interface Setup {
  policies: Policies;
  habits: TravelHabits;
  /** With one, it uses an embedded database, and a start ends all leases; with more, leases end by their time. */
  replicas: number;
  hasFeed: boolean;
}

const policies: Policies = { ...defaultPolicies, safetyValve: undefined };

/** The usual setup: one process, the default policies. */
export const plainSetup: Setup = {
  policies,
  habits: { isPhoneCompact: false, isEmailLower: false, hasDate: true, profile: 'ports' },
  replicas: 1,
  hasFeed: false,
};

/** The setup of a seed. */
export function setupOf(seed: number): Setup {
  const random = seededRandom(Math.imul(seed, 2_654_435) + 17);
  random.below(2);
  return {
    habits: {
      isPhoneCompact: random.below(3) === 0,
      isEmailLower: random.below(3) === 0,
      hasDate: random.below(4) > 0,
      profile: random.pick(['ports', 'ports', 'jetbridge', 'generic-rest']),
    },
    policies: {
      ...policies,
      drift: random.pick(['report', 'correct']),
      deprovision: random.pick(['archive', 'archive', 'delete']),
      // So small that departures are held.
      safetyValve:
        random.below(3) > 0 ? undefined : { share: 0, minimum: 1 + random.below(3), windowMs: 3_600_000 },
    },
    replicas: random.pick([1, 1, 2, 3]),
    hasFeed: random.below(2) === 0,
  };
}

/** Formats a setup as one line. */
export function toSetupLine({
  policies: { safetyValve, drift, deprovision },
  habits,
  replicas,
  hasFeed,
}: Setup): string {
  const others = Object.entries({ drift, deprovision, ...habits }).map(([name, value]) => `${name} ${value}`);
  const valve = safetyValve ? `safety valve ${safetyValve.minimum}` : 'no safety valve';
  return [`${replicas} replicas`, hasFeed ? 'feed' : 'no feed', valve, ...others].join(', ');
}
