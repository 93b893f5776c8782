import type { Policies } from '../../src/provisioning/policies.ts';
import type { Event } from './events.ts';
import type { Setup } from './setup.ts';
import type { TravelHabits } from './travel-api.ts';

/** What a small world begins with: its differences from the plain setup, and events after the first people have joined. */
export interface Beginning {
  setup?: Partial<Setup>;
  policies?: Partial<Policies>;
  habits?: Partial<TravelHabits>;
  before?: Event['what'][];
}

/** The beginnings of small worlds. */
export const beginnings = {
  plain: {},
  'travelers are deleted': { policies: { deprovision: 'delete' } },
  'travelers who have traveled are not deleted': {
    policies: { deprovision: 'delete' },
    habits: { isDeletionRefused: true },
  },
  'drift is corrected': { policies: { drift: 'correct' } },
  'one may leave in an hour': { policies: { safetyValve: { share: 0, minimum: 1, windowMs: 3_600_000 } } },
  'two processes': { setup: { replicas: 2 } },
  'a feed, and drift is corrected': { setup: { hasFeed: true }, policies: { drift: 'correct' } },
  'a generic API': { habits: { isGenericRest: true } },
  'answers without a time': { habits: { hasDate: false } },
  'a traveler was changed by hand, and the connections are paused': {
    before: [{ kind: 'edit', who: 0, field: 'firstName' }, { kind: 'pause' }],
  },
  'a restored database': {
    before: [{ kind: 'backup' }, { kind: 'edit', who: 0, field: 'archived' }, { kind: 'restore' }],
  },
  'two connections': { before: [{ kind: 'move', who: 0 }, { kind: 'rest' }] },
  'an archived traveler of a third person': { before: [{ kind: 'stranger', who: 2, archived: true }] },
  'a traveler of a third person': { before: [{ kind: 'stranger', who: 2, archived: false }] },
  'the second person reports to the first by name': {
    before: [{ kind: 'manager', who: 1, of: 0, by: 'userName' }, { kind: 'rest' }],
  },
} as const satisfies Record<string, Beginning>;

export type BeginningName = keyof typeof beginnings;
