import type { FeedPage, TravelAnswer, TravelFeed } from '../model/travel-ports.ts';
import type { TravelClient } from './http/client.ts';

/** Reads the events of the travel API, the newest first; undefined if the travel API has no feed. */
export function travelFeed(client: TravelClient): TravelFeed | undefined {
  const { feed } = client.profile;
  if (!feed) return undefined;
  return {
    readPage: async (limit, from) => {
      const request = {
        method: 'GET',
        path: feed.path,
        operation: 'readEvents',
        query: feed.query(limit, from),
        isPolling: true,
      } as const;
      return toFeedAnswer(await client.call(request, (body) => body && feed.read(body)));
    },
  };
}

/** Returns `none` for the answers of a travel API that has no events, no permission to read them, or not this kind of pages. */
function toFeedAnswer(answer: TravelAnswer<FeedPage | 'none'>): TravelAnswer<FeedPage | 'none'> {
  const hasNone =
    answer.kind === 'notFound' ||
    answer.kind === 'forbidden' ||
    answer.kind === 'invalid' ||
    (answer.kind === 'unavailable' && (answer.isUnsupported === true || answer.isRejected === true));
  return hasNone ? { kind: 'ok', value: 'none' } : answer;
}
