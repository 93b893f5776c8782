import { isDeepStrictEqual } from 'node:util';
import type { TravelUser } from '../translator/traveler.ts';
import type { Connection } from './connection.ts';
import { addressKey } from './email-conflicts.ts';
import { markStale, type RecordDeps, recordTravelers } from './record-observed.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Identities } from './store-ports.ts';
import type { FeedEvent, FeedPage, TravelAnswer, TravelFeed } from './travel-ports.ts';

/** Mostly nothing has happened, and the newest event tells that; else larger pages follow, and so many at most. */
const FIRST_PAGES = [1, 10];
const PAGE = 100;
const PAGES = 50;

/** What a look into the feed came to; `lost`: events may have been missed, so everybody must be read. */
export type FeedResult = 'followed' | 'lost' | 'none' | 'unavailable';

/** Follows what the travel API of one connection tells of changes. */
export interface FeedFollower {
  /** Takes the present end of the feed as known, unless one is: what comes later is followed. */
  begin(): Promise<FeedResult>;
  /** Heeds what has come since the last look. Begins anew when the place is lost. */
  follow(): Promise<FeedResult>;
}

/** A follower; it remembers its place in the process alone, as every start imports. */
export function feedFollower(deps: FeedDeps, connection: Connection, source: TravelFeed): FeedFollower {
  /** The newest event that was heeded; '': the feed was empty. */
  let known: string | undefined;
  const begin = async (): Promise<FeedResult> => {
    if (known !== undefined) return 'followed';
    const page = pageOf(await source.readPage(1, undefined));
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
      if (!(await applyFeedEvents(deps, connection, news))) return 'unavailable';
      known = news[0]?.id ?? known;
      return 'followed';
    },
  };
}

/** The events since the known one, the newest first. */
async function since(
  source: TravelFeed,
  known: string,
): Promise<FeedEvent[] | Exclude<FeedResult, 'followed'>> {
  const news: FeedEvent[] = [];
  let from: string | undefined;
  for (let count = 0; count < PAGES; count += 1) {
    const page = pageOf(await source.readPage(FIRST_PAGES[count] ?? PAGE, from));
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

/** What it takes to heed events. */
export interface FeedDeps extends RecordDeps {
  identities: Pick<Identities, 'commit'>;
  rulesSnapshots: RulesSnapshots;
  /** Lets rules and lookups be read anew, soon; who is concerned is translated again. */
  refreshRules(): void;
}

/**
 * Does what events call for, the newest first; of each traveler the newest counts. What a write of our own left is known
 * and calls for nothing: most events are that. False: something could not be read, so they must be heeded again.
 */
export async function applyFeedEvents(
  deps: FeedDeps,
  connection: Connection,
  events: FeedEvent[],
): Promise<boolean> {
  if (events.some(({ kind }) => isLookedUp(kind.split('.')[0] ?? ''))) {
    connection.lookups.expire();
    deps.refreshRules();
  }
  const newest = new Map<string, { traveler: TravelUser; kind: string }>();
  for (const { traveler, kind } of events) {
    if (traveler && !newest.has(traveler.id)) newest.set(traveler.id, { traveler, kind });
  }
  const isGone = ({ kind }: { kind: string }) => kind === 'user.deleted';
  const people = [...newest.values()];
  const areAllSeen = await recordTraveler(
    deps,
    connection,
    people.filter((one) => !isGone(one)).map(({ traveler }) => traveler),
  );
  await recordMissing(
    deps,
    connection,
    people.filter(isGone).map(({ traveler }) => traveler),
  );
  await notifyWaiting(deps, connection, freedBy(events, newest));
  return areAllSeen;
}

async function recordTraveler(
  deps: FeedDeps,
  connection: Connection,
  travelers: TravelUser[],
): Promise<boolean> {
  const known = await knownOf(deps, connection, travelers);
  const news = travelers.filter((traveler) => !isDeepStrictEqual(known.get(traveler.id)?.observed, traveler));
  if (news.length === 0) return true;
  const basis = await deps.rulesSnapshots.current(connection);
  const since = deps.runtime.now();
  // Without rules nobody can be kept.
  if ('kind' in basis) return false;
  return (await recordTravelers(deps, { connection, rulesSnapshot: basis, since }, news)).areAllRead;
}

/** Who was linked is found to be gone by the next reconciliation; whom no IdP has written yet goes along. */
async function recordMissing(deps: FeedDeps, connection: Connection, travelers: TravelUser[]): Promise<void> {
  const known = [...(await knownOf(deps, connection, travelers)).values()];
  for (const { id } of known.filter(({ claimed }) => !claimed))
    await deps.identities.commit(connection.id, [{ kind: 'deleteUnclaimed', id }]);
  await markStale(
    deps,
    connection,
    known.filter(({ claimed }) => claimed).map(({ id }) => id),
  );
}

async function knownOf({ imports }: FeedDeps, { id }: Connection, travelers: TravelUser[]) {
  const known = await imports.findKnown(
    id,
    travelers.map((traveler) => traveler.id),
  );
  return new Map(known.map((identity) => [identity.travelId, identity]));
}

/** Addresses, by key, that somebody had and has no more. */
function freedBy(
  events: FeedEvent[],
  newest: Map<string, { traveler: TravelUser; kind: string }>,
): Map<string, string> {
  const freed = new Map<string, string>();
  for (const { kind, traveler, previousEmail } of events) {
    if (previousEmail !== undefined) freed.set(addressKey(previousEmail), previousEmail);
    if (traveler && kind === 'user.deleted') freed.set(addressKey(traveler.email), traveler.email);
  }
  for (const { traveler, kind } of newest.values()) {
    if (kind !== 'user.deleted') freed.delete(addressKey(traveler.email));
  }
  return freed;
}

async function notifyWaiting(
  deps: FeedDeps,
  { account }: Connection,
  addresses: Map<string, string>,
): Promise<void> {
  const now = deps.runtime.now();
  for (const address of addresses.values())
    await deps.reconcileQueue.markEmailWaitersDirty(account, address, now);
  if (addresses.size > 0) deps.wake();
}

/** The types of the travel API in which rules and values are looked up. */
const types = new Set([
  'billingProfile',
  'costCenter',
  'customField',
  'customFieldOption',
  'scimUserMapping',
  'travelPolicy',
]);

/** Whether a change of something of this type may make people be translated otherwise. */
export function isLookedUp(type: string): boolean {
  return types.has(type);
}
