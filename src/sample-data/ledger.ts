import type { Recorder } from '../travel/changes.ts';
import { formatTimestamp, type RecorderDeps, serializeAll } from '../travel/collection.ts';
import type { Resource } from '../travel/declaration/resource.ts';
import { type JsonObject, stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import { centsOf } from '../travel/resources/amounts.ts';
import * as billing from '../travel/resources/billing.ts';
import * as rules from '../travel/resources/billing-rules.ts';

/** The recorder of the service, its time and its source of ids, and the purchases and refunds that are on no invoice yet. */
export interface Ledger extends RecorderDeps {
  recorder: Recorder;
  uninvoiced: Set<Operation>;
}

/** A stored resource whose document has the type of its schema. */
type Entry<Doc> = StoredResource & { doc: Doc };

/** A billing operation with its invoice. */
export type Operation = Entry<billing.BillingOperation> & { invoice?: Invoice };

/** An invoice with the operations on it, and with the refunds and disputes that take from its charge. */
export type Invoice = Entry<billing.Invoice> & { operations: Operation[]; repayments: Repayment[] };

/** A refund resource or a dispute, with its billing operation. */
export type Repayment = Entry<billing.Refund | billing.Dispute> & { operations: Operation[] };

/** Charges a billing profile. */
export function addPurchase(ledger: Ledger, doc: Omit<billing.BillingOperation, 'transactionKind' | 'date'>) {
  return addOperation(ledger, { ...doc, date: formatTimestamp(ledger.now()), transactionKind: 'purchase' });
}

/** Refunds a part of a purchase, once. Returns the refund resource, if there is an invoice. */
export async function addRefund(ledger: Ledger, purchase: Operation, wanted: number) {
  const { doc, invoice } = purchase;
  const cents = invoice ? Math.min(wanted, remainingCharge(invoice)) : wanted;
  if (cents <= 0 || invoice?.doc.status === 'void') return undefined;
  const refundId = ledger.newId('A');
  const { operation, refund } = rules.refundOf(purchase, invoice, {
    ...{ cents, date: formatTimestamp(ledger.now()), leftCents: centsOf(doc.amount), refundId },
    ...{ description: `Refund of ${doc.description}`, reference: referenceOf('REF', refundId) },
  });
  if (refund && invoice) return addRepayment(ledger, invoice, operation, { refund });
  await addOperation(ledger, operation);
  return undefined;
}

/** Opens a dispute about a part of the charge of a paid invoice. */
export function addDispute(ledger: Ledger, invoice: Invoice, reason: rules.DisputeReason, cents: number) {
  const request = { cents, date: formatTimestamp(ledger.now()), leftCents: remainingCharge(invoice), reason };
  const { operation, dispute } = rules.disputeOf(invoice, { ...request, disputeId: ledger.newId('A') });
  return addRepayment(ledger, invoice, operation, { dispute });
}

async function addRepayment(
  ledger: Ledger,
  invoice: Invoice,
  operation: billing.BillingOperation,
  made: { refund: billing.Refund } | { dispute: billing.Dispute },
): Promise<Repayment> {
  const [resource, doc] = 'refund' in made ? [billing.refund, made.refund] : [billing.dispute, made.dispute];
  const entry = await create(ledger, resource, doc, operation.refundId);
  const repayment = Object.assign(entry, { operations: [await addOperation(ledger, operation)] });
  invoice.repayments.push(repayment);
  return repayment;
}

/** Returns the cents of the charge of an invoice that refunds and disputes leave. */
export function remainingCharge({ doc, repayments }: Invoice): number {
  return rules.remainingCents(doc, docsOf(repayments));
}

const descriptions = { booking: 'Bookings', other: 'Other services', subscription: 'Subscription' };

/** Issues the invoice of a billing profile; undefined if there is nothing to invoice. All its operations have one currency. */
export async function issueInvoice(ledger: Ledger, profile: string, kind: keyof typeof descriptions) {
  const operations = [...ledger.uninvoiced].filter(({ doc }) => {
    return doc.billingProfileId === profile && billing.invoiceKindOf(doc.operationType) === kind;
  });
  if (operations.length === 0) return undefined;
  const id = ledger.newId('A');
  const heading = { billingProfileId: profile, description: descriptions[kind], kind };
  const doc = rules.invoiceOf(docsOf(operations), { ...heading, reference: referenceOf('INV', id) });
  const entry = await create(ledger, billing.invoice, doc, id);
  const invoice: Invoice = Object.assign(entry, { operations, repayments: [] });
  for (const operation of operations) {
    operation.invoice = invoice;
    ledger.uninvoiced.delete(operation);
    await update(ledger, billing.billingOperation, operation, { invoiceId: id });
  }
  return invoice;
}

/** The status of a delayed refund after that of its invoice. */
const delayedBecomes: Record<string, rules.RefundStatus> = { paid: 'waiting', void: 'canceled' };
const resources = { invoice: billing.invoice, refund: billing.refund, dispute: billing.dispute };

/** Moves an invoice, refund or dispute to another status, with an event for each operation whose derived status follows. */
export async function setStatus<Doc extends { status: string }>(
  ledger: Ledger,
  type: keyof typeof resources,
  entry: Entry<Doc> & { operations: Operation[]; repayments?: Repayment[] },
  changes: Partial<Doc> & { status: string },
): Promise<void> {
  const { transaction, appendEvent } = ledger.recorder;
  rules.requireTransition(type, entry.doc.status, changes.status);
  const before = await serializeAll(billing.billingOperation, entry.operations, transaction);
  await update(ledger, resources[type], entry, changes);
  const after = await serializeAll(billing.billingOperation, entry.operations, transaction);
  for (const [position, operation] of after.entries()) {
    const status = stringMember(before[position] ?? {}, 'status') ?? '';
    if (status !== operation['status']) appendEvent('billingOperation.updated', operation, { status });
  }
  const next = delayedBecomes[changes.status];
  for (const refund of entry.repayments ?? [])
    if (next && refund.doc.status === 'delayed') await setStatus(ledger, 'refund', refund, { status: next });
}

/** "An invoice aggregates purchase and refund billing operations": not those with a transfer, and no disputes. */
async function addOperation(ledger: Ledger, doc: billing.BillingOperation): Promise<Operation> {
  const operation = await create(ledger, billing.billingOperation, doc);
  if (doc.refundId === undefined) ledger.uninvoiced.add(operation);
  return operation;
}

async function create<Doc extends object>({ recorder }: Ledger, resource: Resource, doc: Doc, id?: string) {
  const stored = await recorder.create(resource, toJson(doc), id === undefined ? {} : { id });
  // The schema has accepted the document, so that only its type changes.
  return { ...stored } as Entry<Doc>;
}

async function update<Doc extends object>(
  { recorder }: Ledger,
  resource: Resource,
  entry: Entry<Doc>,
  changes: Partial<Doc>,
): Promise<void> {
  const { doc } = await recorder.replace(resource, entry, toJson({ ...entry.doc, ...changes }));
  entry.doc = doc as JsonObject & Doc;
}

/** Derives a readable reference from an id. */
function referenceOf(prefix: string, id: string): string {
  return `${prefix}-${id.slice(-10).toUpperCase()}`;
}

function docsOf<Doc>(entries: { doc: Doc }[]): Doc[] {
  return entries.map(({ doc }) => doc);
}

/** A copy of a document as JSON, without members that are undefined. */
export function toJson(doc: object): JsonObject {
  return JSON.parse(JSON.stringify(doc));
}
