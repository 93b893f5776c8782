import { randomUUID } from 'node:crypto';
import type { Replicas } from '../provisioning/replica-ports.ts';
import type { Log } from '../provisioning/runtime-ports.ts';
import { type SharedClock, wait } from './runtime.ts';

/** The interval between two heartbeats, in milliseconds. A replica without any for 20 s counts as dead. */
const HEARTBEAT_MS = 5_000;

/** This process among the replicas that use the same database. */
export interface LiveReplicas {
  /** The number of live replicas, as of the last heartbeat. */
  count(): number;
  /** Calls the listener when another replica has died. */
  onDeath(listener: () => void): void;
  stop(): Promise<void>;
}

interface LiveReplicasDeps {
  replicas: Replicas;
  clock: SharedClock;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** False for the only process that uses a database, and for commands. */
  isReplica: boolean;
}

/** A process that is the only one to use its database, or a command. */
const onlyReplica: LiveReplicas = { count: () => 1, onDeath: () => {}, stop: async () => {} };

/** Records regularly that this process is alive, and follows the number of replicas and the clock of the database. */
export async function joinReplicas({
  replicas,
  clock,
  log,
  isReplica,
}: LiveReplicasDeps): Promise<LiveReplicas> {
  if (!isReplica) return onlyReplica;
  const id = randomUUID();
  const stop = new AbortController();
  const listeners: (() => void)[] = [];
  let alive = 1;
  const beat = async () => {
    const from = clock.now();
    const heartbeat = await replicas.heartbeat(id, from);
    clock.follow(heartbeat.time, { from, to: clock.now() });
    if (heartbeat.alive !== alive)
      log.info({ replicas: heartbeat.alive }, 'the number of live replicas has changed');
    alive = heartbeat.alive;
    if (heartbeat.died === 0) return;
    log.warn({ died: heartbeat.died }, 'a replica has died; its work is taken over');
    for (const listener of listeners) listener();
  };
  await beat();
  const loop = async () => {
    while (!stop.signal.aborted) {
      await wait(HEARTBEAT_MS, stop.signal);
      if (stop.signal.aborted) return;
      // While the database does not answer, the last known number is used.
      await beat().catch((error: unknown) =>
        log.error({ err: error }, 'the heartbeat could not be saved; retrying'),
      );
    }
  };
  const ended = loop();
  return {
    count: () => alive,
    onDeath: (listener) => void listeners.push(listener),
    stop: async () => {
      stop.abort();
      await ended;
      // Otherwise the replica counts as alive for 20 s more.
      await replicas.leave(id).catch(() => {});
    },
  };
}
