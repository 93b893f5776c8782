import { type BookingFixture, openBookingFixture } from './fixture.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

test('an invoice can contain any number of operations', async () => {
  const profileId = await at.profile();
  const price = { currency: 'EUR', total: 0.01 };
  await at.transact(async (service) => {
    for (let number = 0; number < 1200; number++) {
      await service.charge({
        billingProfileId: profileId,
        operationType: 'other',
        price,
        description: `${number}`,
      });
    }
  });
  const [invoice] = await at.transact((service) =>
    service.invoiceProfile({ billingProfileId: profileId, kind: 'other' }),
  );
  expect(invoice?.doc).toMatchObject({ amount: { total: 12 }, billingOperationsCount: 1200 });
  await at.transact((service) => service.payInvoice(invoice?.id ?? ''));
  const listed = await at.all(`/invoices/${invoice?.id}/billing-operations`);
  expect(listed.map((one) => one['description'])).toEqual(Array.from({ length: 1200 }, (_one, n) => `${n}`));
  expect(new Set(listed.map((one) => one['status']))).toEqual(new Set(['paid']));
});
