import { previousAttributes, type Recorder } from '../travel/changes.ts';
import { formatTimestamp, type RecorderDeps, serializeAll } from '../travel/collection.ts';
import { type JsonObject, stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import type { Resource } from '../travel/resource.ts';
import {
  type BillingOperation,
  billingOperation,
  type Dispute,
  dispute,
  type Invoice,
  invoice,
  invoiceKindOf,
  type Refund,
  refund,
} from '../travel/resources/billing.ts';
import {
  type DisputeReason,
  type DisputeStatus,
  disputeOf,
  type InvoiceStatus,
  invoiceOf,
  type RefundStatus,
  refundOf,
  remainingCents,
  requireTransition,
} from '../travel/resources/billing-rules.ts';

/** The recorder of the simulated service, its time and its source of ids. */
export interface LedgerDeps extends RecorderDeps {
  recorder: Recorder;
}

/** A stored resource with its latest document. */
export interface Entry<Doc> extends Omit<StoredResource, 'doc'> {
  doc: Doc;
}

/** A billing operation with its invoice and, of a purchase, its refunds. */
export interface Operation extends Entry<BillingOperation> {
  invoice: IssuedInvoice | undefined;
  refunds: { doc: Pick<Refund, 'amount' | 'status'> }[];
}

/** An invoice with the operations on it, and with the refunds and disputes that take from its charge. */
export interface IssuedInvoice extends Entry<Invoice> {
  operations: Operation[];
  refunds: IssuedRefund[];
  disputes: OpenedDispute[];
}

/** A refund resource with its billing operation. */
export interface IssuedRefund extends Entry<Refund> {
  operation: Operation;
}

/** A dispute with its billing operation. */
export interface OpenedDispute extends Entry<Dispute> {
  operation: Operation;
}

/** The purchases, invoices, refunds and disputes of the simulated service, by the rules of its billing. */
export class Ledger {
  readonly #deps: LedgerDeps;
  /** The operations that are on no invoice yet, by billing profile and kind. */
  readonly #uninvoiced = new Map<string, Operation[]>();

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
  }

  /** Charges a billing profile. `date` is the time of the purchase; now by default. */
  purchase(doc: Omit<BillingOperation, 'transactionKind' | 'date'> & { date?: string }): Promise<Operation> {
    return this.#addOperation({ date: this.#date(), ...doc, transactionKind: 'purchase' });
  }

  /** Returns the cents of a purchase that can still be refunded. Other refunds and disputes may leave less of its invoice. */
  refundableCents({ doc, refunds, invoice: on }: Operation): number {
    if (on?.doc.status === 'void') return 0;
    const left = on ? this.remainingCharge(on) : Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(remainingCents(doc, docsOf(refunds)), left));
  }

  /** Refunds a part of a purchase, as far as it can be refunded. Returns the refund resource, if there is an invoice. */
  async refund(purchase: Operation, wanted: number, description?: string): Promise<IssuedRefund | undefined> {
    const cents = Math.min(wanted, this.refundableCents(purchase));
    if (cents <= 0) return undefined;
    const refundId = this.#deps.newId('A');
    const { doc, refunds, invoice: on } = purchase;
    const made = refundOf(purchase, on, {
      ...{ cents, refundId, date: this.#date(), reference: referenceOf('REF', refundId) },
      description: description ?? `Refund of ${doc.description ?? doc.operationType}`,
      leftCents: remainingCents(doc, docsOf(refunds)),
    });
    const transfer = made.refund && (await this.#create(refund, made.refund, refundId));
    const operation = await this.#addOperation(made.operation);
    refunds.push(transfer ?? { doc: { amount: made.operation.amount, status: 'succeeded' } });
    if (!transfer) return undefined;
    const issued = Object.assign(transfer, { operation });
    on?.refunds.push(issued);
    return issued;
  }

  /** Issues the invoices of a billing profile, one for each currency; none if there is nothing to invoice. */
  async issueInvoices(billingProfileId: string, kind: keyof typeof descriptions): Promise<IssuedInvoice[]> {
    const key = `${billingProfileId}/${kind}`;
    const open = this.#uninvoiced.get(key) ?? [];
    this.#uninvoiced.delete(key);
    const issued = [];
    for (const currency of [...new Set(open.map(({ doc }) => doc.amount.currency))].sort()) {
      const operations = open.filter(({ doc }) => doc.amount.currency === currency);
      const id = this.#deps.newId('A');
      const heading = {
        billingProfileId,
        kind,
        description: descriptions[kind],
        reference: referenceOf('INV', id),
      };
      const entry = await this.#create(invoice, invoiceOf(docsOf(operations), heading), id);
      const made: IssuedInvoice = Object.assign(entry, { operations, refunds: [], disputes: [] });
      for (const operation of operations) {
        operation.invoice = made;
        await this.#update(billingOperation, operation, { invoiceId: id });
      }
      issued.push(made);
    }
    return issued;
  }

  /** Moves an invoice to another status. Refunds that were delayed until then become `waiting`, or `canceled` if it is void. */
  async setInvoiceStatus(
    issued: IssuedInvoice,
    changes: { status: InvoiceStatus; paymentReference?: string },
  ): Promise<void> {
    requireTransition('invoice', issued.doc.status, changes.status);
    await this.#withStatusEvents(issued.operations, () => this.#update(invoice, issued, changes));
    if (changes.status === 'uncollectible') return;
    for (const delayed of issued.refunds.filter(({ doc }) => doc.status === 'delayed'))
      await this.setRefundStatus(delayed, changes.status === 'paid' ? 'waiting' : 'canceled');
  }

  /** Moves a refund to another status; the status of its billing operation follows. */
  async setRefundStatus(issued: IssuedRefund, status: RefundStatus): Promise<void> {
    requireTransition('refund', issued.doc.status, status);
    await this.#withStatusEvents([issued.operation], () => this.#update(refund, issued, { status }));
  }

  /** Returns the cents of the charge of an invoice that refunds and disputes leave. */
  remainingCharge({ doc, refunds, disputes }: IssuedInvoice): number {
    return remainingCents(doc, docsOf([...refunds, ...disputes]));
  }

  /** Opens a dispute about a part of the charge of a paid invoice. */
  async dispute(issued: IssuedInvoice, reason: DisputeReason, cents: number): Promise<OpenedDispute> {
    const disputeId = this.#deps.newId('A');
    const leftCents = this.remainingCharge(issued);
    const made = disputeOf(issued, { cents, disputeId, leftCents, reason, date: this.#date() });
    const entry = await this.#create(dispute, made.dispute, disputeId);
    const opened = Object.assign(entry, { operation: await this.#addOperation(made.operation) });
    issued.disputes.push(opened);
    return opened;
  }

  /** Moves a dispute to another status; the status of its billing operation follows. */
  async setDisputeStatus(opened: OpenedDispute, status: DisputeStatus): Promise<void> {
    requireTransition('dispute', opened.doc.status, status);
    await this.#withStatusEvents([opened.operation], () => this.#update(dispute, opened, { status }));
  }

  #date(): string {
    return formatTimestamp(this.#deps.now());
  }

  /** "An invoice aggregates purchase and refund billing operations": not those with a transfer, and no disputes. */
  async #addOperation(doc: BillingOperation): Promise<Operation> {
    const entry = await this.#create(billingOperation, doc);
    const operation: Operation = Object.assign(entry, { invoice: undefined, refunds: [] });
    if (doc.refundId !== undefined) return operation;
    const key = `${doc.billingProfileId}/${invoiceKindOf(doc.operationType)}`;
    const open = this.#uninvoiced.get(key);
    if (open) open.push(operation);
    else this.#uninvoiced.set(key, [operation]);
    return operation;
  }

  async #create<Doc extends object>(resource: Resource, doc: Doc, id?: string): Promise<Entry<Doc>> {
    const { recorder } = this.#deps;
    return toEntry(await recorder.create(resource, toJson(doc), id === undefined ? {} : { id }));
  }

  async #update<Doc extends object>(
    resource: Resource,
    entry: Entry<Doc>,
    changes: Partial<Doc>,
  ): Promise<void> {
    const { doc } = await this.#deps.recorder.replace(
      resource,
      toStored(entry),
      toJson({ ...entry.doc, ...changes }),
    );
    entry.doc = doc as Doc;
  }

  /** Appends an update event for each operation whose derived status the work changes without writing it. */
  async #withStatusEvents(operations: Operation[], work: () => Promise<void>): Promise<void> {
    const { transaction, appendEvent } = this.#deps.recorder;
    const stored = operations.map(toStored);
    const before = await serializeAll(billingOperation, stored, transaction);
    await work();
    const after = await serializeAll(billingOperation, stored, transaction);
    for (const [position, now] of after.entries()) {
      const previous = before[position] ?? {};
      if (stringMember(previous, 'status') !== stringMember(now, 'status'))
        appendEvent('billingOperation.updated', now, previousAttributes(previous, now));
    }
  }
}

const descriptions = { booking: 'Bookings', other: 'Other services', subscription: 'Subscription' };

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

/** The schema has accepted the document, so that only its type changes. */
function toEntry<Doc>(stored: StoredResource): Entry<Doc> {
  return { ...stored, doc: stored.doc as Doc };
}

/** The reverse of `toEntry`. */
function toStored({ type, id, parentId, createdAt, doc }: Entry<object>): StoredResource {
  return { type, id, parentId, createdAt, doc: doc as JsonObject };
}
