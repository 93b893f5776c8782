import type { ProvisioningStore } from '../../src/store/provisioning-store.ts';

const MINUTE_MS = 60_000;
/** More attempts at one identity than this within a minute have no cause outside: identities wake each other without end. */
const MAX_PER_MINUTE = 30;

/** Counts the attempts at each identity, by all processes, and sees which of them have no outcome. */
export interface AttemptWatch {
  /** Returns the store with attempts that are watched. */
  watched(store: ProvisioningStore): ProvisioningStore;
  /** The identities that were tried too often within a minute. */
  endless(): string[];
}

/** Begins to count attempts by the virtual clock. `onUnfinished`: called with the traveler of an attempt that follows one without an outcome. */
export function newAttemptWatch(now: () => number, onUnfinished: (travelId: string) => void): AttemptWatch {
  const counts = new Map<string, { since: number; count: number }>();
  const endless = new Set<string>();
  /** The tokens of attempts that have no outcome yet, by identity. */
  const open = new Map<string, string>();
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
      identities: {
        ...store.identities,
        commit: async (connection, changes) => {
          for (const change of changes)
            if ('lease' in change && change.lease && !change.ended)
              open.set(change.identity.id, change.lease.token);
          return store.identities.commit(connection, changes);
        },
      },
      leases: {
        ...store.leases,
        acquire: async (connection, id, lease) => {
          const acquired = await store.leases.acquire(connection, id, lease);
          if (!acquired) return acquired;
          note(id);
          if (open.has(id) && acquired.identity.travelId !== undefined)
            onUnfinished(acquired.identity.travelId);
          open.set(id, lease.token);
          return acquired;
        },
        finish: async (connection, id, token, before, outcome) => {
          const saved = await store.leases.finish(connection, id, token, before, outcome);
          if (saved !== 'lost' && open.get(id) === token) open.delete(id);
          return saved;
        },
      },
    }),
    endless: () => [...endless],
  };
}
