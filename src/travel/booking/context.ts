import { previousAttributes, type Recorder } from '../changes.ts';
import { presentAll } from '../collection.ts';
import { notFound } from '../errors.ts';
import { type JsonObject, textOf } from '../json.ts';
import { readOne, type StoredResource } from '../ports.ts';
import type { Resource } from '../resource.ts';
import {
  BELONGS,
  type BillingOperation,
  billingOperation,
  type Dispute,
  dispute,
  type Invoice,
  invoice,
  type Refund,
  refund,
} from '../resources/billing.ts';
import { type TripProject, tripProject } from '../resources/trip-project.ts';
import { validated } from '../validation.ts';

/** Where one story is done: an open transaction, with the time and the ids of the story. */
export interface BookingDeps {
  recorder: Recorder;
  /** Epoch milliseconds. */
  now(): number;
  newId(form: 'A' | 'B'): string;
}

/** The documents that the back office writes. */
export interface Docs {
  tripProject: TripProject;
  billingOperation: BillingOperation;
  invoice: Invoice;
  refund: Refund;
  dispute: Dispute;
}

/** A resource of the back office as kept. */
export type Kept<Type extends keyof Docs> = Omit<StoredResource, 'doc'> & { doc: Docs[Type] };

/** The types of what the back office writes, whose turns a transaction must have taken. */
export const OFFICE_TYPES: string[] = ['tripProject', 'billingOperation', 'invoice', 'refund', 'dispute'];

const resources: Record<keyof Docs, Resource> = { tripProject, billingOperation, invoice, refund, dispute };

/** The resource with this id, or 404. */
export async function get<Type extends keyof Docs>(
  { recorder }: BookingDeps,
  type: Type,
  id: string,
): Promise<Kept<Type>> {
  const stored = await readOne(recorder.within, type, id);
  if (!stored) throw notFound(type);
  return kept(stored);
}

/** Those found under an index, in order of creation. */
export async function find<Type extends keyof Docs>(
  { recorder }: BookingDeps,
  type: Type,
  index: { name: string; values: string[] },
): Promise<Kept<Type>[]> {
  const found = await recorder.within.find({ type, ...index });
  return found.map((stored) => kept<Type>(stored));
}

/** The billing operations that name any of these resources in one field, in order of creation. */
export function operationsOf(
  deps: BookingDeps,
  field: 'invoiceId' | 'tripProjectId' | 'purchaseBillingOperationId' | 'refundId' | 'disputeId',
  ids: string[],
): Promise<Kept<'billingOperation'>[]> {
  const values = ids.map((id) => `${field}/${id}`);
  return find(deps, 'billingOperation', { name: BELONGS, values });
}

/** A new resource. Its schema has the last word on what came from outside. */
export async function add<Type extends keyof Docs>(
  deps: BookingDeps,
  type: Type,
  doc: Docs[Type],
  id: string = deps.newId(resources[type].idForm),
): Promise<Kept<Type>> {
  const made = {
    ...{ type, id, parentId: '', createdAt: deps.now() },
    doc: validated(resources[type], json(doc)),
  };
  await deps.recorder.insert(resources[type], made);
  return kept(made);
}

/** A resource that changes. */
export async function change<Type extends keyof Docs>(
  deps: BookingDeps,
  type: Type,
  before: Kept<Type>,
  changed: Partial<Docs[Type]>,
): Promise<Kept<Type>> {
  const stored = { ...before, doc: json(before.doc) };
  const doc = validated(resources[type], { ...stored.doc, ...json(changed) });
  return kept(await deps.recorder.replace(resources[type], stored, doc));
}

/** Every document went through its schema when it was written: this is a matter of types only. */
function kept<Type extends keyof Docs>(stored: StoredResource): Kept<Type> {
  return stored as unknown as Kept<Type>;
}

/** The other way round: what is undefined is not kept. */
function json(doc: object): JsonObject {
  return doc as JsonObject;
}

/**
 * Does what may change the status of billing operations, which is derived and so changes with no write of theirs, and
 * tells of each whose status it changed.
 */
export async function retelling<T>(
  deps: BookingDeps,
  operations: Kept<'billingOperation'>[],
  work: () => Promise<T>,
): Promise<T> {
  const before = await presented(deps, operations);
  const done = await work();
  const after = await presented(deps, operations);
  for (const [position, now] of after.entries()) {
    const was = before[position] ?? {};
    if (textOf(was, 'status') === textOf(now, 'status')) continue;
    await deps.recorder.tell('billingOperation.updated', now, previousAttributes(was, now));
  }
  return done;
}

function presented(deps: BookingDeps, operations: Kept<'billingOperation'>[]): Promise<JsonObject[]> {
  // The documents are JSON; their type also allows undefined, which none of them has.
  const stored = operations as unknown as StoredResource[];
  return presentAll(billingOperation, stored, deps.recorder.within);
}
