import { isDeepStrictEqual } from 'node:util';
import { present, type Runtime } from './collection.ts';
import { ApiError } from './errors.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import type { ResourceRef, StoredResource, TravelWriting } from './ports.ts';
import { type ChangeKind, keysOf, type Resource } from './resource.ts';

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
