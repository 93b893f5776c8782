import type { Kysely, Selectable } from 'kysely';
import type { CursorPage, Edge, ListQuery, PageQuery, StoredResource } from '../travel/ports.ts';
import { fromText, pageAround } from './statements.ts';
import type { Tables } from './tables.ts';

/** As which type of resource deliveries are read; their parent is their webhook. */
export const DELIVERY = 'webhookDelivery';

/** A page of the deliveries of a webhook, and how many there are in all. */
export async function deliveryPage(
  db: Kysely<Tables>,
  query: PageQuery,
): Promise<{ total: number; resources: StoredResource[] }> {
  const { order, limit, offset } = query;
  const rows = await listed(db, query).orderBy('seq', order).limit(limit).offset(offset).execute();
  return { total: await total(db, query), resources: rows.map(toResource) };
}

/** A page next to a place, and the places next to the page. */
export async function deliveryPageFrom(
  db: Kysely<Tables>,
  query: ListQuery,
  edge: Edge | undefined,
): Promise<CursorPage> {
  return pageOf(
    await pageAround<Row>(query, edge, (direction, limit, from) =>
      listed(db, query)
        .$if(from !== undefined, (all) =>
          all.where('seq', sign(direction, from?.inclusive), from?.place.seq ?? 0),
        )
        .orderBy('seq', direction)
        .limit(limit)
        .execute(),
    ),
  );
}

function sign(direction: 'asc' | 'desc', inclusive = false): '>' | '>=' | '<' | '<=' {
  return `${direction === 'asc' ? '>' : '<'}${inclusive ? '=' : ''}`;
}

/** Those deliveries that exist. */
export async function readDeliveries(db: Kysely<Tables>, ids: string[]): Promise<StoredResource[]> {
  const rows = await db.selectFrom('travel_delivery').selectAll().where('id', 'in', ids).execute();
  return rows.map(toResource);
}

function listed(db: Kysely<Tables>, { parentId, status }: ListQuery) {
  return db
    .selectFrom('travel_delivery')
    .selectAll()
    .where('webhook_id', '=', parentId)
    .$if(status !== undefined, (all) => all.where('status', '=', status ?? ''));
}

async function total(db: Kysely<Tables>, { parentId, status }: ListQuery): Promise<number> {
  const queue = await db
    .selectFrom('travel_delivery_queue')
    .selectAll()
    .where('webhook_id', '=', parentId)
    .executeTakeFirst();
  const counts = Object.entries(statusCounts(queue));
  return counts.reduce(
    (sum, [name, count]) => (status === undefined || status === name ? sum + count : sum),
    0,
  );
}

function statusCounts(queue: Selectable<Tables['travel_delivery_queue']> | undefined) {
  if (!queue) return {};
  const { pending, succeeded, failed, canceled } = queue;
  return { pending, succeeded, failed, canceled };
}

type Row = Selectable<Tables['travel_delivery']>;

function pageOf({ rows, next, previous }: Awaited<ReturnType<typeof pageAround<Row>>>): CursorPage {
  const placeOf = (row: Row | undefined) => row && { value: row.created_at, seq: row.seq };
  return { resources: rows.map(toResource), next: placeOf(next), previous: placeOf(previous) };
}

function toResource(row: Row): StoredResource {
  return {
    type: DELIVERY,
    id: row.id,
    parentId: row.webhook_id,
    createdAt: row.created_at,
    doc: {
      attempts: fromText(row.attempts),
      eventId: row.event_id,
      kind: row.kind,
      ...(row.next_attempt_at === null
        ? {}
        : { nextAttemptAt: Math.max(row.next_attempt_at, row.created_at) }),
      status: row.status,
    },
  };
}
