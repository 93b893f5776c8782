import type { JsonObject } from './json.ts';

/** Names one resource. Ids are unique within their type. */
export interface ResourceRef {
  type: string;
  id: string;
}

/** A resource as kept: `doc` holds the fields that a client may write. */
export interface StoredResource extends ResourceRef {
  /** '' where the type has no parent. */
  parentId: string;
  /** Epoch milliseconds. */
  createdAt: number;
  doc: JsonObject;
}

/** A value under the name of an index. */
export interface NamedValue {
  name: string;
  value: string;
}

/** A value that a resource is found or sorted by. */
export interface IndexedValue extends NamedValue {
  /** What is paged by this index, so that far pages are found: `sorted`, another list's order; `counted`, a list of its own, whose exact length is kept. */
  list?: 'sorted' | 'counted' | undefined;
}

/** What a resource is found by, derived from its document at every write. */
export interface Keys {
  archived: boolean;
  /** Only one resource of the type may have each of these. */
  unique: NamedValue[];
  /** Found and sorted by these. */
  index: IndexedValue[];
  /** What it refers to; a target stays as long as it is referred to. */
  references: ResourceRef[];
}

/** A look-up by an index; in order of creation. */
export interface Match {
  type: string;
  name: string;
  values: string[];
  limit?: number;
}

/** A place in a list: what the resource there is sorted by, and its number in the sequence of its type. */
export interface Position {
  value: string | number;
  seq: number;
}

/** Where a page of a list begins (`after`) or ends (`before`), that place included; undefined: at the beginning. */
export type Edge = { after: Position } | { before: Position };

/** What a list holds, and its order, which is total: by the named index or by creation, then by order of insertion. */
export interface ListQuery {
  type: string;
  parentId: string;
  /** A counted index: only those that have a value in it. */
  within?: string;
  /** An index by which every resource of the list is found; none: by creation. */
  sortBy?: string;
  /** Only those in this state, where the list knows states. */
  status?: string;
  order: 'asc' | 'desc';
  limit: number;
}

/** A page by offset. */
export interface PageQuery extends ListQuery {
  archived?: boolean;
  /** Only those found by this index; `sortBy` is then the same index or none. */
  match?: { name: string; values: string[] };
  offset: number;
}

/** A page by cursor, with the places of the resources next to it on either side, as far as there are any. */
export interface CursorPage {
  resources: StoredResource[];
  next: Position | undefined;
  previous: Position | undefined;
}

/** What can be read inside and outside of a transaction. */
export interface TravelReader {
  /** Those that exist, in no order. */
  read(refs: ResourceRef[]): Promise<StoredResource[]>;
  find(match: Match): Promise<StoredResource[]>;
}

/** The resources of the travel service. */
export interface TravelStore extends TravelReader {
  /** `total` is exact, and its cost does not grow with the collection. */
  page(query: PageQuery): Promise<{ total: number; resources: StoredResource[] }>;
  /** A page next to a place in the list; its cost does not grow with the collection or the place. */
  pageFrom(query: ListQuery, edge: Edge | undefined): Promise<CursorPage>;
  /** Runs the work in one transaction, undone when it throws; writes of one of these types run one after the other. */
  write<T>(types: string[], work: (within: TravelTransaction) => Promise<T>): Promise<T>;
  /** Removes at most `limit` resources of a type that were created before a time, the oldest first; answers how many. */
  deleteOlderThan(type: string, before: number, limit: number): Promise<number>;
}

/** What an addition to a feed is about, and the ids of its deliveries. */
export interface Topic {
  kind: string;
  newId(): string;
}

/** What can be done inside a transaction. A unique value that another resource has is answered by its name. */
export interface TravelTransaction extends TravelReader {
  insert(resource: StoredResource, keys: Keys): Promise<{ taken: string } | undefined>;
  replace(resource: StoredResource, keys: Keys): Promise<{ taken: string } | undefined>;
  remove(ref: ResourceRef): Promise<void>;
  /**
   * Adds to a feed: what is appended becomes visible in the order of its places, whoever commits late, and its time of
   * creation, which is answered, never goes back. With a topic, it is put on its way to the webhooks that select it.
   */
  append(resource: StoredResource, topic?: Topic): Promise<StoredResource>;
  /** Keeps a secret of a resource, encrypted; those it had before end at the time given. */
  saveSecret(ref: ResourceRef, secret: string, othersEnd: number): Promise<void>;
  /** True when another resource refers to it. */
  isReferenced(ref: ResourceRef): Promise<boolean>;
}

/** An API key as listed: never the key itself. It goes with its user. Times are epoch milliseconds. */
export interface ApiKey {
  id: string;
  /** What an admin calls it. */
  name: string;
  userId: string;
  createdAt: number;
  /** Within a minute. */
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
}

/** The API keys; of each only a hash is kept. */
export interface ApiKeys {
  /** Keeps the key; one that is there already, be it revoked, stays as it is. */
  add(key: Pick<ApiKey, 'id' | 'name' | 'userId' | 'createdAt'> & { hash: string }): Promise<void>;
  /** The key with this hash, unless it was revoked. */
  findActive(hash: string): Promise<Pick<ApiKey, 'id' | 'userId' | 'lastUsedAt'> | undefined>;
  /** All there ever were of the users that there are, oldest first. */
  list(): Promise<ApiKey[]>;
  /** False when there is no such key, or it was revoked before. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Notes that the key was used now. */
  recordUse(id: string, now: number): Promise<void>;
  /** Whether the user has a key, or had one. */
  hasAny(userId: string): Promise<boolean>;
}

/** Whom a credential lets act. */
export interface Principal {
  userId: string;
  /** Kind and name of the credential, for whoever asks later who did something: `apiKey:<id>`, `oauth:<client>`. */
  credential: string;
  /** What is to be done once the request is answered, so that it need not wait. */
  onResponseClosed?: () => void;
}

/**
 * Whom a token lets act, if anybody; `embedded` composes it of the kinds of credentials there are. `onRefused` is called
 * with the reason where it is known here; it is for the log, and never holds a part of the token.
 */
export type Authenticator = (
  token: string,
  onRefused?: (reason: string) => void,
) => Promise<Principal | undefined>;

/** The part of a pino logger that is used. */
export interface Log {
  error(fields: object, message: string): void;
}

/** Reads one resource. */
export async function readResource(
  reading: TravelReader,
  type: string,
  id: string,
): Promise<StoredResource | undefined> {
  return (await reading.read([{ type, id }]))[0];
}

/** A body as it is kept in the request log: secrets struck out, and cut when it is long. */
export interface LoggedBody {
  text: string;
  cut: boolean;
}

/** One request as it is kept in the request log. */
export interface LoggedRequest {
  /** When it came, in epoch milliseconds, and how long its answer took. */
  time: number;
  ms: number;
  method: string;
  /** With the query, in which secrets are struck out. */
  path: string;
  status: number;
  /** The user on whose behalf it was made; undefined: nobody was recognised. */
  userId: string | undefined;
  /** Which of the user's credentials was used. */
  credential: string | undefined;
  /** The X-Request-Id of the answer. */
  requestId: string;
  requestBody: LoggedBody | undefined;
  responseBody: LoggedBody | undefined;
}

/** What is looked for in the request log; what is not named does not matter. */
export interface RequestLogQuery {
  /** From this time on, in epoch milliseconds. */
  since?: number | undefined;
  /** Before this time. */
  until?: number | undefined;
  /** The first and the last. */
  statuses?: { from: number; to: number } | undefined;
  /** This path and what lies below it, in whole segments and without case. */
  path?: string | undefined;
  userId?: string | undefined;
  limit: number;
  /** The `next` of the page before. */
  after?: string | undefined;
}

/** The newest first. As long as there is a `next`, more may follow, even where this page is short or empty. */
export interface RequestLogPage {
  requests: LoggedRequest[];
  next: string | undefined;
}

/** The request log. Whatever is looked for, a page costs the same however long the log is. */
export interface RequestLog {
  append(requests: LoggedRequest[]): Promise<void>;
  list(query: RequestLogQuery): Promise<RequestLogPage>;
  /** Removes at most `limit` requests from before a time, the oldest first; answers how many. */
  deleteOlderThan(before: number, limit: number): Promise<number>;
}
