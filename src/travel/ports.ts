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

/** What a resource is found by, derived from its document at every write. */
export interface Keys {
  archived: boolean;
  /** Only one resource of the type may have each of these. */
  unique: NamedValue[];
  /** Found and sorted by these. */
  index: NamedValue[];
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

/** One page of a collection. The order is total: by the named index or by creation, then by order of insertion. */
export interface PageQuery {
  type: string;
  parentId: string;
  archived?: boolean;
  /** Only those found by this index; `sortBy` is then the same index or none. */
  match?: { name: string; values: string[] };
  /** An index by which every resource of the type is found; none: by creation. */
  sortBy?: string;
  order: 'asc' | 'desc';
  offset: number;
  limit: number;
}

/** What can be read inside and outside of a transaction. */
export interface TravelReading {
  /** Those that exist, in no order. */
  read(refs: ResourceRef[]): Promise<StoredResource[]>;
  find(match: Match): Promise<StoredResource[]>;
}

/** The resources of the travel service. */
export interface TravelStore extends TravelReading {
  /** `total` is exact, and its cost does not grow with the collection. */
  page(query: PageQuery): Promise<{ total: number; resources: StoredResource[] }>;
  /** Runs the work in one transaction, undone when it throws; writes of one type run one after the other. */
  write<T>(type: string, work: (within: TravelWriting) => Promise<T>): Promise<T>;
}

/** What can be done inside a transaction. A unique value that another resource has is answered by its name. */
export interface TravelWriting extends TravelReading {
  insert(resource: StoredResource, keys: Keys): Promise<{ taken: string } | undefined>;
  replace(resource: StoredResource, keys: Keys): Promise<{ taken: string } | undefined>;
  remove(ref: ResourceRef): Promise<void>;
  /** True when another resource refers to it. */
  isReferredTo(ref: ResourceRef): Promise<boolean>;
}

/** An API key as kept: never the key itself. It goes with its user. */
export interface ApiKey {
  hash: string;
  name: string;
  userId: string;
  createdAt: number;
}

/** The API keys. */
export interface ApiKeys {
  /** Keeps the key; one that is there already stays as it is. */
  add(key: ApiKey): Promise<void>;
  /** The user to whom the key with this hash belongs. */
  userOf(hash: string): Promise<string | undefined>;
  hasAny(userId: string): Promise<boolean>;
}

/** The user a credential is attached to, by the credential's hash. `start` composes it of the kinds of credentials there are. */
export type Credentials = (hash: string) => Promise<string | undefined>;

/** The part of a pino logger that is used. */
export interface Log {
  error(fields: object, message: string): void;
}

/** Reads one resource. */
export async function readOne(
  reading: TravelReading,
  type: string,
  id: string,
): Promise<StoredResource | undefined> {
  return (await reading.read([{ type, id }]))[0];
}
