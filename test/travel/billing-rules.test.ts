import fc from 'fast-check';
import type { BillingOperation, Invoice } from '../../src/travel/resources/billing.ts';
import { disputeStatuses, invoiceStatuses, refundStatuses } from '../../src/travel/resources/billing.ts';
import {
  disputeOf,
  invoiceOf,
  refundOf,
  remainingCents,
  requireTransition,
} from '../../src/travel/resources/billing-rules.ts';

const eur = (total: number) => ({ currency: 'EUR', total });
const date = '2026-11-20T12:00:00Z';
const purchase: BillingOperation = {
  ...{ amount: eur(100), billingProfileId: 'profile', date, description: 'Retreat' },
  ...{ operationType: 'seminar', transactionKind: 'purchase' },
};
const heading = { billingProfileId: 'profile', description: 'Bookings', kind: 'booking', reference: 'INV-1' };
const invoice = (status: string): { id: string; doc: Invoice } => {
  return { id: 'invoice', doc: { ...invoiceOf([purchase], heading), status } };
};

const lives: Record<'invoice' | 'refund' | 'dispute', [readonly string[], Record<string, string[]>]> = {
  invoice: [invoiceStatuses, { open: ['paid', 'uncollectible', 'void'], uncollectible: ['paid'] }],
  refund: [
    refundStatuses,
    {
      delayed: ['waiting', 'canceled'],
      waiting: ['pending', 'canceled'],
      pending: ['succeeded', 'failed', 'canceled'],
    },
  ],
  dispute: [
    disputeStatuses,
    {
      warningNeedsResponse: ['warningUnderReview', 'warningClosed', 'needsResponse'],
      warningUnderReview: ['warningClosed', 'needsResponse'],
      needsResponse: ['underReview', 'chargeRefunded', 'won', 'lost', 'solved'],
      underReview: ['chargeRefunded', 'won', 'lost', 'solved'],
      chargeRefunded: ['solved'],
      lost: ['solved'],
    },
  ],
};
const types = ['invoice', 'refund', 'dispute'] as const;
test.each(
  types.flatMap((type) => lives[type][0].map((from) => [type, from, lives[type][1][from] ?? []] as const)),
)('the %s with the status %s can become only %j', (type, from, next) => {
  const allowed = lives[type][0].filter((to) => {
    try {
      requireTransition(type, from, to);
      return true;
    } catch {
      return false;
    }
  });
  expect(allowed.toSorted()).toEqual(next.toSorted());
});

test('an invoice sums its purchases minus their refunds', () => {
  const refund = { ...purchase, amount: eur(30), transactionKind: 'refund' };
  expect(invoiceOf([purchase, purchase, refund], heading)).toEqual({
    ...{ ...heading, amount: eur(170), billingOperationsCount: 3, status: 'open' },
  });
});

const request = {
  cents: 4000,
  leftCents: 10_000,
  date,
  description: 'Goodwill',
  refundId: 'refund',
  reference: 'REF-1',
};

test('a refund before the invoice has no refund resource', () => {
  expect(refundOf({ id: 'bought', doc: purchase }, undefined, request)).toEqual({
    operation: {
      ...{ ...purchase, amount: eur(40), description: 'Goodwill' },
      ...{ purchaseBillingOperationId: 'bought', transactionKind: 'refund' },
    },
  });
});

test.each([
  ['open', 'delayed'],
  ['uncollectible', 'delayed'],
  ['paid', 'waiting'],
])(
  'a refund after an invoice that is %s has a refund resource that is %s, and is not on the invoice',
  (status, refund) => {
    const bought = { id: 'bought', doc: { ...purchase, invoiceId: 'invoice' } };
    const made = refundOf(bought, invoice(status), request);
    expect(made.operation).toMatchObject({ refundId: 'refund' });
    expect(made.operation).not.toHaveProperty('invoiceId');
    expect(made.refund).toEqual({
      amount: eur(40),
      invoiceId: 'invoice',
      reference: 'REF-1',
      status: refund,
    });
  },
);

test('a refund is a part of what is left of its purchase, and a void invoice has none', () => {
  const bought = { id: 'bought', doc: purchase };
  for (const cents of [0, -1, 10_001])
    expect(() => refundOf(bought, undefined, { ...request, cents })).toThrow('10000 hundredths');
  expect(() => refundOf(bought, invoice('void'), request)).toThrow('void');
});

test('a dispute concerns a paid invoice, and what is left of its charge', () => {
  const asked = { cents: 4000, leftCents: 10_000, date, reason: 'duplicate' as const, disputeId: 'dispute' };
  for (const status of ['open', 'uncollectible', 'void'])
    expect(() => disputeOf(invoice(status), asked)).toThrow('not paid');
  expect(() => disputeOf(invoice('paid'), { ...asked, leftCents: 3999 })).toThrow('3999 hundredths');
  const { dispute, operation } = disputeOf(invoice('paid'), asked);
  expect(dispute).toEqual({
    amount: eur(40),
    invoiceId: 'invoice',
    reason: 'duplicate',
    status: 'needsResponse',
  });
  expect(operation).toMatchObject({
    ...{ amount: eur(40), billingProfileId: 'profile', disputeId: 'dispute', refundId: 'dispute' },
    ...{ operationType: 'booking', transactionKind: 'dispute' },
  });
  expect(operation).not.toHaveProperty('invoiceId');
});

test('a warning needs a response first', () => {
  const asked = { cents: 1, leftCents: 1, date, disputeId: 'dispute' };
  const reason = 'warningNeedsResponse' as const;
  expect(disputeOf(invoice('paid'), { ...asked, reason }).dispute.status).toBe(reason);
});

test('what failed, was canceled, won or closed takes nothing from a charge', () => {
  const ended = ['failed', 'canceled', 'won', 'warningClosed'];
  const taken = fc.record({
    amount: fc.integer({ min: 1, max: 2000 }).map((cents) => eur(cents / 100)),
    status: fc.constantFrom(...refundStatuses, ...disputeStatuses),
  });
  fc.assert(
    fc.property(fc.array(taken, { maxLength: 5 }), (all) => {
      const live = all.filter(({ status }) => !ended.includes(status));
      const sum = live.reduce((cents, { amount }) => cents + Math.round(amount.total * 100), 0);
      expect(remainingCents({ amount: eur(100) }, all)).toBe(10_000 - sum);
    }),
  );
});
