/** What a paused connection would send about a person: the code of the finding about it, and the call as a noun. */
export const plannedCalls = {
  create: { code: 'pausedCreate', noun: 'the creation of a traveler' },
  reactivate: { code: 'pausedReactivation', noun: 'the reactivation of the archived traveler' },
  end: { code: 'pausedDeparture', noun: 'the archive or deletion of the traveler' },
  change: { code: 'pausedChange', noun: 'a change of the traveler' },
} as const;

export type PlannedCall = keyof typeof plannedCalls;

/** A paused connection, with the number of people about whom each kind of call waits. */
export interface PausedConnection {
  connection: string;
  /** The start of the pause, in epoch milliseconds. */
  since: number;
  people: Record<PlannedCall, number>;
}

/**
 * The modes of connections (docs/architecture.md, A restored backup). A paused connection plans and shows, and sends nothing by
 * itself.
 */
export interface ConnectionModes {
  /** Returns the start of the pause, as last read; undefined while the connection is live. */
  pausedAt(connection: string): number | undefined;
  /**
   * Reads the modes again, which commands and other replicas change. Changes that wait in a connection that has gone on become due.
   * `isPausedAnew`: a connection was paused since the last time.
   */
  refresh(now: number): Promise<{ isPausedAnew: boolean }>;
  /** Pauses all connections, also those of an earlier pause, and returns the names of those whose pause begins now. */
  pauseAll(now: number): Promise<string[]>;
  /**
   * Lets a paused connection go on. The travelers of all people with waiting changes are read again before anything is sent.
   * Returns false if it is not paused.
   */
  resume(connection: string, now: number): Promise<boolean>;
  listPaused(): Promise<PausedConnection[]>;
}
