import { conflict, createCharge, createInvoice } from './charges.ts';
import { type BookingFixture, openBookingFixture, summarizeEvents } from './fixture.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

const status = async (path: string) => (await at.get(path))['status'];

describe('an invoice', () => {
  test('contains all uninvoiced purchases of its kind, minus their refunds', async () => {
    const { profileId, purchase } = await createCharge(at);
    const [second, refund] = await at.transact(async (service) => [
      await service.charge({
        billingProfileId: profileId,
        operationType: 'subscription',
        price: { currency: 'EUR', total: 0.1 },
        description: 'a',
      }),
      await service.refundOperation({ billingOperationId: purchase.id, total: 33.33, description: 'Sorry' }),
      await service.charge({
        billingProfileId: profileId,
        operationType: 'other',
        price: { currency: 'EUR', total: 9 },
        description: 'not of the kind',
      }),
    ]);
    await at.newEvents();
    const [invoice, ...more] = await at.transact((service) =>
      service.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }),
    );
    expect(more).toEqual([]);
    const id = invoice?.id ?? '';
    expect(await at.get(`/invoices/${id}`)).toMatchObject({
      amount: { currency: 'EUR', total: 66.77 },
      billingOperationsCount: 3,
      billingProfileId: profileId,
      description: 'Subscription',
      kind: 'subscription',
      status: 'open',
      reference: expect.stringMatching(/^INV-/),
    });
    const listed = await at.all(`/invoices/${id}/billing-operations`);
    expect(listed.map((one) => one['id'])).toEqual([purchase.id, second?.id, refund?.id]);
    expect(summarizeEvents(await at.newEvents())).toEqual([
      ['invoice.created', id],
      ['billingOperation.updated', purchase.id, { invoiceId: null, status: 'delayed' }],
      ['billingOperation.updated', second?.id, { invoiceId: null, status: 'delayed' }],
      ['billingOperation.updated', refund?.id, { invoiceId: null }],
    ]);
    const again = await at.transact((service) =>
      service.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }),
    );
    expect(again).toEqual([]);
  });

  test('contains a single currency', async () => {
    const { profileId } = await createCharge(at, 100, 'EUR');
    for (const currency of ['USD', 'EUR']) {
      const price = { currency, total: 5 };
      await at.transact((service) =>
        service.charge({
          billingProfileId: profileId,
          operationType: 'subscription',
          price,
          description: 'x',
        }),
      );
    }
    const invoices = await at.transact((service) =>
      service.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }),
    );
    expect(invoices.map(({ doc }) => [doc.amount, doc.billingOperationsCount])).toEqual([
      [{ currency: 'EUR', total: 105 }, 2],
      [{ currency: 'USD', total: 5 }, 1],
    ]);
  });

  test('has base and tax if all of its operations have them', async () => {
    const profileId = await at.profile();
    await at.transact(async (service) => {
      for (const total of [10.01, 20.02, 0.03]) {
        const price = { currency: 'EUR', total, taxRate: 20 };
        await service.charge({
          billingProfileId: profileId,
          operationType: 'other',
          price,
          description: 'x',
        });
      }
    });
    const [invoice] = await at.transact((service) =>
      service.invoiceProfile({ billingProfileId: profileId, kind: 'other' }),
    );
    expect(invoice?.doc.amount).toEqual({
      base: 25.04,
      currency: 'EUR',
      tax: 5.02,
      taxRate: 20,
      total: 30.06,
    });
  });

  test.each([
    ['booking', ['booking', 'car', 'flight', 'hotel', 'rail', 'seminar']],
    ['other', ['other']],
    ['subscription', ['subscription']],
  ] as const)('of the kind %s takes %s operations', async (kind, types) => {
    const profileId = await at.profile();
    const travelerId = await at.traveler({ billingProfileId: profileId });
    await at.transact(async (service) => {
      for (const type of ['booking', 'car', 'flight', 'hotel', 'rail', 'seminar'] as const) {
        await service.bookOffline({ travelerId, kind: type, price: { currency: 'EUR', total: 1 } });
      }
      for (const operationType of ['other', 'subscription'] as const) {
        const price = { currency: 'EUR', total: 1 };
        await service.charge({ billingProfileId: profileId, operationType, price, description: 'x' });
      }
    });
    const [invoice] = await at.transact((service) =>
      service.invoiceProfile({ billingProfileId: profileId, kind }),
    );
    const listed = await at.all(`/invoices/${invoice?.id}/billing-operations`);
    expect(listed.map((one) => one['operationType'])).toEqual(types);
  });

  test('that is paid appends an update event for every purchase on it', async () => {
    const { purchase, invoiceId } = await createInvoice(at);
    await at.transact((service) => service.payInvoice(invoiceId, 'TR-1'));
    expect(summarizeEvents(await at.newEvents())).toEqual([
      ['invoice.updated', invoiceId, { paymentReference: null, status: 'open' }],
      ['billingOperation.updated', purchase.id, { status: 'open' }],
    ]);
    expect(await at.get(`/invoices/${invoiceId}`)).toMatchObject({
      status: 'paid',
      paymentReference: 'TR-1',
    });
  });

  const moves = {
    paid: 'payInvoice',
    void: 'voidInvoice',
    uncollectible: 'markInvoiceUncollectible',
  } as const;
  const states = ['open', 'paid', 'void', 'uncollectible'] as const;
  test.each(
    states.flatMap((from) =>
      (['paid', 'void', 'uncollectible'] as const).map((to) => {
        const legal = from === 'open' || (from === 'uncollectible' && to === 'paid');
        return [from, to, legal] as const;
      }),
    ),
  )('the change from %s to %s is allowed: %s', async (from, to, legal) => {
    const { invoiceId } = await createInvoice(at);
    if (from !== 'open') await at.transact((service) => service[moves[from]](invoiceId));
    await at.newEvents();
    const done = at.transact((service) => service[moves[to]](invoiceId));
    if (legal) {
      expect((await done).doc.status).toBe(to);
    } else {
      await expect(done).rejects.toEqual(conflict);
      expect([await status(`/invoices/${invoiceId}`), await at.newEvents()]).toEqual([from, []]);
    }
  });
});
