import type { Connection } from '../../model/connection.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { BackgroundTasks, TaskKind } from '../../store/queues/background-tasks.ts';
import type { RulesSnapshots } from '../rules/rules-snapshots.ts';
import { leaseDuration, leasedConnection } from './lease.ts';

/** The longest time between two attempts to acquire the lease of a dead replica, in milliseconds. */
const RETRY_MS = 5_000;
/** Delay after work that has failed with an error, in milliseconds. */
const FAULT_MS = 5_000;

/** The result of one run of background work. */
export interface TaskResult {
  /** The state to save for the next run; undefined keeps the saved one. */
  state: unknown;
  /** The delay until the next run is due, in milliseconds from now. */
  dueMs: number;
}

/** Background work under its lease. */
export interface LeasedTask {
  /** The connection; its calls to the travel API fail once the lease has ended. */
  connection: Connection;
  /** The state that the last run has saved. */
  state: unknown;
}

interface TaskDeps {
  tasks: BackgroundTasks;
  rulesSnapshots: Pick<RulesSnapshots, 'current'>;
  runtime: Pick<Runtime, 'now' | 'newId'>;
}

/**
 * Does background work of a connection if it is due and no other replica does it. Returns in how many milliseconds the
 * next attempt is worth while, and the saved state.
 */
export async function runTask(
  { tasks, rulesSnapshots, runtime }: TaskDeps,
  connection: Connection,
  { kind, work }: { kind: TaskKind; work(task: LeasedTask): Promise<TaskResult> },
): Promise<{ retryMs: number; state: unknown }> {
  const { now } = runtime;
  const token = runtime.newId();
  const since = now();
  const acquired = await tasks.acquire(connection.id, kind, {
    ...{ token, now: since },
    ms: leaseDuration(connection),
  });
  if ('retryMs' in acquired) return { retryMs: Math.min(RETRY_MS, acquired.retryMs), state: acquired.state };
  const extend = (ms: number) => tasks.extend(connection.id, kind, { token, ms, now: now() });
  const guarded = leasedConnection(connection, { since, now, extend });
  const finish = ({ state, dueMs }: TaskResult) =>
    tasks.finish(connection.id, kind, { token, state, dueMs, now: now() });
  try {
    // A replica that is behind loads the rules in force before it works with them.
    await rulesSnapshots.current(guarded, acquired.generation);
    const result = await work({ connection: guarded, state: acquired.state });
    await finish(result);
    return { retryMs: Math.min(RETRY_MS, result.dueMs), state: result.state ?? acquired.state };
  } catch (error) {
    await finish({ state: undefined, dueMs: FAULT_MS }).catch(() => {});
    throw error;
  }
}
