import { isDeepStrictEqual } from 'node:util';
import { addressKey } from '../../model/addresses.ts';
import type { Connection } from '../../model/connection.ts';
import type { Identities } from '../../model/store-ports.ts';
import type { FeedEvent, FeedPage, TravelAnswer, TravelFeed } from '../../model/travel-ports.ts';
import type { TravelUser } from '../../model/traveler.ts';
import type { RulesSnapshots } from '../rules/rules-snapshots.ts';
import { markStale, type RecordDeps, recordTravelers } from './record-observed.ts';

/** Numbers of events on the first pages. Usually the newest event is already known, so that one event is enough. */
const FIRST_PAGES = [1, 10];
/** Number of events on all further pages. */
const PAGE = 100;
/**
 * The maximum number of pages that are read. If the last known event is not among them, the position counts as lost.
 */
const PAGES = 50;

/**
 * The result of reading the feed. `followed`: all new events are applied; `lost`: events may have been missed, so an import
 * must read all travelers; `none`: the travel API has no feed; `unavailable`: try again later.
 */
export type FeedResult = 'followed' | 'lost' | 'none' | 'unavailable';

export type FeedFollower = ReturnType<typeof feedFollower>;

/** Creates a follower of the event feed of one connection that continues at a position of an earlier one, if there is one. */
export function feedFollower(
  deps: FeedDeps,
  connection: Connection,
  { source, position }: { source: TravelFeed; position?: string | undefined },
) {
  let known = position;
  /** Starts at the newest event, unless a position is already known. The next `follow` applies the events after it. */
  const begin = async (): Promise<FeedResult> => {
    if (known !== undefined) return 'followed';
    const page = pageOrUndefined(await source.readPage(1, undefined));
    if (page === undefined) return 'unavailable';
    if (page === 'none') return 'none';
    known = page.events[0]?.id ?? '';
    return 'lost';
  };
  return {
    begin,
    /** Applies the events since the last call. If the position is lost, starts again at the newest event. */
    follow: async (): Promise<FeedResult> => {
      if (known === undefined) return begin();
      const events = await readEventsSince(source, known);
      if (events === 'none' || events === 'lost') known = undefined;
      if (events === 'lost') return begin();
      if (typeof events === 'string') return events;
      if (!(await applyFeedEvents(deps, connection, events))) return 'unavailable';
      known = events[0]?.id ?? known;
      return 'followed';
    },
    /** The id of the newest applied event; '' if the feed was empty, undefined if no position is known. */
    position: () => known,
  };
}

/** Reads the events after the last applied one, newest first. */
async function readEventsSince(
  source: TravelFeed,
  known: string,
): Promise<FeedEvent[] | Exclude<FeedResult, 'followed'>> {
  const unread: FeedEvent[] = [];
  let from: string | undefined;
  for (let count = 0; count < PAGES; count += 1) {
    const page = pageOrUndefined(await source.readPage(FIRST_PAGES[count] ?? PAGE, from));
    if (page === undefined) return 'unavailable';
    // If the feed is missing only from the second page on, the travel API has dropped the position.
    if (page === 'none') return count === 0 ? 'none' : 'lost';
    const { events, next } = page;
    const knownIndex = events.findIndex(({ id }) => id === known);
    unread.push(...(knownIndex < 0 ? events : events.slice(0, knownIndex)));
    if (knownIndex >= 0) return unread;
    if (next === undefined || events.length === 0) return known === '' ? unread : 'lost';
    from = next;
  }
  return 'lost';
}

/** Returns the page of an answer; undefined if the travel API failed. */
function pageOrUndefined(answer: TravelAnswer<FeedPage | 'none'>): FeedPage | 'none' | undefined {
  return answer.kind === 'ok' ? answer.value : undefined;
}

export interface FeedDeps extends RecordDeps {
  identities: Pick<Identities, 'commit'>;
  rulesSnapshots: RulesSnapshots;
  /** Makes the background loop read rules and lookups again soon. */
  refreshRules(): void;
}

/**
 * Applies events, given newest first. Only the newest event of each traveler counts. Most events report writes of the
 * bridge itself: they equal the observed value and change nothing. Returns false if the rules could not be read; the
 * events must then be applied again.
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
  const isDeletion = ({ kind }: { kind: string }) => kind === 'user.deleted';
  const people = [...newest.values()];
  const areApplied = await recordChanged(
    deps,
    connection,
    people.filter((event) => !isDeletion(event)).map(({ traveler }) => traveler),
  );
  await recordDeleted(
    deps,
    connection,
    people.filter(isDeletion).map(({ traveler }) => traveler),
  );
  await notifyEmailWaiters(deps, connection, freedAddresses(events, newest));
  return areApplied;
}

async function recordChanged(
  deps: FeedDeps,
  connection: Connection,
  travelers: TravelUser[],
): Promise<boolean> {
  const known = await findKnownByTravelId(deps, connection, travelers);
  const changed = travelers.filter(
    (traveler) => !isDeepStrictEqual(known.get(traveler.id)?.observed, traveler),
  );
  if (changed.length === 0) return true;
  const snapshot = await deps.rulesSnapshots.current(connection);
  const since = deps.runtime.now();
  // A traveler cannot be translated to a SCIM user without the rules.
  if ('kind' in snapshot) return false;
  await recordTravelers(deps, { connection, rulesSnapshot: snapshot, since }, changed);
  return true;
}

/** Deletes unclaimed identities; claimed ones are marked, and their next reconciliation finds the traveler missing. */
async function recordDeleted(deps: FeedDeps, connection: Connection, travelers: TravelUser[]): Promise<void> {
  const known = [...(await findKnownByTravelId(deps, connection, travelers)).values()];
  for (const { id } of known.filter(({ claimed }) => !claimed))
    await deps.identities.commit(connection.id, [{ kind: 'deleteUnclaimed', id }]);
  await markStale(
    deps,
    connection,
    known.filter(({ claimed }) => claimed).map(({ id }) => id),
  );
}

async function findKnownByTravelId({ imports }: FeedDeps, { id }: Connection, travelers: TravelUser[]) {
  const known = await imports.findKnown(
    id,
    travelers.map((traveler) => traveler.id),
  );
  return new Map(known.map((identity) => [identity.travelId, identity]));
}

/** Returns the email addresses that these events took away from travelers, by `addressKey`. */
function freedAddresses(
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

async function notifyEmailWaiters(
  deps: FeedDeps,
  { account }: Connection,
  addresses: Map<string, string>,
): Promise<void> {
  const now = deps.runtime.now();
  for (const address of addresses.values())
    await deps.reconcileQueue.markEmailWaitersDirty(account, address, now);
  if (addresses.size > 0) deps.wake();
}

/** The resource types of the travel API that rules and values refer to. */
const lookupTypes = new Set([
  'billingProfile',
  'costCenter',
  'customField',
  'customFieldOption',
  'scimUserMapping',
  'travelPolicy',
]);

/** Returns true if a change of a resource of this type can change translations. */
export function isLookedUp(type: string): boolean {
  return lookupTypes.has(type);
}
