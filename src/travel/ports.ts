import type { JsonObject } from './json.ts';

/** Identifies one resource. Ids are unique within a type. */
export interface ResourceRef {
  type: string;
  id: string;
}

/** A resource as stored. `doc` holds its document, without id, type and creation time. */
export interface StoredResource extends ResourceRef {
  /** The id of the parent; '' if the type has no parent. */
  parentId: string;
  /** Epoch milliseconds. */
  createdAt: number;
  doc: JsonObject;
}

/** A value in a named index. */
export interface NamedValue {
  name: string;
  value: string;
}

/** An index entry by which a resource is found or sorted. */
export interface IndexedValue extends NamedValue {
  /** Set if the entries of this index are a list of their own, with an exact total. */
  counted?: true;
}

/** The values of a resource by which lists are filtered, each in a column of its own. `date` is a time as in responses. */
export interface FilterValues {
  kind?: string;
  status?: string;
  billingProfileId?: string;
  costCenterId?: string;
  date?: string;
}

/** A condition of a filtered list: one of the values, or a time as in responses, `to` excluded. */
export interface FilterCondition {
  column: keyof FilterValues | 'createdAt';
  values?: string[];
  from?: string;
  to?: string;
}

/**
 * The index that has, for a resource whose status follows from another one, that one as `<type>/<id>`: a filter by status finds both.
 */
export const STATUS_SOURCE = 'statusSource';

/** The index entries of a resource, derived from its document at each write. */
export interface IndexKeys {
  archived: boolean;
  /** Values that only one resource of the type may have. */
  unique: NamedValue[];
  /** Values for finding and sorting. */
  index: IndexedValue[];
  /** The resources it refers to. They cannot be deleted while the reference exists. */
  references: ResourceRef[];
  filters?: FilterValues;
}

/** Finds the resources that have one of these values in an index. Results are in order of creation. */
export interface IndexMatch {
  type: string;
  name: string;
  values: string[];
  limit?: number;
}

/**
 * A position in a list: the value by which the list is sorted, and the sequence number of the resource within its type.
 */
export interface Position {
  value: string | number;
  seq: number;
}

/**
 * The first (`after`) or last (`before`) resource of a page, which belongs to the page. Without an edge, the page is at
 * the beginning of the list.
 */
export type Edge = { after: Position } | { before: Position };

/**
 * Selects and sorts a list. Resources are sorted by the named index or by creation; equal ones are sorted by insertion.
 */
export interface ListQuery {
  type: string;
  parentId: string;
  /** The name of a counted index. The list contains only resources with an entry in this index. */
  within?: string;
  /** The name of an index in which every listed resource has an entry. Without it, the list is sorted by creation. */
  sortBy?: string;
  /** If set, the list contains only resources with this status. */
  status?: string;
  /** If set, the list contains only resources that meet all conditions. */
  where?: FilterCondition[];
  order: 'asc' | 'desc';
  limit: number;
}

/** Selects an offset page. */
export interface PageQuery extends ListQuery {
  archived?: boolean;
  /**
   * If set, the list contains only resources with one of these index values; `sortBy` must then be the same index or
   * undefined.
   */
  match?: { name: string; values: string[] };
  offset: number;
}

/** A cursor page, with the positions of the neighbouring resources on both sides, if there are any. */
export interface CursorPage {
  resources: StoredResource[];
  next: Position | undefined;
  previous: Position | undefined;
}

/** The reading operations, which are available inside and outside of a transaction. */
export interface TravelReader {
  /** Reads resources by id, in no particular order. Those that do not exist are left out. */
  read(refs: ResourceRef[]): Promise<StoredResource[]>;
  find(match: IndexMatch): Promise<StoredResource[]>;
}

/** A request with an `Idempotency-Key`. Times are epoch milliseconds. */
export interface RepeatableRequest {
  /** The id of the user on whose behalf it is made: users do not share keys. */
  owner: string;
  key: string;
  /** A hash of the method, the path and the body. */
  request: string;
  at: number;
  /** Answers that were kept until then are forgotten. */
  since: number;
}

/** The answer to an earlier request. The data are undefined if they can no longer be decrypted. */
export interface KeptAnswer {
  request: string;
  data: JsonObject | undefined;
}

/** The store of the travel service's resources. */
export interface TravelStore extends TravelReader {
  /** Returns an offset page. `total` is exact, and its cost does not depend on the size of the collection. */
  page(query: PageQuery): Promise<{ total: number; resources: StoredResource[] }>;
  /** Returns a cursor page. Its cost depends neither on the size of the collection nor on the position. */
  pageFrom(query: ListQuery, edge: Edge | undefined): Promise<CursorPage>;
  /**
   * Runs the work in one transaction and rolls back if it throws. Works that name the same type run one after the other:
   * each sees what the one before has committed. All others run concurrently, and rely on locked resources, unique values
   * and references. The work runs again if it has lost against a concurrent one.
   */
  write<T>(types: string[], work: (within: TravelTransaction) => Promise<T>): Promise<T>;
  /**
   * Deletes up to `limit` resources of a type created before `before` (epoch milliseconds), oldest first, and returns
   * their number.
   */
  deleteOlderThan(type: string, before: number, limit: number): Promise<number>;
  /** Returns the answer that is kept for the owner and key of a request. */
  findAnswer(once: RepeatableRequest): Promise<KeptAnswer | undefined>;
  /** Deletes up to `limit` answers that were kept before a time, and returns their number. */
  deleteOldAnswers(before: number, limit: number): Promise<number>;
}

/** The kind of an event to append, and a source of ids for its deliveries. */
export interface EventTopic {
  kind: string;
  newId(): string;
}

/**
 * Operations inside a transaction. If a unique value is already taken, `insert` and `replace` return its name; the
 * transaction must then be rolled back. What `read` returns cannot be deleted or locked by others before the commit.
 */
export interface TravelTransaction extends TravelReader {
  /** Reads resources like `read`, and locks them: until the commit nobody else changes them or begins to refer to them. */
  lock(refs: ResourceRef[]): Promise<StoredResource[]>;
  insert(resource: StoredResource, keys: IndexKeys): Promise<{ taken: string } | undefined>;
  /** Replaces a locked resource. `before` are the keys of its stored document, by which totals are counted. */
  replace(
    resource: StoredResource,
    keys: IndexKeys,
    before: IndexKeys,
  ): Promise<{ taken: string } | undefined>;
  /** Deletes a locked resource. `keys` are those of its stored document. */
  remove(resource: Omit<StoredResource, 'doc'>, keys: IndexKeys): Promise<void>;
  /**
   * Appends a resource to a feed at the end of the transaction. Resources become visible in the order of their sequence
   * numbers, whichever transaction commits first, and their creation times never decrease: a time before that of the
   * last resource is replaced by it. With a topic, a delivery is queued for each webhook that selects this kind of event.
   */
  append(resource: StoredResource, topic?: EventTopic): void;
  /** Stores an encrypted secret of a resource. Its previous secrets end at `othersEnd` (epoch milliseconds). */
  saveSecret(ref: ResourceRef, secret: string, othersEnd: number): Promise<void>;
  /**
   * Keeps the data of the answer to a request. Returns false if another request with the same key was answered meanwhile; the transaction
   * must then be rolled back.
   */
  keepAnswer(once: RepeatableRequest, data: JsonObject, hasSecret: boolean): Promise<boolean>;
  /** Deletes the kept answers for whose data `isMeant` is true. */
  forgetAnswers(isMeant: (data: JsonObject) => boolean): Promise<void>;
  /** Reports whether another resource refers to this one, which must be locked. */
  isReferenced(ref: ResourceRef): Promise<boolean>;
}

/** An API key without its value. It is deleted with its user. Times are epoch milliseconds. */
export interface ApiKey {
  id: string;
  /** A label chosen by an admin. */
  name: string;
  userId: string;
  /** True if the key can only read. */
  isReadOnly?: boolean;
  createdAt: number;
  /** The time of the last use, accurate to a minute. */
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
}

/** Stores API keys. Only a hash of each key is stored. */
export interface ApiKeys {
  /** Adds a key. An existing key with the same hash is left unchanged, even if it is revoked. */
  add(key: Omit<ApiKey, 'lastUsedAt' | 'revokedAt'> & { hash: string }): Promise<void>;
  /** Finds the key with this hash, unless it is revoked. */
  findActive(hash: string): Promise<Pick<ApiKey, 'id' | 'userId' | 'isReadOnly' | 'lastUsedAt'> | undefined>;
  /** Lists all keys, including revoked ones, of existing users; oldest first. */
  list(): Promise<ApiKey[]>;
  /** Revokes a key. Returns false if it does not exist or is already revoked. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Records `now` as the time of last use. */
  recordUse(id: string, now: number): Promise<void>;
  /** Reports whether the user has or had a key. */
  hasAny(userId: string): Promise<boolean>;
}

/** The user and credential that a token authenticates. */
export interface Principal {
  userId: string;
  /** Kind and name of the credential for the logs, e.g. `apiKey:<id>` or `oauth:<client>`. */
  credential: string;
  /** True if the credential can only read. */
  isReadOnly?: boolean | undefined;
  /** Work to do after the response was sent, so that the client does not wait for it. */
  onResponseClosed?: () => void;
}

/**
 * Resolves a bearer token, or returns undefined. `onRefused` receives the reason if it is known; the reason goes to the
 * log and never contains a part of the token.
 */
export type Authenticator = (
  token: string,
  onRefused?: (reason: string) => void,
) => Promise<Principal | undefined>;

/** The part of a pino logger that is used here. */
export interface Log {
  error(fields: object, message: string): void;
}

/** Reads one resource. */
export async function readResource(
  reader: TravelReader,
  type: string,
  id: string,
): Promise<StoredResource | undefined> {
  return (await reader.read([{ type, id }]))[0];
}
