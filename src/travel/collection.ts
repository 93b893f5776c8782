import { notFound } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import { type Asked, askedPage, cursorMeta, type Listing, offsetMeta, type Query } from './pagination.ts';
import { readOne, type StoredResource, type TravelReading, type TravelStore } from './ports.ts';
import type { Resource, SubCollection } from './resource.ts';

/** What the collections need of the world. */
export interface Runtime {
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
  runtime: Runtime;
}

/** Where a request points at, and on whose behalf. */
export interface Target {
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
  { resource, runtime: { store } }: Collection,
  target: Target,
  query: Query,
): Promise<Page> {
  const { type, cursor = false, sortBy, filters } = resource;
  const listing = { type, parentId: target.parentId, cursor, sortBy, filters };
  const asked = askedPage(listing, query);
  await parentOf(resource, store, target);
  return page({ resource, listing, asked }, store);
}

/** One page of what an item of another type has of this collection. */
export async function listUnder(
  { resource, runtime: { store } }: Collection,
  sub: SubCollection,
  { parentId }: Target,
  query: Query,
): Promise<Page> {
  const { type, cursor = false, sortBy } = resource;
  if ('idsIn' in sub) {
    const asked = askedPage({ type, parentId: '', cursor: false, sortBy: [], filters: [] }, query);
    return pageOfNamed({ resource, asked }, store, (await found(store, sub.type, parentId)).doc[sub.idsIn]);
  }
  const listing = {
    type,
    parentId: '',
    sub: { field: sub.field, value: parentId },
    cursor,
    sortBy,
    filters: [],
  };
  const asked = askedPage(listing, query);
  await found(store, sub.type, parentId);
  return page({ resource, listing, asked }, store);
}

async function page(
  { resource, listing, asked }: { resource: Resource; listing: Listing; asked: Asked },
  store: TravelStore,
): Promise<Page> {
  if (asked.kind === 'cursor') {
    const found = await store.pageFrom(asked.query, asked.edge);
    return {
      data: await presentAll(resource, found.resources, store),
      meta: cursorMeta(listing, asked, found),
    };
  }
  const { total, resources } = await store.page(asked.query);
  return { data: await presentAll(resource, resources, store), meta: offsetMeta(asked, total) };
}

/** Those whom one document names: few, so they are read in whole. */
async function pageOfNamed(
  { resource, asked }: { resource: Resource; asked: Asked },
  store: TravelStore,
  named: Json | undefined,
): Promise<Page> {
  const ids = Array.isArray(named) ? named.map(String) : [];
  const all = await store.read(ids.map((id) => ({ type: resource.type, id })));
  all.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  if (asked.kind === 'cursor') throw new Error('a list of those who are named is not paged by cursor');
  const { order, offset, limit } = asked.query;
  if (order === 'desc') all.reverse();
  const data = await presentAll(resource, all.slice(offset, offset + limit), store);
  return { data, meta: offsetMeta(asked, all.length) };
}

/** One resource. */
export async function retrieve(
  { resource, runtime: { store } }: Collection,
  target: Target,
): Promise<JsonObject> {
  return present(resource, await existing(resource, store, target), store);
}

/** The resource that a target names, or 404. */
export async function existing(
  resource: Resource,
  reading: TravelReading,
  target: Target,
): Promise<StoredResource> {
  const { id, parentId } = target;
  // Elsewhere a parent stays as long as it has items.
  if (resource.parent?.outlived) await parentOf(resource, reading, target);
  const stored = isId(id) ? await readOne(reading, resource.type, id) : undefined;
  if (stored?.parentId !== parentId) throw notFound(resource.type);
  return stored;
}

/** The parent that a target names, or 404; undefined where the resource has none. */
export async function parentOf(
  resource: Resource,
  reading: TravelReading,
  { parentId }: Target,
): Promise<StoredResource | undefined> {
  if (!resource.parent) return undefined;
  return found(reading, resource.parent.type, parentId);
}

/** The resource of this type and id, or 404. */
async function found(reading: TravelReading, type: string, id: string): Promise<StoredResource> {
  const stored = isId(id) ? await readOne(reading, type, id) : undefined;
  if (!stored) throw notFound(type);
  return stored;
}

/** A resource as it is answered. */
export async function present(
  resource: Resource,
  stored: StoredResource,
  reading: TravelReading,
): Promise<JsonObject> {
  const [answer = {}] = await presentAll(resource, [stored], reading);
  return answer;
}

/** Resources of one type as they are answered, in the same order. */
export async function presentAll(
  resource: Resource,
  stored: StoredResource[],
  reading: TravelReading,
): Promise<JsonObject[]> {
  const docs = (await resource.rules?.present?.(stored, reading)) ?? stored.map(({ doc }) => doc);
  return stored.map(({ id, type, createdAt }, position) => ({
    id,
    type,
    createdAt: seconds(createdAt),
    ...docs[position],
  }));
}

/** "ISO 8601 date-time in UTC, seconds precision" */
export function seconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Id form B, of which form A is a part. */
function isId(id: string): boolean {
  return /^[\w@~.-]{1,50}$/.test(id);
}
