import { presentAll } from '../collection.ts';
import { type JsonObject, textOf } from '../json.ts';
import type { StoredResource } from '../ports.ts';
import { previousAttributes } from '../previous-attributes.ts';
import { billingOperation } from '../resources/billing-operation.ts';
import type { Desk, Kept } from './desk.ts';

/**
 * Does what may change the status of billing operations, which is derived and so changes with no write of theirs, and
 * tells of each whose status it changed.
 */
export async function retelling<T>(
  desk: Desk,
  operations: Kept<'billingOperation'>[],
  work: () => Promise<T>,
): Promise<T> {
  const before = await presented(desk, operations);
  const done = await work();
  const after = await presented(desk, operations);
  for (const [position, now] of after.entries()) {
    const was = before[position] ?? {};
    if (textOf(was, 'status') === textOf(now, 'status')) continue;
    await desk.recorder.tell('billingOperation.updated', now, previousAttributes(was, now));
  }
  return done;
}

function presented(desk: Desk, operations: Kept<'billingOperation'>[]): Promise<JsonObject[]> {
  // The documents are JSON; their type also allows undefined, which none of them has.
  const stored = operations as unknown as StoredResource[];
  return presentAll(billingOperation, stored, desk.recorder.within);
}
