import type { Kept } from '../back-office/desk.ts';
import { chargeMonth } from './charges.ts';
import type { Branch } from './company.ts';
import { planDispute } from './disputes.ts';
import { releaseRefunds } from './refunds.ts';
import { DAY, HOUR, LENGTH, type Scene } from './scene.ts';
import type { Chapter } from './story.ts';

/** One invoice is given up, and one subscription voided: these, or the next after them, so that every company has both. */
const UNCOLLECTIBLE = 5;
const VOID = 8;

/** What became of the invoices so far. */
interface Count {
  emitted: number;
  isVoided: boolean;
  isDisputed: boolean;
}

/** Plans that every branch is billed on the first of each month, and what becomes of the invoices. */
export function planBilling(chapter: Chapter): void {
  const count: Count = { emitted: 0, isVoided: false, isDisputed: false };
  for (
    let month = firstOfNext(chapter.wish.now - LENGTH);
    month < chapter.wish.now;
    month = firstOfNext(month)
  ) {
    for (const [position, branch] of chapter.company.branches.entries())
      chapter.agenda.add(month + 5 * HOUR + position * 60_000, bill(chapter, branch, count));
  }
}

function firstOfNext(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

function bill(chapter: Chapter, branch: Branch, count: Count) {
  return async (scene: Scene): Promise<void> => {
    await chargeMonth(chapter, scene, branch);
    const { billingProfileId } = branch;
    for (const kind of ['subscription', 'other', 'booking'] as const) {
      const invoices = await scene.stories.invoiceProfile({ billingProfileId, kind });
      for (const invoice of invoices) planEnd(chapter, invoice, count);
    }
  };
}

/** Most are paid within some weeks. */
function planEnd(chapter: Chapter, { id, doc }: Kept<'invoice'>, count: Count): void {
  const { agenda, dice, now } = chapter;
  count.emitted += 1;
  if (count.emitted === UNCOLLECTIBLE) {
    agenda.add(now() + 90 * DAY, async ({ stories }) => void (await stories.giveUpInvoice(id)));
    return;
  }
  if (count.emitted >= VOID && !count.isVoided && doc.kind === 'subscription') {
    count.isVoided = true;
    agenda.add(now() + 2 * DAY, async ({ stories }) => void (await stories.voidInvoice(id)));
    return;
  }
  // Some pay late, and some never without being asked again.
  if (dice.chance(0.04)) return;
  const days = dice.chance(0.85) ? dice.between(8, 32) : dice.between(33, 70);
  agenda.add(now() + days * DAY + dice.between(8, 17) * HOUR, async ({ stories }) => {
    await stories.payInvoice(id, `TR-${id.slice(-8).toUpperCase()}`);
    releaseRefunds(chapter, id);
    if (doc.kind === 'booking') {
      chapter.examples.invoiceId = id;
      planDispute(chapter, { id, doc }, !count.isDisputed);
      count.isDisputed = true;
    }
  });
}
