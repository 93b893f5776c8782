import type { DisputeStatus } from '../../../src/travel/booking/transitions.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { conflict, createInvoice, createPaidInvoice } from './charges.ts';
import { type BookingFixture, openBookingFixture, summarizeEvents } from './fixture.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

describe('a dispute', () => {
  test('concerns a paid invoice only', async () => {
    const { invoiceId } = await createInvoice(at);
    const dispute = () => at.transact((service) => service.disputeInvoice({ invoiceId, reason: 'general' }));
    await expect(dispute()).rejects.toEqual(conflict);
    await at.transact((service) => service.markInvoiceUncollectible(invoiceId));
    await expect(dispute()).rejects.toEqual(conflict);
    await at.transact((service) => service.payInvoice(invoiceId));
    expect((await dispute()).dispute.doc.status).toBe('needsResponse');
  });

  test('creates a dispute resource and an operation that is not on the invoice, and no refund', async () => {
    const { invoiceId, profileId, purchase } = await createPaidInvoice(at);
    const { dispute, operation } = await at.transact((service) =>
      service.disputeInvoice({ invoiceId, reason: 'warningNeedsResponse', total: 60 }),
    );
    expect(await at.get(`/disputes/${dispute.id}`)).toMatchObject({
      amount: { currency: 'EUR', total: 60 },
      invoiceId,
      reason: 'warningNeedsResponse',
      status: 'warningNeedsResponse',
    });
    const answered = await at.get(`/billing-operations/${operation.id}`);
    expect(answered).toMatchObject({
      billingProfileId: profileId,
      disputeId: dispute.id,
      operationType: 'subscription',
      refundId: expect.stringMatching(/^[0-9a-f]{24}$/),
      transactionKind: 'dispute',
    });
    expect(await at.all('/refunds')).toEqual([]);
    const listed = await at.all(`/invoices/${invoiceId}/billing-operations`);
    expect(listed.map((one: JsonObject) => one['id'])).toEqual([purchase.id]);
    expect(summarizeEvents(await at.newEvents())).toEqual([
      ['dispute.created', dispute.id],
      ['billingOperation.created', operation.id],
    ]);
    await at.transact((service) => service.setDisputeStatus(dispute.id, 'needsResponse'));
    expect(summarizeEvents(await at.newEvents())).toEqual([
      ['dispute.updated', dispute.id, { status: 'warningNeedsResponse' }],
      ['billingOperation.updated', operation.id, { status: 'warningNeedsResponse' }],
    ]);
  });

  test('never exceeds what is left of the charge', async () => {
    const { invoiceId, purchase } = await createPaidInvoice(at);
    await at.transact((service) => service.refundOperation({ billingOperationId: purchase.id, total: 30 }));
    const dispute = (total?: number) =>
      at.transact((service) =>
        service.disputeInvoice({ invoiceId, reason: 'duplicate', ...(total === undefined ? {} : { total }) }),
      );
    await expect(dispute(70.01)).rejects.toEqual(conflict);
    const first = await dispute();
    expect(first.dispute.doc.amount.total).toBe(70);
    await expect(dispute()).rejects.toEqual(conflict);
    await at.transact((service) => service.setDisputeStatus(first.dispute.id, 'won'));
    expect((await dispute(10)).dispute.doc.amount.total).toBe(10);
  });

  const ends: DisputeStatus[] = ['chargeRefunded', 'won', 'lost', 'solved'];
  /** Each status with a path to it and its successors. */
  const lives: [DisputeStatus, DisputeStatus[], DisputeStatus[]][] = [
    ['warningNeedsResponse', [], ['warningUnderReview', 'warningClosed', 'needsResponse']],
    ['warningUnderReview', ['warningUnderReview'], ['warningClosed', 'needsResponse']],
    ['warningClosed', ['warningClosed'], []],
    ['needsResponse', ['needsResponse'], ['underReview', ...ends]],
    ['underReview', ['needsResponse', 'underReview'], ends],
    ['chargeRefunded', ['needsResponse', 'chargeRefunded'], ['solved']],
    ['won', ['needsResponse', 'won'], []],
    ['lost', ['needsResponse', 'lost'], ['solved']],
    ['solved', ['needsResponse', 'solved'], []],
  ];
  test.each(lives)(
    'with the status %s, reached by way of %j, can change only to one of %j',
    async (_from, way, next) => {
      const { invoiceId } = await createPaidInvoice(at, 1000);
      for (const to of lives.map(([state]) => state)) {
        const { dispute } = await at.transact((service) =>
          service.disputeInvoice({ invoiceId, reason: 'warningNeedsResponse', total: 10 }),
        );
        for (const state of way) await at.transact((service) => service.setDisputeStatus(dispute.id, state));
        const move = at.transact((service) => service.setDisputeStatus(dispute.id, to));
        if (next.includes(to)) expect((await move).doc.status).toBe(to);
        else await expect(move).rejects.toEqual(conflict);
      }
    },
  );
});
