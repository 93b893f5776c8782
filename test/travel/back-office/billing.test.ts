import type { Kept } from '../../../src/travel/back-office/desk.ts';
import type { DisputeStatus } from '../../../src/travel/back-office/transitions.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { flight } from './offers.ts';
import { brief, type Office, openOffice } from './office.ts';

let at: Office;
beforeEach(async () => {
  at = await openOffice();
});
afterEach(() => at.house.close());

const conflict = expect.objectContaining({ name: 'ApiError', code: 'conflict' });

interface Scene {
  profileId: string;
  purchase: Kept<'billingOperation'>;
}

/** A profile that was charged 100 for a subscription. */
async function charged(total = 100, currency = 'EUR'): Promise<Scene> {
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

async function invoiced(total = 100): Promise<Scene & { invoiceId: string }> {
  const scene = await charged(total);
  const invoices = await at.office((desk) =>
    desk.invoiceProfile({ billingProfileId: scene.profileId, kind: 'subscription' }),
  );
  await at.news();
  return { ...scene, invoiceId: invoices[0]?.id ?? '' };
}

async function paid(total = 100) {
  const scene = await invoiced(total);
  await at.office((desk) => desk.payInvoice(scene.invoiceId));
  await at.news();
  return scene;
}

const status = async (path: string) => (await at.get(path))['status'];
const statusOf = ({ id }: { id: string }) => status(`/billing-operations/${id}`);

describe('the status of a billing operation is derived', () => {
  test('purchase, no invoice emitted yet: `delayed`', async () => {
    const { purchase } = await charged();
    expect(await statusOf(purchase)).toBe('delayed');
  });

  test('purchase, an invoice exists: the status of that invoice', async () => {
    const { purchase, invoiceId } = await invoiced();
    expect(await statusOf(purchase)).toBe('open');
    await at.office((desk) => desk.giveUpInvoice(invoiceId));
    expect(await statusOf(purchase)).toBe('uncollectible');
    await at.office((desk) => desk.payInvoice(invoiceId));
    expect(await statusOf(purchase)).toBe('paid');
    const other = await invoiced();
    await at.office((desk) => desk.voidInvoice(other.invoiceId));
    expect(await statusOf(other.purchase)).toBe('void');
  });

  test('refund, no invoice emitted yet: `succeeded`, also when the purchase is invoiced and paid later', async () => {
    const { purchase, profileId } = await charged();
    const refund = await at.office((desk) =>
      desk.refundOperation({ billingOperationId: purchase.id, total: 30 }),
    );
    expect(await statusOf(refund)).toBe('succeeded');
    const [invoice] = await at.office((desk) =>
      desk.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }),
    );
    expect(await statusOf(refund)).toBe('succeeded');
    await at.office((desk) => desk.payInvoice(invoice?.id ?? ''));
    expect(await statusOf(refund)).toBe('succeeded');
  });

  test('refund performed while the invoice is still `open`: `delayed`', async () => {
    const { purchase, invoiceId } = await invoiced();
    const refund = await at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id }));
    expect(await statusOf(refund)).toBe('delayed');
    await at.office((desk) => desk.giveUpInvoice(invoiceId));
    expect(await statusOf(refund)).toBe('delayed');
  });

  test('refund, the corresponding invoice is `paid`: the status of the refund resource', async () => {
    const { purchase } = await paid();
    const refund = await at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id }));
    const refundId = refund.doc.refundId ?? '';
    const both = async () => [await statusOf(refund), await status(`/refunds/${refundId}`)];
    expect(await both()).toEqual(['waiting', 'waiting']);
    await at.office((desk) => desk.startTransfer(refundId));
    expect(await both()).toEqual(['pending', 'pending']);
    await at.office((desk) => desk.endTransfer(refundId, 'failed'));
    expect(await both()).toEqual(['failed', 'failed']);
  });

  test('dispute, always: the status of the dispute resource', async () => {
    const { invoiceId } = await paid();
    const { dispute, operation } = await at.office((desk) =>
      desk.disputeInvoice({ invoiceId, reason: 'fraudulent' }),
    );
    for (const next of ['underReview', 'lost', 'solved'] as const) {
      await at.office((desk) => desk.moveDispute(dispute.id, next));
      expect([await statusOf(operation), await status(`/disputes/${dispute.id}`)]).toEqual([next, next]);
    }
  });

  test('is kept nowhere', async () => {
    const { purchase } = await invoiced();
    const [kept] = await at.house.surroundings.store.read([{ type: 'billingOperation', id: purchase.id }]);
    expect(kept?.doc).not.toHaveProperty('status');
  });
});

describe('an invoice', () => {
  test('takes all purchases of its kind that were not invoiced, less the refunds they had', async () => {
    const { profileId, purchase } = await charged();
    const [second, refund] = await at.office(async (desk) => [
      await desk.charge({
        billingProfileId: profileId,
        operationType: 'subscription',
        price: { currency: 'EUR', total: 0.1 },
        description: 'a',
      }),
      await desk.refundOperation({ billingOperationId: purchase.id, total: 33.33, description: 'Sorry' }),
      await desk.charge({
        billingProfileId: profileId,
        operationType: 'other',
        price: { currency: 'EUR', total: 9 },
        description: 'not of the kind',
      }),
    ]);
    await at.news();
    const [invoice, ...more] = await at.office((desk) =>
      desk.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }),
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
    expect(brief(await at.news())).toEqual([
      ['invoice.created', id],
      ['billingOperation.updated', purchase.id, { status: 'delayed' }],
      ['billingOperation.updated', second?.id, { status: 'delayed' }],
      ['billingOperation.updated', refund?.id, {}],
    ]);
    const again = await at.office((desk) =>
      desk.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }),
    );
    expect(again).toEqual([]);
  });

  test('is emitted for each currency: they are never mixed', async () => {
    const { profileId } = await charged(100, 'EUR');
    for (const currency of ['USD', 'EUR']) {
      const price = { currency, total: 5 };
      await at.office((desk) =>
        desk.charge({
          billingProfileId: profileId,
          operationType: 'subscription',
          price,
          description: 'x',
        }),
      );
    }
    const invoices = await at.office((desk) =>
      desk.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }),
    );
    expect(invoices.map(({ doc }) => [doc.amount, doc.billingOperationsCount])).toEqual([
      [{ currency: 'EUR', total: 105 }, 2],
      [{ currency: 'USD', total: 5 }, 1],
    ]);
  });

  test('tells base and tax when all of its operations do', async () => {
    const profileId = await at.profile();
    await at.office(async (desk) => {
      for (const total of [10.01, 20.02, 0.03]) {
        const price = { currency: 'EUR', total, taxRate: 20 };
        await desk.charge({ billingProfileId: profileId, operationType: 'other', price, description: 'x' });
      }
    });
    const [invoice] = await at.office((desk) =>
      desk.invoiceProfile({ billingProfileId: profileId, kind: 'other' }),
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
    await at.office(async (desk) => {
      for (const type of ['booking', 'car', 'flight', 'hotel', 'rail', 'seminar'] as const) {
        await desk.bookOffline({ travelerId, kind: type, price: { currency: 'EUR', total: 1 } });
      }
      for (const operationType of ['other', 'subscription'] as const) {
        const price = { currency: 'EUR', total: 1 };
        await desk.charge({ billingProfileId: profileId, operationType, price, description: 'x' });
      }
    });
    const [invoice] = await at.office((desk) => desk.invoiceProfile({ billingProfileId: profileId, kind }));
    const listed = await at.all(`/invoices/${invoice?.id}/billing-operations`);
    expect(listed.map((one) => one['operationType'])).toEqual(types);
  });

  test('that is paid tells of every purchase on it', async () => {
    const { purchase, invoiceId } = await invoiced();
    await at.office((desk) => desk.payInvoice(invoiceId, 'TR-1'));
    expect(brief(await at.news())).toEqual([
      ['invoice.updated', invoiceId, { status: 'open' }],
      ['billingOperation.updated', purchase.id, { status: 'open' }],
    ]);
    expect(await at.get(`/invoices/${invoiceId}`)).toMatchObject({
      status: 'paid',
      paymentReference: 'TR-1',
    });
  });

  const moves = { paid: 'payInvoice', void: 'voidInvoice', uncollectible: 'giveUpInvoice' } as const;
  const states = ['open', 'paid', 'void', 'uncollectible'] as const;
  test.each(
    states.flatMap((from) =>
      (['paid', 'void', 'uncollectible'] as const).map((to) => {
        const legal = from === 'open' || (from === 'uncollectible' && to === 'paid');
        return [from, to, legal] as const;
      }),
    ),
  )('from %s to %s: %s', async (from, to, legal) => {
    const { invoiceId } = await invoiced();
    if (from !== 'open') await at.office((desk) => desk[moves[from]](invoiceId));
    await at.news();
    const done = at.office((desk) => desk[moves[to]](invoiceId));
    if (legal) {
      expect((await done).doc.status).toBe(to);
    } else {
      await expect(done).rejects.toEqual(conflict);
      expect([await status(`/invoices/${invoiceId}`), await at.news()]).toEqual([from, []]);
    }
  });
});

describe('a refund', () => {
  test('before the invoice makes no refund resource', async () => {
    const { purchase } = await charged();
    const refund = await at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id }));
    expect(await at.all('/refunds')).toEqual([]);
    const answered = await at.get(`/billing-operations/${refund.id}`);
    expect(answered).toMatchObject({
      amount: { currency: 'EUR', total: 100 },
      operationType: 'subscription',
      purchaseBillingOperationId: purchase.id,
      transactionKind: 'refund',
    });
    expect(answered).not.toHaveProperty('refundId');
    expect(answered).not.toHaveProperty('invoiceId');
    expect(brief(await at.news())).toEqual([['billingOperation.created', refund.id]]);
  });

  test('after the invoice makes one, and leaves the invoice as it was emitted', async () => {
    const { purchase, invoiceId } = await invoiced();
    const before = await at.get(`/invoices/${invoiceId}`);
    const refund = await at.office((desk) =>
      desk.refundOperation({ billingOperationId: purchase.id, total: 40 }),
    );
    const answered = await at.get(`/billing-operations/${refund.id}`);
    const refundId = String(answered['refundId']);
    expect(answered).not.toHaveProperty('invoiceId');
    expect(await at.get(`/refunds/${refundId}`)).toMatchObject({
      amount: { currency: 'EUR', total: 40 },
      invoiceId,
      status: 'delayed',
    });
    expect(await at.get(`/invoices/${invoiceId}`)).toEqual(before);
    expect(brief(await at.news())).toEqual([
      ['refund.created', refundId],
      ['billingOperation.created', refund.id],
    ]);
  });

  test('that waited for the payment of its invoice is transferred then', async () => {
    const { purchase, invoiceId } = await invoiced();
    const refund = await at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id }));
    const refundId = refund.doc.refundId ?? '';
    for (const outcome of ['succeeded', 'canceled'] as const) {
      await expect(at.office((desk) => desk.endTransfer(refundId, outcome))).rejects.toEqual(conflict);
    }
    await expect(at.office((desk) => desk.startTransfer(refundId))).rejects.toEqual(conflict);
    await at.news();
    await at.office((desk) => desk.payInvoice(invoiceId));
    expect(brief(await at.news())).toEqual([
      ['invoice.updated', invoiceId, { status: 'open' }],
      ['billingOperation.updated', purchase.id, { status: 'open' }],
      ['refund.updated', refundId, { status: 'delayed' }],
      ['billingOperation.updated', refund.id, { status: 'delayed' }],
    ]);
    await at.office((desk) => desk.startTransfer(refundId));
    await at.office((desk) => desk.endTransfer(refundId, 'succeeded'));
    expect(brief(await at.news())).toEqual([
      ['refund.updated', refundId, { status: 'waiting' }],
      ['billingOperation.updated', refund.id, { status: 'waiting' }],
      ['refund.updated', refundId, { status: 'pending' }],
      ['billingOperation.updated', refund.id, { status: 'pending' }],
    ]);
  });

  test('of an invoice that becomes void is canceled with it', async () => {
    const { purchase, invoiceId } = await invoiced();
    const refund = await at.office((desk) =>
      desk.refundOperation({ billingOperationId: purchase.id, total: 1 }),
    );
    await at.news();
    await at.office((desk) => desk.voidInvoice(invoiceId));
    expect(brief(await at.news())).toEqual([
      ['invoice.updated', invoiceId, { status: 'open' }],
      ['billingOperation.updated', purchase.id, { status: 'open' }],
      ['refund.updated', refund.doc.refundId, { status: 'delayed' }],
      ['billingOperation.updated', refund.id, { status: 'delayed' }],
    ]);
    expect(await statusOf(refund)).toBe('canceled');
    const again = at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id }));
    await expect(again).rejects.toEqual(conflict);
  });

  test('is never more than what is left of its purchase', async () => {
    const { purchase } = await charged();
    const give = (total?: number) =>
      at.office((desk) =>
        desk.refundOperation({ billingOperationId: purchase.id, ...(total === undefined ? {} : { total }) }),
      );
    for (const total of [100.01, 0, -1, 0.001, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(give(total)).rejects.toEqual(conflict);
    }
    await give(99.99);
    await expect(give(0.02)).rejects.toEqual(conflict);
    expect((await give()).doc.amount.total).toBe(0.01);
    await expect(give()).rejects.toEqual(conflict);
  });

  test('that failed can be issued again', async () => {
    const { purchase } = await paid();
    const give = () => at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id }));
    const first = await give();
    await expect(give()).rejects.toEqual(conflict);
    await at.office((desk) => desk.startTransfer(first.doc.refundId ?? ''));
    await at.office((desk) => desk.endTransfer(first.doc.refundId ?? '', 'failed'));
    expect((await give()).doc.amount).toEqual({ currency: 'EUR', total: 100 });
  });

  test('is of a purchase only', async () => {
    const { purchase } = await charged();
    const refund = await at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id }));
    const again = at.office((desk) => desk.refundOperation({ billingOperationId: refund.id }));
    await expect(again).rejects.toEqual(conflict);
    const unknown = at.office((desk) => desk.refundOperation({ billingOperationId: 'f'.repeat(24) }));
    await expect(unknown).rejects.toMatchObject({ code: 'notFound' });
  });

  const followers = Object.entries({
    delayed: [],
    waiting: ['pending', 'canceled'],
    pending: ['succeeded', 'failed', 'canceled'],
    succeeded: [],
    failed: [],
    canceled: [],
  });
  const transfer = followers.flatMap(([from, next]) =>
    ['pending', 'succeeded', 'failed', 'canceled'].map(
      (to) => [from, to, next.some((one) => one === to)] as const,
    ),
  );
  test.each(transfer)('goes from %s to %s: %s', async (from, to, legal) => {
    const { purchase } = await (from === 'delayed' ? invoiced() : paid());
    const refund = await at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id }));
    const id = refund.doc.refundId ?? '';
    const move = (state: string) =>
      at.office((desk) =>
        state === 'pending'
          ? desk.startTransfer(id)
          : desk.endTransfer(id, state as 'succeeded' | 'failed' | 'canceled'),
      );
    if (!['delayed', 'waiting'].includes(from)) await move('pending');
    if (!['delayed', 'waiting', 'pending'].includes(from)) await move(from);
    expect(await status(`/refunds/${id}`)).toBe(from);
    if (legal) expect((await move(to)).doc.status).toBe(to);
    else await expect(move(to)).rejects.toEqual(conflict);
  });
});

describe('a dispute', () => {
  test('is of a paid invoice only', async () => {
    const { invoiceId } = await invoiced();
    const dispute = () => at.office((desk) => desk.disputeInvoice({ invoiceId, reason: 'general' }));
    await expect(dispute()).rejects.toEqual(conflict);
    await at.office((desk) => desk.giveUpInvoice(invoiceId));
    await expect(dispute()).rejects.toEqual(conflict);
    await at.office((desk) => desk.payInvoice(invoiceId));
    expect((await dispute()).dispute.doc.status).toBe('needsResponse');
  });

  test('makes a dispute resource and an operation that does not appear on the invoice, and no refund', async () => {
    const { invoiceId, profileId, purchase } = await paid();
    const { dispute, operation } = await at.office((desk) =>
      desk.disputeInvoice({ invoiceId, reason: 'warningNeedsResponse', total: 60 }),
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
    expect(brief(await at.news())).toEqual([
      ['dispute.created', dispute.id],
      ['billingOperation.created', operation.id],
    ]);
    await at.office((desk) => desk.moveDispute(dispute.id, 'needsResponse'));
    expect(brief(await at.news())).toEqual([
      ['dispute.updated', dispute.id, { status: 'warningNeedsResponse' }],
      ['billingOperation.updated', operation.id, { status: 'warningNeedsResponse' }],
    ]);
  });

  test('is never about more than what is left of the charge', async () => {
    const { invoiceId, purchase } = await paid();
    await at.office((desk) => desk.refundOperation({ billingOperationId: purchase.id, total: 30 }));
    const dispute = (total?: number) =>
      at.office((desk) =>
        desk.disputeInvoice({ invoiceId, reason: 'duplicate', ...(total === undefined ? {} : { total }) }),
      );
    await expect(dispute(70.01)).rejects.toEqual(conflict);
    const first = await dispute();
    expect(first.dispute.doc.amount.total).toBe(70);
    await expect(dispute()).rejects.toEqual(conflict);
    await at.office((desk) => desk.moveDispute(first.dispute.id, 'won'));
    expect((await dispute(10)).dispute.doc.amount.total).toBe(10);
  });

  const ends: DisputeStatus[] = ['chargeRefunded', 'won', 'lost', 'solved'];
  /** Each state with a way to it, and what follows it. */
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
    'that is %s, by way of %j, becomes one of %j, and nothing else',
    async (_from, way, next) => {
      const { invoiceId } = await paid(1000);
      for (const to of lives.map(([state]) => state)) {
        const { dispute } = await at.office((desk) =>
          desk.disputeInvoice({ invoiceId, reason: 'warningNeedsResponse', total: 10 }),
        );
        for (const state of way) await at.office((desk) => desk.moveDispute(dispute.id, state));
        const move = at.office((desk) => desk.moveDispute(dispute.id, to));
        if (next.includes(to)) expect((await move).doc.status).toBe(to);
        else await expect(move).rejects.toEqual(conflict);
      }
    },
  );
});

test('stories of one transaction are done together, or not at all', async () => {
  const { profileId } = await charged();
  at.house.changes.length = 0;
  const work = at.office(async (desk) => {
    const [invoice] = await desk.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' });
    await desk.payInvoice(invoice?.id ?? '');
    await desk.payInvoice(invoice?.id ?? '');
  });
  await expect(work).rejects.toEqual(conflict);
  expect([await at.all('/invoices'), await at.news(), at.house.changes]).toEqual([[], [], []]);
});

test('a change is told after its commit', async () => {
  at.house.changes.length = 0;
  const { trip, operations } = await at.booked([flight(10)]);
  expect(at.house.changes).toEqual(
    expect.arrayContaining([`tripProject ${trip.id}`, `billingOperation ${operations[0]?.id}`]),
  );
});
