import { type Collection, existing, parentOf, present, type Target } from './collection.ts';
import { ApiError } from './errors.ts';
import type { JsonObject } from './json.ts';
import { mergePatch } from './merge-patch.ts';
import type { ResourceRef } from './ports.ts';
import { type Recorder, recorded } from './record.ts';
import type { DeclaredSecret } from './resource.ts';
import { type Draft, save } from './save.ts';
import { refuseForeignFields, refuseOversized } from './validation.ts';

/** POST: a new resource. */
export function create(collection: Collection, target: Target, body: JsonObject): Promise<JsonObject> {
  const { resource, surroundings } = collection;
  const { parentId } = target;
  refuseForeignFields(resource, body);
  refuseOversized(body);
  return committed(collection, async (recorder) => {
    const parent = await parentOf(resource, recorder.within, target);
    const id = surroundings.newId(resource.idForm);
    const created = { type: resource.type, id, parentId, createdAt: surroundings.now(), doc: {} };
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
  { resource, surroundings: { privateReceivers = false } }: Collection,
  { caller }: Target,
): Pick<Draft, 'resource' | 'caller' | 'privateReceivers'> {
  return { resource, caller, privateReceivers };
}

/** Does the work in a transaction that has the turn of the resource's type. */
function committed(
  { resource, surroundings }: Collection,
  work: (recorder: Recorder) => Promise<JsonObject>,
): Promise<JsonObject> {
  return recorded(surroundings, [resource.type], work);
}
