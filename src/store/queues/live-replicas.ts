import { randomUUID } from 'node:crypto';
import type { Log, Runtime } from '../../model/runtime-ports.ts';
import type { Replicas } from './replicas.ts';

/** The interval between two heartbeats, in milliseconds. A replica without any for 20 s counts as dead. */
const HEARTBEAT_MS = 5_000;

/** This process among the replicas that use the same database. */
export interface LiveReplicas {
  /** The number of live replicas, as of the last heartbeat. */
  count(): number;
  /** Calls the listener when another replica has died. */
  onDeath(listener: () => void): void;
  /** Records that this process serves a connection from now on, or no longer. */
  recordServed(connection: string, isServed: boolean): Promise<void>;
  stop(): Promise<void>;
}

interface LiveReplicasDeps {
  replicas: Replicas;
  clock: SharedClock;
  wait: Runtime['wait'];
  log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** The connections that this process serves. */
  connections: string[];
  /** Called after the database's clock was set back to this time. */
  onSetBack?(time: number): Promise<void>;
  /**
   * `replica`: other processes may use the database too. `only`: no other one does, so that one record is enough, which the next start
   * replaces if this process dies. `command`: a command beside replicas, which is not recorded, but uses their clock.
   */
  role: 'replica' | 'only' | 'command';
}

const command: LiveReplicas = {
  count: () => 1,
  onDeath: () => {},
  recordServed: async () => {},
  stop: async () => {},
};

/**
 * Records regularly that this process is alive and what it serves, and follows the number of replicas and the clock of the database.
 * Must run before anything is stored for the connections: what nobody serves may be deleted.
 */
export async function joinReplicas(deps: LiveReplicasDeps): Promise<LiveReplicas> {
  if (deps.role === 'command') {
    await followDatabase(deps);
    return command;
  }
  const { replicas, role } = deps;
  const id = randomUUID();
  const state: ReplicaState = { connections: deps.connections, alive: 1, listeners: [] };
  let last = Promise.resolve();
  const beat = () => {
    // One after the other, so that an older list of connections never replaces a newer one.
    const beatOnce = () => sendHeartbeat(deps, id, state);
    last = last.then(beatOnce, beatOnce);
    return last;
  };
  if (role === 'only') await replicas.reset();
  await beat();
  const stop = new AbortController();
  const ended = role === 'replica' ? repeatHeartbeats(beat, deps, stop.signal) : undefined;
  return {
    count: () => state.alive,
    onDeath: (listener) => void state.listeners.push(listener),
    recordServed: async (connection, isServed) => {
      if (state.connections.includes(connection) === isServed) return;
      const others = state.connections.filter((one) => one !== connection);
      state.connections = isServed ? [...others, connection] : others;
      await beat();
    },
    stop: async () => {
      stop.abort();
      await ended;
      // Otherwise the replica counts as alive for 20 s more.
      await replicas.leave(id).catch(() => {});
    },
  };
}

async function followDatabase({ replicas, clock }: LiveReplicasDeps): Promise<void> {
  const from = clock.now();
  const time = await replicas.time(from);
  clock.follow(time, { from, to: clock.now() });
}

interface ReplicaState {
  connections: string[];
  /** The number of live replicas, as of the last heartbeat. */
  alive: number;
  /** Called when another replica has died. */
  listeners: (() => void)[];
}

async function sendHeartbeat(
  { replicas, clock, log, ...deps }: LiveReplicasDeps,
  id: string,
  state: ReplicaState,
): Promise<void> {
  const onSetBack = async (time: number) => {
    log.warn({ time: new Date(time).toISOString() }, 'the clock of the database was set back');
    await deps.onSetBack?.(time);
  };
  const from = clock.now();
  const heartbeat = await replicas.heartbeat(id, { connections: state.connections, now: from, onSetBack });
  clock.follow(heartbeat.time, { from, to: clock.now() });
  if (heartbeat.alive !== state.alive)
    log.info({ replicas: heartbeat.alive }, 'the number of live replicas has changed');
  state.alive = heartbeat.alive;
  if (heartbeat.died === 0) return;
  log.warn({ died: heartbeat.died }, 'a replica has died; its work is taken over when its leases end');
  for (const listener of state.listeners) listener();
}

async function repeatHeartbeats(
  beat: () => Promise<void>,
  { log, wait }: Pick<LiveReplicasDeps, 'log' | 'wait'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await wait(HEARTBEAT_MS, signal);
    if (signal.aborted) return;
    // While the database does not answer, the last known number is used.
    await beat().catch((error: unknown) =>
      log.error({ err: error }, 'the heartbeat could not be saved; retrying'),
    );
  }
}

/** A clock that follows the database's, so that all replicas agree on times. */
export interface SharedClock {
  now(): number;
  /** Sets the clock to a time of the database, which was asked for it between two times by this clock. */
  follow(time: number, asked: { from: number; to: number }): void;
}

/** Differences below this, in milliseconds, are left: a clock should not go back by a little at each comparison. */
const CLOCK_TOLERANCE_MS = 50;

/** Creates a clock that runs steadily, and is set again if it differs from the database's. */
export function sharedClock(steady: () => number): SharedClock {
  let offset = 0;
  return {
    now: () => steady() + offset,
    follow: (time, { from, to }) => {
      if (time < from - CLOCK_TOLERANCE_MS) offset += time - from;
      else if (time > to + CLOCK_TOLERANCE_MS) offset += time - to;
    },
  };
}
