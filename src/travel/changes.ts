import { isDeepStrictEqual } from 'node:util';
import {
  type Collection,
  type RecorderDeps,
  type RequestTarget,
  requireLocked,
  requireParent,
  serialize,
  type TravelDeps,
} from './collection.ts';
import {
  type Change,
  type ChangeKind,
  type DeclaredSecret,
  indexKeys,
  type Resource,
} from './declaration/resource.ts';
import { ApiError, type FieldFault, validationFailed } from './errors.ts';
import { isJsonObject, type Json, type JsonObject, stringMember } from './json.ts';
import type { ResourceRef, StoredResource, TravelReader, TravelTransaction } from './ports.ts';
import type { KeepAnswer } from './requests/idempotency.ts';
import { requireConditions } from './requests/representation.ts';
import { fieldFault, parseDocument, refuseOversized, refuseUnwritableFields } from './requests/validation.ts';

/** POST: creates a resource and returns it, with its secret if it has one. */
export function create(
  collection: Collection,
  target: RequestTarget,
  body: JsonObject,
  keep?: KeepAnswer,
): Promise<JsonObject> {
  const { resource, deps } = collection;
  const { parentId, caller } = target;
  refuseUnwritableFields(resource, body);
  refuseOversized(body);
  return inTypeTransaction(collection, async (recorder) => {
    const parent = await requireParent(resource, recorder.transaction, target);
    const id = deps.newId(resource.idForm);
    const stored = { type: resource.type, id, parentId, createdAt: deps.now(), doc: {} };
    const draft = { operation: 'create' as const, caller, parent, stored, wanted: mergePatch({}, body) };
    const saved = await saveDraft(collection, recorder, draft);
    const { secret } = resource;
    const answer = secret ? { ...saved, ...(await issueSecret(secret, recorder, stored)) } : saved;
    await keep?.(recorder.transaction, answer, secret !== undefined);
    return answer;
  });
}

/**
 * Creates a new secret for a resource and returns it as a response field. The previous secrets stay valid until
 * `lastEnds` (epoch milliseconds). The value cannot be read again.
 */
export async function issueSecret(
  { field, make }: DeclaredSecret,
  { transaction }: Recorder,
  ref: ResourceRef,
  lastEnds = 0,
): Promise<JsonObject> {
  const secret = make();
  await transaction.saveSecret(ref, secret, lastEnds);
  return { [field]: secret };
}

/** PATCH: "follows JSON merge patch semantics" (RFC 7396). The merged document is what is validated. */
export function patch(collection: Collection, target: RequestTarget, body: JsonObject): Promise<JsonObject> {
  return update(collection, target, 'patch', body);
}

/** PUT: "Attributes missing from the body are removed", except `archived`: leaving it out neither archives nor restores. */
export function replace(
  collection: Collection,
  target: RequestTarget,
  body: JsonObject,
): Promise<JsonObject> {
  return update(collection, target, 'replace', body);
}

/** DELETE: removes the resource and returns it as it was. Throws `conflict` while another resource refers to it. */
export function remove(collection: Collection, target: RequestTarget): Promise<JsonObject> {
  const { resource } = collection;
  return inTypeTransaction(collection, async (recorder) => {
    const { transaction } = recorder;
    const before = await requireLocked(resource, transaction, target);
    const answer = await serialize(resource, before, transaction);
    if (target.conditions) requireConditions(target.conditions, answer);
    resource.rules?.checkDelete?.(before, target.caller);
    if (await transaction.isReferenced(before)) {
      throw new ApiError('conflict', `Other resources refer to this ${resource.type}.`);
    }
    await recorder.remove(resource, before);
    return answer;
  });
}

function update(
  collection: Collection,
  target: RequestTarget,
  operation: 'patch' | 'replace',
  body: JsonObject,
): Promise<JsonObject> {
  const { resource } = collection;
  refuseOversized(body);
  return inTypeTransaction(collection, async (recorder) => {
    const stored = await requireLocked(resource, recorder.transaction, target);
    const parent = await requireParent(resource, recorder.transaction, target);
    const hasReadOnly = resource.unwritable.some((field) => Object.hasOwn(body, field));
    const present =
      hasReadOnly || target.conditions ? await serialize(resource, stored, recorder.transaction) : {};
    if (target.conditions) requireConditions(target.conditions, present);
    const written = refuseUnwritableFields(resource, body, present);
    const { archived } = stored.doc;
    const kept: JsonObject = archived === undefined ? {} : { archived };
    const wanted = mergePatch(operation === 'patch' ? stored.doc : kept, written);
    refuseOversized(wanted);
    return saveDraft(collection, recorder, { operation, caller: target.caller, parent, stored, wanted });
  });
}

/** Runs the work in a transaction. If the rules compare resources with others of their type, this type is locked. */
function inTypeTransaction(
  { resource, deps }: Collection,
  work: (recorder: Recorder) => Promise<JsonObject>,
): Promise<JsonObject> {
  return withRecorder(deps, resource.rules?.compareWithOthers ? [resource.type] : [], work);
}

/** A document to store, which is not validated yet. */
interface Draft extends Pick<Change, 'operation' | 'caller' | 'parent' | 'wanted'> {
  /** The resource as it is stored; for a create without a document. */
  stored: StoredResource;
}

/** Validates and stores a document and returns the response. An unchanged document is not written. */
async function saveDraft(
  { resource, deps: { privateReceivers = false } }: Collection,
  recorder: Recorder,
  { operation, caller, parent, stored, wanted }: Draft,
): Promise<JsonObject> {
  const { transaction } = recorder;
  const before = operation === 'create' ? undefined : stored.doc;
  const valid = parseDocument(resource, wanted);
  const dangling = await danglingReferences(resource, valid, transaction);
  const saveOther: Change['saveOther'] = async (other, doc) => {
    await recorder.replace(resource, other, doc);
  };
  const about = { operation, id: stored.id, parent, caller, privateReceivers, before };
  const change: Change = { ...about, wanted: valid, transaction, saveOther };
  const { doc, invalid } = (await resource.rules?.check?.(change)) ?? { doc: valid, invalid: [] };
  const faults = [...dangling, ...exclusionFaults(resource, valid), ...invalid];
  if (faults.length > 0) throw validationFailed(faults);
  await resource.rules?.checkClash?.(change);
  const next = { ...stored, doc };
  if (before) await recorder.replace(resource, stored, doc);
  else await recorder.insert(resource, next);
  return serialize(resource, next, transaction);
}

function exclusionFaults({ exactlyOneOf }: Resource, doc: JsonObject): FieldFault[] {
  if (!exactlyOneOf) return [];
  const [first, second] = exactlyOneOf;
  const [hasFirst, hasSecond] = exactlyOneOf.map((field) => doc[field] !== undefined);
  if (hasFirst !== hasSecond) return [];
  return hasFirst
    ? [fieldFault('exclusive', [second], doc, `cannot be set along with "${first}"`)]
    : [fieldFault('required', [first], doc, `or "${second}" is mandatory`)];
}

async function danglingReferences(
  resource: Resource,
  doc: JsonObject,
  reader: TravelReader,
): Promise<FieldFault[]> {
  const references = (resource.references ?? []).flatMap(({ field, to }) => {
    const id = stringMember(doc, field);
    return id === undefined ? [] : [{ field, type: to, id }];
  });
  if (references.length === 0) return [];
  const found = new Set((await reader.read(references)).map(({ type, id }) => `${type} ${id}`));
  return references
    .filter(({ type, id }) => !found.has(`${type} ${id}`))
    .map(({ field }) => fieldFault('reference', [field], doc));
}

/**
 * Applies a JSON merge patch. RFC 7396 §2: "null values in the merge patch are given special meaning to indicate the
 * removal of existing values in the target". Applied to an empty target it only strips nulls, which is how bodies of
 * POST and PUT are read. Neither argument is modified.
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
  return isJsonObject(patch) ? mergePatch(isJsonObject(target) ? target : {}, patch) : patch;
}

/**
 * Inserts, changes and removes resources. It must be used for every write, because it updates the index keys and
 * appends the events in the same transaction.
 */
export interface Recorder {
  readonly transaction: TravelTransaction;
  /** The resources changed so far, except events; listeners are notified of them after the commit. */
  readonly changed: ResourceRef[];
  /** Throws the ApiError `conflict` if a unique value is taken. */
  insert(resource: Resource, stored: StoredResource): Promise<void>;
  /** Validates a document by the schema of its resource and inserts it, by default under a new id and without a parent. */
  create(
    resource: Resource,
    doc: JsonObject,
    place?: { id?: string; parentId?: string },
  ): Promise<StoredResource>;
  /**
   * Changes a resource that was locked when it was read. Writes nothing and appends no event if the document is
   * unchanged.
   */
  replace(resource: Resource, before: StoredResource, doc: JsonObject): Promise<StoredResource>;
  remove(resource: Resource, stored: StoredResource): Promise<void>;
  /** Appends an event that does not follow from the change of a single resource. Update events carry the previous attributes. */
  appendEvent(kind: string, data: JsonObject, previous?: JsonObject): void;
}

/** Creates a recorder for an open transaction. */
export function createRecorder(transaction: TravelTransaction, deps: RecorderDeps): Recorder {
  const changed: ResourceRef[] = [];
  const tell = (kind: string, data: JsonObject, previous?: JsonObject) =>
    appendEvent(transaction, deps, { kind, data, ...(previous ? { previousAttributes: previous } : {}) });
  const tells = ({ events }: Resource, change: ChangeKind) => events?.includes(change) === true;
  const insert: Recorder['insert'] = async (resource, stored) => {
    refuseDuplicate(resource, await transaction.insert(stored, indexKeys(resource, stored)));
    changed.push({ type: resource.type, id: stored.id });
    if (tells(resource, 'created'))
      tell(`${resource.type}.created`, await serialize(resource, stored, transaction));
  };
  return {
    transaction,
    changed,
    appendEvent: tell,
    insert,
    create: async (resource, given, { id = deps.newId(resource.idForm), parentId = '' } = {}) => {
      const doc = parseDocument(resource, given);
      const stored = { type: resource.type, id, parentId, createdAt: deps.now(), doc };
      await insert(resource, stored);
      return stored;
    },
    replace: async (resource, before, doc) => {
      const after = { ...before, doc };
      if (JSON.stringify(before.doc) === JSON.stringify(doc)) return before;
      const old = tells(resource, 'updated') ? await serialize(resource, before, transaction) : undefined;
      const keys = indexKeys(resource, after);
      refuseDuplicate(resource, await transaction.replace(after, keys, indexKeys(resource, before)));
      changed.push({ type: resource.type, id: after.id });
      if (old) {
        const data = await serialize(resource, after, transaction);
        tell(`${resource.type}.updated`, data, previousAttributes(old, data));
      }
      return after;
    },
    remove: async (resource, stored) => {
      const data = tells(resource, 'deleted') ? await serialize(resource, stored, transaction) : undefined;
      await transaction.remove(stored, indexKeys(resource, stored));
      changed.push({ type: resource.type, id: stored.id });
      if (data) tell(`${resource.type}.deleted`, data);
    },
  };
}

/**
 * Runs the work with a recorder in a transaction of its own, and reports the changed resources to `onChange` after the
 * commit.
 */
export async function withRecorder<T>(
  deps: TravelDeps,
  types: string[],
  work: (recorder: Recorder) => Promise<T>,
): Promise<T> {
  const { answer, changed } = await deps.store.write(types, async (transaction) => {
    const record = createRecorder(transaction, deps);
    return { answer: await work(record), changed: record.changed };
  });
  for (const { type, id } of changed) deps.onChange(type, id);
  return answer;
}

function refuseDuplicate(resource: Resource, clash: { taken: string } | undefined): void {
  if (clash) throw new ApiError('conflict', `There is a ${resource.type} with this ${clash.taken} already.`);
}

function appendEvent(
  transaction: TravelTransaction,
  { now, newId }: RecorderDeps,
  doc: JsonObject & { kind: string },
): void {
  const event = { type: 'event', id: newId('A'), parentId: '', createdAt: now(), doc };
  transaction.append(event, { kind: doc.kind, newId: () => newId('A') });
}

/**
 * Returns the merge patch (RFC 7396) that leads from the new state back to the old one: the previous value of every
 * changed attribute, nested objects by their changed members, and null for added attributes.
 */
export function previousAttributes(before: JsonObject, after: JsonObject): JsonObject {
  const now = new Map(Object.entries(after));
  const changed = Object.entries(before).flatMap(([name, old]): [string, Json][] => {
    const current = now.get(name);
    if (isDeepStrictEqual(old, current)) return [];
    return [[name, isJsonObject(old) && isJsonObject(current) ? previousAttributes(old, current) : old]];
  });
  const added = [...now.keys()].filter((name) => !Object.hasOwn(before, name));
  return Object.fromEntries([...changed, ...added.map((name): [string, Json] => [name, null])]);
}
