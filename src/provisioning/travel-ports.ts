import type { JsonObject } from '../schema/resource.ts';
import type { Lookups } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';

/** A field the travel API would not take, by its dotted name, e.g. `address.countryCode`. */
export interface InvalidField {
  field: string;
  code: string;
  message: string;
}

/**
 * Every way the travel API can fail a call about a user, after the table in docs/architecture.md, Answers of the travel
 * API.
 */
export type TravelFailure =
  | { kind: 'notFound' }
  | { kind: 'conflict' }
  | { kind: 'invalid'; fields: InvalidField[] }
  | { kind: 'forbidden' }
  /** Our own credential is wrong. */
  | { kind: 'unauthorized' }
  /**
   * 429, 5xx, time-out, connection, an answer that can't be read: it may have been carried out. `text` is for the log;
   * `isThrottled`: 429, or 503 with Retry-After, which concern everybody; `isUnanswered`: no whole answer came;
   * `isUnsupported`: 501; `isRejected`: the request itself is refused (400 without a field, 413, 415), which says nothing
   * about its values: it is tried again, and the connection works.
   */
  | {
      kind: 'unavailable';
      text: string;
      retryAfterMs?: number;
      isThrottled?: true;
      /** With `isThrottled`: it may have been carried out all the same (503). */
      isDoubtful?: true;
      isUnanswered?: true;
      isUnsupported?: true;
      isRejected?: true;
    };

/** An answer of the travel API: what was asked for, or why not. A failure here is a decision to take, not an exception. */
export type TravelAnswer<T> = { kind: 'ok'; value: T } | TravelFailure;

/** The travelers, as the reconciler needs them; one attempt each. */
export interface TravelUsers {
  create(user: JsonObject): Promise<TravelAnswer<TravelUser>>;
  read(id: string): Promise<TravelAnswer<TravelUser>>;
  /** JSON merge patch (RFC 7396). */
  patch(id: string, patch: JsonObject): Promise<TravelAnswer<TravelUser>>;
  remove(id: string): Promise<TravelAnswer<TravelUser>>;
  /** Exact addresses, without case; archived travelers included. */
  findByEmails(emails: string[], timeoutMs?: number): Promise<TravelAnswer<TravelUser[]>>;
  readPage(offset: number, limit: number): Promise<TravelAnswer<TravelUserPage>>;
  /**
   * The present time by the travel API's own clock, in milliseconds, up to a second behind (RFC 9110 §6.6.1: `Date` has
   * whole seconds). Undefined while no answer has told it.
   */
  serverTime(): number | undefined;
}

/** Some of the travelers. */
export interface TravelUserPage {
  users: TravelUser[];
  /** The travelers on this page that cannot be read: their ids, undefined for one without an id. */
  unreadable: (string | undefined)[];
  /** Travelers on this page, those that cannot be read included. */
  length: number;
  total: number;
  /** False where the travel API gives no total: `total` then counts the travelers that are known to exist. */
  isTotalGiven: boolean;
  /** True when no more travelers follow. */
  isLast: boolean;
}

/** What rules and values are looked up in. */
export interface TravelLookups {
  /** As last read; read first when never read or older than the refresh time. A failure to refresh keeps what is there. */
  current(): Promise<TravelAnswer<Lookups>>;
  /** Reads anew now, unless that was done within the last moments; answers what is then current. */
  refresh(): Promise<TravelAnswer<Lookups>>;
  /** What was read is out of date: the next question is answered anew, however recent it is. */
  expire(): void;
  /** The travel user whose credential the bridge uses. */
  readOwnUser(): Promise<TravelAnswer<TravelUser>>;
}

/** One change that the travel API tells of, by an event. */
export interface FeedEvent {
  id: string;
  /** E.g. `user.updated`, `costCenter.created`. */
  kind: string;
  /** The traveler that the change was made to, as it was then; with events of users. */
  traveler: TravelUser | undefined;
  /** The address that the traveler had before. */
  previousEmail: string | undefined;
}

/** Some events, the newest first. */
export interface FeedPage {
  events: FeedEvent[];
  /** Where older ones are; undefined where there are none. */
  next: string | undefined;
}

/** What the travel API tells of changes. */
export interface TravelFeed {
  /** `none`: this travel API has no feed, or not from that place on. */
  readPage(limit: number, from: string | undefined): Promise<TravelAnswer<FeedPage | 'none'>>;
}
