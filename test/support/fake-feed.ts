import type { FeedEvent, FeedPage, TravelAnswer, TravelFeed } from '../../src/bridge/ports.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';

/** A feed as a value of the port. */
export interface FakeFeed extends TravelFeed {
  /** Oldest first. */
  events: FeedEvent[];
  asked: { limit: number; from: string | undefined }[];
  /** What is answered in place of the page, if anything. */
  trouble(from: string | undefined): TravelAnswer<FeedPage | 'none'> | undefined;
  tell(kind: string, traveler?: TravelUser, previousEmail?: string): void;
}

/** An empty feed. */
export function fakeFeed(): FakeFeed {
  const feed: FakeFeed = {
    events: [],
    asked: [],
    trouble: () => undefined,
    tell: (kind, traveler, previousEmail) => {
      const event = { id: `e-${feed.events.length + 1}`, kind, traveler, previousEmail };
      feed.events.push(JSON.parse(JSON.stringify(event)));
    },
    page: async (limit, from) => {
      feed.asked.push({ limit, from });
      const trouble = feed.trouble(from);
      if (trouble) return trouble;
      const newestFirst = [...feed.events].reverse();
      const at = from === undefined ? 0 : newestFirst.findIndex(({ id }) => id === from);
      const next = newestFirst[at + limit]?.id;
      return { kind: 'ok', value: { events: newestFirst.slice(at, at + limit), next } };
    },
  };
  return feed;
}
