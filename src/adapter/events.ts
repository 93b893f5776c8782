import type { FeedEvent, FeedPage, TravelAnswer, TravelFeed } from '../provisioning/travel-ports.ts';
import { type Body, readable, record, text } from './answers.ts';
import type { TravelClient } from './client.ts';
import { readTravelUser } from './users.ts';

/** The events of the travel API over HTTP, from the newest backwards (specification, "Pagination" by cursor). */
export function travelFeed(client: TravelClient, { events: path }: { events: string }): TravelFeed {
  return {
    readPage: async (limit, from) => {
      const place = from === undefined ? {} : { after: from };
      const query = { pageKind: 'cursor', order: 'desc', limit, ...place };
      return judged(await client.call({ method: 'GET', path, query }, readPage));
    },
  };
}

/** A service that has no such collection, does not let us read it or does not page by cursor has no feed for us. */
function judged(answer: TravelAnswer<FeedPage | 'none'>): TravelAnswer<FeedPage | 'none'> {
  const hasNone =
    answer.kind === 'notFound' ||
    answer.kind === 'forbidden' ||
    answer.kind === 'invalid' ||
    (answer.kind === 'unavailable' && (answer.isUnsupported === true || answer.isRejected === true));
  return hasNone ? { kind: 'ok', value: 'none' } : answer;
}

/** A page that tells another kind or order is that of a service that passes over what it was asked for. */
function readPage({ data, meta }: Body): FeedPage | 'none' {
  const { pageKind, order, nextAfter } = record(meta) ?? {};
  if (!Array.isArray(data) || pageKind !== 'cursor' || order !== 'desc') return 'none';
  const events = readable(data, readEvent);
  if (events.length < data.length) return 'none';
  return { events, next: text(nextAfter) };
}

function readEvent(value: unknown): FeedEvent | undefined {
  const source = record(value);
  const id = text(source?.id);
  const kind = text(source?.kind);
  if (!source || id === undefined || kind === undefined) return undefined;
  return {
    id,
    kind,
    traveler: kind.startsWith('user.') ? readTravelUser(source.data) : undefined,
    previousEmail: text(record(source.previousAttributes)?.email),
  };
}
