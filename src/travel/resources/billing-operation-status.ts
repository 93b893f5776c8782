import { type JsonObject, textOf } from '../json.ts';
import type { ResourceRef } from '../ports.ts';

/**
 * The resource whose status is that of a billing operation (specification, "Derivation of the billing operation status"):
 * the invoice of a purchase, the refund resource of a refund, the dispute of a dispute. A refund resource is `delayed`
 * itself for as long as its invoice is not paid, so that it alone tells a refund's status.
 */
export function statusSource(doc: JsonObject): ResourceRef | undefined {
  const source = sources.get(textOf(doc, 'transactionKind') ?? '');
  const id = source && textOf(doc, source.field);
  return source && id !== undefined ? { type: source.type, id } : undefined;
}

/** The derived status, by that of the source; without one, no invoice was emitted yet when it was made. */
export function billingOperationStatus(doc: JsonObject, ofSource: string | undefined): string {
  return ofSource ?? (doc['transactionKind'] === 'refund' ? 'succeeded' : 'delayed');
}

const sources = new Map([
  ['purchase', { field: 'invoiceId', type: 'invoice' }],
  ['refund', { field: 'refundId', type: 'refund' }],
  ['dispute', { field: 'disputeId', type: 'dispute' }],
]);
