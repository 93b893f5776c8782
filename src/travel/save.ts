import { present } from './collection.ts';
import { type Invalid, validationFailed } from './errors.ts';
import { type JsonObject, textOf } from './json.ts';
import type { StoredResource, TravelReading } from './ports.ts';
import type { Recorder } from './record.ts';
import type { Change, Resource } from './resource.ts';
import { item, validated } from './validation.ts';

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
