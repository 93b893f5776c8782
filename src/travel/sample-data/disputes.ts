import type { Kept } from '../back-office/desk.ts';
import type { Complaint } from '../back-office/disputes.ts';
import type { DisputeStatus } from '../back-office/transitions.ts';
import type { Amount } from '../resources/amount.ts';
import { REFUNDS } from '../resources/refund.ts';
import { DAY, type Scene } from './scene.ts';
import type { Chapter } from './story.ts';

/** Of all paid invoices for bookings so many are disputed. */
const DISPUTED = 0.12;

/** How disputes go, from their first state on. */
const lives: { reason: Complaint['reason']; states: DisputeStatus[] }[] = [
  { reason: 'fraudulent', states: ['underReview', 'won'] },
  { reason: 'duplicate', states: ['underReview', 'lost', 'solved'] },
  { reason: 'productNotReceived', states: ['underReview', 'chargeRefunded', 'solved'] },
  { reason: 'unrecognized', states: ['underReview', 'won'] },
  { reason: 'creditNotProcessed', states: ['solved'] },
  { reason: 'insufficientFunds', states: ['underReview'] },
  { reason: 'general', states: [] },
  { reason: 'warningNeedsResponse', states: ['warningUnderReview', 'warningClosed'] },
  { reason: 'warningNeedsResponse', states: ['needsResponse', 'underReview', 'lost'] },
];

/** Plans that a paid invoice is disputed: perhaps, or for certain. */
export function planDispute(
  chapter: Chapter,
  invoice: Pick<Kept<'invoice'>, 'id' | 'doc'>,
  isCertain: boolean,
): void {
  const { agenda, dice, now } = chapter;
  if (!isCertain && !dice.chance(DISPUTED)) return;
  const { reason, states } = dice.of(lives);
  agenda.add(now() + dice.between(6, 25) * DAY, async (scene) => {
    const total = await disputable(chapter, scene, invoice);
    if (total === undefined) return;
    const { dispute } = await scene.stories.disputeInvoice({ invoiceId: invoice.id, reason, total });
    planStates(chapter, dispute.id, states);
  });
}

/** A part of what refunds have left of the charge, if that is worth it. */
async function disputable(
  { dice }: Chapter,
  { recorder }: Scene,
  { id, doc }: Pick<Kept<'invoice'>, 'id' | 'doc'>,
): Promise<number | undefined> {
  const refunds = await recorder.within.find({ type: 'refund', name: REFUNDS, values: [id] });
  const given = refunds.reduce((sum, one) => sum + Number((one.doc['amount'] as Amount).total), 0);
  const total = Math.floor((doc.amount.total - given) * dice.between(10, 90)) / 100;
  return total < 1 ? undefined : total;
}

function planStates(
  chapter: Pick<Chapter, 'agenda' | 'dice' | 'now'>,
  id: string,
  [next, ...others]: DisputeStatus[],
): void {
  const { agenda, dice, now } = chapter;
  if (next === undefined) return;
  agenda.add(now() + dice.between(3, 14) * DAY, async ({ stories }) => {
    await stories.moveDispute(id, next);
    planStates(chapter, id, others);
  });
}
