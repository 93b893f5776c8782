import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { AuditEntry, AuditLog } from '../admin/ports.ts';
import type { Database } from './database.ts';
import { takeFeedNumbers } from './sequences.ts';
import type { Tables } from './tables.ts';

/** The name of the feed whose numbers the positions of entries are. */
const FEED = 'auditEntry';

/** Returns the store of the audit log. An entry is durable before `begin` returns. */
export function auditLog({ db, transaction }: Database): AuditLog {
  return {
    begin: ({ at, actor, actorKind, address, action, details, status = null }) =>
      transaction(async (tx) => {
        const position = await takeFeedNumbers(tx, FEED, 1);
        await tx
          .insertInto('audit_entry')
          .values({
            ...{ position, at, actor, actor_kind: actorKind, address, action },
            ...{ details: JSON.stringify(details), status },
          })
          .execute();
        return position;
      }),

    finish: async (position, { status, details, actor }) => {
      await db
        .updateTable('audit_entry')
        .set({ status, details: JSON.stringify(details), ...(actor !== undefined && { actor }) })
        .where('position', '=', position)
        .execute();
    },

    list: (query) => listEntries(db, query),
    listChoices: () => listChoices(db),

    removeBefore: async (at, limit) => {
      const old = db
        .selectFrom('audit_entry')
        .select('position')
        .where('at', '<', at)
        .orderBy('at')
        .limit(limit);
      const removed = await db.deleteFrom('audit_entry').where('position', 'in', old).executeTakeFirst();
      return Number(removed.numDeletedRows);
    },
  };
}

type ListQuery = Parameters<AuditLog['list']>[0];

async function listEntries(
  db: Kysely<Tables>,
  { before, actor, action, since, until, limit }: ListQuery,
): Promise<AuditEntry[]> {
  let query = db.selectFrom('audit_entry').selectAll();
  if (before !== undefined) query = query.where('position', '<', before);
  if (actor !== undefined)
    query = query.where(sql<boolean>`lower(actor) like ${likePattern(actor)} escape '\\'`);
  if (action !== undefined) query = query.where('action', '=', action);
  if (since !== undefined) query = query.where('at', '>=', since);
  if (until !== undefined) query = query.where('at', '<', until);
  const rows = await query.orderBy('position', 'desc').limit(limit).execute();
  return rows.map(toEntry);
}

/** Returns the pattern of LIKE for texts that contain a text, without case. */
function likePattern(text: string): string {
  return `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
}

/** The most names that can be chosen; others can be typed. */
const MAX_CHOICES = 500;

async function listChoices(db: Kysely<Tables>): ReturnType<AuditLog['listChoices']> {
  const actors = await readDistinct(db, 'actor', sql`actor_kind <> 'nobody'`);
  return { actors, actions: await readDistinct(db, 'action', sql`true`) };
}

/**
 * Returns the different texts of a column, sorted. Each step searches the index of the column for the next text, because neither database
 * skips equal entries by itself: with `select distinct` they read all of them.
 */
async function readDistinct(
  db: Kysely<Tables>,
  column: 'actor' | 'action',
  condition: RawBuilder<unknown>,
): Promise<string[]> {
  const text = sql.ref(column);
  const { rows } = await sql<{ text: string }>`
    with recursive choice (text, place) as (
      select min(${text}), 1 from audit_entry where ${condition}
      union all
      select (select min(${text}) from audit_entry where ${condition} and ${text} > choice.text), place + 1
        from choice where text is not null and place < ${sql.lit(MAX_CHOICES)}
    ) select text from choice where text is not null`.execute(db);
  return rows.map(({ text }) => text);
}

function toEntry(row: Selectable<Tables['audit_entry']>): AuditEntry {
  return {
    position: row.position,
    at: row.at,
    actor: row.actor,
    // This file alone writes the column.
    actorKind: row.actor_kind as AuditEntry['actorKind'],
    address: row.address,
    action: row.action,
    details: JSON.parse(row.details) as Record<string, unknown>,
    status: row.status ?? undefined,
  };
}
