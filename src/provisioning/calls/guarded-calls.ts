import type { Connection } from '../../model/connection.ts';
import type { TravelAnswer, TravelFailure, TravelFeed, TravelLookups } from '../../model/travel-ports.ts';
import { GIVE_WAY_MS, sendRecorded, type TimedBreaker } from './circuit-breaker.ts';

/**
 * Returns the lookups of a connection whose failures the breaker learns of, because every identity needs them. They mostly come from the
 * cache, so a success does not show that the travel API works.
 */
export function recordedLookups(lookups: TravelLookups, { breaker, now }: TimedBreaker): TravelLookups {
  return guardedLookups(lookups, async (read) => {
    const call = breaker.beginCall();
    const answer = await read();
    if (answer.kind !== 'ok') call.recordFailure(answer, now(), Symbol('lookups'));
    return answer;
  });
}

function guardedLookups(lookups: TravelLookups, lookUp: Guard['lookUp']): TravelLookups {
  return {
    ...lookups,
    current: () => lookUp(() => lookups.current()),
    refresh: () => lookUp(() => lookups.refresh()),
    readOwnUser: () => lookUp(() => lookups.readOwnUser()),
  };
}

const paused: TravelFailure = { kind: 'unavailable', text: 'the connection pauses' };

/**
 * Returns the connection for imports, the event feed and rules. While the breaker is open, a call fails without being sent, unless a probe
 * is due that no reconciliation has reserved. The breaker learns of every result.
 */
export function pausingConnection(connection: Connection, breaking: TimedBreaker): Connection {
  const { breaker, now } = breaking;
  return guardedConnection(connection, {
    call: async (subject, send) =>
      breaker.admit(now(), GIVE_WAY_MS) ? sendRecorded(breaking, subject, send) : paused,
    lookUp: async (read) => (breaker.blocks(now(), GIVE_WAY_MS) ? paused : read()),
  });
}

/** The functions through which each call and each reading of lookups goes. */
interface Guard {
  /** Sends a call about this person or list, or answers in place of the travel API. */
  call<T>(subject: unknown, send: () => Promise<TravelAnswer<T>>): Promise<TravelAnswer<T>>;
  /** Reads lookups, which mostly come from memory, or answers in their place. */
  lookUp<T>(read: () => Promise<TravelAnswer<T>>): Promise<TravelAnswer<T>>;
}

/** Returns the connection with a guard before each call about travelers and events, and before each reading of lookups. */
export function guardedConnection(connection: Connection, { call, lookUp }: Guard): Connection {
  const { travel, lookups, feed } = connection;
  return {
    ...connection,
    travel: {
      create: (traveler, key, cause) => call(traveler.email, () => travel.create(traveler, key, cause)),
      read: (id, cause) => call(id, () => travel.read(id, cause)),
      patch: (id, change, cause) => call(id, () => travel.patch(id, change, cause)),
      remove: (id, cause) => call(id, () => travel.remove(id, cause)),
      findByEmails: (emails, timeoutMs, cause) =>
        call(emails[0], () => travel.findByEmails(emails, timeoutMs, cause)),
      readPage: (...page) => call('page', () => travel.readPage(...page)),
      serverTime: travel.serverTime,
    },
    lookups: guardedLookups(lookups, lookUp),
    ...(feed ? { feed: { ...feed, source: guardedFeed(feed.source, { call }) } } : {}),
  };
}

function guardedFeed(source: TravelFeed, { call }: Pick<Guard, 'call'>): TravelFeed {
  return { readPage: (limit, from) => call('feed', () => source.readPage(limit, from)) };
}
