import { DISPUTES } from '../resources/dispute.ts';
import { REFUNDS } from '../resources/refund.ts';
import { type Desk, find, type Kept } from './desk.ts';
import { centsOf } from './money.ts';

/**
 * The cents of each invoice, by its id, that can still be given back: its amount less the refunds that are or will be
 * transferred, and less what the billing provider refunds for disputes that are not won or closed.
 */
export async function leftOfCharges(
  desk: Desk,
  invoices: Pick<Kept<'invoice'>, 'id' | 'doc'>[],
): Promise<Map<string, number>> {
  const values = invoices.map(({ id }) => id);
  const disputes = await find(desk, 'dispute', { name: DISPUTES, values });
  const refunds = await find(desk, 'refund', { name: REFUNDS, values });
  const left = new Map(invoices.map(({ id, doc }) => [id, centsOf(doc.amount)]));
  for (const { doc } of [
    ...disputes.filter((one) => !['won', 'warningClosed'].includes(one.doc.status)),
    ...refunds.filter((one) => !['failed', 'canceled'].includes(one.doc.status)),
  ]) {
    left.set(doc.invoiceId, (left.get(doc.invoiceId) ?? 0) - centsOf(doc.amount));
  }
  return left;
}
