/** The connection of the demo day, which no settings have. Nothing that it does concerns the people of other connections. */
export const DEMO_CONNECTION = 'demo';

/**
 * A recorded day of an invented identity provider. It is played through the SCIM interface to a connection of its own, which
 * exists only as long as the demo day.
 */
export interface DemoDay {
  read(): Promise<DemoDayState>;
  /** Begins to play it. Does nothing if it is being played or was played. */
  play(): Promise<DemoDayState>;
  /** Removes everything that it has made. */
  undo(): Promise<DemoDayState>;
  /** The number of removals since the process has started: their exchanges are in the log no longer. */
  removals(): number;
}

/** How far the demo day is. */
export interface DemoDayState {
  phase: 'none' | 'playing' | 'interrupted' | 'played' | 'removing';
  /** The number of requests that were sent, and of all of the day. */
  done: number;
  total: number;
  /** The reason for which it cannot be played; undefined if it can. */
  refusal?: string | undefined;
}
