import type { CallCause } from './exchange.ts';
import type { Lookups } from './translation.ts';
import type { TravelerChange, TravelUser } from './traveler.ts';

/** A field that the travel API rejected, by its dotted name, e.g. `address.countryCode`. */
export interface InvalidField {
  field: string;
  code: string;
  message: string;
}

/**
 * Every way in which a call to the travel API about a user can fail; the table is in docs/architecture.md, Answers of the
 * travel API.
 */
export type TravelFailure =
  | { kind: 'notFound' }
  | { kind: 'conflict' }
  | { kind: 'invalid'; fields: InvalidField[] }
  | { kind: 'forbidden' }
  /** The travel API rejected the credential of the bridge (401). */
  | { kind: 'unauthorized' }
  /**
   * 429, 5xx, a time-out, a connection error or an unreadable answer. The call may have been carried out. `text` is for
   * the log. `isThrottled`: 429, or 503 with Retry-After, which concern the whole connection. `isUnanswered`: no
   * complete answer arrived. `isUnsupported`: 501. `isRejected`: the request itself is refused (400 without a field,
   * 412, 413, 415), which says nothing about its values, so the call is repeated later and the circuit breaker stays closed.
   * `bareStatus`: a 403 or 404 about one traveler without the error code of the travel API, which a gateway may have sent.
   */
  | {
      kind: 'unavailable';
      text: string;
      retryAfterMs?: number;
      isThrottled?: true;
      /** The call may have been carried out nevertheless: a 503 with `isThrottled`, or a 412 with `isRejected`. */
      isDoubtful?: true;
      isUnanswered?: true;
      isUnsupported?: true;
      isRejected?: true;
      bareStatus?: 403 | 404;
    };

/** Says for an admin why something cannot be read from the travel API, and what to check. */
export function describeTravelFailure(failure: TravelFailure): string {
  switch (failure.kind) {
    case 'unauthorized':
      return 'it refuses the credential (401); check TRAVEL_API_KEY';
    case 'forbidden':
      return 'the credential may not read this (403); check what it may do';
    case 'notFound':
      return 'there is nothing at that path (404); check TRAVEL_API_URL and travelApi.paths';
    case 'unavailable':
      return `${failure.text}; check TRAVEL_API_URL, or try again later`;
    case 'conflict':
    case 'invalid':
      return `it does not take the question (${failure.kind}); check TRAVEL_API_URL and travelApi.paths`;
  }
}

/** Returns the messages of a refusal as one text for an admin. */
export function refusalReason({ fields }: { fields: InvalidField[] }): string {
  const messages = fields.map(({ message }) => message).filter((message) => message !== '');
  return [...new Set(messages)].join('; ');
}

/** A travel API that gives no usable answers: its last answer, and the time of the first failure since the last usable one. */
export interface TravelOutage {
  /** Undefined if the last call was not answered. */
  status: number | undefined;
  /** The reason for which there is no usable answer, without the address, e.g. `ECONNREFUSED`. */
  error: string | undefined;
  /** Epoch milliseconds. */
  since: number;
}

/**
 * An answer of the travel API: a value or a failure. Failures are values and not exceptions, because the reconciler
 * handles each kind differently.
 */
export type TravelAnswer<T> = { kind: 'ok'; value: T } | TravelFailure;

/**
 * Calls to the travel API about travelers. Each is tried once; retries are left to the reconciler. The log of exchanges
 * names the cause of a call.
 */
export interface TravelUsers {
  /**
   * Creates a traveler, which may be active although the call says otherwise. If the same call is repeated with the same key, a travel API that
   * knows keys creates no second one.
   */
  create(traveler: TravelerChange, key: string, cause?: CallCause): Promise<TravelAnswer<TravelUser>>;
  read(id: string, cause?: CallCause): Promise<TravelAnswer<TravelUser>>;
  /** Changes the fields that the change names, and no others. */
  patch(id: string, change: TravelerChange, cause?: CallCause): Promise<TravelAnswer<TravelUser>>;
  remove(id: string, cause?: CallCause): Promise<TravelAnswer<unknown>>;
  /** Searches for exact email addresses without case, archived travelers included. */
  findByEmails(emails: string[], timeoutMs?: number, cause?: CallCause): Promise<TravelAnswer<TravelUser[]>>;
  /** Reads the page after so many travelers. `token` is the `nextToken` of the page before, if it has one. */
  readPage(offset: number, limit: number, token?: string): Promise<TravelAnswer<TravelUserPage>>;
  /**
   * Returns the present time by the travel API's own clock in epoch milliseconds, up to a second behind (RFC 9110 §6.6.1:
   * `Date` has whole seconds). Undefined until the first answer with a `Date`.
   */
  serverTime(): number | undefined;
}

/** One page of the travelers. */
export interface TravelUserPage {
  users: TravelUser[];
  /** The ids of the travelers on this page that cannot be parsed; undefined for one without an id. */
  unreadable: (string | undefined)[];
  /** The number of travelers on this page, unreadable ones included. */
  length: number;
  total: number;
  /** False if the travel API sends no total; `total` then counts the travelers known to exist so far. */
  isTotalGiven: boolean;
  /** True if this is the last page. */
  isLast: boolean;
  /** What leads to the next page in a travel API with page tokens; otherwise a page is found by its offset. */
  nextToken?: string | undefined;
}

/** The collections of the travel API that rules and values refer to: custom fields, cost centers, mappings and so on. */
export interface TravelLookups {
  /**
   * Returns the cached lookups, after reading them again if they are missing or too old. If that fails, returns the
   * older ones.
   */
  current(): Promise<TravelAnswer<Lookups>>;
  /** Reads the lookups again, unless that was done moments ago, and returns them. */
  refresh(): Promise<TravelAnswer<Lookups>>;
  /**
   * Marks the cached lookups as outdated: the next call of `current` or `refresh` reads again, however recent they are.
   */
  expire(): void;
  /**
   * Uses these lookups, which are in force for all replicas, in place of the cached ones: parts that cannot be read keep
   * their values from here. `isRecent`: another replica has just read them, so that they are not read again at once.
   */
  adopt(lookups: Lookups, isRecent: boolean): void;
  /** True if `current` and `readOwnUser` need no call to the travel API now. */
  areCached(): boolean;
  /** Returns the travel user to whom the credential of the bridge belongs. */
  readOwnUser(): Promise<TravelAnswer<TravelUser>>;
}

/** One event of the feed, which reports a change in the travel service. */
export interface FeedEvent {
  id: string;
  /** E.g. `user.updated`, `costCenter.created`. */
  kind: string;
  /** The traveler as it was after the change; only events about users have one. */
  traveler: TravelUser | undefined;
  /** The email address of the traveler before the change. */
  previousEmail: string | undefined;
}

/** One page of events, the newest first. */
export interface FeedPage {
  events: FeedEvent[];
  /** The position of the next, older page; undefined on the last page. */
  next: string | undefined;
}

/** The event feed of the travel API. */
export interface TravelFeed {
  /** Reads a page from a position on. `none`: the travel API has no feed, or no longer has that position. */
  readPage(limit: number, from: string | undefined): Promise<TravelAnswer<FeedPage | 'none'>>;
}

/**
 * The reasons for which the breaker is open. `throttled`: 429, or 503 with Retry-After; `unanswered`: time-outs, refused and broken
 * connections; `unauthorized`: 401 on every call.
 */
export const pauseReasons = ['throttled', 'unanswered', 'unauthorized'] as const;

export type PauseReason = (typeof pauseReasons)[number];
