import { seconds } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { BillingOperation } from '../resources/billing-operation.ts';
import type { disputeReasons } from '../resources/dispute.ts';
import { add, type BookingDeps, change, get, type Kept, operationsOf, retelling } from './context.ts';
import { amountOf, centsOf, priced } from './prices.ts';
import { leftOfCharges } from './refunds.ts';
import { type DisputeStatus, mustFollow } from './transitions.ts';

/** The billing provider finds an issue with the charge of a paid invoice. */
export interface Complaint {
  invoiceId: string;
  /** `warningNeedsResponse` is a warning; every other reason is a dispute at once. */
  reason: (typeof disputeReasons)[number];
  /** Nothing said: what is left of the charge. */
  total?: number;
}

/**
 * "Created when the billing provider detects an issue with an already paid invoice and automatically refunds the
 * charge." The operation is of the invoice's kind and does not appear on the invoice. "`refundId` is filled", though "no
 * refund resource is created": it names the dispute, by which the provider knows its refund.
 */
export async function disputeInvoice(
  deps: BookingDeps,
  { invoiceId, reason, total }: Complaint,
): Promise<{ dispute: Kept<'dispute'>; operation: Kept<'billingOperation'> }> {
  const invoice = await get(deps, 'invoice', invoiceId);
  const cents = await disputed(deps, invoice, total);
  const amount = amountOf(cents, invoice.doc.amount);
  const status: DisputeStatus = reason === 'warningNeedsResponse' ? reason : 'needsResponse';
  const dispute = await add(deps, 'dispute', { amount, invoiceId, reason, status });
  const doc: BillingOperation = {
    amount,
    billingProfileId: invoice.doc.billingProfileId,
    date: seconds(deps.now()),
    description: `Dispute of invoice ${invoice.doc.reference ?? invoiceId}`,
    disputeId: dispute.id,
    operationType: invoice.doc.kind,
    refundId: dispute.id,
    transactionKind: 'dispute',
  };
  return { dispute, operation: await add(deps, 'billingOperation', doc) };
}

/** Another state of a dispute, told of its billing operation, too. */
export async function moveDispute(
  deps: BookingDeps,
  disputeId: string,
  status: DisputeStatus,
): Promise<Kept<'dispute'>> {
  const dispute = await get(deps, 'dispute', disputeId);
  mustFollow('dispute', dispute.doc.status, status);
  const operations = await operationsOf(deps, 'disputeId', [disputeId]);
  return retelling(deps, operations, () => change(deps, 'dispute', dispute, { status }));
}

/** No more than was charged, less what is given back already. */
async function disputed(
  deps: BookingDeps,
  { id, doc }: Kept<'invoice'>,
  total: number | undefined,
): Promise<number> {
  if (doc.status !== 'paid') throw new ApiError('conflict', `The invoice is ${doc.status}, and not paid.`);
  const left = (await leftOfCharges(deps, [{ id, doc }])).get(id) ?? 0;
  const { currency } = doc.amount;
  const cents = total === undefined ? left : centsOf(priced({ currency, total }));
  if (cents <= 0 || cents > left) {
    throw new ApiError('conflict', `Of the charge ${left / 100} ${currency} are left to dispute.`);
  }
  return cents;
}
