import type { ProvisioningStore } from '../../src/store/provisioning-store.ts';

const MINUTE_MS = 60_000;
/** More attempts at one identity than this within a minute have no cause outside: identities wake each other without end. */
const MAX_PER_MINUTE = 30;

/** Counts the attempts at each identity, by all processes. */
export interface AttemptWatch {
  /** Returns the store with leases that are counted. */
  watched(store: ProvisioningStore): ProvisioningStore;
  /** The identities that were tried too often within a minute. */
  endless(): string[];
}

/** Begins to count attempts by the virtual clock. */
export function newAttemptWatch(now: () => number): AttemptWatch {
  const counts = new Map<string, { since: number; count: number }>();
  const endless = new Set<string>();
  const note = (id: string) => {
    const known = counts.get(id);
    const isRecent = known !== undefined && now() - known.since < MINUTE_MS;
    const counted = isRecent ? { ...known, count: known.count + 1 } : { since: now(), count: 1 };
    counts.set(id, counted);
    if (counted.count > MAX_PER_MINUTE) endless.add(id);
  };
  return {
    watched: (store) => ({
      ...store,
      leases: {
        ...store.leases,
        acquire: async (connection, id, lease) => {
          const acquired = await store.leases.acquire(connection, id, lease);
          if (acquired) note(id);
          return acquired;
        },
      },
    }),
    endless: () => [...endless],
  };
}
