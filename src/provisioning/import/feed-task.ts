import type { Connection } from '../../model/connection.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { TravelFeed } from '../../model/travel-ports.ts';
import { type LeasedTask, runTask, type TaskResult } from '../calls/background-lease.ts';
import type { FeedFollower, FeedResult } from './event-feed.ts';

/** Interval at which a travel API that has no event feed is asked whether it has one by now. */
export const FEED_RECHECK_MS = 60 * 60_000;
/** The longest interval between two feed requests while the travel API does not answer. */
const MAX_FEED_DELAY_MS = 60_000;
/** The shortest wait for another replica that reads the feed, in milliseconds. */
const MIN_FEED_WAIT_MS = 100;

/** Dependencies of the background work that follows the event feeds. */
export type FeedTaskDeps = Parameters<typeof runTask>[0] & {
  /** Creates a follower of a connection's feed at this position. */
  feedFollowerOf(connection: Connection, source: TravelFeed, position: string | undefined): FeedFollower;
  /** Woken when an import must run before its interval is over. */
  importSignalOf(connection: Connection): { wake(): void };
  runtime: Pick<Runtime, 'wallClock' | 'wait'>;
};

/** The state that a poll of the feed saves for the next poll, which another replica may make. */
interface FeedState {
  /** The id of the newest applied event (`FeedFollower.position`). */
  position?: string | undefined;
  /** The delay after the last poll, in milliseconds. */
  pauseMs: number;
  /** The time at which the feed was last read to its end, in epoch milliseconds. */
  readAt?: number | undefined;
}

/** True if the position in the feed is known, so that changes in the travel service arrive. `state` is the state that polls have saved. */
export function isFeedFollowed(state: unknown): boolean {
  return readFeedState(state)?.position !== undefined;
}

/** Returns the time at which the feed was last read to its end, in epoch milliseconds; undefined if its position is not known. */
export function feedReadAt(state: unknown): number | undefined {
  const { position, readAt } = readFeedState(state) ?? {};
  return position === undefined ? undefined : readAt;
}

/** Applies the new events if that is due and no other replica does it. Returns the delay until the next poll, in milliseconds. */
export async function followFeed(deps: FeedTaskDeps, connection: Connection): Promise<number> {
  const work = (task: LeasedTask) => applyEvents(deps, task);
  const { retryMs } = await runTask(deps, connection, { kind: 'feed', work });
  return Math.max(MIN_FEED_WAIT_MS, retryMs);
}

async function applyEvents(deps: FeedTaskDeps, { connection, state }: LeasedTask): Promise<TaskResult> {
  const { feed } = connection;
  if (!feed) return { state, dueMs: FEED_RECHECK_MS };
  const before: FeedState = readFeedState(state) ?? { pauseMs: feed.everyMs };
  const follower = deps.feedFollowerOf(connection, feed.source, before.position);
  const result = await follower.follow();
  if (result === 'lost') deps.importSignalOf(connection).wake();
  const pauseMs = nextPollDelay(result, { pause: before.pauseMs, everyMs: feed.everyMs });
  const readAt = result === 'followed' || result === 'lost' ? deps.runtime.wallClock() : before.readAt;
  return { state: { position: follower.position(), pauseMs, readAt } satisfies FeedState, dueMs: pauseMs };
}

/**
 * Starts at the newest event of the feed, unless a position is already known. An import does so before it reads the
 * travelers, so that no change during the import is missed.
 */
export async function takeFeedPosition(
  deps: FeedTaskDeps,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  const { feed } = connection;
  if (!feed) return;
  const work = async (task: LeasedTask): Promise<TaskResult> => {
    const known = readFeedState(task.state);
    if (known?.position !== undefined) return { state: known, dueMs: 0 };
    const follower = deps.feedFollowerOf(task.connection, feed.source, undefined);
    await follower.begin();
    const readAt = deps.runtime.wallClock();
    const next: FeedState = { position: follower.position(), pauseMs: feed.everyMs, readAt };
    return { state: next, dueMs: feed.everyMs };
  };
  while (!signal.aborted) {
    const { retryMs, state } = await runTask(deps, connection, { kind: 'feed', work });
    // Without a state, another replica takes the position at this moment, or has died while it did.
    if (state !== undefined) return;
    await deps.runtime.wait(Math.max(MIN_FEED_WAIT_MS, retryMs), signal);
  }
}

/** Only `applyEvents` and `takeFeedPosition` write the state. */
function readFeedState(state: unknown): FeedState | undefined {
  return state as FeedState | undefined;
}

function nextPollDelay(result: FeedResult, { pause, everyMs }: { pause: number; everyMs: number }): number {
  switch (result) {
    case 'followed':
    case 'lost':
      return everyMs;
    case 'none':
      return FEED_RECHECK_MS;
    case 'unavailable':
      return Math.max(everyMs, Math.min(MAX_FEED_DELAY_MS, pause * 2));
  }
}
