import type { FeedEvent, FeedPage, TravelAnswer, TravelFeed } from '../provisioning/travel-ports.ts';
import { asObject, asString, type Envelope, readItems } from './answers.ts';
import type { TravelClient } from './client.ts';
import { readTravelUser } from './users.ts';

/** Reads the events of the travel API, the newest first (specification, "Pagination" by cursor). */
export function travelFeed(client: TravelClient, { events: path }: { events: string }): TravelFeed {
  return {
    readPage: async (limit, from) => {
      const after = from === undefined ? {} : { after: from };
      const query = { pageKind: 'cursor', order: 'desc', limit, ...after };
      return toFeedAnswer(await client.call({ method: 'GET', path, query, isPolling: true }, parseFeedPage));
    },
  };
}

/** Returns `none` for the answers of a travel API that has no events, no permission to read them, or no cursors. */
function toFeedAnswer(answer: TravelAnswer<FeedPage | 'none'>): TravelAnswer<FeedPage | 'none'> {
  const hasNone =
    answer.kind === 'notFound' ||
    answer.kind === 'forbidden' ||
    answer.kind === 'invalid' ||
    (answer.kind === 'unavailable' && (answer.isUnsupported === true || answer.isRejected === true));
  return hasNone ? { kind: 'ok', value: 'none' } : answer;
}

/** Reads one page; `none` if the travel API ignored the requested kind of page or order, or sent an unreadable event. */
function parseFeedPage({ data, meta }: Envelope): FeedPage | 'none' {
  const { pageKind, order, nextAfter } = asObject(meta) ?? {};
  if (!Array.isArray(data) || pageKind !== 'cursor' || order !== 'desc') return 'none';
  const events = readItems(data, readEvent);
  if (events.length < data.length) return 'none';
  return { events, next: asString(nextAfter) };
}

function readEvent(value: unknown): FeedEvent | undefined {
  const source = asObject(value);
  const id = asString(source?.id);
  const kind = asString(source?.kind);
  if (!source || id === undefined || kind === undefined) return undefined;
  return {
    id,
    kind,
    traveler: kind.startsWith('user.') ? readTravelUser(source.data) : undefined,
    previousEmail: asString(asObject(source.previousAttributes)?.email),
  };
}
