import type { StoredDocument } from '../../../src/travel/booking/context.ts';
import type { Office } from './office.ts';

/** The error of a refused booking operation. */
export const conflict = expect.objectContaining({ name: 'ApiError', code: 'conflict' });

/** A billing profile with a charge. */
export interface Scene {
  profileId: string;
  purchase: StoredDocument<'billingOperation'>;
}

/** Creates a billing profile charged for a subscription. */
export async function charged(at: Office, total = 100, currency = 'EUR'): Promise<Scene> {
  const profileId = await at.profile();
  const price = { currency, total };
  const purchase = await at.office((desk) =>
    desk.charge({
      billingProfileId: profileId,
      operationType: 'subscription',
      price,
      description: 'December',
    }),
  );
  await at.news();
  return { profileId, purchase };
}

/** The same, invoiced. */
export async function invoiced(at: Office, total = 100): Promise<Scene & { invoiceId: string }> {
  const scene = await charged(at, total);
  const invoices = await at.office((desk) =>
    desk.invoiceProfile({ billingProfileId: scene.profileId, kind: 'subscription' }),
  );
  await at.news();
  return { ...scene, invoiceId: invoices[0]?.id ?? '' };
}

/** The same, invoiced and paid. */
export async function paid(at: Office, total = 100) {
  const scene = await invoiced(at, total);
  await at.office((desk) => desk.payInvoice(scene.invoiceId));
  await at.news();
  return scene;
}
