import type { AskedDelivery, WebhookRecords } from '../travel/webhooks/ports.ts';
import type { Database } from './database.ts';
import { expireDeliveries } from './delivery-expiry.ts';
import { addDelivery } from './outbox.ts';
import type { Sealed } from './sealed.ts';
import { expireSecrets, secretsOf } from './travel-secrets.ts';
import { Turns } from './travel-turns.ts';

/** What is kept for webhooks beside them. */
export function webhookRecords(database: Database, sealed: Sealed): WebhookRecords {
  const { db } = database;
  return {
    secrets: (id, now) => secretsOf(db, sealed, { ref: { type: 'webhook', id }, now }),
    redeliver: (asked) => redeliver(database, asked),
    expireSecrets: (before, limit) => expireSecrets(db, before, limit),
    expireDeliveries: (before, limit) => expireDeliveries(db, before, limit),
  };
}

/** It takes a number of the events, which none of them gets, and so its place among all deliveries. */
async function redeliver({ db }: Database, { id, webhookId, ...asked }: AskedDelivery): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const seq = await new Turns(tx).number('event');
    await addDelivery(tx, { ...asked, id, webhookId, seq, redelivery: 1 });
  });
}
