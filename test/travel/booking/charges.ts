import type { StoredOperation } from '../../../src/travel/booking/context.ts';
import type { BookingFixture } from './fixture.ts';

/** The error of a refused booking operation. */
export const conflict = expect.objectContaining({ name: 'ApiError', code: 'conflict' });

/** A billing profile with a charge. */
export interface ChargedProfile {
  profileId: string;
  purchase: StoredOperation;
}

/** Creates a billing profile charged for a subscription. */
export async function createCharge(
  at: BookingFixture,
  total = 100,
  currency = 'EUR',
): Promise<ChargedProfile> {
  const profileId = await at.profile();
  const price = { currency, total };
  const purchase = await at.transact((service) =>
    service.charge({
      billingProfileId: profileId,
      operationType: 'subscription',
      price,
      description: 'December',
    }),
  );
  await at.newEvents();
  return { profileId, purchase };
}

/** The same, invoiced. */
export async function createInvoice(
  at: BookingFixture,
  total = 100,
): Promise<ChargedProfile & { invoiceId: string }> {
  const scene = await createCharge(at, total);
  const invoices = await at.transact((service) =>
    service.invoiceProfile({ billingProfileId: scene.profileId, kind: 'subscription' }),
  );
  await at.newEvents();
  return { ...scene, invoiceId: invoices[0]?.id ?? '' };
}

/** The same, invoiced and paid. */
export async function createPaidInvoice(at: BookingFixture, total = 100) {
  const scene = await createInvoice(at, total);
  await at.transact((service) => service.payInvoice(scene.invoiceId));
  await at.newEvents();
  return scene;
}
