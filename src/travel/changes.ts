import { type Collection, existing, parentOf, present, type Target } from './collection.ts';
import { ApiError, type Invalid, validationFailed } from './errors.ts';
import { isObject, type Json, type JsonObject, textOf } from './json.ts';
import type { ResourceRef, StoredResource, TravelReading } from './ports.ts';
import { type Recorder, recorded } from './record.ts';
import type { Change, DeclaredSecret, Resource } from './resource.ts';
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
