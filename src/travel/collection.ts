import { notFound } from './errors.ts';
import type { JsonObject } from './json.ts';
import { pageMeta, pageQuery, type Query } from './page.ts';
import { readOne, type StoredResource, type TravelReading, type TravelStore } from './ports.ts';
import type { Resource } from './resource.ts';

/** What the collections need of the world. */
export interface Surroundings {
  store: TravelStore;
  /** Epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
  /** Told after the commit of every change of a resource. */
  onChange(type: string, id: string): void;
}

/** One resource in its world. */
export interface Collection {
  resource: Resource;
  surroundings: Surroundings;
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

/** One page of a collection. */
export async function list(
  { resource, surroundings: { store } }: Collection,
  target: Target,
  query: Query,
): Promise<{ data: JsonObject[]; meta: JsonObject }> {
  const page = pageQuery(resource, target.parentId, query);
  await parentOf(resource, store, target);
  const { total, resources } = await store.page(page);
  return { data: await presentAll(resource, resources, store), meta: pageMeta(page, total) };
}

/** One resource. */
export async function retrieve(
  { resource, surroundings: { store } }: Collection,
  target: Target,
): Promise<JsonObject> {
  return present(resource, await existing(resource, store, target), store);
}

/** The resource that a target names, or 404. */
export async function existing(
  resource: Resource,
  reading: TravelReading,
  { id, parentId }: Target,
): Promise<StoredResource> {
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
  const { type } = resource.parent;
  const stored = isId(parentId) ? await readOne(reading, type, parentId) : undefined;
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

async function presentAll(
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
function seconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Id form B, of which form A is a part. */
function isId(id: string): boolean {
  return /^[\w@~.-]{1,50}$/.test(id);
}
