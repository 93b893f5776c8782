import type { Surroundings } from '../collection.ts';
import { readOne } from '../ports.ts';
import { recorded } from '../record.ts';
import { webhook } from '../resources/webhook.ts';
import type { DeliveryQueue } from './ports.ts';

const CANCELED_AT_ONCE = 500;

/** Disables a webhook, which is told as any change of it, unless it leads elsewhere by now. */
export async function disable(
  surroundings: Surroundings,
  { id, url }: { id: string; url: string },
): Promise<void> {
  await recorded(surroundings, [webhook.type], async (recorder) => {
    const stored = await readOne(recorder.within, webhook.type, id);
    if (stored?.doc['url'] === url)
      await recorder.replace(webhook, stored, { ...stored.doc, disabled: true });
  });
}

/** Makes what waits for a webhook follow a change of it; part by part, so that nobody waits long for it. */
export async function follow(queue: DeliveryQueue, id: string, now: number): Promise<void> {
  let canceled = CANCELED_AT_ONCE;
  while (canceled === CANCELED_AT_ONCE) canceled = await queue.follow(id, now, CANCELED_AT_ONCE);
}
