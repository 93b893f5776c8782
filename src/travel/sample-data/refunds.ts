import type { Kept } from '../back-office/desk.ts';
import { readOne } from '../ports.ts';
import { DAY, type Happening, type Scene } from './scene.ts';
import type { Chapter } from './story.ts';

/** Sees to it that the money of refunds is transferred, as soon as their invoices are paid. */
export async function followRefunds(
  chapter: Chapter,
  { recorder }: Scene,
  operations: Kept<'billingOperation'>[],
): Promise<void> {
  for (const { doc } of operations) {
    if (doc.refundId === undefined) continue;
    const refund = await readOne(recorder.within, 'refund', doc.refundId);
    if (refund?.doc['status'] === 'waiting') transfer(chapter, doc.refundId);
    const invoiceId = String(refund?.doc['invoiceId']);
    if (refund?.doc['status'] === 'delayed')
      chapter.delayed.set(invoiceId, [...(chapter.delayed.get(invoiceId) ?? []), doc.refundId]);
  }
}

/** The invoice is paid: the refunds that waited for that go their way. */
export function releaseRefunds(chapter: Chapter, invoiceId: string): void {
  for (const refundId of chapter.delayed.get(invoiceId) ?? []) transfer(chapter, refundId);
  chapter.delayed.delete(invoiceId);
}

function transfer(chapter: Chapter, refundId: string): void {
  const { agenda, dice, now } = chapter;
  const end: Happening = async ({ stories }) => {
    const outcome = dice.weighted([
      { status: 'succeeded' as const, weight: 90 },
      { status: 'failed' as const, weight: 6 },
      { status: 'canceled' as const, weight: 4 },
    ]);
    await stories.endTransfer(refundId, outcome.status);
  };
  agenda.add(now() + dice.between(1, 4) * DAY, async ({ stories }) => {
    await stories.startTransfer(refundId);
    agenda.add(now() + dice.between(1, 5) * DAY, end);
  });
}
