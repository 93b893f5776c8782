import type { AlarmCount } from './hold-ports.ts';
import type { LeaseRequest } from './store-ports.ts';

/**
 * The kinds of background work that one replica at a time does for a connection. `ownUser` and `returnNotice` are no work, and have only a
 * state: the traveler whose credential the bridge uses, and whether the notice was given.
 */
export type TaskKind = 'import' | 'feed' | 'demoDay' | 'ownUser' | 'returnNotice';

/** A lease on one kind of background work of a connection. */
export interface TaskLease {
  /** The state that the last holder has saved; undefined before the first time. */
  state: unknown;
  /** The generation of the rules in force of the connection; 0 if there are none yet. */
  generation: number;
}

/**
 * The store of background work: for each kind, the time at which it is due next, the replica that does it at present, and
 * the state that it saved for the next time, such as the position in a feed.
 */
export interface BackgroundTasks {
  /**
   * Acquires the lease for `ms` milliseconds if the work is due and no other replica holds it. Otherwise returns in how
   * many milliseconds that may be so.
   */
  acquire(
    connection: string,
    kind: TaskKind,
    lease: LeaseRequest,
  ): Promise<TaskLease | { retryMs: number; state: unknown }>;
  /** Extends the lease. Returns false if it has ended. */
  extend(connection: string, kind: TaskKind, lease: LeaseRequest): Promise<boolean>;
  /**
   * Ends the lease, and saves the state unless it is undefined; the work is due again after `dueMs` milliseconds. Returns
   * false if the lease has ended.
   */
  finish(
    connection: string,
    kind: TaskKind,
    end: { token: string; state: unknown; dueMs: number; now: number },
  ): Promise<boolean>;
  /** Saves the state outside of a lease. */
  saveState(connection: string, kind: TaskKind, state: unknown): Promise<void>;
  /** Makes the work due now; if a replica does it at present, once more when that has finished. */
  request(connection: string, kind: TaskKind): Promise<void>;
  /** Returns the states that the last holders of one kind have saved, by connection. */
  listStates(kind: TaskKind): Promise<{ connection: string; state: unknown }[]>;
  /** Ends all leases and makes all work due: at the start of the only process that uses the database. */
  reset(): Promise<void>;
}

/** The answer to a replica that records that it is alive. */
export interface Heartbeat {
  /** The number of replicas that are alive, this one included. */
  alive: number;
  /** The number of replicas that were found to be dead, each by one of the others. */
  died: number;
  /** The time by the database's clock. */
  time: number;
}

/** What a replica records with a heartbeat. */
export interface Beat {
  connections: string[];
  now: number;
  /**
   * Called with the time by the database's clock if that has been set back since the last heartbeat of any replica. If it fails, the
   * next heartbeat calls it again.
   */
  onSetBack?(time: number): Promise<void>;
}

/** The store of the replicas that are alive, with the connections that each of them serves. */
export interface Replicas {
  heartbeat(id: string, beat: Beat): Promise<Heartbeat>;
  leave(id: string): Promise<void>;
  /** Returns the time by the database's clock; `now` where only one process uses the database. */
  time(now: number): Promise<number>;
  /** Removes all replicas: at the start of the only process that uses the database. */
  reset(): Promise<void>;
}

/**
 * The store of the holds and other alarms that were reported, so that one of several replicas reports each change. `open`, `grow` and `clear`
 * return true to the one that must report it.
 */
export interface ReportedHolds {
  list(): Promise<{ hold: AlarmCount; at: number }[]>;
  open(hold: AlarmCount, now: number): Promise<boolean>;
  /** Also returns false if the hold was reported less than `againMs` milliseconds ago. */
  grow(hold: AlarmCount, now: number, againMs: number): Promise<boolean>;
  clear(hold: AlarmCount): Promise<boolean>;
}
