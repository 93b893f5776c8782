import { notFound } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import {
  cursorMeta,
  type ListOptions,
  offsetMeta,
  type PageRequest,
  parsePageQuery,
  type Query,
} from './pagination.ts';
import { readResource, type StoredResource, type TravelReader, type TravelStore } from './ports.ts';
import type { Resource, SubCollection } from './resource.ts';

/** What the collections need of the world. */
export interface TravelDeps {
  store: TravelStore;
  /** Epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
  /** True: webhooks may lead to private addresses. */
  privateReceivers?: boolean;
  /** Told after the commit of every change of a resource. */
  onChange(type: string, id: string): void;
}

/** One resource in its world. */
export interface Collection {
  resource: Resource;
  deps: TravelDeps;
}

/** Where a request points at, and on whose behalf. */
export interface RequestTarget {
  /** '' for a collection without a parent. */
  parentId: string;
  /** '' for the collection itself. */
  id: string;
  /** The id of the user whose credential is used. */
  caller: string;
}

/** A page as it is answered. */
export interface Page {
  data: JsonObject[];
  meta: JsonObject;
}

/** One page of a collection. */
export async function list(
  { resource, deps: { store } }: Collection,
  target: RequestTarget,
  query: Query,
): Promise<Page> {
  const { type, cursor = false, sortBy, filters } = resource;
  const listing = { type, parentId: target.parentId, cursor, sortBy, filters };
  const asked = parsePageQuery(listing, query);
  await requireParent(resource, store, target);
  return readPage({ resource, listing, asked }, store);
}

/** One page of what an item of another type has of this collection. */
export async function listSubCollection(
  { resource, deps: { store } }: Collection,
  sub: SubCollection,
  { parentId }: RequestTarget,
  query: Query,
): Promise<Page> {
  const { type, cursor = false, sortBy } = resource;
  if ('idsIn' in sub) {
    const asked = parsePageQuery({ type, parentId: '', cursor: false, sortBy: [], filters: [] }, query);
    return pageOfReferenced(
      { resource, asked },
      store,
      (await requireById(store, sub.type, parentId)).doc[sub.idsIn],
    );
  }
  const listing = {
    type,
    parentId: '',
    sub: { field: sub.field, value: parentId },
    cursor,
    sortBy,
    filters: [],
  };
  const asked = parsePageQuery(listing, query);
  await requireById(store, sub.type, parentId);
  return readPage({ resource, listing, asked }, store);
}

async function readPage(
  { resource, listing, asked }: { resource: Resource; listing: ListOptions; asked: PageRequest },
  store: TravelStore,
): Promise<Page> {
  if (asked.kind === 'cursor') {
    const found = await store.pageFrom(asked.query, asked.edge);
    return {
      data: await serializeAll(resource, found.resources, store),
      meta: cursorMeta(listing, asked, found),
    };
  }
  const { total, resources } = await store.page(asked.query);
  return { data: await serializeAll(resource, resources, store), meta: offsetMeta(asked, total) };
}

/** Those whom one document names: few, so they are read in whole. */
async function pageOfReferenced(
  { resource, asked }: { resource: Resource; asked: PageRequest },
  store: TravelStore,
  named: Json | undefined,
): Promise<Page> {
  const ids = Array.isArray(named) ? named.map(String) : [];
  const all = await store.read(ids.map((id) => ({ type: resource.type, id })));
  all.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  if (asked.kind === 'cursor') throw new Error('a list of those who are named is not paged by cursor');
  const { order, offset, limit } = asked.query;
  if (order === 'desc') all.reverse();
  const data = await serializeAll(resource, all.slice(offset, offset + limit), store);
  return { data, meta: offsetMeta(asked, all.length) };
}

/** One resource. */
export async function retrieve(
  { resource, deps: { store } }: Collection,
  target: RequestTarget,
): Promise<JsonObject> {
  return serialize(resource, await requireResource(resource, store, target), store);
}

/** The resource that a target names, or 404. */
export async function requireResource(
  resource: Resource,
  reading: TravelReader,
  target: RequestTarget,
): Promise<StoredResource> {
  const { id, parentId } = target;
  // Elsewhere a parent stays as long as it has items.
  if (resource.parent?.outlived) await requireParent(resource, reading, target);
  const stored = isId(id) ? await readResource(reading, resource.type, id) : undefined;
  if (stored?.parentId !== parentId) throw notFound(resource.type);
  return stored;
}

/** The parent that a target names, or 404; undefined where the resource has none. */
export async function requireParent(
  resource: Resource,
  reading: TravelReader,
  { parentId }: RequestTarget,
): Promise<StoredResource | undefined> {
  if (!resource.parent) return undefined;
  return requireById(reading, resource.parent.type, parentId);
}

/** The resource of this type and id, or 404. */
async function requireById(reading: TravelReader, type: string, id: string): Promise<StoredResource> {
  const stored = isId(id) ? await readResource(reading, type, id) : undefined;
  if (!stored) throw notFound(type);
  return stored;
}

/** A resource as it is answered. */
export async function serialize(
  resource: Resource,
  stored: StoredResource,
  reading: TravelReader,
): Promise<JsonObject> {
  const [answer = {}] = await serializeAll(resource, [stored], reading);
  return answer;
}

/** Resources of one type as they are answered, in the same order. */
export async function serializeAll(
  resource: Resource,
  stored: StoredResource[],
  reading: TravelReader,
): Promise<JsonObject[]> {
  const docs = (await resource.rules?.serialize?.(stored, reading)) ?? stored.map(({ doc }) => doc);
  return stored.map(({ id, type, createdAt }, position) => ({
    id,
    type,
    createdAt: formatTimestamp(createdAt),
    ...docs[position],
  }));
}

/** "ISO 8601 date-time in UTC, seconds precision" */
export function formatTimestamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Id form B, of which form A is a part. */
function isId(id: string): boolean {
  return /^[\w@~.-]{1,50}$/.test(id);
}
