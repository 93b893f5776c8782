import { DEMO_CONNECTION } from '../admin/demo-day.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';

/** The duration of the lease, in milliseconds: for so long a replica that has died seems to be at work. */
const LEASE_MS = 30_000;

/** The state of the demo day that all replicas read. */
export interface SavedDemoDay {
  phase: 'playing' | 'played' | 'removing';
  /** The start of the demo day, in epoch milliseconds. */
  since: number;
  /** Requests that were sent, and all requests. */
  done: number;
  total: number;
  /** The id of the custom field that it creates; undefined if the travel service has one of this name. */
  fieldId?: string | undefined;
}

/** The lease on the demo day: one process at a time plays or removes it. */
export interface DemoDayLease {
  /** The state that the last holder has saved. */
  state: SavedDemoDay | undefined;
  save(state: SavedDemoDay): Promise<void>;
  /** Throws if the lease has ended. */
  extend(): Promise<void>;
  /** Does the work, and ends the lease whatever comes of it. */
  during(work: (lease: DemoDayLease) => Promise<void>): Promise<void>;
}

/** Acquires the lease; undefined while another process holds it. */
export async function acquireDemoDay({
  store,
  runtime,
}: {
  store: Pick<ProvisioningStore, 'tasks'>;
  runtime: Pick<Runtime, 'newId' | 'now'>;
}): Promise<DemoDayLease | undefined> {
  const { tasks } = store;
  const token = runtime.newId();
  const leaseNow = () => ({ token, ms: LEASE_MS, now: runtime.now() });
  const acquired = await tasks.acquire(DEMO_CONNECTION, 'demoDay', leaseNow());
  if ('retryMs' in acquired) return undefined;
  const lease: DemoDayLease = {
    state: readSavedDemoDay(acquired.state),
    save: async (state) => {
      lease.state = state;
      await tasks.saveState(DEMO_CONNECTION, 'demoDay', state);
    },
    extend: async () => {
      if (await tasks.extend(DEMO_CONNECTION, 'demoDay', leaseNow())) return;
      throw new Error('another replica has taken over the demo day');
    },
    during: async (work) => {
      try {
        await work(lease);
      } finally {
        const end = { token, state: undefined, dueMs: 0, now: runtime.now() };
        // After a removal there is nothing to end, and otherwise the lease expires.
        await tasks.finish(DEMO_CONNECTION, 'demoDay', end).catch(() => {});
      }
    },
  };
  return lease;
}

/** Only the holders of the lease save the state. */
export function readSavedDemoDay(state: unknown): SavedDemoDay | undefined {
  return state as SavedDemoDay | undefined;
}
