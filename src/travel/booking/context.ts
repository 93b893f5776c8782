import { previousAttributes, type Recorder } from '../changes.ts';
import { type RecorderDeps, requireStored, serializeAll } from '../collection.ts';
import { type JsonObject, stringMember } from '../json.ts';
import type { StoredResource } from '../ports.ts';
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

/** Dependencies of one booking transaction: its recorder, the time and a source of ids. */
export interface BookingDeps extends RecorderDeps {
  recorder: Recorder;
}

/** The document type of each resource that the booking service writes. */
interface BookingDocuments {
  tripProject: TripProject;
  billingOperation: BillingOperation;
  invoice: Invoice;
  refund: Refund;
  dispute: Dispute;
}

/** A stored resource whose document has the type of its schema. */
type StoredDocument<Type extends keyof BookingDocuments> = Omit<StoredResource, 'doc'> & {
  doc: BookingDocuments[Type];
};

export type StoredTrip = StoredDocument<'tripProject'>;
export type StoredOperation = StoredDocument<'billingOperation'>;
export type StoredInvoice = StoredDocument<'invoice'>;
export type StoredRefund = StoredDocument<'refund'>;
export type StoredDispute = StoredDocument<'dispute'>;

/** The resource types that the booking service writes. Its transaction must be opened for all of them. */
export const BOOKING_TYPES: string[] = ['tripProject', 'billingOperation', 'invoice', 'refund', 'dispute'];

const resources: Record<keyof BookingDocuments, Resource> = {
  tripProject,
  billingOperation,
  invoice,
  refund,
  dispute,
};

/** Reads the resource with this id, or throws `notFound`. */
export async function requireDocument<Type extends keyof BookingDocuments>(
  { recorder }: BookingDeps,
  type: Type,
  id: string,
): Promise<StoredDocument<Type>> {
  return toDocument(await requireStored(recorder.transaction, type, id));
}

/** Finds resources by an index, in order of creation. */
export async function findDocuments<Type extends keyof BookingDocuments>(
  { recorder }: BookingDeps,
  type: Type,
  index: { name: string; values: string[] },
): Promise<StoredDocument<Type>[]> {
  const found = await recorder.transaction.find({ type, ...index });
  return found.map((stored) => toDocument<Type>(stored));
}

/** Finds the billing operations that refer by `field` to one of these resources, in order of creation. */
export function findOperations(
  deps: BookingDeps,
  field: 'invoiceId' | 'tripProjectId' | 'purchaseBillingOperationId' | 'refundId' | 'disputeId',
  ids: string[],
): Promise<StoredOperation[]> {
  const values = ids.map((id) => `${field}/${id}`);
  return findDocuments(deps, 'billingOperation', { name: PARENT_INDEX, values });
}

/** Inserts a new resource after validating it by its schema. */
export async function insertDocument<Type extends keyof BookingDocuments>(
  deps: BookingDeps,
  type: Type,
  doc: BookingDocuments[Type],
  id?: string,
): Promise<StoredDocument<Type>> {
  return toDocument(await deps.recorder.create(resources[type], toJson(doc), id === undefined ? {} : { id }));
}

/** Validates and stores a changed resource. */
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

/** The schema accepted every stored document, so only the type changes here. */
function toDocument<Type extends keyof BookingDocuments>(stored: StoredResource): StoredDocument<Type> {
  return stored as unknown as StoredDocument<Type>;
}

/** Converts a document to JSON, the reverse of `toDocument`. Members that are undefined are not stored. */
function toJson(doc: object): JsonObject {
  return doc as JsonObject;
}

/**
 * Runs work that may change the derived status of billing operations without writing them, and appends an update event
 * for each operation whose status changed.
 */
export async function emitDerivedEvents<T>(
  deps: BookingDeps,
  operations: StoredOperation[],
  work: () => Promise<T>,
): Promise<T> {
  const before = await serializeOperations(deps, operations);
  const done = await work();
  const after = await serializeOperations(deps, operations);
  for (const [position, now] of after.entries()) {
    const previous = before[position] ?? {};
    if (stringMember(previous, 'status') === stringMember(now, 'status')) continue;
    deps.recorder.appendEvent('billingOperation.updated', now, previousAttributes(previous, now));
  }
  return done;
}

function serializeOperations(deps: BookingDeps, operations: StoredOperation[]): Promise<JsonObject[]> {
  // The documents are JSON; their type also allows undefined, which none of them contains.
  const stored = operations as unknown as StoredResource[];
  return serializeAll(billingOperation, stored, deps.recorder.transaction);
}
