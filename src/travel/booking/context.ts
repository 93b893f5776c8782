import { previousAttributes, type Recorder } from '../changes.ts';
import { serializeAll } from '../collection.ts';
import { notFound } from '../errors.ts';
import { type JsonObject, stringMember } from '../json.ts';
import { readResource, type StoredResource } from '../ports.ts';
import type { Resource } from '../resource.ts';
import {
  type BillingOperation,
  billingOperation,
  type Dispute,
  dispute,
  type Invoice,
  invoice,
  PARENT_INDEX,
  type Refund,
  refund,
} from '../resources/billing.ts';
import { type TripProject, tripProject } from '../resources/trip-project.ts';
import { parseDocument } from '../validation.ts';

/** Where one story is done: an open transaction, with the time and the ids of the story. */
export interface BookingDeps {
  recorder: Recorder;
  /** Epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
}

/** The documents that the back office writes. */
export interface BookingDocuments {
  tripProject: TripProject;
  billingOperation: BillingOperation;
  invoice: Invoice;
  refund: Refund;
  dispute: Dispute;
}

/** A resource of the back office as kept. */
export type StoredDocument<Type extends keyof BookingDocuments> = Omit<StoredResource, 'doc'> & {
  doc: BookingDocuments[Type];
};

/** The types of what the back office writes, whose turns a transaction must have taken. */
export const BOOKING_TYPES: string[] = ['tripProject', 'billingOperation', 'invoice', 'refund', 'dispute'];

const resources: Record<keyof BookingDocuments, Resource> = {
  tripProject,
  billingOperation,
  invoice,
  refund,
  dispute,
};

/** The resource with this id, or 404. */
export async function requireDocument<Type extends keyof BookingDocuments>(
  { recorder }: BookingDeps,
  type: Type,
  id: string,
): Promise<StoredDocument<Type>> {
  const stored = await readResource(recorder.transaction, type, id);
  if (!stored) throw notFound(type);
  return toDocument(stored);
}

/** Those found under an index, in order of creation. */
export async function findDocuments<Type extends keyof BookingDocuments>(
  { recorder }: BookingDeps,
  type: Type,
  index: { name: string; values: string[] },
): Promise<StoredDocument<Type>[]> {
  const found = await recorder.transaction.find({ type, ...index });
  return found.map((stored) => toDocument<Type>(stored));
}

/** The billing operations that name any of these resources in one field, in order of creation. */
export function findOperations(
  deps: BookingDeps,
  field: 'invoiceId' | 'tripProjectId' | 'purchaseBillingOperationId' | 'refundId' | 'disputeId',
  ids: string[],
): Promise<StoredDocument<'billingOperation'>[]> {
  const values = ids.map((id) => `${field}/${id}`);
  return findDocuments(deps, 'billingOperation', { name: PARENT_INDEX, values });
}

/** A new resource. Its schema has the last word on what came from outside. */
export async function insertDocument<Type extends keyof BookingDocuments>(
  deps: BookingDeps,
  type: Type,
  doc: BookingDocuments[Type],
  id: string = deps.newId(resources[type].idForm),
): Promise<StoredDocument<Type>> {
  const made = {
    ...{ type, id, parentId: '', createdAt: deps.now() },
    doc: parseDocument(resources[type], toJson(doc)),
  };
  await deps.recorder.insert(resources[type], made);
  return toDocument(made);
}

/** A resource that changes. */
export async function updateDocument<Type extends keyof BookingDocuments>(
  deps: BookingDeps,
  type: Type,
  before: StoredDocument<Type>,
  changed: Partial<BookingDocuments[Type]>,
): Promise<StoredDocument<Type>> {
  const stored = { ...before, doc: toJson(before.doc) };
  const doc = parseDocument(resources[type], { ...stored.doc, ...toJson(changed) });
  return toDocument(await deps.recorder.replace(resources[type], stored, doc));
}

/** Every document went through its schema when it was written: this is a matter of types only. */
function toDocument<Type extends keyof BookingDocuments>(stored: StoredResource): StoredDocument<Type> {
  return stored as unknown as StoredDocument<Type>;
}

/** The other way round: what is undefined is not kept. */
function toJson(doc: object): JsonObject {
  return doc as JsonObject;
}

/**
 * Does what may change the status of billing operations, which is derived and so changes with no write of theirs, and
 * tells of each whose status it changed.
 */
export async function emitDerivedEvents<T>(
  deps: BookingDeps,
  operations: StoredDocument<'billingOperation'>[],
  work: () => Promise<T>,
): Promise<T> {
  const before = await serializeOperations(deps, operations);
  const done = await work();
  const after = await serializeOperations(deps, operations);
  for (const [position, now] of after.entries()) {
    const was = before[position] ?? {};
    if (stringMember(was, 'status') === stringMember(now, 'status')) continue;
    await deps.recorder.appendEvent('billingOperation.updated', now, previousAttributes(was, now));
  }
  return done;
}

function serializeOperations(
  deps: BookingDeps,
  operations: StoredDocument<'billingOperation'>[],
): Promise<JsonObject[]> {
  // The documents are JSON; their type also allows undefined, which none of them has.
  const stored = operations as unknown as StoredResource[];
  return serializeAll(billingOperation, stored, deps.recorder.transaction);
}
