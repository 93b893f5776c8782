import type { Surroundings } from '../collection.ts';
import { readOne } from '../ports.ts';
import { recorded } from '../record.ts';
import { webhook } from '../resources/webhook.ts';
import type { DeliveryQueue } from './ports.ts';

const CANCELED_AT_ONCE = 500;

/** Disables a webhook, which is told as any change of it. */
export async function disable(surroundings: Surroundings, id: string): Promise<void> {
  await recorded(surroundings, [webhook.type], async (recorder) => {
    const stored = await readOne(recorder.within, webhook.type, id);
    if (stored) await recorder.replace(webhook, stored, { ...stored.doc, disabled: true });
  });
}

/** Cancels all that waits for a webhook, if it is disabled or gone; part by part, so that nobody waits long for it. */
export async function cancelWaiting(queue: DeliveryQueue, id: string): Promise<void> {
  let canceled = CANCELED_AT_ONCE;
  while (canceled === CANCELED_AT_ONCE) canceled = await queue.cancel(id, CANCELED_AT_ONCE);
}
