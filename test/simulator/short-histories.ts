import type { Policies } from '../../src/provisioning/policies.ts';
import type { Event } from './events.ts';
import { type MemoryDatabase, openSimulator } from './memory-database.ts';
import { play } from './play.ts';
import { plainSetup, type Setup } from './setup.ts';

/** A history that is played with each of its seeds. */
interface ShortHistory {
  seeds?: number[];
  policies?: Partial<Policies>;
  setup?: Partial<Setup>;
  /** An event without a pause is followed by the next one at once. */
  events: (Event['what'] | Event)[];
}

/** Expects that a history breaks no promise. */
export async function expectHistoryKept(
  database: MemoryDatabase,
  { seeds: drawn = [1], policies = {}, setup = {}, events }: ShortHistory,
): Promise<void> {
  const all = events.map((event): Event => ('what' in event ? event : { what: event, pause: 0 }));
  for (const seed of drawn) {
    const { broken } = await play(database, {
      ...{ seed, people: 6, events: all },
      setup: {
        ...plainSetup,
        ...setup,
        policies: { ...plainSetup.policies, ...setup.policies, ...policies },
      },
    });
    expect(broken).toEqual([]);
  }
}

/** Opens a simulator for the tests of a file. Returns a function that expects that events break no promise. */
export function expectKeptInFile() {
  let database: MemoryDatabase;
  beforeAll(async () => {
    database = await openSimulator();
  });
  afterAll(() => database.close());
  return (events: Event[], setup: Partial<Setup> = {}, seed = 1): Promise<void> =>
    expectHistoryKept(database, { events, setup, seeds: [seed] });
}

export const join = (who: number, as: 'same' | 'other' = 'same') =>
  ({ kind: 'join', who, as, active: true }) as const;
export const setActive = (who: number, active: boolean) =>
  ({ kind: 'active', who, active, as: 'same' }) as const;
export const leave = (who: number) => ({ kind: 'leave', who }) as const;
export const email = (who: number, address: number) => ({ kind: 'email', who, address }) as const;
export const faults = (...next: Extract<Event['what'], { kind: 'faults' }>['next']) =>
  ({ kind: 'faults', next }) as const;
export const after = (what: Event['what'], pause: number): Event => ({ what, pause });
export const rest = { kind: 'rest' } as const;
