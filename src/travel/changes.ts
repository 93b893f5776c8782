import { isDeepStrictEqual } from 'node:util';
import { type Collection, existing, parentOf, present, type Runtime, type Target } from './collection.ts';
import { ApiError, type Invalid, validationFailed } from './errors.ts';
import { isObject, type Json, type JsonObject, textOf } from './json.ts';
import type { ResourceRef, StoredResource, TravelReading, TravelWriting } from './ports.ts';
import { type Change, type ChangeKind, type DeclaredSecret, keysOf, type Resource } from './resource.ts';
import { item, refuseForeignFields, refuseOversized, validated } from './validation.ts';

/** POST: a new resource. */
export function create(collection: Collection, target: Target, body: JsonObject): Promise<JsonObject> {
  const { resource, runtime } = collection;
  const { parentId } = target;
  refuseForeignFields(resource, body);
  refuseOversized(body);
  return committed(collection, async (recorder) => {
    const parent = await parentOf(resource, recorder.within, target);
    const id = runtime.newId(resource.idForm);
    const created = { type: resource.type, id, parentId, createdAt: runtime.now(), doc: {} };
    const draft = { ...circumstances(collection, target), recorder, parent, operation: 'create' as const };
    const answer = await save(draft, created, mergePatch({}, body));
    return resource.secret ? { ...answer, ...(await newSecret(resource.secret, recorder, created)) } : answer;
  });
}

/** Makes a resource a secret in place of its last one, which may stay until a time; the answer is all that is told of it. */
export async function newSecret(
  { field, make }: DeclaredSecret,
  { within }: Recorder,
  ref: ResourceRef,
  lastEnds = 0,
): Promise<JsonObject> {
  const secret = make();
  await within.keepSecret(ref, secret, lastEnds);
  return { [field]: secret };
}

/** PATCH: "follows JSON merge patch semantics" (RFC 7396); the result is what is validated. */
export function patch(collection: Collection, target: Target, body: JsonObject): Promise<JsonObject> {
  return update(collection, target, { operation: 'patch', body, base: (doc) => doc });
}

/** PUT: "Attributes missing from the body are removed", but nobody is archived or brought back by leaving `archived` out. */
export function replace(collection: Collection, target: Target, body: JsonObject): Promise<JsonObject> {
  const base = ({ archived }: JsonObject): JsonObject => (archived === undefined ? {} : { archived });
  return update(collection, target, { operation: 'replace', body, base });
}

/** DELETE: answers the resource as it was. */
export function remove(collection: Collection, target: Target): Promise<JsonObject> {
  const { resource } = collection;
  return committed(collection, async (recorder) => {
    const { within } = recorder;
    const before = await existing(resource, within, target);
    resource.rules?.checkDelete?.(before, target.caller);
    if (await within.isReferredTo(before)) {
      throw new ApiError('conflict', `Other resources refer to this ${resource.type}.`);
    }
    const answer = await present(resource, before, within);
    await recorder.remove(resource, before);
    return answer;
  });
}

interface Update {
  operation: 'patch' | 'replace';
  body: JsonObject;
  /** The part of what is there that the body is merged into. */
  base(doc: JsonObject): JsonObject;
}

function update(
  collection: Collection,
  target: Target,
  { operation, body, base }: Update,
): Promise<JsonObject> {
  const { resource } = collection;
  refuseForeignFields(resource, body);
  refuseOversized(body);
  return committed(collection, async (recorder) => {
    const before = await existing(resource, recorder.within, target);
    const parent = await parentOf(resource, recorder.within, target);
    const about = circumstances(collection, target);
    const draft = { ...about, recorder, parent, operation, before: before.doc };
    const wanted = mergePatch(base(before.doc), body);
    refuseOversized(wanted, before.doc);
    return save(draft, before, wanted);
  });
}

function circumstances(
  { resource, runtime: { privateReceivers = false } }: Collection,
  { caller }: Target,
): Pick<Draft, 'resource' | 'caller' | 'privateReceivers'> {
  return { resource, caller, privateReceivers };
}

/** Does the work in a transaction that has the turn of the resource's type. */
function committed(
  { resource, runtime }: Collection,
  work: (recorder: Recorder) => Promise<JsonObject>,
): Promise<JsonObject> {
  return recorded(runtime, [resource.type], work);
}

/** The circumstances of a write. */
export interface Draft {
  resource: Resource;
  recorder: Recorder;
  caller: string;
  privateReceivers: boolean;
  operation: Change['operation'];
  parent: StoredResource | undefined;
  /** The document that is there; undefined for a create. */
  before?: JsonObject;
}

/** Validates what is wanted of a resource and keeps it; answers it as it then is. What is there already is not written again. */
export async function save(draft: Draft, stored: StoredResource, wanted: JsonObject): Promise<JsonObject> {
  const { resource, recorder, before } = draft;
  const doc = await checkedDoc(draft, stored.id, wanted);
  const next = { ...stored, doc };
  if (before) await recorder.replace(resource, { ...stored, doc: before }, doc);
  else await recorder.insert(resource, next);
  return present(resource, next, recorder.within);
}

async function checkedDoc(draft: Draft, id: string, wanted: JsonObject): Promise<JsonObject> {
  const { resource, recorder, caller, privateReceivers, operation, parent, before } = draft;
  const { within } = recorder;
  const valid = validated(resource, wanted, before);
  const dangling = await danglingReferences(resource, valid, within);
  const alsoSave = async (other: StoredResource, doc: JsonObject): Promise<void> => {
    await recorder.replace(resource, other, doc);
  };
  const about = { operation, id, parent, caller, privateReceivers, before };
  const change: Change = { ...about, wanted: valid, within, alsoSave };
  const { doc, invalid } = (await resource.rules?.check?.(change)) ?? { doc: valid, invalid: [] };
  if (dangling.length + invalid.length > 0) throw validationFailed([...dangling, ...invalid]);
  await resource.rules?.checkClash?.(change);
  return doc;
}

async function danglingReferences(
  resource: Resource,
  doc: JsonObject,
  reading: TravelReading,
): Promise<Invalid[]> {
  const references = (resource.references ?? []).flatMap(({ field, to }) => {
    const id = textOf(doc, field);
    return id === undefined ? [] : [{ field, type: to, id }];
  });
  if (references.length === 0) return [];
  const found = new Set((await reading.read(references)).map(({ type, id }) => `${type} ${id}`));
  return references
    .filter(({ type, id }) => !found.has(`${type} ${id}`))
    .map(({ field }) => item('reference', [field], doc));
}

/**
 * RFC 7396 §2: "null values in the merge patch are given special meaning to indicate the removal of existing values in
 * the target". Applied to nothing it strips nulls, which is how a create and a replace are read. Neither argument changes.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergedValue(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function mergedValue(target: Json | undefined, patch: Json): Json {
  return isObject(patch) ? mergePatch(isObject(target) ? target : {}, patch) : patch;
}

/** What recording needs of the world. */
export interface RecordSurroundings {
  /** Epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
}

/** The one way by which a resource comes, changes or goes: with its keys, and its event in the same transaction. */
export interface Recorder {
  readonly within: TravelWriting;
  /** What was changed so far, to be told of after the commit; events are not among it. */
  readonly changed: ResourceRef[];
  /** Throws the ApiError `conflict` when a unique value is taken. */
  insert(resource: Resource, stored: StoredResource): Promise<void>;
  /** A document that is the same as before is not written, and not told. */
  replace(resource: Resource, before: StoredResource, doc: JsonObject): Promise<StoredResource>;
  remove(resource: Resource, stored: StoredResource): Promise<void>;
  /** Writes an event that no single change of a resource stands for; `previous` with updates. */
  tell(kind: string, data: JsonObject, previous?: JsonObject): Promise<void>;
}

/** Records in an open transaction. */
export function recorder(within: TravelWriting, runtime: RecordSurroundings): Recorder {
  const changed: ResourceRef[] = [];
  const tell = (kind: string, data: JsonObject, previous?: JsonObject) =>
    append(within, runtime, { kind, data, ...(previous ? { previousAttributes: previous } : {}) });
  const tells = ({ events }: Resource, change: ChangeKind) => events?.includes(change) === true;
  return {
    within,
    changed,
    tell,
    insert: async (resource, stored) => {
      refuseTaken(resource, await within.insert(stored, keysOf(resource, stored)));
      changed.push({ type: resource.type, id: stored.id });
      if (tells(resource, 'created'))
        await tell(`${resource.type}.created`, await present(resource, stored, within));
    },
    replace: async (resource, before, doc) => {
      const after = { ...before, doc };
      if (JSON.stringify(before.doc) === JSON.stringify(doc)) return before;
      const old = tells(resource, 'updated') ? await present(resource, before, within) : undefined;
      refuseTaken(resource, await within.replace(after, keysOf(resource, after)));
      changed.push({ type: resource.type, id: after.id });
      if (old) {
        const data = await present(resource, after, within);
        await tell(`${resource.type}.updated`, data, previousAttributes(old, data));
      }
      return after;
    },
    remove: async (resource, stored) => {
      const data = tells(resource, 'deleted') ? await present(resource, stored, within) : undefined;
      await within.remove(stored);
      changed.push({ type: resource.type, id: stored.id });
      if (data) await tell(`${resource.type}.deleted`, data);
    },
  };
}

/** Records in a transaction of its own, and tells of the changes once they are durable. */
export async function recorded<T>(
  runtime: Runtime,
  types: string[],
  work: (recorder: Recorder) => Promise<T>,
): Promise<T> {
  const { answer, changed } = await runtime.store.write(types, async (within) => {
    const record = recorder(within, runtime);
    return { answer: await work(record), changed: record.changed };
  });
  for (const { type, id } of changed) runtime.onChange(type, id);
  return answer;
}

function refuseTaken(resource: Resource, clash: { taken: string } | undefined): void {
  if (clash) throw new ApiError('conflict', `There is a ${resource.type} with this ${clash.taken} already.`);
}

async function append(
  within: TravelWriting,
  { now, newId }: RecordSurroundings,
  doc: JsonObject & { kind: string },
): Promise<void> {
  const event = { type: 'event', id: newId('A'), parentId: '', createdAt: now(), doc };
  await within.append(event, { kind: doc.kind, newId: () => newId('A') });
}

/**
 * The merge patch (RFC 7396) that leads from a resource back to its state before a change: every changed attribute with its
 * previous value, nested objects by their changed members, and null for an attribute that had no value before.
 */
export function previousAttributes(before: JsonObject, after: JsonObject): JsonObject {
  const now = new Map(Object.entries(after));
  const changed = Object.entries(before).flatMap(([name, old]): [string, Json][] => {
    const current = now.get(name);
    if (isDeepStrictEqual(old, current)) return [];
    return [[name, isObject(old) && isObject(current) ? previousAttributes(old, current) : old]];
  });
  const added = [...now.keys()].filter((name) => !Object.hasOwn(before, name));
  return Object.fromEntries([...changed, ...added.map((name): [string, Json] => [name, null])]);
}
