import { present } from './collection.ts';
import { ApiError, type Invalid, validationFailed } from './errors.ts';
import { type JsonObject, textOf } from './json.ts';
import type { StoredResource, TravelReading, TravelWriting } from './ports.ts';
import { type Change, keysOf, type Resource } from './resource.ts';
import { item, validated } from './validation.ts';

/** What a write answers, and the ids of what it changed. */
export interface Outcome {
  answer: JsonObject;
  changed: string[];
}

/** The circumstances of a write. */
export interface Draft {
  resource: Resource;
  within: TravelWriting;
  caller: string;
  operation: Change['operation'];
  parent: StoredResource | undefined;
  /** The document that is there; undefined for a create. */
  before?: JsonObject;
}

/** Validates what is wanted of a resource and keeps it; what is there already is not written again. */
export async function save(draft: Draft, stored: StoredResource, wanted: JsonObject): Promise<Outcome> {
  const { resource, within, before } = draft;
  const changed: string[] = [];
  const doc = await checkedDoc(draft, stored.id, wanted, changed);
  const next = { ...stored, doc };
  if (JSON.stringify(before) !== JSON.stringify(doc)) {
    const keys = keysOf(resource, next);
    const clash = before ? await within.replace(next, keys) : await within.insert(next, keys);
    if (clash)
      throw new ApiError('conflict', `There is a ${resource.type} with this ${clash.taken} already.`);
    changed.push(next.id);
  }
  return { answer: await present(resource, next, within), changed };
}

async function checkedDoc(
  draft: Draft,
  id: string,
  wanted: JsonObject,
  changed: string[],
): Promise<JsonObject> {
  const { resource, within, caller, operation, parent, before } = draft;
  const valid = validated(resource, wanted);
  const dangling = await danglingReferences(resource, valid, within);
  const alsoSave = async (other: StoredResource): Promise<void> => {
    await within.replace(other, keysOf(resource, other));
    changed.push(other.id);
  };
  const change: Change = { operation, id, parent, caller, before, wanted: valid, within, alsoSave };
  const { doc, invalid } = (await resource.rules?.check?.(change)) ?? { doc: valid, invalid: [] };
  if (dangling.length + invalid.length > 0) throw validationFailed([...dangling, ...invalid]);
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
