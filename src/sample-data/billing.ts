import { amountOf } from '../travel/resources/amounts.ts';
import type { DisputeReason, DisputeStatus } from '../travel/resources/billing-rules.ts';
import type { Invoice, Repayment } from './ledger.ts';
import { addDispute, addPurchase, issueInvoice, remainingCharge, setStatus } from './ledger.ts';
import { localeOf } from './reference-data.ts';
import { DAY, LENGTH, later, type Process, type Simulation } from './simulation.ts';

/** The services that a branch purchases each month, with their prices in hundredths and frequency. */
const services = [
  { operationType: 'subscription', description: 'Subscription', cents: 25_000, share: 1 },
  { operationType: 'seminar', description: 'Seminar of two days', cents: 240_000, share: 0.1 },
  { operationType: 'other', description: 'Visa service', cents: 18_000, share: 0.2 },
];

/** Bills every branch for its services and bookings on the first of each month. */
export async function* billBranches(simulation: Simulation): Process {
  const { company, options, random, start } = simulation;
  let issued = 0;
  for (let month = nextMonth(options.now - LENGTH); month < options.now; month = nextMonth(month)) {
    yield month;
    for (const branch of company.branches) {
      const billingProfileId = company.idOf(branch.name);
      for (const { cents, share, ...service } of services) {
        if (!random.datatype.boolean(share)) continue;
        const amount = amountOf(cents, { currency: localeOf(branch).currency, taxRate: 20 });
        await addPurchase(simulation, { ...service, amount, billingProfileId });
      }
      for (const kind of ['subscription', 'other', 'booking'] as const) {
        const invoice = await issueInvoice(simulation, billingProfileId, kind);
        if (invoice) issued += 1;
        if (invoice) start(endInvoice(simulation, invoice, issued));
      }
    }
  }
}

function nextMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** The invoices that are not paid, by their number: every company has an example of both. */
const endings: Record<number, 'uncollectible' | 'void'> = { 5: 'uncollectible', 8: 'void' };

/** Most invoices are paid within some weeks, and some stay open. Some payments for bookings are disputed. */
async function* endInvoice(simulation: Simulation, invoice: Invoice, number: number): Process {
  const { examples, random } = simulation;
  const status = endings[number] ?? 'paid';
  if (status === 'paid' && random.datatype.boolean(0.04)) return;
  yield later(simulation, 8 * DAY, 45 * DAY);
  if (status !== 'paid') return setStatus(simulation, 'invoice', invoice, { status });
  const paymentReference = `TR-${invoice.id.slice(-8).toUpperCase()}`;
  await setStatus(simulation, 'invoice', invoice, { status, paymentReference });
  for (const refund of invoice.repayments) startTransfer(simulation, refund);
  if (invoice.doc.kind !== 'booking') return;
  const isFirst = examples.invoiceId === undefined;
  examples.invoiceId = invoice.id;
  if (isFirst || random.datatype.boolean(0.12)) yield* dispute(simulation, invoice);
}

/** The further statuses of a dispute after its first one, by the reason of the dispute. */
const disputes: { reason: DisputeReason; statuses: DisputeStatus[] }[] = [
  { reason: 'fraudulent', statuses: ['underReview', 'won'] },
  { reason: 'duplicate', statuses: ['underReview', 'lost', 'solved'] },
  { reason: 'productNotReceived', statuses: ['underReview', 'chargeRefunded', 'solved'] },
  { reason: 'general', statuses: [] },
  { reason: 'warningNeedsResponse', statuses: ['warningUnderReview', 'warningClosed'] },
];

/** A dispute about a tenth of what is left of the charge. Parts below 1 are not disputed. */
async function* dispute(simulation: Simulation, invoice: Invoice): Process {
  yield later(simulation, 6 * DAY, 25 * DAY);
  const { reason, statuses } = simulation.random.helpers.arrayElement(disputes);
  const cents = Math.floor(remainingCharge(invoice) / 10);
  if (cents < 100) return;
  const opened = await addDispute(simulation, invoice, reason, cents);
  for (const status of statuses) {
    yield later(simulation, 3 * DAY, 14 * DAY);
    await setStatus(simulation, 'dispute', opened, { status });
  }
}

/** Starts the transfer of a refund that waits for it. A delayed one waits until its invoice is paid. */
export function startTransfer(simulation: Simulation, refund: Repayment | undefined): void {
  if (refund?.doc.status === 'waiting') simulation.start(transfer(simulation, refund));
}

async function* transfer(simulation: Simulation, refund: Repayment): Process {
  yield later(simulation, DAY, 4 * DAY);
  await setStatus(simulation, 'refund', refund, { status: 'pending' });
  yield later(simulation, DAY, 5 * DAY);
  const status = simulation.draw({ succeeded: 90, failed: 6, canceled: 4 });
  await setStatus(simulation, 'refund', refund, { status });
}
