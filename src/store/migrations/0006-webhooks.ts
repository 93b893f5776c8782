import { type Kysely, type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** Secrets, deliveries and their queues; see `WebhookTables` for what they mean. */
export function webhookTables(types: ColumnTypes): Migration {
  return {
    up: async (db) => {
      await secrets(db, types);
      await deliveries(db, types);
      await queues(db, types);
    },
  };
}

async function secrets(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('travel_secret')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('sealed', 'text', (c) => c.notNull())
    .addColumn('until', types.time)
    .addPrimaryKeyConstraint('travel_secret_pk', ['type', 'id', 'sealed'])
    .addForeignKeyConstraint('travel_secret_of', ['type', 'id'], 'travel_resource', ['type', 'id'], (c) =>
      c.onDelete('cascade'),
    )
    .execute();
  await db.schema.createIndex('travel_secret_until').on('travel_secret').column('until').execute();
}

/** Nothing ties them to their webhook: with a long history its end would keep everybody waiting. They are swept up later. */
async function deliveries(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('travel_delivery')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('webhook_id', 'text', (c) => c.notNull())
    .addColumn('seq', types.time, (c) => c.notNull())
    .addColumn('event_id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('created_at', types.time, (c) => c.notNull())
    .addColumn('redelivery', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('attempts', types.json, (c) => c.notNull())
    .addColumn('next_attempt_at', types.time)
    .execute();
  await db.schema
    .createIndex('travel_delivery_list')
    .on('travel_delivery')
    .columns(['webhook_id', 'seq'])
    .execute();
  await db.schema
    .createIndex('travel_delivery_status')
    .on('travel_delivery')
    .columns(['webhook_id', 'status', 'seq'])
    .execute();
  await db.schema
    .createIndex('travel_delivery_next')
    .on('travel_delivery')
    .columns(['webhook_id', 'redelivery', 'seq'])
    .where(sql.ref('status'), '=', sql.lit('pending'))
    .execute();
}

async function queues(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('travel_delivery_queue')
    .addColumn('webhook_id', 'text', (c) => c.primaryKey())
    .addColumn('pending', 'integer', (c) => c.notNull())
    .addColumn('succeeded', 'integer', (c) => c.notNull())
    .addColumn('failed', 'integer', (c) => c.notNull())
    .addColumn('canceled', 'integer', (c) => c.notNull())
    .addColumn('failing_since', types.time)
    .addColumn('lease_token', 'text')
    .addColumn('lease_until', types.time)
    .execute();
}
