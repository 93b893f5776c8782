import { plainParameters } from './declaration/list-parameters.ts';
import type { Resource, SubCollection } from './declaration/resource.ts';
import { notFound } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import {
  type Position,
  readResource,
  type StoredResource,
  type TravelReader,
  type TravelStore,
  type TravelTransaction,
} from './ports.ts';
import {
  cursorMeta,
  type ListOptions,
  offsetMeta,
  type PageRequest,
  parsePageQuery,
  type Query,
} from './requests/pagination.ts';
import type { Conditions } from './requests/representation.ts';

/** The time and the source of ids of new resources. */
export interface RecorderDeps {
  /** Epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
}

/** Dependencies that all collections share. */
export interface TravelDeps extends RecorderDeps {
  store: TravelStore;
  /** If true, webhooks may lead to private addresses. */
  privateReceivers?: boolean;
  /** Called after the commit of each change of a resource. */
  onChange(type: string, id: string): void;
}

/** A resource declaration with the dependencies to serve it. */
export interface Collection {
  resource: Resource;
  deps: TravelDeps;
}

/** The resource that a request addresses, and the user on whose behalf it is made. */
export interface RequestTarget {
  /** The id of the parent; '' for a collection without a parent. */
  parentId: string;
  /** The id of the resource; '' for the collection itself. */
  id: string;
  /** The id of the authenticated user. */
  caller: string;
  /** What a change wants the resource to be. */
  conditions?: Conditions | undefined;
}

/** The response body of a list. */
export interface ListPage {
  data: JsonObject[];
  meta: JsonObject;
}

/** Returns one page of a collection. */
export async function list(
  { resource, deps: { store } }: Collection,
  target: RequestTarget,
  query: Query,
): Promise<ListPage> {
  const { type, parameters, filterBy } = resource;
  const options = { type, parentId: target.parentId, parameters, filterBy };
  const pageRequest = parsePageQuery(options, query);
  await requireParent(resource, store, target);
  return readPage({ resource, options, pageRequest }, store);
}

/** Returns one page of the resources that belong to an item of another type, e.g. the billing operations of an invoice. */
export async function listSubCollection(
  { resource, deps: { store } }: Collection,
  sub: SubCollection,
  { parentId }: RequestTarget,
  query: Query,
): Promise<ListPage> {
  const { type, subParameters: parameters } = resource;
  if ('idsIn' in sub) {
    const pageRequest = parsePageQuery({ type, parentId: '', parameters: plainParameters }, query);
    const item = await requireStored(store, sub.type, parentId);
    return pageOfReferenced({ resource, pageRequest }, store, item.doc[sub.idsIn]);
  }
  const options = { type, parentId: '', sub: { field: sub.field, value: parentId }, parameters };
  const pageRequest = parsePageQuery(options, query);
  await requireStored(store, sub.type, parentId);
  return readPage({ resource, options, pageRequest }, store);
}

async function readPage(
  { resource, options, pageRequest }: { resource: Resource; options: ListOptions; pageRequest: PageRequest },
  store: TravelStore,
): Promise<ListPage> {
  if (pageRequest.kind === 'cursor') {
    const found = await store.pageFrom(pageRequest.query, pageRequest.edge);
    return {
      data: await serializeAll(resource, found.resources, store),
      meta: cursorMeta(options, pageRequest, found),
    };
  }
  const { total, resources } = await store.page(pageRequest.query);
  return { data: await serializeAll(resource, resources, store), meta: offsetMeta(pageRequest, total) };
}

/** Pages through resources whose ids one document lists. They are few, so all are read and sorted in memory. */
async function pageOfReferenced(
  { resource, pageRequest }: { resource: Resource; pageRequest: PageRequest },
  store: TravelStore,
  idList: Json | undefined,
): Promise<ListPage> {
  const ids = Array.isArray(idList) ? idList.map(String) : [];
  const all = await store.read(ids.map((id) => ({ type: resource.type, id })));
  all.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  if (pageRequest.kind === 'cursor') throw new Error('a list by ids has no cursor pages');
  const { order, offset, limit } = pageRequest.query;
  if (order === 'desc') all.reverse();
  const data = await serializeAll(resource, all.slice(offset, offset + limit), store);
  return { data, meta: offsetMeta(pageRequest, all.length) };
}

/** Returns one resource, or throws `notFound`. */
export async function retrieve(
  { resource, deps: { store } }: Collection,
  target: RequestTarget,
): Promise<JsonObject> {
  return serialize(resource, await requireResource(resource, store, target), store);
}

/** Reads the stored resource that a target addresses, or throws `notFound`. */
export async function requireResource(
  resource: Resource,
  reader: TravelReader,
  target: RequestTarget,
): Promise<StoredResource> {
  const { id, parentId } = target;
  // A parent of another type cannot be deleted while it has items, so it need not be looked up.
  if (resource.parent?.outlived) await requireParent(resource, reader, target);
  const stored = isId(id) ? await readResource(reader, resource.type, id) : undefined;
  if (stored?.parentId !== parentId) throw notFound(resource.type);
  return stored;
}

/** Reads and locks the stored resource that a target addresses, or throws `notFound`. */
export function requireLocked(
  resource: Resource,
  transaction: TravelTransaction,
  target: RequestTarget,
): Promise<StoredResource> {
  return requireResource(resource, { ...transaction, read: transaction.lock }, target);
}

/** Reads the parent that a target addresses, or throws `notFound`; undefined if the type has no parent. */
export async function requireParent(
  resource: Resource,
  reader: TravelReader,
  { parentId }: RequestTarget,
): Promise<StoredResource | undefined> {
  if (!resource.parent) return undefined;
  return requireStored(reader, resource.parent.type, parentId);
}

/** Reads the stored resource of this type and id, or throws `notFound`. */
export async function requireStored(reader: TravelReader, type: string, id: string): Promise<StoredResource> {
  const stored = isId(id) ? await readResource(reader, type, id) : undefined;
  if (!stored) throw notFound(type);
  return stored;
}

/** Yields all resources of a type without a parent, or of one parent, page by page; no page is empty. */
export async function* readAllPages(
  store: TravelStore,
  type: string,
  { parentId = '', order = 'asc' }: { parentId?: string; order?: 'asc' | 'desc' } = {},
): AsyncGenerator<StoredResource[]> {
  let from: Position | undefined;
  do {
    const page = await store.pageFrom({ type, parentId, order, limit: BATCH }, from && { after: from });
    if (page.resources.length > 0) yield page.resources;
    from = page.next;
  } while (from);
}

/** Resources that are read at a time. */
const BATCH = 100;

/** Converts a stored resource to its response form. */
export async function serialize(
  resource: Resource,
  stored: StoredResource,
  reader: TravelReader,
): Promise<JsonObject> {
  const [answer = {}] = await serializeAll(resource, [stored], reader);
  return answer;
}

/** Converts stored resources of one type to their response form, in the same order. */
export async function serializeAll(
  resource: Resource,
  stored: StoredResource[],
  reader: TravelReader,
): Promise<JsonObject[]> {
  const docs = (await resource.rules?.serialize?.(stored, reader)) ?? stored.map(({ doc }) => doc);
  return stored.map(({ id, type, createdAt }, position) => ({
    id,
    type,
    createdAt: formatTimestamp(createdAt),
    ...docs[position],
  }));
}

/** Formats epoch milliseconds as "ISO 8601 date-time in UTC, seconds precision" (specification). */
export function formatTimestamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/**
 * Returns true if a text can be an id of any resource. The travel API specification has two forms of ids; every id of
 * form A (24 hexadecimal characters) is also one of form B.
 */
function isId(id: string): boolean {
  return /^[\w@~.-]{1,50}$/.test(id);
}
