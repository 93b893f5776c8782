import type { Connection } from './connection.ts';
import { heed, type Reader } from './feed-events.ts';
import type { FeedEvent, FeedPage, TravelAnswer, TravelFeed } from './ports.ts';

/** Mostly nothing has happened, and the newest event tells that; else larger pages follow, and so many at most. */
const FIRST_PAGES = [1, 10];
const PAGE = 100;
const PAGES = 50;

/** What a look into the feed came to; `lost`: events may have been missed, so everybody must be read. */
export type Followed = 'followed' | 'lost' | 'none' | 'unavailable';

/** Follows what the travel API of one connection tells of changes. */
export interface Follower {
  /** Takes the present end of the feed as known, unless one is: what comes later is followed. */
  begin(): Promise<Followed>;
  /** Heeds what has come since the last look. Begins anew when the place is lost. */
  follow(): Promise<Followed>;
}

/** A follower; it remembers its place in the process alone, as every start imports. */
export function follower(shop: Reader, connection: Connection, source: TravelFeed): Follower {
  /** The newest event that was heeded; '': the feed was empty. */
  let known: string | undefined;
  const begin = async (): Promise<Followed> => {
    if (known !== undefined) return 'followed';
    const page = pageOf(await source.page(1, undefined));
    if (page === undefined) return 'unavailable';
    if (page === 'none') return 'none';
    known = page.events[0]?.id ?? '';
    return 'lost';
  };
  return {
    begin,
    follow: async () => {
      if (known === undefined) return begin();
      const news = await since(source, known);
      if (news === 'none' || news === 'lost') known = undefined;
      if (news === 'lost') return begin();
      if (typeof news === 'string') return news;
      if (!(await heed(shop, connection, news))) return 'unavailable';
      known = news[0]?.id ?? known;
      return 'followed';
    },
  };
}

/** The events since the known one, the newest first. */
async function since(
  source: TravelFeed,
  known: string,
): Promise<FeedEvent[] | Exclude<Followed, 'followed'>> {
  const news: FeedEvent[] = [];
  let from: string | undefined;
  for (let count = 0; count < PAGES; count += 1) {
    const page = pageOf(await source.page(FIRST_PAGES[count] ?? PAGE, from));
    if (page === undefined) return 'unavailable';
    // On the way there the feed cannot have ended: the place was lost.
    if (page === 'none') return count === 0 ? 'none' : 'lost';
    const { events, next } = page;
    const at = events.findIndex(({ id }) => id === known);
    news.push(...(at < 0 ? events : events.slice(0, at)));
    if (at >= 0) return news;
    if (next === undefined || events.length === 0) return known === '' ? news : 'lost';
    from = next;
  }
  return 'lost';
}

/** Undefined: the travel API does not answer. */
function pageOf(answer: TravelAnswer<FeedPage | 'none'>): FeedPage | 'none' | undefined {
  return answer.kind === 'ok' ? answer.value : undefined;
}
