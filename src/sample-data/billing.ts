import { amountOf, centsOf } from '../travel/resources/amounts.ts';
import type { DisputeReason, DisputeStatus } from '../travel/resources/billing-rules.ts';
import type { Branch } from './company.ts';
import type { SimulationContext } from './context.ts';
import type { IssuedInvoice, IssuedRefund } from './ledger.ts';
import { DAY, HOUR, LENGTH, randomTime, type Story } from './simulation.ts';
import { price } from './trip-plan.ts';

/** Bills every branch on the first of each month, and starts the payment of its invoices. */
export async function* billBranches(simulation: SimulationContext): Story {
  const { company, ledger, now, options, schedule } = simulation;
  const examples = { issued: 0, isVoided: false, isDisputed: false };
  for (let month = nextMonth(options.now - LENGTH); month < options.now; month = nextMonth(month))
    for (const [position, branch] of company.branches.entries()) {
      yield month + 5 * HOUR + position * 60_000;
      await chargeMonth(simulation, branch);
      for (const kind of ['subscription', 'other', 'booking'] as const)
        for (const invoice of await ledger.issueInvoices(branch.billingProfileId, kind))
          schedule.add(now(), endInvoice(simulation, invoice, examples));
    }
}

function nextMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

const services = [
  { operationType: 'seminar' as const, description: 'Seminar of two days', euros: 2400 },
  { operationType: 'other' as const, description: 'Visa service', euros: 180 },
  { operationType: 'other' as const, description: 'Airport transfer', euros: 90 },
];

/** Charges a branch for the subscription of the month, and sometimes for another service. */
async function chargeMonth({ ledger, random }: SimulationContext, branch: Branch): Promise<void> {
  const { billingProfileId, currency, headcount } = branch;
  await ledger.purchase({
    amount: amountOf(4900 + 400 * headcount, { currency, taxRate: 20 }),
    billingProfileId,
    description: `Subscription, ${headcount} users`,
    operationType: 'subscription',
  });
  if (random.datatype.boolean(0.7)) return;
  const { euros, ...service } = random.helpers.arrayElement(services);
  const cost = price(euros, { currency, random }, 20);
  await ledger.purchase({ amount: amountOf(centsOf(cost), cost), billingProfileId, ...service });
}

/**
 * The numbers of the invoices that become uncollectible and void. If one cannot, the next that can is used, so that
 * every company has an example of both.
 */
const UNCOLLECTIBLE = 5;
const VOID = 8;

/** Most invoices are paid within some weeks, some later, and some stay open. The first payment for bookings is disputed. */
async function* endInvoice(
  simulation: SimulationContext,
  invoice: IssuedInvoice,
  examples: { issued: number; isVoided: boolean; isDisputed: boolean },
): Story {
  const { ledger, now, random } = simulation;
  const { kind } = invoice.doc;
  examples.issued += 1;
  if (examples.issued === UNCOLLECTIBLE) {
    yield now() + 90 * DAY;
    return ledger.setInvoiceStatus(invoice, { status: 'uncollectible' });
  }
  if (examples.issued >= VOID && !examples.isVoided && kind === 'subscription') {
    examples.isVoided = true;
    yield now() + 2 * DAY;
    return ledger.setInvoiceStatus(invoice, { status: 'void' });
  }
  if (random.datatype.boolean(0.04)) return;
  const [from, to] = random.datatype.boolean(0.85) ? [8, 32] : [33, 70];
  yield randomTime(random, now() + from * DAY, now() + to * DAY);
  const paymentReference = `TR-${invoice.id.slice(-8).toUpperCase()}`;
  await ledger.setInvoiceStatus(invoice, { status: 'paid', paymentReference });
  scheduleTransfers(simulation, invoice.refunds);
  if (kind !== 'booking') return;
  simulation.examples.invoiceId = invoice.id;
  const isDisputed = !examples.isDisputed || random.datatype.boolean(DISPUTED_SHARE);
  examples.isDisputed = true;
  if (isDisputed) yield* dispute(simulation, invoice);
}

/** The share of the paid invoices for bookings that are disputed. */
const DISPUTED_SHARE = 0.12;

/** The further statuses of a dispute after its first one, by the reason of the dispute. */
const disputes: { reason: DisputeReason; statuses: DisputeStatus[] }[] = [
  { reason: 'fraudulent', statuses: ['underReview', 'won'] },
  { reason: 'duplicate', statuses: ['underReview', 'lost', 'solved'] },
  { reason: 'productNotReceived', statuses: ['underReview', 'chargeRefunded', 'solved'] },
  { reason: 'unrecognized', statuses: ['underReview', 'won'] },
  { reason: 'creditNotProcessed', statuses: ['solved'] },
  { reason: 'insufficientFunds', statuses: ['underReview'] },
  { reason: 'general', statuses: [] },
  { reason: 'warningNeedsResponse', statuses: ['warningUnderReview', 'warningClosed'] },
  { reason: 'warningNeedsResponse', statuses: ['needsResponse', 'underReview', 'lost'] },
];

/** A dispute about a random part of the charge. Parts below 1 are not disputed. */
async function* dispute({ ledger, now, random }: SimulationContext, invoice: IssuedInvoice): Story {
  yield randomTime(random, now() + 6 * DAY, now() + 25 * DAY);
  const { reason, statuses } = random.helpers.arrayElement(disputes);
  const cents = Math.floor(ledger.remainingCharge(invoice) * random.number.float({ min: 0.1, max: 0.9 }));
  if (cents < 100) return;
  const opened = await ledger.dispute(invoice, reason, cents);
  for (const status of statuses) {
    yield randomTime(random, now() + 3 * DAY, now() + 14 * DAY);
    await ledger.setDisputeStatus(opened, status);
  }
}

/** Starts the transfer of those refunds that wait for it. A delayed refund waits until its invoice is paid. */
export function scheduleTransfers(
  simulation: SimulationContext,
  refunds: (IssuedRefund | undefined)[],
): void {
  for (const refund of refunds)
    if (refund?.doc.status === 'waiting')
      simulation.schedule.add(simulation.now(), transfer(simulation, refund));
}

const outcomes = [
  { value: 'succeeded' as const, weight: 90 },
  { value: 'failed' as const, weight: 6 },
  { value: 'canceled' as const, weight: 4 },
];

async function* transfer({ ledger, now, random }: SimulationContext, refund: IssuedRefund): Story {
  yield randomTime(random, now() + DAY, now() + 4 * DAY);
  await ledger.setRefundStatus(refund, 'pending');
  yield randomTime(random, now() + DAY, now() + 5 * DAY);
  await ledger.setRefundStatus(refund, random.helpers.weightedArrayElement(outcomes));
}
